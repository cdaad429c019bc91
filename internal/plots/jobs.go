package plots

import (
	"math"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/sim"
)

// job is what plots need of a row of jobs.parquet.
type job struct {
	counted   bool // submitted in the measured window: part of the statistics of waiting
	wait      float64
	gpus      float64
	queue     string
	requeues  int64
	evictions [sim.NumCauses]int64
	run       float64 // s; its product with gpus is the weight of slowdowns

	allReduce, locality, contention float64 // 0: has none, or never ran
}

var jobColumns = func() []string {
	names := []string{"state", "carried", "wait_ns", "gpus_milli", "queue", "requeues", "run_ns", "allreduce_slowdown", "locality_slowdown", "contention_slowdown"}
	for c := range sim.NumCauses {
		names = append(names, "evictions_"+c.String())
	}
	return names
}()

// readJobs reads the jobs of a run. A wait is +Inf for a job that never started.
func readJobs(r *Run) ([]job, error) {
	t, err := r.Tables.Jobs(jobColumns...)
	if err != nil {
		return nil, err
	}
	jobs := make([]job, t.Rows())
	for i := range jobs {
		j := &jobs[i]
		j.counted = t.Strings(0)[i] != "future" && !t.Bools(1)[i]
		j.wait = math.Inf(1)
		if !t.IsNull(2, i) {
			j.wait = float64(t.Int64s(2)[i]) / 1e9
		}
		j.gpus, j.queue, j.requeues, j.run = float64(t.Int64s(3)[i])/1000, t.Strings(4)[i], t.Int64s(5)[i], float64(t.Int64s(6)[i])/1e9
		for c := range j.evictions {
			j.evictions[c] = t.Int64s(10 + c)[i]
		}
		j.allReduce, j.locality, j.contention = ratio(t, 7, i), ratio(t, 8, i), ratio(t, 9, i)
	}
	return jobs, nil
}

// ratio is a number of a column in which 0 stands for one that there is not.
func ratio(t *columnar.Table, column, row int) float64 {
	if t.IsNull(column, row) {
		return 0
	}
	return t.Float64s(column)[row]
}

// readAllJobs reads the jobs of all runs.
func readAllJobs(in *Input) ([][]job, error) {
	all := make([][]job, len(in.Runs))
	for i := range in.Runs {
		var err error
		if all[i], err = readJobs(&in.Runs[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
