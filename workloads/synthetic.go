package workloads

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/gangplan/gangplan/internal/rng"
	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/topology"
)

// Synthetic describes a workload to be drawn from a seed. Whatever is drawn for job i is
// a function of the seed and i. The number of jobs, the load and the start hour decide
// only when jobs are submitted, the node size only how GPUs are divided into pods; the
// cluster's size decides submissions and caps the size of jobs.
//
// The jobs are more even than independent draws would be, so that short workloads are
// not ruled by luck: they come in blocks of 1024 whose composition is the mix's, exactly,
// and whose durations spread evenly over their distributions.
type Synthetic struct {
	Mix         string  // one of Mixes
	Jobs        int     // 1 to MaxSyntheticJobs
	Load        float64 // offered load: GPU-time asked for / GPU-time there is while jobs arrive
	ClusterGPUs int64   // whole GPUs of the cluster
	NodeGPUs    int64   // whole GPUs of a node, see Shape; 0 means DefaultNodeGPUs
	Seed        uint64
	StartHour   int // hour of the day at time zero, 0 to 23
}

// MaxSyntheticJobs bounds the jobs of a synthetic workload.
const MaxSyntheticJobs = 10_000_000

// Generate draws the jobs, ordered by submission. Their ids are j-000001 and so on, their
// rows 1 and so on.
//
// Arrivals are a Poisson process with a daily rhythm, given the number of jobs: unit
// exponential gaps are scaled to the span in which the cluster's GPUs times the load
// offer exactly the jobs' GPU-time, to the millisecond, then warped by the inverse of the
// cumulative rate. No job larger than half the cluster is drawn: its size becomes the
// largest power of two that is not, and its duration grows so that its GPU-time stays.
//
// It fails if a field is out of range or the span would exceed MaxTime.
func (s Synthetic) Generate() ([]Job, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	jobs := s.draw(lookupMix(s.Mix))
	span, err := s.span(jobs)
	if err != nil {
		return nil, err
	}
	s.arrive(jobs, span)
	return jobs, nil
}

func (s Synthetic) check() error {
	switch {
	case lookupMix(s.Mix) == nil:
		return wrong("mix", "%q: expected %s", s.Mix, strings.Join(Mixes(), " or "))
	case !(s.Load > 0) || math.IsInf(s.Load, 0):
		return wrong("load", "%v: expected a finite number above 0", s.Load)
	}
	return firstWrong(
		limit{"jobs", int64(s.Jobs), 1, MaxSyntheticJobs, "jobs"},
		limit{"cluster_gpus", s.ClusterGPUs, 1, math.MaxInt32, "GPUs"},
		limit{"node_gpus", s.NodeGPUs, 0, math.MaxInt32, "GPUs"},
		limit{"start_hour", int64(s.StartHour), 0, 23, "h"},
	)
}

// draw returns the jobs without their submissions.
func (s Synthetic) draw(m *mix) []Job {
	jobs := make([]Job, s.Jobs)
	var b block
	for i := range jobs {
		if i%blockJobs == 0 {
			b.deal(m, s.Seed, i/blockJobs)
		}
		jobs[i] = s.job(m, &b, i)
	}
	return jobs
}

// job draws job i, which takes the next slot of its block.
func (s Synthetic) job(m *mix, b *block, i int) Job {
	slot := b.order[i%blockJobs]
	c := m.class(int(slot))
	gpus := min(c.gpus, s.largestGang())
	j := NewJob(fmt.Sprintf("j-%06d", i+1), int64(i)+1)
	j.GPUs = gpus
	j.Duration = b.durations[slot] * int64(c.gpus/gpus)
	j.PodSets = Shape(gpus, s.NodeGPUs, PerGPU())
	j.Model = s.model(m.modelsFor(gpus), i)
	if c.gpus >= gangGPUs {
		j.CheckpointInterval, j.CheckpointCost = checkpointInterval, checkpointCost
	}
	return j
}

// largestGang returns the largest power of two not above half the cluster, at least 1.
func (s Synthetic) largestGang() int32 {
	half := uint64(max(1, s.ClusterGPUs/2))
	return int32(1) << (bits.Len64(half) - 1)
}

// model draws one of the named models for job i, nil if there are none.
func (s Synthetic) model(names []string, i int) *ModelProfile {
	if len(names) == 0 {
		return nil
	}
	k := rng.Below(rng.Hash(s.Seed, rng.Model, uint64(i), 0), uint64(len(names)))
	return knownModel(names[k])
}

func knownModel(name string) *ModelProfile {
	m, ok := LookupModel(name)
	if !ok {
		panic("workloads: a mix names the unknown model " + name)
	}
	return m
}

// span returns the time, in ms, in which ClusterGPUs x Load offer what the jobs ask for.
func (s Synthetic) span(jobs []Job) (uint64, error) {
	var work stats.Uint128 // GPU x ms
	for i := range jobs {
		gpus, ms := jobs[i].TotalGPUs()/topology.Milli, jobs[i].Duration/1e6
		work = work.Plus(stats.Product(uint64(gpus), uint64(ms)))
	}
	span := math.Round(work.Float64() / float64(float64(s.ClusterGPUs)*s.Load))
	if !(span <= float64(MaxTime/1e6)) {
		return 0, wrong("load", "%v: the jobs would arrive over more than 100 years; expected more load or fewer jobs", s.Load)
	}
	return uint64(max(1, span)), nil
}

// gapUnit is the resolution of a unit exponential gap, small beside any gap that matters.
const gapUnit = 1 << 20

// arrive submits the jobs within [0, span) ms. One gap more than there are jobs ends at
// the span itself, which makes the arrivals those of a Poisson process given their number.
func (s Synthetic) arrive(jobs []Job, span uint64) {
	var end uint64
	for i := range len(jobs) + 1 {
		end += s.gap(i)
	}
	day := rhythm{s.StartHour}
	whole := day.cumulative(span)
	var at uint64
	for i := range jobs {
		at += s.gap(i)
		hi, lo := bits.Mul64(at, whole)
		rate, _ := bits.Div64(hi, lo, end)
		jobs[i].Submit = int64(day.inverse(rate)) * 1e6
	}
}

// gap draws the gap before job i, at least one unit, so that it adds up to more than 0.
func (s Synthetic) gap(i int) uint64 {
	return 1 + uint64(float64(rng.Exp(rng.Hash(s.Seed, rng.Arrival, uint64(i), 0))*gapUnit))
}
