package policies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// Jobs of one GPU that arrive at random and are served in order are a queue whose mean
// wait is known in closed form. The simulated mean must lie in its confidence interval.

// arrivals makes n jobs: times between them are exponential with the mean given, services
// are drawn by serve; all in seconds.
func arrivals(r *rand.Rand, n int, between float64, serve func(*rand.Rand) float64) []workloads.Job {
	jobs, at := make([]workloads.Job, n), 0.0
	for i := range jobs {
		at += r.ExpFloat64() * between
		jobs[i] = workloads.Job{ID: fmt.Sprint(i), Submit: int64(at * 1e9), Duration: int64(serve(r) * 1e9),
			PodSets: []workloads.PodSet{{Count: 1, Request: topology.Resources{1000, 1000, 1 << 30, 1}}}}
	}
	return jobs
}

// meanWait runs jobs on so many GPUs and returns their mean wait in seconds, without the
// first quarter, which met an empty cluster.
func meanWait(t *testing.T, policy string, gpus int, jobs []workloads.Job) float64 {
	t.Helper()
	d, _ := Lookup(policy)
	q := quota.Queue{Name: "default"}
	if policy != "per-pod" {
		q.Nominal, q.Covers = quota.Amounts{int64(gpus) * topology.Milli}, [4]bool{true}
	}
	cfg := &sim.Config{Cluster: cluster(t, int64(gpus)), Jobs: jobs, Queues: []quota.Queue{q}}
	e, err := sim.New(cfg, d.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum, warm := 0.0, len(jobs)/4
	for _, row := range e.Run().Jobs[warm:] {
		sum += float64(row.FirstStart-row.Submit) / 1e9
	}
	return sum / float64(len(jobs)-warm)
}

// checkWait compares the mean of independent runs with what theory says: within 3.5
// standard errors, and the error small enough for that to mean something.
func checkWait(t *testing.T, name, policy string, gpus int, load, want float64, serve func(*rand.Rand) float64) {
	t.Helper()
	const runs = 10
	jobs := 2000 + int(400/(1-load)) // a busy queue forgets its beginning slowly
	var sum, squares float64
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, math.Float64bits(load)))
		w := meanWait(t, policy, gpus, arrivals(r, jobs, 1/(load*float64(gpus)), serve))
		sum += w
		squares += w * w
	}
	mean := sum / runs
	deviation := math.Sqrt(max(0, squares/runs-mean*mean) / (runs - 1))
	t.Logf("%s, load %v: %.4f s, theory %.4f s, standard error %.4f s", name, load, mean, want, deviation)
	if math.Abs(mean-want) > 3.5*deviation || deviation > 0.25*want {
		t.Errorf("%s, load %v: mean wait %.4f s with standard error %.4f s, want %.4f s", name, load, mean, deviation, want)
	}
}

// erlangC is the mean wait of M/M/c with services of 1 s.
func erlangC(c int, load float64) float64 {
	a, term, sum := load*float64(c), 1.0, 0.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	waits := term / (1 - load) / (sum + term/(1-load))
	return waits / (float64(c) * (1 - load))
}

func TestErlangC(t *testing.T) {
	if got := erlangC(1, 0.5); math.Abs(got-1) > 1e-12 {
		t.Errorf("M/M/1 at 0.5: %v, want 1", got)
	}
	if got := erlangC(2, 0.75); math.Abs(got-9.0/7) > 1e-12 {
		t.Errorf("M/M/2 at 0.75: %v, want 9/7", got)
	}
}

func exponential(r *rand.Rand) float64 { return r.ExpFloat64() }

func TestWaitsOfMMc(t *testing.T) {
	for _, c := range []int{1, 3, 8} {
		for _, load := range []float64{0.3, 0.5, 0.7, 0.8, 0.9} {
			if c == 8 && load < 0.5 {
				continue // hardly anybody waits: the error is large
			}
			policy := []string{"per-pod", "gang"}[c%2]
			checkWait(t, fmt.Sprintf("M/M/%d under %s", c, policy), policy, c, load, erlangC(c, load), exponential)
		}
	}
}

// Pollaczek and Khinchine: the wait grows with the second moment of the service, 1 + its
// variance.
func TestWaitsOfMG1(t *testing.T) {
	for _, g := range []struct {
		name   string
		second float64
		serve  func(*rand.Rand) float64
	}{
		{"M/D/1", 1, func(*rand.Rand) float64 { return 1 }},
		{"M/U/1", 4.0 / 3, func(r *rand.Rand) float64 { return 2 * r.Float64() }},
		{"M/H2/1", 2*0.9/(1.8*1.8) + 2*0.1*25, func(r *rand.Rand) float64 {
			if r.Float64() < 0.9 {
				return r.ExpFloat64() / 1.8 // half of the work in nine of ten jobs
			}
			return r.ExpFloat64() * 5
		}},
	} {
		for _, load := range []float64{0.3, 0.5, 0.7, 0.85} {
			want := load * g.second / (2 * (1 - load))
			checkWait(t, g.name+" under per-pod", "per-pod", 1, load, want, g.serve)
		}
	}
}
