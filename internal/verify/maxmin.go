package verify

import (
	"fmt"
	"math"

	"github.com/gangplan/gangplan/testdata"
	"github.com/gangplan/gangplan/topology/fabric/flow"
)

// flowTolerance is relative: the recorded times have nine decimals, and a round of
// sharing here rounds down to whole bytes per second.
const flowTolerance = 1e-6

var maxMin = Suite{
	Name: "maxmin",
	Doc:  "finish times of flows that share links by max-min, recorded from SimGrid; relative 1e-6",
	Run:  runMaxMin,
}

var ringJobs = Suite{
	Name: "ring-jobs",
	Doc:  "ends of the iterations of training jobs that share a fabric, recorded from SimGrid; relative 1e-6",
	Run:  runRingJobs,
}

type recordedLink struct {
	ID   int32 `json:"id"`
	Rate int64 `json:"bandwidth_Bps"`
}

// flowCase is one line of the file of flows.
type flowCase struct {
	Case  string         `json:"case"`
	Links []recordedLink `json:"links"`
	Flows []struct {
		Route  []int32 `json:"route"`
		Bytes  int64   `json:"size_B"`
		Start  float64 `json:"start_s"`
		Finish float64 `json:"finish_s"`
	} `json:"flows"`
}

func runMaxMin(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.SimGrid, func(line []byte) error {
		var c flowCase
		if err := readCase(line, &c); err != nil {
			return err
		}
		capacity, err := capacities(c.Links)
		if err != nil {
			return err
		}
		flows, want := make([]flow.Flow, len(c.Flows)), make([]float64, len(c.Flows))
		for i, f := range c.Flows {
			if err := checkRoute(f.Route, capacity); err != nil {
				return err
			}
			flows[i] = flow.Flow{Route: f.Route, Bytes: f.Bytes, Start: picos(f.Start)}
			want[i] = f.Finish
		}
		out = append(out, compareTimes(c.Case, want, flow.Finish(capacity, flows)))
		return nil
	})
	return out, err
}

// jobsCase is one line of the file of jobs.
type jobsCase struct {
	Case  string         `json:"case"`
	Links []recordedLink `json:"links"`
	Jobs  []recordedJob  `json:"jobs"`
}

type recordedJob struct {
	Compute    float64 `json:"compute_s"`
	Start      float64 `json:"start_s"`
	Iterations int     `json:"iterations"`
	Flows      []struct {
		Bytes int64   `json:"size_B"`
		Route []int32 `json:"route"`
	} `json:"flows"`
	Ends []float64 `json:"iteration_end_s"`
}

func runRingJobs(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.SimGridJobs, func(line []byte) error {
		var c jobsCase
		if err := readCase(line, &c); err != nil {
			return err
		}
		outcome, err := c.outcome()
		out = append(out, outcome)
		return err
	})
	return out, err
}

func (c *jobsCase) outcome() (Outcome, error) {
	capacity, err := capacities(c.Links)
	if err != nil {
		return Outcome{}, err
	}
	jobs := make([]flow.Job, len(c.Jobs))
	var want []float64
	for i := range c.Jobs {
		r := &c.Jobs[i]
		if r.Iterations < 1 {
			return Outcome{}, fmt.Errorf("job %d: expected at least one iteration", i)
		}
		jobs[i] = flow.Job{Start: picos(r.Start), Compute: []int64{picos(r.Compute)}, Iterations: r.Iterations}
		for _, f := range r.Flows {
			if err := checkRoute(f.Route, capacity); err != nil {
				return Outcome{}, err
			}
			jobs[i].Edges = append(jobs[i].Edges, flow.Edge{Route: f.Route, Bytes: f.Bytes})
		}
		want = append(want, r.Ends...)
	}
	var got []int64
	for _, ends := range flow.Iterations(capacity, jobs, flow.Never) {
		got = append(got, ends...)
	}
	return compareTimes(c.Case, want, got), nil
}

// compareTimes is within if the worst relative error of any time is in the tolerance.
func compareTimes(id string, want []float64, got []int64) Outcome {
	o := Outcome{ID: id, Verdict: Within}
	if len(want) != len(got) {
		o.Verdict, o.Reason = Outside, fmt.Sprintf("%d times instead of %d", len(got), len(want))
		o.Want, o.Got = len(want), len(got)
		return o
	}
	for i := range want {
		if e := math.Abs(float64(got[i])/1e12/want[i] - 1); !(e <= o.Error) {
			o.Error = e
			o.Want, o.Got = want[i], float64(got[i])/1e12
		}
	}
	if !(o.Error <= flowTolerance) {
		o.Verdict, o.Reason = Outside, fmt.Sprintf("off by %.2g", o.Error)
	}
	return o
}

// capacities lists the rates of the links by their id, which must be their position.
func capacities(links []recordedLink) ([]int64, error) {
	out := make([]int64, len(links))
	for i, l := range links {
		if l.ID != int32(i) || l.Rate <= 0 {
			return nil, fmt.Errorf("link %d: expected the id %d and a rate above 0", l.ID, i)
		}
		out[i] = l.Rate
	}
	return out, nil
}

func checkRoute(route []int32, capacity []int64) error {
	for _, l := range route {
		if l < 0 || int(l) >= len(capacity) {
			return fmt.Errorf("a route over link %d of %d", l, len(capacity))
		}
	}
	return nil
}

func picos(seconds float64) int64 { return int64(math.Round(seconds * 1e12)) }
