package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gangplan/gangplan/internal/scenario"
)

// conditions are what a repetition of a recorded scenario had of its own.
type conditions struct {
	offset float64            // ms: where in a second of the clock it began
	submit map[string]float64 // s: when its jobs were created; as the scenario says without
}

// Facts of the recordings that no scenario states. Kueue was restarted before every run, and
// no Workload came into being before its webhooks and caches stood; jobs of one moment were
// created by one client, one after another.
const (
	firstWorkload = 0.11 // s
	nextJob       = 0.005
)

// What the fake kubelet did unless a job says otherwise, and a time for jobs that never end.
const (
	startDelay  = 1.0
	termination = 0.5
	forGood     = scenario.Duration(30 * 24 * time.Hour)
)

// convert writes a recorded scenario as a scenario file.
func (s *timelineScenario) convert(of conditions) (*scenario.File, error) {
	f := &scenario.File{APIVersion: scenario.APIVersion, Kind: scenario.Kind, Name: s.ID + ": " + s.Title,
		Until: seconds(s.Observe), PodCreation: "slow-start"}
	f.Timing = s.timing(of)
	for _, step := range []func(*scenario.File) error{s.convertNodes, s.convertKueue, s.convertScheduler,
		func(f *scenario.File) error { return s.convertJobs(f, of) }, s.convertActions} {
		if err := step(f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Variants of a scenario end with the name of what was changed in the control plane: a Job
// controller without the bug of 1.34.4, or the clients' own rate limits instead of raised
// ones.
const (
	fixedController = "_fixedkcm"
	defaultClients  = "_defqps"
)

// Most recordings shared two processors with up to nine other control planes. Over all of
// them the steps of Kueue's controller for Jobs, which does one after another, and of the Job
// controller had these medians, where the preset has those of a quiet machine.
const (
	sharedWorkload  = scenario.Duration(12 * time.Millisecond)
	sharedUnsuspend = scenario.Duration(18 * time.Millisecond)
	sharedPodCreate = scenario.Duration(6 * time.Millisecond)
)

func (s *timelineScenario) timing(of conditions) scenario.Timing {
	t := scenario.Timing{Preset: "kubernetes", SecondOffset: new(scenario.Duration(math.Round(of.offset * 1e6))),
		Workload: new(sharedWorkload), Unsuspend: new(sharedUnsuspend), PodCreate: new(sharedPodCreate)}
	if !strings.Contains(s.ID, fixedController) {
		t.FrozenStatus = new(true)
	}
	if strings.Contains(s.ID, defaultClients) {
		limit := func(qps, burst int64) *scenario.Client { return &scenario.Client{QPS: &qps, Burst: &burst} }
		t.Clients = &scenario.Clients{JobController: limit(20, 30), Kueue: limit(20, 30), Scheduler: limit(50, 100)}
	}
	return t
}

const hostnameLabel = "kubernetes.io/hostname"

// levels are the levels of the topology, from the highest down: those of Kueue's Topology, or
// of the labels that recorded nodes have.
func (s *timelineScenario) levels() ([]string, error) {
	levels := []string{"zone", "block", "rack", hostnameLabel}
	if s.topologyAware() {
		if n := len(s.Kueue.Topologies); n != 1 {
			return nil, cannot("%d topologies: one is expected", n)
		}
		levels = slices.Clone(s.Kueue.Topologies[0].Levels)
	}
	if n := len(levels); n == 0 || levels[n-1] != hostnameLabel {
		return nil, cannot("a topology whose lowest level is not %s", hostnameLabel)
	}
	levels[len(levels)-1] = "host"
	return levels, nil
}

func (s *timelineScenario) topologyAware() bool {
	return s.Kueue != nil && slices.ContainsFunc(s.Kueue.Flavors, func(f timelineFlavor) bool { return f.Topology != "" })
}

func (s *timelineScenario) convertNodes(f *scenario.File) error {
	levels, err := s.levels()
	if err != nil {
		return err
	}
	f.Cluster.Levels = levels
	for i := range s.Nodes {
		f.Cluster.Nodes = append(f.Cluster.Nodes, s.Nodes[i].convert(levels))
	}
	for i := range s.Actions {
		if spec := s.Actions[i].Spec; spec != nil {
			f.Cluster.Nodes = append(f.Cluster.Nodes, spec.convert(levels))
		}
	}
	return nil
}

// convert writes a node. Those of the recordings all had a label by which jobs could ask for
// them, pool=gpu, which their descriptions leave out.
func (n *timelineNode) convert(levels []string) scenario.Node {
	out := scenario.Node{Name: n.Name, GPUs: n.GPU, CPU: scenario.Milli(math.Round(n.CPU * 1000)), Memory: gibibytes(n.MemGi),
		Domains: map[string]string{}, Labels: map[string]string{"pool": "gpu"}}
	for key, value := range n.Labels {
		if slices.Contains(levels, key) {
			out.Domains[key] = value
		} else {
			out.Labels[key] = value
		}
	}
	for _, t := range n.Taints {
		out.Taints = append(out.Taints, scenario.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	if n.Unschedulable {
		out.Taints = append(out.Taints, scenario.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"})
	}
	return out
}

func gibibytes(n float64) scenario.Bytes { return scenario.Bytes(math.Round(n * (1 << 30))) }

// convertScheduler names the policy: Kueue with or without a topology, or none; and of the
// two profiles of the recorded kube-scheduler the one that the jobs ask for.
func (s *timelineScenario) convertScheduler(f *scenario.File) error {
	p := scenario.Policy{Name: "per-pod", Params: map[string]string{"ties": "random"}}
	if s.Kueue != nil {
		p.Name = "gang"
		if s.topologyAware() {
			p.Name, p.Params["mode"] = "gang-topology", "unconstrained"
		}
		if err := s.Kueue.Config.convert(f, &p); err != nil {
			return err
		}
	}
	for i := range s.Jobs {
		name, first := s.Jobs[i].Scheduler, s.Jobs[0].Scheduler
		if name != first {
			return cannot("jobs of different schedulers: %q and %q", first, name)
		}
		switch name {
		case "", "default-scheduler":
		case "packer":
			p.Params["profile"], p.Params["fit"], p.Params["resources"] = "custom", "MostAllocated", "gpu=5,cpu=1,memory=1"
		default:
			return cannot("the scheduler %q", name)
		}
	}
	f.Policies = []scenario.Policy{p}
	return nil
}

// convert sets what Kueue's configuration says.
func (c *timelineConfig) convert(f *scenario.File, p *scenario.Policy) error {
	if fair := c.Fair; fair != nil && (fair.Enable == nil || *fair.Enable) {
		p.Params["fairSharing"] = "on"
		switch len(fair.Strategies) {
		case 0:
		case 1:
			p.Params["fairStrategies"] = fair.Strategies[0]
		default:
			p.Params["fairStrategies"] = "both"
		}
	}
	var gates []string
	for _, gate := range slices.Sorted(maps.Keys(c.Gates)) {
		gates = append(gates, fmt.Sprintf("%s=%t", gate, c.Gates[gate]))
	}
	if len(gates) > 0 {
		p.Params["gates"] = strings.Join(gates, ",")
	}
	return c.convertReadiness(f)
}

func (c *timelineConfig) convertReadiness(f *scenario.File) error {
	given := c.PodsReady
	if given == nil || given.Enable != nil && !*given.Enable {
		return nil
	}
	w := &scenario.WaitForPodsReady{BlockAdmission: given.Block, RequeuingStrategy: scenario.RequeuingStrategy{
		Timestamp: given.Requeuing.Timestamp, BackoffBaseSeconds: given.Requeuing.Base,
		BackoffMaxSeconds: given.Requeuing.Max, BackoffLimitCount: given.Requeuing.Limit}}
	var err error
	if w.Timeout, err = goDuration(given.Timeout); err != nil {
		return err
	}
	if given.Recovery != "" {
		recovery, err := goDuration(given.Recovery)
		if err != nil {
			return err
		}
		w.RecoveryTimeout = &recovery
	}
	f.WaitForPodsReady = w
	return nil
}

// goDuration reads a time as Kueue's configuration has it.
func goDuration(text string) (scenario.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, cannot("the time %q: %v", text, err)
	}
	return scenario.Duration(d), nil
}

// convertJobs writes the jobs in the order in which they were created.
func (s *timelineScenario) convertJobs(f *scenario.File, of conditions) error {
	last, earliest := math.Inf(-1), 0.0
	if s.Kueue != nil {
		earliest = firstWorkload
	}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		at, recorded := of.submit[j.Name]
		if !recorded {
			at = j.Submit
		}
		at = max(at, earliest)
		if !s.Concurrent && at <= last && last < at+float64(float64(len(s.Jobs))*nextJob) {
			at = last + nextJob
		}
		last = at
		out, err := j.convert(f.Cluster.Levels)
		if err != nil {
			return fmt.Errorf("job %s: %w", j.Name, err)
		}
		out.Submit = seconds(at)
		f.Workload.Jobs = append(f.Workload.Jobs, *out)
	}
	return nil
}

func (j *timelineJob) convert(levels []string) (*scenario.Job, error) {
	if j.Priority != 0 && j.PodPriority != 0 {
		return nil, cannot("a priority of the Workload and another of its pods")
	}
	if p := cmp.Or(j.Replacement, j.ReplaceWhen); p != "" && p != "TerminatingOrFailed" && p != "Failed" {
		return nil, cannot("the podReplacementPolicy %q", p)
	}
	out := &scenario.Job{ID: j.Name, Duration: seconds(j.Duration), Queue: j.Queue, Priority: cmp.Or(j.Priority, j.PodPriority),
		Startup: new(seconds(startDelay)), Termination: new(seconds(termination)), Completions: j.Completions}
	if j.Duration == 0 {
		out.Duration = forGood
	}
	if j.StartDelay != nil {
		*out.Startup = seconds(*j.StartDelay)
	}
	if j.Termination != nil {
		*out.Termination = seconds(*j.Termination)
	}
	if j.MinPods > 0 { // partial admission of a batch Job lowers its parallelism only
		out.Completions = cmp.Or(j.Completions, j.Pods)
	}
	out.Labels = map[string]string{"app": j.Name}
	out.Pods = scenario.Pods{Pods: j.Pods, MinPods: j.MinPods, GPUsPerPod: milli(j.GPUs), CPUPerPod: milli(j.CPU), MemoryPerPod: new(gibibytes(j.MemGi))}
	for _, key := range slices.Sorted(maps.Keys(j.Selector)) {
		if key == hostnameLabel {
			out.Pods.Node = j.Selector[key]
			continue
		}
		if out.Pods.NodeSelector == nil {
			out.Pods.NodeSelector = map[string]string{}
		}
		out.Pods.NodeSelector[key] = j.Selector[key]
	}
	if j.Tolerate != nil {
		out.Pods.Tolerations = []scenario.Toleration{{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute",
			TolerationSeconds: new(int64(math.Round(*j.Tolerate)))}}
	}
	var err error
	if out.Pods.Topology, err = j.topology(); err != nil {
		return nil, err
	}
	return out, j.convertAffinity(out)
}

// Annotations of a topology request.
const (
	annotation    = "kueue.x-k8s.io/podset-"
	requiredKey   = annotation + "required-topology"
	preferredKey  = annotation + "preferred-topology"
	anywhereKey   = annotation + "unconstrained-topology"
	sliceLevelKey = annotation + "slice-required-topology"
	sliceSizeKey  = annotation + "slice-size"
)

func (j *timelineJob) topology() (*scenario.Topology, error) {
	if len(j.Topology) == 0 {
		return nil, nil
	}
	out := &scenario.Topology{}
	var slice scenario.Slice
	for key, value := range j.Topology {
		switch key {
		case requiredKey:
			out.Required = level(text(value))
		case preferredKey:
			out.Preferred = level(text(value))
		case anywhereKey:
			out.Unconstrained = value == true || value == "true"
		case sliceLevelKey:
			slice.Level = level(text(value))
		case sliceSizeKey:
			if _, err := fmt.Sscan(fmt.Sprint(value), &slice.Size); err != nil {
				return nil, cannot("the slice size %v", value)
			}
		default:
			return nil, cannot("the annotation %s", key)
		}
	}
	if slice != (scenario.Slice{}) {
		out.Slices = []scenario.Slice{slice}
		out.SliceOnly = out.Required == "" && out.Preferred == "" && !out.Unconstrained
	}
	return out, nil
}

// level is gangplan's name of a topology key.
func level(key string) string {
	if key == hostnameLabel {
		return "host"
	}
	return key
}

func (j *timelineJob) convertAffinity(out *scenario.Job) error {
	if j.Affinity == nil {
		return nil
	}
	out.PodAffinity = j.Affinity.Pod.convert()
	out.PodAntiAffinity = j.Affinity.Anti.convert()
	return nil
}

func (t *timelineTerms) convert() (terms []scenario.PodTerm) {
	if t == nil {
		return nil
	}
	for _, r := range t.Required {
		terms = append(terms, r.convert(0))
	}
	for _, p := range t.Preferred {
		terms = append(terms, p.Term.convert(p.Weight))
	}
	return terms
}

func (t *timelineTerm) convert(weight int32) scenario.PodTerm {
	return scenario.PodTerm{Level: level(t.Key), Weight: weight, LabelSelector: &scenario.LabelSelector{MatchLabels: t.Selector.MatchLabels}}
}

// readTimeline reads the input of a recorded scenario.
func readTimeline(raw json.RawMessage) (*timelineScenario, error) {
	s := &timelineScenario{}
	if err := strictJSON(raw, s); err != nil {
		return nil, err
	}
	return s, nil
}
