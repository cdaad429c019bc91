package workloads

import (
	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/topology"
)

// mix is a population of jobs: classes in fixed proportions.
type mix struct {
	name       string
	classes    []class // their slots add up to blockJobs
	models     []modelChoice
	gangsThird bool // gangs have a third of every block's GPU-hours, see block.balance
}

// class is the jobs of one size. Of every block of blockJobs jobs it has exactly slots.
// Durations are log-normal, given by median and 99th percentile in seconds.
type class struct {
	gpus        int32 // a power of two, so that halving it to fit a cluster stays exact
	slots       int
	median, p99 float64
}

// modelChoice lists the models that jobs of up to maxGPUs train, drawn evenly.
type modelChoice struct {
	maxGPUs int32
	models  []string
}

// blockJobs is the number of consecutive jobs whose composition is exact.
const blockJobs = 1024

// Gangs of this many GPUs and more take checkpoints, and are the gangs whose share of
// the GPU-hours the llm mix fixes.
const (
	gangGPUs           = 32
	checkpointInterval = 30 * 60 * int64(1e9) // ns
	checkpointCost     = 30 * int64(1e9)      // ns
)

// Durations end at 50 days: the longest job of the Helios clusters, 4,320,009 s, and
// close to Philly's. They begin at one second.
const (
	maxSynthetic = 50 * 24 * 3600 * int64(1e9) // ns
	minSynthetic = int64(1e9)                  // ns
)

// mixes holds the populations. Both are inspired by published statistics, not fitted:
//
// deep-learning: Philly's GPU jobs run for a median of 874 s and a mean of 18,006 s with a
// 99th percentile of 254,758 s in the published sample, on 1.93 GPUs on average; those
// of Helios on 3.72. Most jobs ask for one GPU, nearly all for at most a node. Here: 70 %
// ask for one, 96 % for at most eight, the mean is 2.9, and durations have a median of
// 900 s, a 99th percentile of 250,000 s and so a mean of about 4.3 hours.
//
// llm: Acme's Kalos cluster asks for 26.8 GPUs on average with a median far below; most
// of its jobs evaluate or debug, a few pretrain. Here 62 of 1024 jobs are gangs of 32 to
// 512 GPUs, running for about two hours, which have a third of the GPU-hours.
var mixes = [...]mix{
	{
		name: "deep-learning",
		classes: []class{
			{1, 717, 900, 250_000},
			{2, 92, 900, 250_000},
			{4, 87, 900, 250_000},
			{8, 87, 900, 250_000},
			{16, 26, 900, 250_000},
			{32, 11, 900, 250_000},
			{64, 4, 900, 250_000},
		},
		models: []modelChoice{
			{8, []string{"resnet-50", "vgg-16", "bert-large", "gpt-2-large"}},
			{32, []string{"bert-large", "gpt-2-large", "llama-3-8b"}},
			{64, []string{"llama-3-8b", "t5-11b"}},
		},
	},
	{
		name: "llm",
		classes: []class{
			{1, 240, 1800, 129_600},
			{2, 96, 1800, 129_600},
			{4, 144, 1800, 129_600},
			{8, 380, 1800, 129_600},
			{16, 102, 1800, 129_600},
			{32, 40, 6020, 24_080},
			{64, 14, 6020, 24_080},
			{128, 5, 6020, 24_080},
			{256, 2, 6020, 24_080},
			{512, 1, 6020, 24_080},
		},
		gangsThird: true,
		models: []modelChoice{
			{8, []string{"bert-large", "gpt-2-large", "llama-3-8b"}},
			{32, []string{"llama-3-8b", "t5-11b"}},
			{64, []string{"llama-3-8b", "llama-3-70b"}},
			{128, []string{"llama-3-70b", "gpt-3-175b"}},
			{512, []string{"llama-3-70b", "gpt-3-175b", "llama-3-405b"}},
		},
	},
}

// Mixes returns the names of the synthetic mixes.
func Mixes() []string {
	names := make([]string, len(mixes))
	for i := range mixes {
		names[i] = mixes[i].name
	}
	return names
}

// ModelChoice is the models that jobs of up to so many GPUs train; 0 is any number.
type ModelChoice struct {
	MaxGPUs int32
	Models  []*ModelProfile
}

// MixModels returns which models jobs of a mix train, in ascending order of MaxGPUs, the last
// for any number.
func MixModels(name string) ([]ModelChoice, bool) {
	m := lookupMix(name)
	if m == nil {
		return nil, false
	}
	choices := make([]ModelChoice, len(m.models))
	for i := range m.models {
		choices[i].MaxGPUs = m.models[i].maxGPUs
		for _, name := range m.models[i].models {
			choices[i].Models = append(choices[i].Models, knownModel(name))
		}
	}
	choices[len(choices)-1].MaxGPUs = 0
	return choices, true
}

// AssignModels gives every job of more than one GPU that names no model one of the models of
// the first choice for its size, drawn by the job's stable id, and returns how many it gave
// one. A model that is cut over more than half of a job's GPUs is not drawn: there would be
// no second copy to exchange gradients with; a job too small for all of them gets none.
func AssignModels(jobs []Job, seed uint64, choices []ModelChoice) int {
	given := 0
	for i := range jobs {
		j := &jobs[i]
		gpus := j.TotalGPUs() / topology.Milli
		if j.Model != nil || gpus < 2 {
			continue
		}
		fit := fitting(choices, gpus)
		if len(fit) == 0 {
			continue
		}
		j.Model = fit[rng.Below(rng.Hash(seed, rng.Model, j.StableID(), 0), uint64(len(fit)))]
		given++
	}
	return given
}

// fitting lists the models of a size of which two copies fit into so many GPUs.
func fitting(choices []ModelChoice, gpus int64) []*ModelProfile {
	var fit []*ModelProfile
	for _, c := range choices {
		if c.MaxGPUs != 0 && gpus > int64(c.MaxGPUs) {
			continue
		}
		for _, m := range c.Models {
			if 2*m.Parts() <= gpus {
				fit = append(fit, m)
			}
		}
		break
	}
	return fit
}

func lookupMix(name string) *mix {
	for i := range mixes {
		if mixes[i].name == name {
			return &mixes[i]
		}
	}
	return nil
}

// class returns the class that owns a slot of a block.
func (m *mix) class(slot int) *class {
	for i := range m.classes {
		if slot < m.classes[i].slots {
			return &m.classes[i]
		}
		slot -= m.classes[i].slots
	}
	panic("workloads: the slots of a mix do not fill a block")
}

// modelsFor returns the names of the models that jobs of a size train; none for one GPU,
// which has nobody to communicate with.
func (m *mix) modelsFor(gpus int32) []string {
	if gpus == 1 {
		return nil
	}
	for i := range m.models {
		if gpus <= m.models[i].maxGPUs {
			return m.models[i].models
		}
	}
	return nil
}
