package traces

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// form is how a value is written in JSON. In CSV it is its text.
type form uint8

const (
	text   form = iota // "research"
	number             // 0.5
	memory             // 1024 or "1KiB"
	list               // ["A100", "H100"]; in CSV A100|H100
	flag               // true
)

// field is one thing that CSV and JSONL can say of a T. set takes a text that is not
// empty; get returns an empty text where the field need not be written.
type field[T any] struct {
	name string
	form form
	set  func(c *context, v *T, s string) error
	get  func(v *T) string
}

type (
	job    = workloads.Job
	podSet = workloads.PodSet
)

// jobFields are the fields of a job, in the order in which they are written.
var jobFields = []field[job]{
	word("id", func(j *job) *string { return &j.ID }),
	always(quantity("row", rows, func(j *job) *int64 { return &j.Row })),
	always(quantity("submit_seconds", seconds, func(j *job) *int64 { return &j.Submit })),
	always(quantity("duration_seconds", seconds, func(j *job) *int64 { return &j.Duration })),
	{"gpus", number, setGPUs, getGPUs},
	word("queue", func(j *job) *string { return &j.Queue }),
	word("tenant", func(j *job) *string { return &j.Tenant }),
	word("namespace", func(j *job) *string { return &j.Namespace }),
	{"labels", list, setLabels, getLabels},
	{"priority", number, setPriority, func(j *job) string { return nonZero(int64(j.Priority)) }},
	{"preemption_policy", text, setPreemption, getPreemption},
	{"model", text, setModel, getModel},
	quantity("time_limit_seconds", seconds, func(j *job) *int64 { return &j.TimeLimit }),
	quantity("maximum_execution_seconds", seconds, func(j *job) *int64 { return &j.AdmittedLimit }),
	quantity("checkpoint_interval_seconds", seconds, func(j *job) *int64 { return &j.CheckpointInterval }),
	quantity("checkpoint_cost_seconds", seconds, func(j *job) *int64 { return &j.CheckpointCost }),
	{"startup_seconds", number, setStartup, getStartup},
	delay("termination_seconds", func(j *job) *workloads.Delay { return &j.Termination }),
	delay("lost_node_seconds", func(j *job) *workloads.Delay { return &j.Tolerate }),
	word("image", func(j *job) *string { return &j.Image }),
	bytesField("image_size", func(j *job) *int64 { return &j.ImageBytes }),
	truth("carried", func(j *job) *bool { return &j.Carried }),
	affinity("pod_affinity", func(j *job) *[]workloads.PodTerm { return &j.Affinity }),
	affinity("pod_anti_affinity", func(j *job) *[]workloads.PodTerm { return &j.AntiAffinity }),
	{"topology_spread", list, setSpread, getSpread},
	{"restarts", list, setRestarts, getRestarts},
	{"completions", number, setCompletions, getCompletions},
	truth("plain_pods", func(j *job) *bool { return &j.PlainPods }),
}

// podFields are the fields of equal pods. Where a job has one PodSet they stand beside
// jobFields.
var podFields = []field[podSet]{
	count("pods", func(p *podSet) *int32 { return &p.Count }),
	always(quantity("gpus_per_pod", devices, func(p *podSet) *int64 { return &p.Request[topology.GPU] })),
	{"podset", text, setPodSetName, getPodSetName},
	orNone(topology.CPU, quantity("cpus_per_pod", cores, func(p *podSet) *int64 { return &p.Request[topology.CPU] })),
	orNone(topology.Memory, bytesField("memory_per_pod", func(p *podSet) *int64 { return &p.Request[topology.Memory] })),
	count("min_pods", func(p *podSet) *int32 { return &p.MinCount }),
	{"gpu_models", list, setModels, func(p *podSet) string { return strings.Join(p.Models, "|") }},
	{"topology", text, setTopology, getTopology},
	{"slices", list, setSlices, getSlices},
	word("group", func(p *podSet) *string { return &p.Topology.Group }),
	{"node_selector", list, setNodeSelector, getNodeSelector},
	{"node_affinity", list, setNodeAffinity, getNodeAffinity},
	{"tolerations", list, setTolerations, getTolerations},
	word("node", func(p *podSet) *string { return &p.Node }),
	count("never_ready", func(p *podSet) *int32 { return &p.NeverReady }),
}

// context is what the fields of all rows of a trace share.
type context struct {
	Options
	names map[string]string // one copy of every name that many jobs repeat
}

func newContext(o Options) *context { return &context{o, map[string]string{}} }

// name checks a name and returns the trace's copy of it: s may be part of a longer text.
func (c *context) name(s string) (string, error) {
	if known, ok := c.names[s]; ok {
		return known, nil
	}
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%s is not UTF-8", quote(s))
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("%s has a control character: expected one line of text", quote(s))
	}
	s = strings.Clone(s)
	const maxNames = 1 << 16 // beyond, it is not a few names that repeat
	if len(c.names) < maxNames {
		c.names[s] = s
	}
	return s, nil
}

// word is a field that holds a name.
func word[T any](name string, at func(*T) *string) field[T] {
	set := func(c *context, v *T, s string) (err error) {
		*at(v), err = c.name(s)
		return err
	}
	return field[T]{name, text, set, func(v *T) string { return *at(v) }}
}

// quantity is a field that holds a number of units.
func quantity[T any](name string, u unit, at func(*T) *int64) field[T] {
	set := func(_ *context, v *T, s string) (err error) {
		*at(v), err = u.parse(s)
		return err
	}
	get := func(v *T) string {
		if *at(v) == 0 {
			return ""
		}
		return u.format(*at(v))
	}
	return field[T]{name, number, set, get}
}

// always makes a field of numbers be written where it is zero.
func always[T any](f field[T]) field[T] {
	get := f.get
	f.get = func(v *T) string {
		if s := get(v); s != "" {
			return s
		}
		return "0"
	}
	return f
}

// orNone makes of a zero that is written one that is meant: the pods ask for none of a resource.
func orNone(r topology.Resource, f field[podSet]) field[podSet] {
	set, get := f.set, f.get
	f.set = func(c *context, p *podSet, s string) error {
		err := set(c, p, s)
		p.None[r] = err == nil && p.Request[r] == 0
		return err
	}
	f.get = func(p *podSet) string {
		if p.None[r] {
			return "0"
		}
		return get(p)
	}
	return f
}

// count is a field that holds a number of pods.
func count(name string, at func(*podSet) *int32) field[podSet] {
	set := func(_ *context, p *podSet, s string) error {
		n, err := pods.parse(s)
		*at(p) = int32(n)
		return err
	}
	return field[podSet]{name, number, set, func(p *podSet) string { return nonZero(int64(*at(p))) }}
}

// bytesField is a field that holds an amount of memory.
func bytesField[T any](name string, at func(*T) *int64) field[T] {
	set := func(_ *context, v *T, s string) (err error) {
		*at(v), err = parseMemory(s)
		return err
	}
	get := func(v *T) string {
		if *at(v) == 0 {
			return ""
		}
		return formatMemory(*at(v))
	}
	return field[T]{name, memory, set, get}
}

func nonZero(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func setGPUs(_ *context, j *job, s string) error {
	n, err := gpus.parse(s)
	j.GPUs = int32(n)
	return err
}

// getGPUs writes the total where the job has one, or has nothing else to say.
func getGPUs(j *job) string {
	if j.GPUs == 0 && len(j.PodSets) > 0 {
		return ""
	}
	return strconv.Itoa(int(j.GPUs))
}

func setPriority(_ *context, j *job, s string) error {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return fmt.Errorf("%s is no priority: expected a whole number from -2147483648 to 2147483647", quote(s))
	}
	j.Priority = int32(n)
	return nil
}

func setModel(c *context, j *job, s string) error {
	m, ok := c.Model(s)
	if !ok {
		return fmt.Errorf("%s is not a known model%s", quote(s), suggest.Hint(s, c.ModelNames))
	}
	j.Model = m
	return nil
}

func getModel(j *job) string {
	if j.Model == nil {
		return ""
	}
	return j.Model.Name
}

func setStartup(_ *context, j *job, s string) (err error) {
	j.Startup, err = seconds.parse(s)
	return err
}

// getStartup leaves the time out where it comes from the timing.
func getStartup(j *job) string {
	if j.Startup < 0 {
		return ""
	}
	return seconds.format(j.Startup)
}

// delay is a field that holds a time which the timing gives where there is none.
func delay(name string, at func(*job) *workloads.Delay) field[job] {
	set := func(_ *context, j *job, s string) error {
		n, err := seconds.parse(s)
		*at(j) = workloads.DelayOf(n)
		return err
	}
	get := func(j *job) string {
		if *at(j) == 0 {
			return ""
		}
		return seconds.format(at(j).Or(0))
	}
	return field[job]{name, number, set, get}
}

// truth is a field that holds true or false; false is not written.
func truth(name string, at func(*job) *bool) field[job] {
	set := func(_ *context, j *job, s string) error {
		if s != "true" && s != "false" {
			return fmt.Errorf("%s is neither true nor false", quote(s))
		}
		*at(j) = s == "true"
		return nil
	}
	get := func(j *job) string {
		if !*at(j) {
			return ""
		}
		return "true"
	}
	return field[job]{name, flag, set, get}
}

func setPodSetName(c *context, p *podSet, s string) (err error) {
	p.Name, err = c.name(s)
	return err
}

// getPodSetName leaves out the name that a PodSet has by default.
func getPodSetName(p *podSet) string {
	if p.Name == workloads.WorkersPodSet {
		return ""
	}
	return p.Name
}

func setModels(c *context, p *podSet, s string) error {
	p.Models = nil
	for m := range strings.SplitSeq(s, "|") {
		if m = strings.TrimSpace(m); m == "" {
			return fmt.Errorf("%s names an empty GPU model: expected names such as A100|H100", quote(s))
		}
		m, err := c.name(m)
		if err != nil {
			return err
		}
		p.Models = append(p.Models, m)
	}
	return nil
}

// topologyModes are the words for the modes, by mode.
var topologyModes = [...]string{
	workloads.TopologyNone:          "",
	workloads.TopologyUnconstrained: "unconstrained",
	workloads.TopologyPreferred:     "preferred",
	workloads.TopologyRequired:      "required",
	workloads.TopologySliceOnly:     "slice-only",
}

func setTopology(c *context, p *podSet, s string) error {
	mode, level, hasLevel := strings.Cut(s, ":")
	i := slices.Index(topologyModes[:], mode)
	if i <= 0 {
		return fmt.Errorf("%s is no topology request: expected required:LEVEL, preferred:LEVEL, unconstrained or slice-only%s",
			quote(s), suggest.Hint(mode, topologyModes[1:]))
	}
	p.Topology.Mode = workloads.TopologyMode(i)
	needsLevel := p.Topology.Mode == workloads.TopologyPreferred || p.Topology.Mode == workloads.TopologyRequired
	if hasLevel != needsLevel || hasLevel && level == "" {
		return fmt.Errorf("%s: expected required:LEVEL or preferred:LEVEL with the name of a level, or unconstrained or slice-only without", quote(s))
	}
	var err error
	p.Topology.Level, err = c.name(level)
	return err
}

func getTopology(p *podSet) string {
	if p.Topology.Level == "" {
		return topologyModes[p.Topology.Mode]
	}
	return topologyModes[p.Topology.Mode] + ":" + p.Topology.Level
}

// setSlices reads layers of slices, the outermost first, as in block:8|rack:4.
func setSlices(c *context, p *podSet, s string) error {
	p.Topology.Slices = [workloads.MaxSliceLayers]workloads.Slice{}
	layer := 0
	for part := range strings.SplitSeq(s, "|") {
		if layer == workloads.MaxSliceLayers {
			return fmt.Errorf("%s: expected at most %d layers of slices", quote(s), workloads.MaxSliceLayers)
		}
		colon := strings.LastIndexByte(part, ':')
		if colon <= 0 {
			return fmt.Errorf("%s is no layer of slices: expected LEVEL:SIZE such as rack:4", quote(part))
		}
		size, err := pods.parse(part[colon+1:])
		if err == nil && size == 0 {
			err = fmt.Errorf("%s: expected slices of at least one pod", quote(part))
		}
		if err != nil {
			return err
		}
		slice := workloads.Slice{Size: int32(size)}
		if slice.Level, err = c.name(part[:colon]); err != nil {
			return err
		}
		p.Topology.Slices[layer] = slice
		layer++
	}
	return nil
}

func getSlices(p *podSet) string {
	var parts []string
	for _, s := range p.Topology.Slices {
		if s.Size > 0 {
			parts = append(parts, s.Level+":"+strconv.Itoa(int(s.Size)))
		}
	}
	return strings.Join(parts, "|")
}
