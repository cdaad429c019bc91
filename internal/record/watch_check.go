package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far a time may lie from what it is compared with: a part of the time since
// the job was submitted, and something beside it.
type Tolerance struct {
	PerMille int64
	Beside   int64
}

// DefaultTolerance is that of the comparison with recorded control planes.
var DefaultTolerance = Tolerance{100, 250 * int64(time.Millisecond)}

// ParseTolerance reads a tolerance such as 10%+250ms, 5% or 1s.
func ParseTolerance(text string) (t Tolerance, err error) {
	for _, part := range strings.Split(text, "+") {
		part = strings.TrimSpace(part)
		percent, isPart := strings.CutSuffix(part, "%")
		if isPart {
			var p float64
			p, err = strconv.ParseFloat(strings.TrimSpace(percent), 64)
			if !(p >= 0 && p <= 1000) {
				err = strconv.ErrRange
			}
			t.PerMille += int64(math.Round(p * 10))
		} else {
			var d time.Duration
			if d, err = time.ParseDuration(part); d < 0 || d > 24*time.Hour {
				err = strconv.ErrRange
			}
			t.Beside += int64(d)
		}
		if err != nil {
			return t, fmt.Errorf("%q: expected a part and a time, such as 10%%+250ms, or one of them", text)
		}
	}
	return t, nil
}

// String writes the tolerance as ParseTolerance reads it.
func (t Tolerance) String() string {
	return strconv.FormatFloat(float64(t.PerMille)/10, 'f', -1, 64) + "%+" + time.Duration(t.Beside).String()
}

// of is the tolerance of a time so long after the job was submitted.
func (t Tolerance) of(since int64) int64 {
	return max(since, 0)/1000*t.PerMille + t.Beside
}

// Verdict is what came of comparing one thing.
type Verdict string

// The verdicts: what is exact is Equal or Outside, a time Within its tolerance or Outside.
const (
	Equal   Verdict = "equal"
	Within  Verdict = "within"
	Outside Verdict = "outside"
)

// Line is one thing that was compared: as words, and for a time in seconds.
type Line struct {
	What       string   `json:"what"`
	Cluster    string   `json:"cluster"`
	Model      string   `json:"gangplan"`
	At         *float64 `json:"cluster_seconds,omitempty"`
	ModelAt    *float64 `json:"gangplan_seconds,omitempty"`
	Difference *float64 `json:"difference_seconds,omitempty"`
	Tolerance  *float64 `json:"tolerance_seconds,omitempty"`
	Verdict    Verdict  `json:"verdict"`
	Detail     string   `json:"detail,omitempty"`
}

// JobLines is what was compared of one job.
type JobLines struct {
	Job   string `json:"job"`
	Lines []Line `json:"lines"`
}

// Outside reports whether anything of the job is outside.
func (j *JobLines) Outside() bool {
	return slices.ContainsFunc(j.Lines, func(l Line) bool { return l.Verdict == Outside })
}

// Comparison is a record of a cluster beside a run of the same jobs.
type Comparison struct {
	Seconds   float64    `json:"seconds"` // that the record is long
	Tolerance string     `json:"tolerance"`
	Order     *Line      `json:"admission_order,omitempty"`
	Jobs      []JobLines `json:"jobs"`

	OnlyCluster []string `json:"only_in_record"` // jobs that the scenario does not have
	OnlyModel   []string `json:"only_in_scenario"`
	Notes       []string `json:"notes"`

	Equal   int `json:"equal"`
	Within  int `json:"within"`
	Outside int `json:"outside"` // lines, and jobs that only one side has
}

// comparer is the state of a comparison.
type comparer struct {
	watched   *Watched
	run       *Replay
	tolerance Tolerance
	coarse    bool // some times are whole seconds
	sameNames bool // the nodes are called as in the scenario
	lines     []Line
	submitted int64
}

// Compare holds what was seen of a cluster against a replay of the same jobs.
func (w *Watched) Compare(run *Replay, tolerance Tolerance) *Comparison {
	c := &comparer{watched: w, run: run, tolerance: tolerance, coarse: w.anyCoarse(), sameNames: run.namesOf(w)}
	out := &Comparison{Seconds: seconds(w.End), Tolerance: tolerance.String(), OnlyCluster: append([]string{}, w.Others...),
		OnlyModel: append([]string{}, run.missing...), Notes: append(append([]string{}, w.Notes...), run.notes...)}
	if c.coarse {
		out.Tolerance += "+1s"
	}
	if len(w.Decisions) > 0 || len(run.Long.Decisions) > 0 {
		line := c.order()
		out.Order = &line
		out.count(line.Verdict)
	}
	for i := range w.Jobs {
		j := JobLines{Job: w.Jobs[i].Name, Lines: c.job(&w.Jobs[i])}
		for _, l := range j.Lines {
			out.count(l.Verdict)
		}
		out.Jobs = append(out.Jobs, j)
	}
	out.Outside += len(out.OnlyCluster) + len(out.OnlyModel)
	return out
}

func (w *Watched) anyCoarse() bool {
	for _, is := range w.Coarse {
		if is {
			return true
		}
	}
	return false
}

func (c *Comparison) count(v Verdict) {
	switch v {
	case Equal:
		c.Equal++
	case Within:
		c.Within++
	default:
		c.Outside++
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// job compares one job.
func (c *comparer) job(j *Job) []Line {
	m := c.run.Long.job(j.Name)
	c.lines, c.submitted = nil, j.Submit
	c.times("admitted", admittedAt(j), admittedAt(m))
	if len(j.Admissions) > 0 {
		c.exact("pods admitted", list(c.sizes(j, m)), list(c.sizes(m, j)))
	}
	c.assignments(j, m)
	c.evictions(j.Evictions, m.Evictions)
	if counts := c.requeues(j); counts != nil || c.requeues(m) != nil {
		c.exact("requeue count", list(counts), list(c.requeues(m)))
	}
	c.times("may return", c.untils(j), c.untils(m))
	c.times("deactivated", j.Deactivated, m.Deactivated)
	if !c.watched.NoPods {
		c.exact("most pods bound", strconv.Itoa(int(j.MaxBound())), c.mostBound(j, m))
		c.times("all pods ready", j.AllReady, m.AllReady)
		c.times("work done", j.RunComplete, m.RunComplete)
	}
	c.times("finished", j.ends(), m.ends())
	c.end(j)
	return c.lines
}

// ends are the ends of a job in the eyes of its queue, or of its user if it has none.
func (j *Job) ends() []int64 {
	if j.WorkloadCreated == Never {
		return j.JobComplete
	}
	return j.Finished
}

func admittedAt(j *Job) (list []int64) {
	for _, a := range j.Admissions {
		list = append(list, a.At)
	}
	return list
}

// untils are the times until which the job was to wait. One that lies behind the end of the
// record is a promise, which a run has not made yet.
func (c *comparer) untils(j *Job) (list []int64) {
	for _, q := range j.Requeues {
		if q.Until != Never && !c.foreseen(q.Until) {
			list = append(list, q.Until)
		}
	}
	return list
}

// foreseen reports whether something of the run lies so late that the record may have ended
// before it came.
func (c *comparer) foreseen(at int64) bool { return at > c.watched.End-c.allowance(at) }

// allowance is the tolerance of a time of the job.
func (c *comparer) allowance(at int64) int64 {
	a := c.tolerance.of(at - c.submitted)
	if c.coarse {
		a += int64(time.Second)
	}
	return a
}

// exact compares words.
func (c *comparer) exact(what, cluster, model string) {
	v := Equal
	if cluster != model {
		v = Outside
	}
	c.lines = append(c.lines, Line{What: what, Cluster: cluster, Model: model, Verdict: v})
}

// times compares times one by one. What the run has more than the cluster may be what comes
// after the record.
func (c *comparer) times(what string, cluster, model []int64) {
	for i := range max(len(cluster), len(model)) {
		at, modelAt := Never, Never
		if i < len(cluster) {
			at = cluster[i]
		}
		if i < len(model) {
			modelAt = model[i]
		}
		c.time(numbered(what, i, max(len(cluster), len(model))), at, modelAt)
	}
}

// numbered tells several of a kind apart.
func numbered(what string, i, of int) string {
	if of > 1 {
		return fmt.Sprintf("%s (%d)", what, i+1)
	}
	return what
}

// time compares a time, each Never if it did not come.
func (c *comparer) time(what string, at, model int64) {
	if at == Never && c.foreseen(model) {
		return
	}
	l := Line{What: what, Cluster: c.written(at), Model: c.written(model), Verdict: Outside}
	if at != Never {
		l.At = new(seconds(at))
	}
	if model != Never {
		l.ModelAt = new(seconds(model))
	}
	if at != Never && model != Never {
		l.Difference, l.Tolerance = new(seconds(model-at)), new(seconds(c.allowance(at)))
		if d := max(model-at, at-model); d <= c.allowance(at) {
			l.Verdict = Within
		}
	}
	c.lines = append(c.lines, l)
}

// written is a time in seconds, as exactly as it is known.
func (c *comparer) written(at int64) string {
	switch {
	case at == Never:
		return "never"
	case c.coarse:
		return fmt.Sprintf("%.1fs", seconds(at))
	}
	return fmt.Sprintf("%.3fs", seconds(at))
}

// evictions compares evictions one by one. Two for different reasons are two things.
func (c *comparer) evictions(cluster, model []Eviction) {
	n := max(len(cluster), len(model))
	for i := range n {
		switch {
		case i >= len(cluster):
			c.time(numbered("evicted: "+model[i].Reason, i, n), Never, model[i].At)
		case i >= len(model):
			c.time(numbered("evicted: "+cluster[i].Reason, i, n), cluster[i].At, Never)
		case cluster[i].Reason == model[i].Reason:
			c.time(numbered("evicted: "+cluster[i].Reason, i, n), cluster[i].At, model[i].At)
		default:
			c.time(numbered("evicted: "+cluster[i].Reason, i, n), cluster[i].At, Never)
			c.time(numbered("evicted: "+model[i].Reason, i, n), Never, model[i].At)
		}
	}
}

// seen drops what a run has more than the other side, if it may come after the record.
func seen[T any](c *comparer, list []T, other int, at func(T) int64) []T {
	for len(list) > other && c.foreseen(at(list[len(list)-1])) {
		list = list[:len(list)-1]
	}
	return list
}

// sizes are how many pods a job was admitted with, each time.
func (c *comparer) sizes(j, other *Job) (sizes []int32) {
	for _, a := range seen(c, j.Admissions, len(other.Admissions), func(a Admission) int64 { return a.At }) {
		n := int32(0)
		for _, pods := range a.Counts {
			n += pods
		}
		sizes = append(sizes, n)
	}
	return sizes
}

// requeues are the counts that the job's requeueState went through. That it is removed is
// no count.
func (c *comparer) requeues(j *Job) (counts []int32) {
	for _, q := range j.Requeues {
		if n := len(counts); q.Count > 0 && !c.foreseen(q.At) && (n == 0 || counts[n-1] != q.Count) {
			counts = append(counts, q.Count)
		}
	}
	return counts
}

// mostBound is how many pods a run bound at most, or what the cluster did if the run came to
// that within the tolerance.
func (c *comparer) mostBound(j, m *Job) string {
	most := int32(0)
	for _, s := range m.Steps {
		if s.N <= most || c.foreseen(s.At) && s.N > j.MaxBound() {
			continue
		}
		most = s.N
	}
	return strconv.Itoa(int(most))
}

// end compares where the job stood when the record ended. A run that is there within the
// tolerance of the end is there.
func (c *comparer) end(j *Job) {
	model := c.run.At.job(j.Name).State
	if before, after := c.run.Before.job(j.Name).State, c.run.Long.job(j.Name).State; j.State == before || j.State == after {
		model = j.State
	}
	c.exact("at the end", string(j.State), string(model))
}

// list writes numbers, of many the first and the last.
func list(numbers []int32) string {
	if len(numbers) == 0 {
		return "none"
	}
	var words []string
	for _, n := range numbers {
		words = append(words, strconv.Itoa(int(n)))
	}
	if len(words) > 5 {
		words = append(words[:2:2], fmt.Sprintf("… %s (%d)", words[len(words)-1], len(words)))
	}
	return strings.Join(words, ", ")
}

func counted(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// job returns a job by name. One that a record does not have never began.
func (r *Record) job(name string) *Job {
	if i := slices.IndexFunc(r.Jobs, func(j Job) bool { return j.Name == name }); i >= 0 {
		return &r.Jobs[i]
	}
	return &Job{Name: name, WorkloadCreated: Never, State: Pending}
}

// assignments compares topology assignments: where, or of nodes with other names how many on
// each.
func (c *comparer) assignments(j, m *Job) {
	n := min(len(j.Assignments), len(m.Assignments))
	if len(j.Assignments) == 0 && len(m.Assignments) == 0 {
		return
	}
	cluster, model := j.Assignments, seen(c, m.Assignments, len(j.Assignments), func(a Assignment) int64 { return a.At })
	c.exact("topology assignments", strconv.Itoa(len(cluster)), strconv.Itoa(len(model)))
	for i := range n {
		a, b := c.slots(&cluster[i]), c.slots(&model[i])
		c.exact(numbered("assignment", i, len(cluster)), hosts(a), hosts(b))
		if l := &c.lines[len(c.lines)-1]; !slices.Equal(a, b) {
			l.Verdict, l.Detail = Outside, firstDifference(a, b)
		}
	}
}

// slots are the nodes of an assignment, over all PodSets.
func (c *comparer) slots(a *Assignment) (slots []Slot) {
	for _, set := range a.Slots {
		for _, s := range set {
			if !c.sameNames {
				s.Node = ""
			}
			slots = append(slots, s)
		}
	}
	if !c.sameNames {
		slices.SortStableFunc(slots, func(a, b Slot) int { return cmp.Compare(b.Pods, a.Pods) })
	}
	return slots
}

func hosts(slots []Slot) string {
	return counted(int32(len(slots)), "node")
}

// firstDifference says where two assignments part.
func firstDifference(a, b []Slot) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	word := func(list []Slot) string {
		switch {
		case i >= len(list):
			return "nothing more"
		case list[i].Node == "":
			return counted(list[i].Pods, "pod") + " on a node"
		}
		return counted(list[i].Pods, "pod") + " on " + list[i].Node
	}
	return fmt.Sprintf("after %s alike the cluster has %s, gangplan %s", counted(int32(i), "node"), word(a), word(b))
}
