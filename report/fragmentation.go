package report

import (
	"github.com/gangplan/gangplan/sim"
)

// How free GPUs lie, over the samples that a scenario asks for with `sample`. Without
// samples the means are null.

var fragmentationMetrics = []Metric{
	sampled("fragmentation.stranded_mean", "GPUs", Lower, "free GPUs on hosts where no waiting pod fits; mean over the samples",
		func(s *sim.Sample) (int64, int64) { return s.Stranded(), 1000 }),
	sampled("fragmentation.unusable_mean", "GPUs", Lower, "free GPUs in domains, one level above the host, that hold no waiting gang whole; mean over the samples",
		func(s *sim.Sample) (int64, int64) { return aboveHost(s.Unusable, 0), 1000 }),
	sampled("fragmentation.largest_gang_mean", "GPUs", Higher, "GPUs of the largest gang that would fit into one domain, one level above the host; mean over the samples",
		func(s *sim.Sample) (int64, int64) { return aboveHost(s.Largest, 1), 1000 }),
	sampled("fragmentation.fgd_mean", "ratio", Lower, "of the free GPUs, those that a typical pod cannot use (the FGD measure); over all samples together",
		func(s *sim.Sample) (int64, int64) { return s.Fragment, s.Free }),
}

// sampled declares the sum of something over all samples, divided by that of another.
func sampled(name, unit string, better Direction, doc string, of func(s *sim.Sample) (part, whole int64)) Metric {
	return Metric{name, unit, better, false, doc, func(f *facts) (float64, bool) {
		var parts, wholes float64 // exact below 2^53 milli-GPU: a million samples of nine million GPUs
		for i := range f.run.Samples {
			part, whole := of(&f.run.Samples[i])
			parts, wholes = parts+float64(part), wholes+float64(whole)
		}
		if wholes == 0 {
			return 0, false
		}
		return parts / wholes, true
	}}
}

// aboveHost returns the entry of the level above the host of a list by level, after which
// come so many others; in a cluster of hosts only, that of the host.
func aboveHost(by []int64, others int) int64 {
	return by[max(0, len(by)-others-2)]
}

// Fragmentation is the part of summary.json that tells the levels apart. Amounts are
// milli-GPU at the end of the run, and means over the samples, rounded down.
type Fragmentation struct {
	Samples int                  `json:"samples"`
	Free    int64                `json:"free_milli_gpu"`
	FGD     int64                `json:"fgd_milli_gpu"`
	Cluster int64                `json:"largest_gang_milli_gpu"` // over the whole cluster
	Levels  []LevelFragmentation `json:"levels"`
}

// LevelFragmentation is how GPUs lie at one level.
type LevelFragmentation struct {
	Level        string `json:"level"`
	Largest      int64  `json:"largest_gang_milli_gpu"`
	Unusable     int64  `json:"unusable_milli_gpu"`
	LargestMean  *int64 `json:"largest_gang_mean_milli_gpu"` // null without samples
	UnusableMean *int64 `json:"unusable_mean_milli_gpu"`
}

func newFragmentation(r *sim.Result) *Fragmentation {
	last := &r.Last
	if len(last.Largest) == 0 {
		return nil // a result that was not run
	}
	levels := r.Config.Cluster.Levels
	f := &Fragmentation{Samples: len(r.Samples), Free: last.Free, FGD: last.Fragment, Cluster: last.Largest[len(levels)]}
	for l := range levels {
		f.Levels = append(f.Levels, LevelFragmentation{Level: levels[l], Largest: last.Largest[l], Unusable: last.Unusable[l],
			LargestMean:  meanOf(r.Samples, func(s *sim.Sample) int64 { return s.Largest[l] }),
			UnusableMean: meanOf(r.Samples, func(s *sim.Sample) int64 { return s.Unusable[l] })})
	}
	return f
}

func meanOf(samples []sim.Sample, of func(s *sim.Sample) int64) *int64 {
	if len(samples) == 0 {
		return nil
	}
	var sum int64
	for i := range samples {
		sum += of(&samples[i])
	}
	return new(sum / int64(len(samples)))
}

// point is one value of one series.
type point struct {
	time          int64
	metric, level string
	value         int64
}

var seriesFields = []field[point]{
	number("time_ns", "ns", "when, from the start of the scenario; after the last cycle of the instant", always(func(p point) int64 { return p.time })),
	text("metric", "free; fgd: of it, what a typical pod cannot use; largest_gang: that fits into one domain of the level; unusable: free in domains of the level that hold no waiting gang whole, on hosts no pod",
		true, func(p point) string { return p.metric }),
	text("level", "null: the cluster as a whole", true, func(p point) string { return p.level }),
	number("value", "milli-GPU", "how much", always(func(p point) int64 { return p.value })),
}

var seriesTable = newTable(seriesFile, "a value of a sample of how free GPUs lie, by time", "the scenario asks for samples (`sample: 10m`)", seriesFields,
	func(r *Record) int {
		if len(r.Result.Samples) == 0 {
			return -1
		}
		return len(r.Result.Samples) * pointsOf(r.Result)
	},
	func(r *Record, i int) point {
		points := pointsOf(r.Result)
		s, k := &r.Result.Samples[i/points], i%points
		levels := r.Result.Config.Cluster.Levels
		switch {
		case k == 0:
			return point{s.Time, "free", "", s.Free}
		case k == 1:
			return point{s.Time, "fgd", "", s.Fragment}
		case k == 2:
			return point{s.Time, "largest_gang", "", s.Largest[len(levels)]}
		case k%2 == 1:
			return point{s.Time, "largest_gang", levels[k/2-1], s.Largest[k/2-1]}
		}
		return point{s.Time, "unusable", levels[k/2-2], s.Unusable[k/2-2]}
	})

// pointsOf is how many values a sample has: three of the cluster and two of each level.
func pointsOf(r *sim.Result) int { return 3 + 2*len(r.Config.Cluster.Levels) }
