package flow

// Edge is what one iteration of a job sends from a rank to the next.
type Edge struct {
	Route  []int32
	Bytes  int64
	Weight int64 // 0 means 1
}

// Job is a training job: every iteration computes and sends along all edges at once; it
// ends when the computation and the last edge have. The times are in picoseconds.
type Job struct {
	Start      int64
	Compute    []int64 // of the iterations, over and over
	Hidden     int64   // how long before the end of the computation the sending begins
	Edges      []Edge
	Iterations int // 0: for ever
}

// Iterations runs the jobs together and returns when each iteration of each job ends, up
// to a time; iterations that end later are left out.
func Iterations(capacity []int64, jobs []Job, until int64) [][]int64 {
	r := runner{jobs: jobs, net: NewNet(capacity), state: make([]jobState, len(jobs))}
	r.ends = make([][]int64, len(jobs))
	for j := range jobs {
		for range jobs[j].Edges {
			r.owner = append(r.owner, int32(j))
		}
		r.begin(int32(j), jobs[j].Start)
	}
	for {
		t := r.next()
		if t == Never || t > until {
			return r.ends
		}
		for _, edge := range r.net.AdvanceTo(t) {
			r.state[r.owner[edge]].open--
		}
		for j := range jobs {
			r.step(int32(j), t)
		}
	}
}

type runner struct {
	jobs  []Job
	net   *Net
	state []jobState
	owner []int32 // job by edge; edges are numbered job after job
	ends  [][]int64
}

// jobState is where a job stands in its present iteration.
type jobState struct {
	send, computed int64 // when the sending begins and the computation ends
	sent           bool
	open           int // edges that are still sending
	over           bool
}

func (r *runner) begin(j int32, t int64) {
	job, s := &r.jobs[j], &r.state[j]
	c := job.Compute[len(r.ends[j])%len(job.Compute)]
	*s = jobState{send: t + max(0, c-job.Hidden), computed: t + c}
}

// next is when anything happens next.
func (r *runner) next() int64 {
	t := r.net.Next()
	for j := range r.state {
		switch s := &r.state[j]; {
		case s.over:
		case !s.sent:
			t = min(t, s.send)
		case s.open == 0:
			t = min(t, s.computed)
		}
	}
	return t
}

// step lets a job do what is due at t: begin to send, or end its iteration.
func (r *runner) step(j int32, t int64) {
	s := &r.state[j]
	if s.over {
		return
	}
	if !s.sent && s.send <= t {
		r.send(j)
	}
	if s.sent && s.open == 0 && s.computed <= t {
		r.ends[j] = append(r.ends[j], t)
		if s.over = len(r.ends[j]) == r.jobs[j].Iterations; !s.over {
			r.begin(j, t)
			r.step(j, t)
		}
	}
}

func (r *runner) send(j int32) {
	s := &r.state[j]
	s.sent = true
	first := int32(0)
	for i := range j {
		first += int32(len(r.jobs[i].Edges))
	}
	for k, e := range r.jobs[j].Edges {
		r.net.Join(first+int32(k), e.Route, max(1, e.Weight), e.Bytes)
		s.open++
	}
}
