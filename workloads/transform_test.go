package workloads

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/rng"
)

func at(id string, row, submit, duration int64) Job {
	j := NewJob(id, row)
	j.Submit, j.Duration = submit, duration
	return j
}

// line writes jobs as "id@submit+duration", carried ones with a star.
func line(jobs []Job) string {
	var parts []string
	for _, j := range jobs {
		star := ""
		if j.Carried {
			star = "*"
		}
		parts = append(parts, fmt.Sprintf("%s%s@%d+%d", j.ID, star, j.Submit, j.Duration))
	}
	return strings.Join(parts, " ")
}

func TestSortBySubmitThenRow(t *testing.T) {
	carried := at("carried", 9, 5, 1)
	carried.Carried = true
	jobs := []Job{
		at("late", 1, 7, 1), at("second", 4, 5, 1), at("first", 2, 5, 1), carried, at("early", 8, 3, 1),
	}
	Sort(jobs)
	if got, want := line(jobs), "early@3+1 carried*@5+1 first@5+1 second@5+1 late@7+1"; got != want {
		t.Errorf("sorted: %s, want %s", got, want)
	}
}

func TestSortKeepsEqualsInOrder(t *testing.T) {
	jobs := []Job{at("z", 1, 2, 1), at("a", 1, 1, 1), at("c", 1, 1, 1), at("b", 1, 1, 1)}
	Sort(jobs)
	if got, want := line(jobs), "a@1+1 c@1+1 b@1+1 z@2+1"; got != want {
		t.Errorf("sorted: %s, want %s", got, want)
	}
}

// The order of the input does not show when rows are unique.
func TestSortIsIndependentOfTheInputOrder(t *testing.T) {
	var jobs []Job
	for i := range int64(300) {
		jobs = append(jobs, at(fmt.Sprint(i), i, int64(rng.Hash(1, rng.Arrival, uint64(i), 0)%20), 1))
	}
	Sort(jobs)
	want := line(jobs)
	slices.Reverse(jobs)
	Sort(jobs)
	if line(jobs) != want {
		t.Error("a reversed input sorts differently")
	}
	for i := range jobs[1:] {
		if jobs[i].Submit > jobs[i+1].Submit {
			t.Fatalf("job %d is submitted after job %d", i, i+1)
		}
	}
}

func TestWindow(t *testing.T) {
	jobs := []Job{
		at("at-end", 1, 20, 5),
		at("inside", 2, 15, 5),
		at("at-start", 3, 10, 5),
		at("running", 4, 4, 100),
		at("done", 5, 4, 6), // finishes at the very start of the window
		at("almost", 6, 4, 7),
		at("empty", 7, 10, 0),
	}
	before := line(jobs)
	cases := []struct {
		name     string
		from, to int64
		carry    Carry
		want     string
	}{
		{"rows submitted inside", 10, 20, CarryNone, "at-start@0+5 empty@0+0 inside@5+5"},
		{"the running are carried", 10, 20, CarryRunning, "running*@0+94 almost*@0+1 at-start@0+5 empty@0+0 inside@5+5"},
		{"everything", 0, 100, CarryRunning, "running@4+100 done@4+6 almost@4+7 at-start@10+5 empty@10+0 inside@15+5 at-end@20+5"},
		{"only the running", 50, 60, CarryRunning, "running*@0+54"},
		{"nothing", 200, 300, CarryRunning, ""},
		{"an empty window", 10, 10, CarryNone, ""},
		{"a reversed one", 20, 10, CarryNone, ""},
	}
	for _, c := range cases {
		if got := line(Window(jobs, c.from, c.to, c.carry)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if line(jobs) != before {
		t.Error("Window changed its input")
	}
}

// A job's limit counts from its start: what ran before the window is used up, and a job
// that had met its limit is not running.
func TestWindowCarriesWhatIsLeftOfTheLimit(t *testing.T) {
	limited := at("limited", 1, 0, 100)
	limited.TimeLimit = 50
	jobs := []Job{limited}
	got := Window(jobs, 30, 40, CarryRunning)
	if len(got) != 1 || got[0].Duration != 70 || got[0].TimeLimit != 20 {
		t.Errorf("at 30: %+v", got)
	}
	if got := Window(jobs, 50, 60, CarryRunning); len(got) != 0 {
		t.Errorf("at its limit: %s", line(got))
	}
}

// Cutting a window out of a window is cutting it out of the whole.
func TestWindowOfAWindow(t *testing.T) {
	var jobs []Job
	for i := range int64(200) {
		h := rng.Hash(2, rng.Arrival, uint64(i), 0)
		jobs = append(jobs, at(fmt.Sprint(i), i, int64(h%1000), int64(h>>32%300)))
	}
	once := Window(jobs, 500, 900, CarryRunning)
	twice := Window(Window(jobs, 200, 1000, CarryRunning), 300, 700, CarryRunning)
	if line(once) != line(twice) {
		t.Errorf("once:  %s\ntwice: %s", line(once), line(twice))
	}
}

func TestScaleLoad(t *testing.T) {
	cases := []struct {
		x    float64
		want string
	}{
		{1, "a@0+7 b@1+7 c@10+7 d@3153600000000000000+7"},
		{2, "a@0+7 b@1+7 c@5+7 d@1576800000000000000+7"}, // half a ns rounds up
		{3, "a@0+7 b@0+7 c@3+7 d@1051200000000000000+7"},
		{1.5, "a@0+7 b@1+7 c@7+7 d@2102400000000000000+7"},
		{1.1, "a@0+7 b@1+7 c@9+7 d@2866909090909090909+7"}, // 1.1 means eleven tenths
	}
	for _, c := range cases {
		jobs := []Job{at("a", 1, 0, 7), at("b", 2, 1, 7), at("c", 3, 10, 7), at("d", 4, MaxTime, 7)}
		if err := ScaleLoad(jobs, c.x); err != nil {
			t.Errorf("x = %v: %v", c.x, err)
		}
		if got := line(jobs); got != c.want {
			t.Errorf("x = %v: %s, want %s", c.x, got, c.want)
		}
	}
}

// round(submit / x) against arbitrary precision.
func TestScaleLoadIsExact(t *testing.T) {
	for i := range uint64(2000) {
		h := rng.Hash(3, rng.Arrival, i, 0)
		submit := int64(h % uint64(MaxTime))
		divisor := int64(rng.Hash(3, rng.Arrival, i, 1)%20_000_000_000) + 1_000_000_000
		jobs := []Job{at("a", 1, submit, 1)}
		if err := ScaleLoad(jobs, float64(divisor)/1e9); err != nil {
			t.Fatal(err)
		}
		want := new(big.Int).Mul(big.NewInt(submit), big.NewInt(1e9))
		want.Add(want, big.NewInt(divisor/2)).Div(want, big.NewInt(divisor))
		if jobs[0].Submit != want.Int64() {
			t.Fatalf("%d / %de-9 = %d, want %v", submit, divisor, jobs[0].Submit, want)
		}
	}
}

func TestScaleLoadRefuses(t *testing.T) {
	for _, x := range []float64{0, -1, 1e-10, 1e10, math.Inf(1), math.NaN()} {
		if err := ScaleLoad(nil, x); err == nil || !strings.Contains(err.Error(), "expected a number") {
			t.Errorf("x = %v: %v", x, err)
		}
	}
	jobs := []Job{at("a", 1, 10, 1), at("b", 2, MaxTime/2+1, 1)}
	if err := ScaleLoad(jobs, 0.5); err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("beyond the limit: %v", err)
	}
	if jobs[0].Submit != 10 {
		t.Error("a refused scale changed a job")
	}
	if err := ScaleLoad([]Job{at("a", 1, -1, 1)}, 1); err == nil {
		t.Error("a negative submission was scaled")
	}
}

func TestScaleLoadKeepsDurations(t *testing.T) {
	jobs := []Job{at("a", 1, 100, 77)}
	if err := ScaleLoad(jobs, 10); err != nil || jobs[0].Duration != 77 || jobs[0].Submit != 10 {
		t.Errorf("%s, %v", line(jobs), err)
	}
}
