package workloads

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

// valid returns a job that uses every field within its limits.
func valid() Job {
	j := NewJob("ok", 1)
	j.Submit, j.Duration, j.TimeLimit = hour, day, 2*day
	j.CheckpointInterval, j.CheckpointCost = hour, 30*second
	j.GPUs, j.ImageBytes = 19, 20*topology.GiB
	j.PodSets = Shape(19, 8, PerGPU())
	j.PodSets[0].MinCount = 1
	j.PodSets[0].Topology = TopologyRequest{Mode: TopologyRequired, Level: "rack"}
	j.Model, _ = LookupModel("llama-3-8b")
	return j
}

func TestValidateAccepts(t *testing.T) {
	cases := map[string]func(*Job){
		"as it is":              func(j *Job) {},
		"submitted at zero":     func(j *Job) { j.Submit = 0 },
		"the longest times":     func(j *Job) { j.Submit, j.Duration = MaxTime, MaxTime },
		"no duration":           func(j *Job) { j.Duration = 0 },
		"not shaped yet":        func(j *Job) { j.PodSets = nil },
		"neither GPUs nor pods": func(j *Job) { j.PodSets, j.GPUs = nil, 0 },
		"an optional PodSet":    func(j *Job) { j.PodSets[1].Count = 0 },
		"no model":              func(j *Job) { j.Model = nil },
		"ready at once":         func(j *Job) { j.Startup = 0 },
		"the most GPUs":         func(j *Job) { j.GPUs = MaxGPUs; j.PodSets = Shape(MaxGPUs, 8, PerGPU()) },
		"pods never ready":      func(j *Job) { j.PodSets[0].NeverReady = 2 },
	}
	for name, change := range cases {
		j := valid()
		change(&j)
		if err := Validate(&j); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	cases := []struct {
		field   string
		problem string
		change  func(*Job)
	}{
		{"submit", "-1 ns: expected 0 to 3153600000000000000", func(j *Job) { j.Submit = -1 }},
		{"submit", "expected 0 to", func(j *Job) { j.Submit = MaxTime + 1 }},
		{"duration", "-5 ns", func(j *Job) { j.Duration = -5 }},
		{"duration", "expected", func(j *Job) { j.Duration = math.MaxInt64 }},
		{"gpus", "-1 GPUs", func(j *Job) { j.GPUs = -1 }},
		{"gpus", "1000001 GPUs", func(j *Job) { j.GPUs = MaxGPUs + 1 }},
		{"time_limit", "-1", func(j *Job) { j.TimeLimit = -1 }},
		{"checkpoint.interval", "-1", func(j *Job) { j.CheckpointInterval = -1 }},
		{"checkpoint.cost", "-1", func(j *Job) { j.CheckpointCost = -1 }},
		{"startup", "expected", func(j *Job) { j.Startup = MaxTime + 1 }},
		{"image_bytes", "-1", func(j *Job) { j.ImageBytes = -1 }},
		{"podsets", "0 pods: expected 1 to 1000000", func(j *Job) { j.PodSets = []PodSet{} }},
		{"podsets", "0 pods", func(j *Job) { j.PodSets[0] = PodSet{}; j.PodSets[1].Count = 0 }},
		{"podsets", "1000001 pods", func(j *Job) {
			j.PodSets = []PodSet{{Name: "a", Count: MaxPods}, {Name: "b", Count: 1}}
		}},
		{"podsets[0].count", "-1 pods", func(j *Job) { j.PodSets[0].Count = -1 }},
		{"podsets[1].min_count", "2 pods: expected 0 to 1", func(j *Job) { j.PodSets[1].MinCount = 2 }},
		{"podsets[1].never_ready", "2 pods: expected 0 to 1", func(j *Job) { j.PodSets[1].NeverReady = 2 }},
		{"podsets[1].name", `"workers" is the name of podsets[0] too`, func(j *Job) { j.PodSets[1].Name = "workers" }},
		{"podsets[1].request", "nvidia.com/gpu: -1", func(j *Job) { j.PodSets[1].Request[topology.GPU] = -1 }},
		{"podsets[0].request", "memory", func(j *Job) { j.PodSets[0].Request[topology.Memory] = math.MaxInt64 }},
		{"podsets[1].request", "cpu", func(j *Job) { j.PodSets[1].Request[topology.CPU] = MaxQuantity - 1 }},
		{"podsets[0].topology", "names a level", func(j *Job) { j.PodSets[0].Topology.Level = "" }},
		{"podsets[1].topology", `level "rack": expected none`, func(j *Job) { j.PodSets[1].Topology.Level = "rack" }},
		{"podsets[0].topology", "mode 9", func(j *Job) { j.PodSets[0].Topology.Mode = 9 }},
		{"model.gradient_bytes", "-1", func(j *Job) { j.Model = &ModelProfile{GradientBytes: -1, Compute: 1} }},
		{"model.compute", "0 ns: expected 1 to", func(j *Job) { j.Model = &ModelProfile{} }},
		{"model.overlap", "1001", func(j *Job) { j.Model = &ModelProfile{Compute: 1, OverlapMilli: 1001} }},
	}
	for _, c := range cases {
		j := valid()
		c.change(&j)
		err := Validate(&j)
		var field *FieldError
		if !errors.As(err, &field) {
			t.Errorf("%s %q: got %v", c.field, c.problem, err)
			continue
		}
		if field.Field != c.field || !strings.Contains(field.Problem, c.problem) {
			t.Errorf("got %q, want %s: ...%s...", err, c.field, c.problem)
		}
	}
}

// The limits exist so that sums do not overflow: here are the largest ones.
func TestLimitsLeaveRoom(t *testing.T) {
	if MaxTime > math.MaxInt64/2 {
		t.Error("two times do not fit")
	}
	if MaxStep > math.MaxInt64/2000-MaxStep {
		t.Error("StepNanos overflows")
	}
	var milliGPU int64 = MaxGPUs * topology.Milli
	if milliGPU >= 1<<30 || MaxTime >= 1<<62 {
		t.Error("a job's work exceeds 2^92 milli-GPU x ns")
	}
}

func TestValidateSlices(t *testing.T) {
	for _, c := range []struct {
		ask  TopologyRequest
		want string
	}{
		{TopologyRequest{Mode: TopologySliceOnly, Slices: [MaxSliceLayers]Slice{{"rack", 4}, {"host", 2}}}, ""},
		{TopologyRequest{Mode: TopologySliceOnly}, "podsets[0].topology.slices: a topology of slices only needs a slice"},
		{TopologyRequest{Slices: [MaxSliceLayers]Slice{{"rack", 4}}}, "podsets[0].topology.slices: expected none without a topology"},
		{TopologyRequest{Mode: TopologyUnconstrained, Slices: [MaxSliceLayers]Slice{{"", 4}}}, "podsets[0].topology.slices[0].level: a slice names a level"},
		{TopologyRequest{Mode: TopologyUnconstrained, Slices: [MaxSliceLayers]Slice{{"rack", -1}}}, "podsets[0].topology.slices[0].size: -1 pods: expected 1 to 1000000"},
		{TopologyRequest{Mode: TopologyUnconstrained, Slices: [MaxSliceLayers]Slice{{}, {"rack", 2}}}, "podsets[0].topology.slices[1]: expected a layer before it"},
		{TopologyRequest{Mode: TopologyUnconstrained, Slices: [MaxSliceLayers]Slice{{"rack", 4}, {"host", 3}}},
			"podsets[0].topology.slices[1].size: 3 pods: expected a divisor of the 4 of the layer before"},
		{TopologyRequest{Mode: TopologySliceOnly, Slices: [MaxSliceLayers]Slice{{"rack", 3}}}, "podsets[0].topology.slices[0].size: 3: expected a divisor of the 8 pods"},
	} {
		err := validateTopology("podsets[0]", &PodSet{Count: 8, Topology: c.ask})
		if got := ""; err != nil || c.want != "" {
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%+v: %q, want %q", c.ask, got, c.want)
			}
		}
	}
}

func TestValidateGroups(t *testing.T) {
	rack := TopologyRequest{Mode: TopologyRequired, Level: "rack", Group: "g"}
	slices := rack
	slices.Slices[0] = Slice{"host", 2}
	block := TopologyRequest{Mode: TopologyRequired, Level: "block", Group: "g"}
	pair := func(a, b PodSet) []PodSet { return []PodSet{a, b, {Name: "alone", Count: 7}} }
	for want, sets := range map[string][]PodSet{
		"": pair(PodSet{Name: "leader", Count: 1, Topology: rack}, PodSet{Name: "workers", Count: 8, Topology: slices}),
		`podsets[0].topology.group: "g" has 1 PodSets: expected a leader and its workers`: pair(
			PodSet{Name: "a", Count: 1, Topology: rack}, PodSet{Name: "b", Count: 1}),
		`podsets[0].topology.group: "g" has PodSets of 3 and 2 pods: expected one of a single pod`: pair(
			PodSet{Name: "a", Count: 3, Topology: rack}, PodSet{Name: "b", Count: 2, Topology: rack}),
		`podsets[0].topology: the PodSets of group "g" ask for different topologies: expected the same`: pair(
			PodSet{Name: "a", Count: 3, Topology: rack}, PodSet{Name: "b", Count: 1, Topology: block}),
		`podsets[0].topology.group: "g": expected no PodSet that is pinned to a node`: pair(
			PodSet{Name: "a", Count: 3, Topology: rack}, PodSet{Name: "b", Count: 1, Topology: rack, Node: "n"}),
	} {
		got := ""
		if err := validatePodSets(sets); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	three := []PodSet{{Name: "a", Count: 1, Topology: rack}, {Name: "b", Count: 1, Topology: rack}, {Name: "c", Count: 1, Topology: rack}}
	if err := validatePodSets(three); err == nil || err.Error() != `podsets[0].topology.group: "g" has 3 PodSets: expected a leader and its workers` {
		t.Errorf("three PodSets in a group: %v", err)
	}
}
