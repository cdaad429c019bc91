package plots

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
	"github.com/gangplan/gangplan/sim"
)

// Four jobs of five start, two of them at once; the carried one is not counted.
func TestWaitCDF(t *testing.T) {
	in := &Input{Runs: []Run{
		ran("gang", lasting(0), lasting(60), lasting(60), lasting(3600), lasting(-1), job{wait: 5}),
		ran("per-pod", lasting(30), lasting(30), lasting(90), lasting(120), lasting(7200)),
	}}
	c := drawn(t, "wait-cdf", in, Options{})
	wants(t, "title", c.Title, "95% of jobs start within 2h under per-pod, never under gang")
	wants(t, "caption", c.Caption, "Over all 5 jobs, from submit until all pods of the job run. Never started, so that the line ends below 100%: 1 under gang.")
	wants(t, "gang", points(&c.Panels[0], "gang"), "0:0 0:20 60:60 3600:80 8640:80")
	wants(t, "per-pod", points(&c.Panels[0], "per-pod"), "30:0 30:40 90:60 120:80 7200:100 8640:100")
	wants(t, "guide", fmt.Sprint(c.Panels[0].Guides), "[{95 95%}]")
}

func TestWaitCDFOfNothing(t *testing.T) {
	c := drawn(t, "wait-cdf", &Input{Runs: []Run{ran("gang")}}, Options{})
	wants(t, "title", c.Title, "No job was submitted")
	wants(t, "empty", c.Panels[0].Empty, "no job started")
	c = drawn(t, "wait-cdf", &Input{Runs: []Run{ran("gang", lasting(-1), lasting(-1)), ran("other", lasting(-1), lasting(2))}}, Options{})
	wants(t, "title", c.Title, "Jobs that ever start: 50% under other, 0% under gang")
}

// The quantile of a title is that of the metrics.
func TestQuantileIsThatOfTheMetrics(t *testing.T) {
	for n := 1; n < 60; n++ {
		var w waits
		var s stats.Sample
		for i := range n {
			w.values = append(w.values, float64(i))
			s.Add(int64(i))
		}
		for _, p := range []int{1, 50, 95, 99, 100} {
			if want, _ := s.Quantile(p); w.quantile(p) != float64(want) {
				t.Errorf("p%d of %d: %v, want %d", p, n, w.quantile(p), want)
			}
		}
	}
}

func TestWaitCDFByGang(t *testing.T) {
	var small, large []job
	for i, size := range []float64{1, 1, 8, 64} {
		j := lasting(float64(10 * i))
		j.gpus = size
		small = append(small, j)
	}
	c := drawn(t, "wait-cdf", &Input{Runs: []Run{ran("gang", small...), ran("per-pod", small[:3]...)}}, Options{By: "gang"})
	wants(t, "title", c.Title, "Who waits longest, by the time within which 95% start: 20s (8 GPUs) under per-pod, 30s (64 GPUs) under gang")
	wants(t, "lines", fmt.Sprint(names(&c.Panels[0]), names(&c.Panels[1])), "[1 GPU 8 GPUs 64 GPUs] [1 GPU 8 GPUs]")
	wants(t, "one GPU", points(&c.Panels[0], "1 GPU"), "0:0 0:50 10:100 36:100")
	if !c.Panels[0].Ordered || c.Panels[0].X.Label != "" || c.Panels[1].X.Label == "" || c.Panels[1].Title != "per-pod" {
		t.Error("panels are not in order, or not labelled")
	}
	for i, size := range []float64{0, 0.5, 1, 2, 3, 8, 9, 32, 33, 512, 513} {
		j := lasting(float64(i))
		j.gpus = size
		large = append(large, j)
	}
	c = drawn(t, "wait-cdf", &Input{Runs: []Run{ran("gang", large...)}}, Options{By: "gang"})
	wants(t, "classes", strings.Join(names(&c.Panels[0]), ", "),
		"no GPU, up to 1 GPU, 2 to 8 GPUs, 9 to 32 GPUs, 33 to 128 GPUs, 129 to 512 GPUs, 513 to 2,048 GPUs")
}

func TestWaitCDFByQueue(t *testing.T) {
	a, b := lasting(1), lasting(2)
	a.queue, b.queue = "research", "prod"
	c := drawn(t, "wait-cdf", &Input{Runs: []Run{ran("gang", a, b, b)}}, Options{By: "queue"})
	wants(t, "lines", fmt.Sprint(names(&c.Panels[0])), "[prod research]")
	_, err := try("wait-cdf", &Input{Runs: []Run{ran("gang", a)}}, Options{By: "que"})
	fails(t, err, `unknown --by "que", expected one of policy, gang, queue (did you mean queue?)`)
}

func TestSlowdownCDF(t *testing.T) {
	slow := func(gpus, run, all, local, shared float64) job {
		return job{gpus: gpus, run: run, allReduce: all, locality: local, contention: shared}
	}
	r := ran("gang", slow(8, 100, 2, 2, 1), slow(8, 200, 1, 1, 1), slow(16, 50, 4, 4, 1), lasting(3))
	r.Summary.Metrics = metrics("allreduce_slowdown.p95", 4.0)
	c := drawn(t, "slowdown-cdf", &Input{Runs: []Run{r, ran("other", lasting(1))}}, Options{})
	wants(t, "title", c.Title, "95% of GPU-time has an all-reduce slowdown of at most 4× under gang")
	wants(t, "all", points(&c.Panels[0], "gang"), "1:0 1:50 2:75 4:100 4:100")
	if len(c.Panels) != 2 || !strings.Contains(c.Caption, "Neighbours have no part in it.") || c.Panels[1].X.Max != 4 {
		t.Errorf("%d panels, %q", len(c.Panels), c.Caption)
	}
	c = drawn(t, "slowdown-cdf", &Input{Runs: []Run{ran("gang", lasting(1))}}, Options{})
	wants(t, "title", c.Title, "No job with an all-reduce ran")
	wants(t, "empty", c.Panels[0].Empty, "no job with an all-reduce ran")
}

func TestRequeues(t *testing.T) {
	requeued := func(n, pods, node int64) job {
		j := job{requeues: n}
		j.evictions[sim.CausePodsReady], j.evictions[sim.CauseNode] = pods, node
		return j
	}
	in := &Input{Runs: []Run{ran("gang", requeued(0, 0, 0), requeued(1, 1, 0), requeued(4, 3, 1), requeued(3, 3, 0)), ran("per-pod", requeued(200, 200, 0))}}
	c := drawn(t, "requeues", in, Options{})
	how, why := c.Panels[0].Bars, c.Panels[1].Bars
	wants(t, "title", c.Title, "Requeues: 8 under gang, 200 under per-pod")
	wants(t, "how often", fmt.Sprint(how.Categories, how.Layers[0].Values, how.Layers[1].Values),
		"[1 2 3 to 4 5 to 8 9 to 16 17 to 64 more] [1 0 2 0 0 0 0] [0 0 0 0 0 0 1]")
	wants(t, "why", fmt.Sprint(why.Categories, why.Layers[0].Values, why.Layers[1].Values, why.Layers[0].Texts), "[pods not ready in time node] [7 1] [200 0] [7 1]")
	c = drawn(t, "requeues", &Input{Runs: []Run{ran("gang", lasting(1))}}, Options{})
	wants(t, "nothing", c.Title+c.Panels[0].Empty+c.Panels[1].Empty, "No job was requeuedno job was requeuedno job was evicted")
}

func TestJobsThatCannotBeRead(t *testing.T) {
	for _, kind := range []string{"wait-cdf", "slowdown-cdf", "requeues", "ledger-time", "utilisation", "fragmentation"} {
		_, err := try(kind, &Input{Runs: []Run{{Label: "gang", Summary: &report.Summary{}, Tables: stored{}}}}, Options{})
		fails(t, err, kind+": no table")
	}
}

// A hundred thousand jobs make a picture of a usual size.
func TestManyJobs(t *testing.T) {
	var jobs []job
	for i := range 100_000 {
		jobs = append(jobs, lasting(math.Floor(math.Pow(float64(i), 1.2))))
	}
	c := drawn(t, "wait-cdf", &Input{Runs: []Run{ran("gang", jobs...)}}, Options{})
	var b strings.Builder
	if err := c.Write(&b, "svg"); err != nil || b.Len() > 150_000 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	if got := c.Panels[0].Lines[0].Points; got[len(got)-1] != (figure.Point{X: 1.2 * jobs[99_999].wait, Y: 100}) {
		t.Errorf("ends at %v", got[len(got)-1])
	}
}
