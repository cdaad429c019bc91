package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/topology"
)

// A scenario of chance says what is to come of it in the long run, and by how much one run
// may be off: so many standard errors, which come from batches of consecutive jobs. The
// first batch, which met an empty cluster, is left out.

// toleranceKey is the expectation that says how.
const toleranceKey = "tolerance"

// tolerance is how results of chance are compared.
type tolerance struct {
	errors, batches, size int
}

func (c *scenarioCase) toleratesErrors() bool { return c.Expect[toleranceKey] != nil }

// tolerance reads the sentence that says by how much a run may be off.
func (c *scenarioCase) tolerance() (t tolerance, err error) {
	said := strings.ReplaceAll(text(c.Expect[toleranceKey]), ",", "")
	_, err = fmt.Sscanf(said, "%d standard errors from %d batches of %d consecutive jobs first batch dropped", &t.errors, &t.batches, &t.size)
	if err != nil || t.errors < 1 || t.batches < 3 || t.size < 1 {
		return t, cannot("the tolerance %q", said)
	}
	return t, nil
}

// estimate is a mean over batches and its standard error.
type estimate struct{ mean, err float64 }

// steadyState estimates everything that is expected but the tolerance.
func (r *ran) steadyState(expect map[string]any) (map[string]any, error) {
	t, err := r.case_.tolerance()
	if err != nil {
		return nil, err
	}
	if len(r.result.Jobs) != t.batches*t.size {
		return nil, cannot("%d jobs in %d batches of %d", len(r.result.Jobs), t.batches, t.size)
	}
	got := map[string]any{}
	for key, want := range expect {
		of, ok := batchMeasures[key]
		if key == toleranceKey {
			continue
		}
		if !ok {
			return nil, cannot("the expectation %s of chance is not measured", key)
		}
		var values []float64
		for k := 1; k < t.batches; k++ {
			values = append(values, of(r.batch(k*t.size, (k+1)*t.size), text(want)))
		}
		mean, se := stats.MeanError(values)
		got[key] = estimate{mean, se}
	}
	return got, nil
}

// batch is some consecutive jobs and the time in which they arrive: up to the arrival of
// the next batch, or to the last arrival.
type batch struct {
	*ran
	from, to   int
	begin, end int64
}

func (r *ran) batch(from, to int) batch {
	jobs := r.result.Jobs
	return batch{r, from, to, jobs[from].Submit, jobs[min(to, len(jobs)-1)].Submit}
}

// batchMeasures by the key of the expectation.
var batchMeasures = map[string]func(b batch, want string) float64{
	"utilisation": func(b batch, _ string) float64 { return b.busy() / b.nodes() },
	"mean_wait_h": func(b batch, _ string) float64 { return b.meanWait() },
	"p_wait":      func(b batch, _ string) float64 { return b.share() },
	"little":      batch.little,
}

func (b batch) nodes() float64 {
	return float64(b.scenario.Config.Cluster.Capacity()[topology.GPU]) / topology.Milli
}

// meanWait is that of the batch's jobs, in hours.
func (b batch) meanWait() float64 {
	sum := 0.0
	for _, row := range b.result.Jobs[b.from:b.to] {
		sum += float64(row.FirstStart-row.Submit) / 3600e9
	}
	return sum / float64(b.to-b.from)
}

// share is that of the batch's jobs that wait at all.
func (b batch) share() float64 {
	waiting := 0
	for _, row := range b.result.Jobs[b.from:b.to] {
		if row.FirstStart > row.Submit {
			waiting++
		}
	}
	return float64(waiting) / float64(b.to-b.from)
}

// busy and queued are the GPUs that run, and the jobs that wait, on average over the time
// of the batch, whichever batch they are of.
func (b batch) busy() float64 {
	sum := 0.0
	for i := range b.result.Jobs {
		row := &b.result.Jobs[i]
		sum += float64(b.overlap(row.FirstStart, row.Finish)) * float64(row.GPUs) / topology.Milli
	}
	return sum / float64(b.end-b.begin)
}

func (b batch) queued() float64 {
	sum := 0.0
	for i := range b.result.Jobs {
		row := &b.result.Jobs[i]
		sum += float64(b.overlap(row.Submit, row.FirstStart))
	}
	return sum / float64(b.end-b.begin)
}

func (b batch) overlap(from, to int64) int64 { return max(0, min(to, b.end)-max(from, b.begin)) }

// little is by how much the mean queue length is off what Little's law makes of the mean
// wait: "mean queue length = RATE*mean wait". Not a number for any other law.
func (b batch) little(law string) float64 {
	var rate float64
	if n, err := fmt.Sscanf(law, "mean queue length = %g*mean wait", &rate); n != 1 || err != nil {
		return math.NaN()
	}
	return b.queued() - float64(rate*b.meanWait())
}

// compareWithin compares estimates: within is no more standard errors off than is said, of a
// number from itself, of a law from 0.
func (c *scenarioCase) compareWithin(o Outcome, got map[string]any) Outcome {
	t, err := c.tolerance()
	if err != nil {
		return o.unanswered(err)
	}
	o.Verdict, o.Reason = Within, fmt.Sprintf("within %d standard errors", t.errors)
	for _, key := range slices.Sorted(maps.Keys(got)) {
		e := got[key].(estimate)
		off := math.Abs(e.mean - number(c.Expect[key]))
		o.Error = max(o.Error, relative(off, number(c.Expect[key])))
		if !(off <= float64(t.errors)*e.err) && o.Verdict == Within {
			o.Verdict = Outside
			o.Reason = fmt.Sprintf("%s is off by more than %d standard errors", key, t.errors)
			o.Want, o.Got = c.Expect[key], fmt.Sprintf("%.4f ± %.4f", e.mean, e.err)
		}
	}
	return o
}

// relative is an error as a share of what is wanted; 0 of a law, which has no size.
func relative(off, want float64) float64 {
	if want == 0 {
		return 0
	}
	return off / want
}
