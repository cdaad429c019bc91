package sim_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/workloads"
)

// The engine's test language. Every file of testdata/engine is a story: prose that derives
// what must happen, and commands that make it happen. testdata/engine/README.md lists
// the commands; -rewrite replaces what the stories expect by what the engine does.
//
// Whatever a story prints, every run is also audited (see audit in property_test.go).

func TestEngine(t *testing.T) {
	paths, err := filepath.Glob("testdata/engine/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s := newStory()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				handle, ok := commands[d.Cmd]
				if !ok {
					d.Fatalf(t, "unknown command %q", d.Cmd)
				}
				return handle(s, t, d)
			})
		})
	}
}

// Every command stands in the list that readers are given, and nothing else.
func TestCommandsAreListed(t *testing.T) {
	text, err := os.ReadFile("testdata/engine/README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile("(?m)^### `([a-z]+)").FindAllStringSubmatch(string(text), -1)
	if len(listed) != len(commands) {
		t.Errorf("%d commands are listed, there are %d", len(listed), len(commands))
	}
	for _, m := range listed {
		if commands[m[1]] == nil {
			t.Errorf("%s is listed but does not exist", m[1])
		}
	}
}

type handler func(s *story, t *testing.T, d *datadriven.TestData) string

var commands = map[string]handler{
	"cluster":  (*story).cluster,
	"queue":    (*story).queue,
	"fabric":   (*story).fabric,
	"model":    (*story).model,
	"submit":   (*story).submit,
	"fault":    (*story).fault,
	"action":   (*story).action,
	"config":   (*story).config,
	"run":      (*story).run,
	"ledger":   (*story).ledger,
	"places":   (*story).places,
	"jobs":     (*story).jobs,
	"history":  (*story).history,
	"verdicts": (*story).verdicts,
	"digest":   (*story).digest,
}

// story is the scenario told so far and its last run.
type story struct {
	cfg     sim.Config
	profile *fabric.Profile
	levels  map[string]fabric.Level
	models  map[string]*workloads.ModelProfile

	trace  sim.Transitions
	result *sim.Result
}

func newStory() *story {
	return &story{cfg: sim.Config{Timing: sim.Instant, Queues: []quota.Queue{{Name: "default"}}},
		models: map[string]*workloads.ModelProfile{}}
}

// cluster begins a new scenario with these nodes.
func (s *story) cluster(t *testing.T, d *datadriven.TestData) string {
	*s = *newStory()
	levels := []string{"host"}
	if arg, ok := d.Arg("levels"); ok {
		levels = arg.Vals
	}
	var nodes []topology.Node
	for _, l := range inputLines(t, d) {
		n := topology.Node{GPUModel: l.get("model", ""), Allocatable: topology.DefaultAllocatable(int64(l.int("gpus", 0)))}
		if in := l.get("in", ""); in != "" {
			n.Path = strings.Split(in, "/")
		}
		n.Allocatable[topology.Pods] = int64(l.int("slots", topology.DefaultPodLimit))
		for _, n.Name = range l.names {
			nodes = append(nodes, n)
		}
		l.done()
	}
	c, err := topology.Build(levels, nodes)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	s.cfg.Cluster = c
	return ""
}

func (s *story) queue(t *testing.T, d *datadriven.TestData) string {
	s.cfg.Queues = nil
	for _, l := range inputLines(t, d) {
		q := quota.Queue{Name: l.names[0]}
		if gpus := l.get("gpus", ""); gpus != "" {
			q.Nominal[topology.GPU], q.Covers[topology.GPU] = l.milli(gpus), true
		}
		if cpu := l.get("cpu", ""); cpu != "" {
			q.Nominal[topology.CPU], q.Covers[topology.CPU] = l.milli(cpu), true
		}
		if l.get("strategy", "BestEffortFIFO") == "StrictFIFO" {
			q.Strategy = quota.StrictFIFO
		}
		q.Cohort = l.get("cohort", "")
		q.Preemption = quota.Preemption{Within: l.policy("within"), Reclaim: l.policy("reclaim")}
		l.done()
		s.cfg.Queues = append(s.cfg.Queues, q)
	}
	return ""
}

func (l *line) policy(key string) quota.Policy {
	return map[string]quota.Policy{"LowerPriority": quota.LowerPriority, "LowerOrNewerEqualPriority": quota.LowerOrNewerEqual, "Any": quota.Any}[l.get(key, "")]
}

// fabric gives the cluster a network without latencies: one NIC per host, a bus inside
// it, and oversubscribed uplinks.
func (s *story) fabric(t *testing.T, d *datadriven.TestData) string {
	s.profile, s.levels = &fabric.Profile{Name: "story", DomainGPUs: 8, NICs: 1, NetEfficiency: 1,
		Intra: fabric.Latency{B0: 1}, Inter: fabric.Latency{B0: 1}}, map[string]fabric.Level{}
	for _, l := range inputLines(t, d) {
		switch l.names[0] {
		case "bus":
			s.profile.DomainBusBW = l.float("GBps")
		case "nic":
			s.profile.NICGBps = l.float("GBps")
		case "contention":
			s.cfg.Sharing = map[string]sim.Sharing{"fluid": sim.Fluid, "flow": sim.Flow, "none": sim.NoSharing}[l.get("mode", "")]
		default:
			s.levels[l.names[0]] = fabric.Level{Oversubscription: l.float("oversubscription"), Efficiency: 1}
		}
		l.done()
	}
	f, err := fabric.New(*s.profile, s.cfg.Cluster, s.levels)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	s.cfg.Fabric = f
	return ""
}

func (s *story) model(t *testing.T, d *datadriven.TestData) string {
	for _, l := range inputLines(t, d) {
		s.models[l.names[0]] = &workloads.ModelProfile{Name: l.names[0], GradientBytes: int64(l.float("gradientGB") * 1e9),
			Compute: l.time("compute", 0), OverlapMilli: int64(l.int("overlap", 0))}
		l.done()
	}
	return ""
}

func (s *story) submit(t *testing.T, d *datadriven.TestData) string {
	for _, l := range inputLines(t, d) {
		set := l.podSet()
		if l.names[0] == "+" {
			last := &s.cfg.Jobs[len(s.cfg.Jobs)-1]
			last.PodSets = append(last.PodSets, set)
			l.done()
			continue
		}
		j := s.jobOf(l, set)
		every := l.time("every", 0)
		l.done()
		for _, name := range l.names {
			j.ID, j.Row = name, int64(len(s.cfg.Jobs))
			j.PodSets = []workloads.PodSet{set}
			s.cfg.Jobs = append(s.cfg.Jobs, j)
			j.Submit += every
		}
	}
	return ""
}

func (l *line) podSet() workloads.PodSet {
	gpus := l.milli(l.get("gpus", "1"))
	ps := workloads.PodSet{Count: int32(l.int("pods", 1)), MinCount: int32(l.int("min", 0)), NeverReady: int32(l.int("never-ready", 0)),
		Node: l.get("node", ""), Request: topology.Resources{gpus, gpus * 12, gpus * 96 * topology.GiB / 1000, 0}}
	if gpus == 0 {
		ps.Request = topology.Resources{0, workloads.CPUPodCPU, workloads.CPUPodMemory, 0}
	}
	if cpu := l.get("cpu", ""); cpu != "" {
		ps.Request[topology.CPU] = l.milli(cpu)
	}
	if m := l.get("models", ""); m != "" {
		ps.Models = strings.Split(m, "|")
	}
	if mode, level, _ := strings.Cut(l.get("topology", ""), ":"); mode != "" {
		modes := map[string]workloads.TopologyMode{"required": workloads.TopologyRequired,
			"preferred": workloads.TopologyPreferred, "unconstrained": workloads.TopologyUnconstrained}
		ps.Topology = workloads.TopologyRequest{Mode: modes[mode], Level: level}
	}
	return ps
}

func (s *story) jobOf(l *line, set workloads.PodSet) workloads.Job {
	j := workloads.Job{Submit: l.time("at", 0), Duration: l.time("work", 0), Queue: l.get("queue", ""), Priority: int32(l.int("priority", 0)),
		TimeLimit: l.time("limit", 0), AdmittedLimit: l.time("admitted-limit", 0), Completions: int32(l.int("completions", 0)), PlainPods: l.get("plain", "") == "yes", Startup: l.time("startup", 0),
		Termination: l.delay("termination"), Tolerate: l.delay("tolerate"), PodSets: []workloads.PodSet{set}, Model: s.models[l.get("model", "")]}
	if l.get("start", "") == "timing" {
		j.Startup = workloads.StartupFromTiming
	}
	if c := l.get("checkpoint", ""); c != "" {
		every, cost, _ := strings.Cut(c, "+")
		j.CheckpointInterval, j.CheckpointCost = l.duration(every), l.duration(cost)
	}
	for _, r := range strings.Fields(strings.ReplaceAll(l.get("restart", ""), "|", " ")) {
		at, ready, _ := strings.Cut(r, "+")
		at, rank, one := strings.Cut(at, ".")
		restart := workloads.Restart{Time: l.duration(at), Rank: workloads.AllPods, Ready: l.duration(ready)}
		if n, err := strconv.Atoi(rank); one && err == nil {
			restart.Rank = int32(n)
		}
		j.Restarts = append(j.Restarts, restart)
	}
	return j
}

func (s *story) fault(t *testing.T, d *datadriven.TestData) string {
	for _, l := range inputLines(t, d) {
		for n, node := range s.cfg.Cluster.Nodes {
			if node.Name != l.names[0] {
				continue
			}
			for _, up := range []bool{false, true} {
				if at := l.get(map[bool]string{false: "down", true: "up"}[up], ""); at != "" {
					s.cfg.Actions = append(s.cfg.Actions, sim.Action{Time: l.duration(at), Node: int32(n), Do: map[bool]sim.Deed{true: sim.DoUp}[up]})
				}
			}
		}
		l.done()
	}
	slices.SortStableFunc(s.cfg.Actions, compareTimes)
	return ""
}

// action is what is done to nodes, pods and jobs: one line each, the deed, then at= and what
// it is done to.
func (s *story) action(t *testing.T, d *datadriven.TestData) string {
	deeds := map[string]sim.Deed{"down": sim.DoDown, "up": sim.DoUp, "unreachable": sim.DoUnreachable, "delete": sim.DoDelete, "cordon": sim.DoCordon, "uncordon": sim.DoUncordon,
		"delete-pod": sim.DoDeletePod, "fail-pod": sim.DoFailPod, "delete-job": sim.DoDeleteJob, "deactivate": sim.DoDeactivate, "activate": sim.DoActivate}
	s.cfg.Actions = nil
	for _, l := range inputLines(t, d) {
		do, ok := deeds[l.names[0]]
		if !ok {
			t.Fatalf("nobody knows how to %q", l.names[0])
		}
		job, node := l.get("job", ""), l.get("node", "")
		s.cfg.Actions = append(s.cfg.Actions, sim.Action{Time: l.time("at", 0), Do: do, Rank: int32(l.int("pod", workloads.AllPods)),
			Job:  int32(slices.IndexFunc(s.cfg.Jobs, func(j workloads.Job) bool { return j.ID == job })),
			Node: int32(slices.IndexFunc(s.cfg.Cluster.Nodes, func(n topology.Node) bool { return n.Name == node }))})
		l.done()
	}
	slices.SortStableFunc(s.cfg.Actions, compareTimes)
	return ""
}

// config says everything else. Its lines are key=value words without a name.
func (s *story) config(t *testing.T, d *datadriven.TestData) string {
	l := &line{t: t, given: map[string]string{}}
	l.read(strings.Fields(d.Input))
	s.configTiming(l)
	s.cfg.Creation = map[string]sim.Creation{"burst": sim.Burst, "slowstart": sim.SlowStart, "interleaved": sim.Interleaved}[l.get("creation", "burst")]
	s.cfg.Until, s.cfg.Seed = l.time("until", 0), uint64(l.int("seed", 0))
	s.cfg.StarvationAfter = l.time("starvation", 0)
	if after, action, ok := strings.Cut(l.get("notice", ""), ":"); ok {
		s.cfg.Notice = sim.Notice{After: l.duration(after), Action: map[string]sim.NoticeAction{"kill": sim.Kill, "restart": sim.Restart}[action]}
	}
	p := &s.cfg.PodsReady
	if timeout := l.get("podsready", ""); timeout != "" {
		base, limit, _ := strings.Cut(l.get("backoff", "60s..3600s"), "..")
		*p = sim.PodsReady{Enabled: true, Timeout: l.duration(timeout), RecoveryTimeout: l.time("recovery", 0),
			FromCreation: l.get("timestamp", "eviction") == "creation", BlockAdmission: l.get("block-admission", "") == "on", BackoffLimit: int32(l.int("backoff-limit", -1)),
			BackoffBase: l.duration(base), BackoffMax: l.duration(limit)}
	}
	l.done()
	return ""
}

func (s *story) configTiming(l *line) {
	tm := &s.cfg.Timing
	*tm = map[string]sim.Timing{"instant": sim.Instant, "kubernetes": sim.Kubernetes}[l.get("timing", "instant")]
	tm.Jitter, tm.PodEnd = 0, 0 // times of stories are to be read
	tm.FrozenStatus = l.get("frozen", "") == "yes"
	for name, field := range map[string]*int64{
		"visible": &tm.JobVisible, "create": &tm.PodCreate, "wave": &tm.PodWave, "ungate": &tm.Ungate, "bind": &tm.Bind,
		"ready-lag": &tm.ReadyLag, "finish-lag": &tm.FinishLag, "evict-stop": &tm.EvictStop, "evict-release": &tm.EvictRelease,
		"termination": &tm.Termination, "flush": &tm.Flush, "strict-wake": &tm.StrictWake, "requeue-lag": &tm.Requeue,
		"deadline-lag": &tm.DeadlineLag, "replace": &tm.Replace, "replace-max": &tm.ReplaceMax, "node-detect": &tm.NodeDetect, "node-taint": &tm.NodeTaint, "tolerate": &tm.Tolerate,
		"pod-gc": &tm.PodGC, "second-pass": &tm.SecondPass, "second-offset": &tm.SecondOffset,
		"admitter-cycle": &tm.AdmitterCycle, "binder-cycle": &tm.BinderCycle, "pod-backoff": &tm.PodBackoff, "pod-backoff-max": &tm.PodBackoffMax,
	} {
		*field = l.time(name, *field)
	}
}

// run plays the scenario under a policy and prints what happened, one line per instant.
func (s *story) run(t *testing.T, d *datadriven.TestData) string {
	var name string
	params := map[string]string{}
	quiet := false
	for _, a := range d.CmdArgs {
		switch {
		case a.Key == "policy":
			name = a.Vals[0]
		case a.Key == "quiet":
			quiet = true
		default:
			params[a.Key] = a.Vals[0]
		}
	}
	policy, ok := policies.Lookup(name)
	if !ok {
		d.Fatalf(t, "no policy %q", name)
	}
	for k, v := range params {
		if err := policy.Check(k, v); err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	s.trace = nil
	e, err := sim.New(&s.cfg, policy.New(params), &s.trace)
	if err != nil {
		return err.Error() + "\n"
	}
	s.result = e.Run()
	audit(t, &s.cfg, s.trace, s.result)
	if quiet {
		return ""
	}
	return s.timeline()
}

// timeline prints transitions, consecutive ones of a kind together.
func (s *story) timeline() string {
	var b strings.Builder
	for i := 0; i < len(s.trace); {
		now := s.trace[i].Time
		var w words
		for ; i < len(s.trace) && s.trace[i].Time == now; i++ {
			tr := s.trace[i]
			if tr.Kind == sim.Bind && i+1 < len(s.trace) {
				if next := s.trace[i+1]; next.Kind == sim.Ready && next.Time == now && next.Job == tr.Job && next.Rank == tr.Rank {
					w.add("bind+ready", s.subject(tr), tr)
					i++
					continue
				}
			}
			w.add(verb(tr), s.subject(tr), tr)
		}
		fmt.Fprintf(&b, "%-8s %s\n", seconds(now), w.String())
	}
	return b.String()
}

func verb(tr sim.Transition) string {
	switch {
	case tr.Kind == sim.Evict && tr.Rank >= 0:
		return "lose"
	case tr.Kind == sim.Verdict:
		return sim.VerdictKind(tr.Count).String() + ":"
	}
	return tr.Kind.String()
}

func (s *story) subject(tr sim.Transition) string {
	if tr.Job < 0 {
		return "-"
	}
	id := s.cfg.Jobs[tr.Job].ID
	switch tr.Kind {
	case sim.Barrier:
		return fmt.Sprintf("%s(%d)", id, tr.Count)
	case sim.Bind, sim.Ready, sim.Evict:
		if tr.Rank >= 0 {
			return fmt.Sprintf("%s.%d@%s", id, tr.Rank, s.cfg.Cluster.Nodes[tr.Place].Name)
		}
	}
	return id
}

// words groups subjects under verbs, and neighbouring ranks of a job on a node under one
// subject.
type words struct {
	out  []string
	verb string
	last sim.Transition
	from int32
}

func (w *words) add(verb, subject string, tr sim.Transition) {
	n := len(w.out)
	same := verb == w.verb
	switch {
	case same && tr.Rank > 0 && tr.Job == w.last.Job && tr.Place == w.last.Place && tr.Rank == w.last.Rank+1:
		id, _, _ := strings.Cut(subject, ".")
		_, place, _ := strings.Cut(subject, "@")
		words := strings.Fields(w.out[n-1])
		words[len(words)-1] = fmt.Sprintf("%s.%d-%d@%s", id, w.from, tr.Rank, place)
		w.out[n-1] = strings.Join(words, " ")
	case same:
		w.out[n-1] += " " + subject
		w.from = tr.Rank
	default:
		w.out = append(w.out, verb+" "+subject)
		w.verb, w.from = verb, tr.Rank
	}
	w.last = tr
}

func (w *words) String() string { return strings.Join(w.out, "; ") }

// ledger prints the accounts of the last run in GPU-seconds.
// places prints the stalls by the place that bound them, and of each job what bound it most.
func (s *story) places(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	r := s.result
	for p := range sim.NumPlaces {
		for _, x := range []struct {
			account ledger.Account
			sum     ledger.Uint128
		}{{ledger.StallLocality, r.Stalls.Locality[p]}, {ledger.StallContention, r.Stalls.Contention[p]}} {
			if !x.sum.IsZero() {
				fmt.Fprintf(&b, "%-20s %-10s %s\n", x.account, p.Name(s.cfg.Cluster.Levels), gpuSeconds(x.sum))
			}
		}
	}
	for j := range r.Bounds {
		most, ok := r.Bounds[j].Bottleneck()
		fmt.Fprintf(&b, "%s %s %v", s.cfg.Jobs[j].ID, most.Name(s.cfg.Cluster.Levels), ok)
		for p := range sim.NumPlaces {
			if ran := r.Bounds[j].Ran[p]; !ran.IsZero() {
				fmt.Fprintf(&b, ", at %s ran %s stalled %s", p.Name(s.cfg.Cluster.Levels), gpuSeconds(ran), gpuSeconds(r.Bounds[j].Stalled[p]))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (s *story) ledger(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	for m, model := range s.cfg.Cluster.Models {
		prefix := ""
		if len(s.cfg.Cluster.Models) > 1 {
			prefix = model + " "
		}
		for a := range ledger.NumAccounts {
			if sum := s.result.Books.Sum(m, a); !sum.IsZero() {
				fmt.Fprintf(&b, "%s%-20s %s\n", prefix, a, gpuSeconds(sum))
			}
		}
	}
	for _, x := range []struct {
		name string
		sum  ledger.Uint128
	}{{"at_risk", s.result.AtRisk}, {"quota_unused", s.result.Reserved}} {
		if !x.sum.IsZero() {
			fmt.Fprintf(&b, "(%s %s)\n", x.name, gpuSeconds(x.sum))
		}
	}
	if s.result.Last.Stranded() > 0 {
		fmt.Fprintf(&b, "(stranded at the end %s GPUs)\n", decimal(big.NewInt(s.result.Last.Stranded()), 3))
	}
	return b.String()
}

// jobs prints what became of every job, or of those named.
func (s *story) jobs(t *testing.T, d *datadriven.TestData) string {
	states := map[sim.JobState]string{sim.Future: "future", sim.Queued: "queued", sim.Backoff: "backing-off", sim.Admitted: "admitted",
		sim.Finished: "finished", sim.Failed: "failed", sim.Deactivated: "deactivated"}
	var b strings.Builder
	for j, r := range s.result.Jobs {
		id := s.cfg.Jobs[j].ID
		if len(d.CmdArgs) > 0 && !d.HasArg(id) {
			continue
		}
		fmt.Fprintf(&b, "%s %s", id, states[r.State])
		for _, x := range []struct {
			name string
			at   int64
		}{{"admission_wait", r.FirstAdmit}, {"wait", r.FirstStart}, {"jct", r.Finish}} {
			if x.at >= 0 {
				fmt.Fprintf(&b, " %s=%s", x.name, seconds(x.at-r.Submit))
			}
		}
		for c, n := range r.Evictions {
			if n > 0 {
				fmt.Fprintf(&b, " evictions.%s=%d", sim.Cause(c), n)
			}
		}
		if r.Requeues > 0 {
			fmt.Fprintf(&b, " requeues=%d", r.Requeues)
		}
		if r.Step > 0 {
			fmt.Fprintf(&b, " allreduce=%dppm step=%dppm", r.AllReduce, r.Step)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// history prints the times of the transitions of one job, pods left out.
func (s *story) history(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	for _, k := range []sim.TransitionKind{sim.Submit, sim.Admit, sim.Barrier, sim.Evict, sim.Requeue, sim.Deactivate, sim.Finish, sim.Fail} {
		var times []string
		for _, tr := range s.trace {
			if tr.Kind == k && tr.Rank < 0 && d.HasArg(s.cfg.Jobs[max(0, tr.Job)].ID) {
				times = append(times, seconds(tr.Time))
			}
		}
		if len(times) > 0 {
			fmt.Fprintf(&b, "%-10s %s\n", k, strings.Join(times, " "))
		}
	}
	return b.String()
}

func (s *story) verdicts(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	for _, f := range s.result.Findings {
		fmt.Fprintf(&b, "%s %s", seconds(f.Time), f.Kind)
		for _, j := range f.Jobs {
			b.WriteString(" " + s.cfg.Jobs[j].ID)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "end %s\n", seconds(s.result.End))
	return b.String()
}

func (s *story) digest(t *testing.T, d *datadriven.TestData) string {
	return fmt.Sprintf("%016x\n", uint64(s.result.Digest))
}

// line is one line of a command's input: a name, or a range of names like n1..n4, and
// key=value words.
type line struct {
	t     *testing.T
	text  string
	names []string
	given map[string]string
}

func inputLines(t *testing.T, d *datadriven.TestData) []*line {
	var ls []*line
	for text := range strings.SplitSeq(d.Input, "\n") {
		if words := strings.Fields(text); len(words) > 0 {
			l := &line{t: t, text: text, names: expand(words[0]), given: map[string]string{}}
			l.read(words[1:])
			ls = append(ls, l)
		}
	}
	return ls
}

var span = regexp.MustCompile(`^(.*?)(\d+)\.\.(\d+)$`)

// expand turns n1..3 into n1 n2 n3.
func expand(name string) []string {
	m := span.FindStringSubmatch(name)
	if m == nil {
		return []string{name}
	}
	from, _ := strconv.Atoi(m[2])
	to, _ := strconv.Atoi(m[3])
	var names []string
	for i := from; i <= to; i++ {
		names = append(names, m[1]+strconv.Itoa(i))
	}
	return names
}

func (l *line) read(words []string) {
	for _, w := range words {
		k, v, ok := strings.Cut(w, "=")
		if _, twice := l.given[k]; !ok || twice {
			l.t.Fatalf("%s: %q: expected key=value, once", l.text, w)
		}
		l.given[k] = v
	}
}

// get takes a word's value; done fails if a word was not taken.
func (l *line) get(key, otherwise string) string {
	v, ok := l.given[key]
	if !ok {
		return otherwise
	}
	delete(l.given, key)
	return v
}

func (l *line) done() {
	for k := range l.given {
		l.t.Fatalf("%s: unknown word %q", l.text, k)
	}
}

func (l *line) int(key string, otherwise int) int {
	v := l.get(key, "")
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	l.check(err)
	return n
}

func (l *line) float(key string) float64 {
	x, err := strconv.ParseFloat(l.get(key, ""), 64)
	l.check(err)
	return x
}

func (l *line) delay(key string) workloads.Delay {
	if given := l.get(key, ""); given != "" {
		return workloads.DelayOf(l.duration(given))
	}
	return 0
}

func (l *line) time(key string, otherwise int64) int64 {
	if v := l.get(key, ""); v != "" {
		return l.duration(v)
	}
	return otherwise
}

func (l *line) duration(text string) int64 {
	d, err := time.ParseDuration(text)
	l.check(err)
	return int64(d)
}

// milli reads a number of GPUs, which may be a fraction.
func (l *line) milli(text string) int64 {
	x, err := strconv.ParseFloat(text, 64)
	l.check(err)
	return int64(x*1000 + 0.5)
}

func (l *line) check(err error) {
	if err != nil {
		l.t.Fatalf("%s: %v", l.text, err)
	}
}

// seconds prints nanoseconds as seconds, exactly.
func seconds(ns int64) string { return decimal(big.NewInt(ns), 9) + "s" }

// gpuSeconds prints milli-GPU x ns as GPU-seconds, exactly.
func gpuSeconds(u ledger.Uint128) string {
	n := new(big.Int).Lsh(new(big.Int).SetUint64(u.Hi), 64)
	return decimal(n.Or(n, new(big.Int).SetUint64(u.Lo)), 12)
}

// decimal prints n / 10^places without trailing zeros.
func decimal(n *big.Int, places int) string {
	digits := fmt.Sprintf("%0*s", places+1, n.String())
	whole, part := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if part == "" {
		return whole
	}
	return whole + "." + part
}
