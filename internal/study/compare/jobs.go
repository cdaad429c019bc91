package compare

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/gangplan/gangplan/internal/columnar"
	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/report"
)

// jobMetrics are what jobs are compared by, one by one.
var jobMetrics = []*report.Metric{
	{Name: "wait.by_job_seconds", Unit: "s", Better: report.Lower, Doc: "the median over the jobs of how much longer each waits"},
	{Name: "jct.by_job_seconds", Unit: "s", Better: report.Lower, Doc: "the same of completion times"},
}

// jobColumns are the columns of jobMetrics in a table of jobs.
var jobColumns = []string{"wait_ns", "jct_ns"}

// JobPairs says how the jobs of the pairs go together.
type JobPairs struct {
	Paired  int `json:"paired"`
	OnlyA   int `json:"only_in_a"`
	OnlyB   int `json:"only_in_b"`
	Changed int `json:"changed"` // paired, with another submission, work or number of GPUs
}

// jobTimes are the times of a job in s, infinite if they never came, and what makes it the
// job it is.
type jobTimes struct {
	times              [2]float64
	submit, work, gpus int64
}

// errNoJobs says that a run keeps no table of its jobs.
var errNoJobs = errors.New("no table of jobs")

// jobsOf reads the jobs of the measured window of a run, by stable id.
func jobsOf(r *run) (map[int64]jobTimes, error) {
	t, err := r.Jobs(slices.Concat(jobFields, jobColumns)...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoJobs
	}
	if err != nil {
		return nil, err
	}
	carried, err := t.BoolColumn("carried")
	if err != nil {
		return nil, err
	}
	state, err := t.StringColumn("state")
	if err != nil {
		return nil, err
	}
	id, submit, work, gpus := t.Int64s(0), t.Int64s(1), t.Int64s(2), t.Int64s(3)
	jobs := make(map[int64]jobTimes, t.Rows())
	for row := range t.Rows() {
		if carried.All[row] || state.All[row] == "future" {
			continue
		}
		j := jobTimes{submit: submit[row], work: work[row], gpus: gpus[row]}
		for k := range j.times {
			j.times[k] = secondsAt(t, len(jobFields)+k, row)
		}
		jobs[id[row]] = j
	}
	return jobs, nil
}

// jobFields are read of every job beside its times: first the numbers.
var jobFields = []string{"stable_id", "submit_ns", "work_ns", "gpus_milli", "carried", "state"}

// secondsAt returns a time in ns as seconds, infinite where it is missing.
func secondsAt(t *columnar.Table, column, row int) float64 {
	if t.IsNull(column, row) {
		return math.Inf(1)
	}
	return float64(t.Int64s(column)[row]) / 1e9
}

// paired is one job time of both runs of a pair, for all jobs that both have.
type paired struct{ a, b, ds []float64 }

// pairJobs pairs the jobs of two runs.
func pairJobs(x, y *run, count *JobPairs) (out [2]paired, err error) {
	a, err := jobsOf(x)
	if err != nil {
		return out, err
	}
	b, err := jobsOf(y)
	if err != nil {
		return out, err
	}
	for _, id := range slices.Sorted(maps.Keys(a)) {
		j := a[id]
		other, ok := b[id]
		if !ok {
			count.OnlyA++
			continue
		}
		count.Paired++
		if j.submit != other.submit || j.work != other.work || j.gpus != other.gpus {
			count.Changed++
		}
		for k := range out {
			out[k].a = append(out[k].a, j.times[k])
			out[k].b = append(out[k].b, other.times[k])
			out[k].ds = append(out[k].ds, minus(other.times[k], j.times[k]))
		}
	}
	count.OnlyB = count.OnlyB + len(b) - len(out[0].a)
	return out, nil
}

// jobRows compares the jobs of a group: those of its only pair, or the medians of several.
func (g *group) jobRows(confidence float64) (rows []Row, count JobPairs, err error) {
	var medians [2]paired
	for _, p := range g.pairs {
		of, err := pairJobs(p[0], p[1], &count)
		if err != nil {
			return nil, count, err
		}
		if len(of[0].ds) == 0 {
			continue
		}
		if len(g.pairs) == 1 {
			medians = of
			continue
		}
		for k := range of {
			medians[k].a = append(medians[k].a, stats.Median(of[k].a))
			medians[k].b = append(medians[k].b, stats.Median(of[k].b))
			medians[k].ds = append(medians[k].ds, stats.Median(of[k].ds))
		}
	}
	for k, m := range jobMetrics {
		if len(medians[k].ds) > 0 {
			rows = append(rows, pairedRow(m, medians[k].a, medians[k].b, medians[k].ds, confidence))
		}
	}
	return rows, count, nil
}
