package report

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// drawRow draws what became of a job, consistent in itself.
func drawRow(t *rapid.T) sim.JobRow {
	nanos := func(label string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, label) }
	row := sim.JobRow{State: sim.Queued, Pods: 1, GPUs: nanos("gpus", 64_000), Submit: nanos("submit", 1000*sec),
		FirstAdmit: -1, FirstStart: -1, Finish: -1, Work: nanos("work", 5000*sec)}
	row.Carried = nanos("carried", 9) == 0
	row.Requeues = int32(nanos("requeues", 3))
	row.Evictions[nanos("cause", int64(sim.NumCauses)-1)] = int32(nanos("evictions", 4))
	switch nanos("fate", 3) {
	case 0:
		row.State = sim.Future
	case 1:
		finished(&row, nanos("wait", 5000), nanos("run", 5000))
		row.AllReduce, row.Step = nanos("all-reduce", 4_000_000), 1_000_000
	case 2:
		row.State, row.FirstAdmit = sim.Admitted, row.Submit
	}
	return row
}

func drawResult(t *rapid.T) *sim.Result {
	r := handmade(0, 8)
	r.Jobs = rapid.SliceOfN(rapid.Custom(drawRow), 0, 40).Draw(t, "jobs")
	return r
}

// naiveQuantile is nearest rank by the book: sort all, count up to the rank.
func naiveQuantile(values []float64, percent int) (float64, bool) {
	values = slices.Sorted(slices.Values(values))
	for i := range values {
		if (i+1)*100 >= percent*len(values) {
			return values[i], !math.IsInf(values[i], 1)
		}
	}
	return 0, false
}

// naiveTimes lists a time from submit of every measured job, +Inf where it did not come.
func naiveTimes(r *sim.Result, of func(row *sim.JobRow) int64) []float64 {
	var times []float64
	for j := range r.Jobs {
		row := &r.Jobs[j]
		switch {
		case row.Carried || row.State == sim.Future:
		case of(row) < 0:
			times = append(times, math.Inf(1))
		default:
			times = append(times, float64(of(row)-row.Submit)/1e9)
		}
	}
	return times
}

func TestQuantilesAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawResult(t)
		vs := Measure(r, nil)
		for name, of := range map[string]func(row *sim.JobRow) int64{
			"wait":           func(row *sim.JobRow) int64 { return row.FirstStart },
			"admission_wait": func(row *sim.JobRow) int64 { return row.FirstAdmit },
			"jct":            func(row *sim.JobRow) int64 { return row.Finish },
		} {
			times := naiveTimes(r, of)
			for _, q := range quantiles {
				want, wantOK := naiveQuantile(times, q.percent)
				if !wantOK {
					want = 0
				}
				if got, ok := vs.Get(name + "." + q.name + "_seconds"); got != want || ok != wantOK {
					t.Fatalf("%s.%s is %v %v, want %v %v of %v", name, q.name, got, ok, want, wantOK, times)
				}
			}
		}
	})
}

// Nothing depends on the order of the jobs, to the last bit.
func TestMeasureIgnoresTheOrderOfJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawResult(t)
		want, err := json.Marshal(Measure(r, nil))
		if err != nil {
			t.Fatal(err)
		}
		r.Jobs = rapid.Permutation(r.Jobs).Draw(t, "order")
		if got, _ := json.Marshal(Measure(r, nil)); string(got) != string(want) {
			t.Fatalf("%s\n%s", got, want)
		}
	})
}

// Counts fit together, and quantiles grow.
func TestMetricsAreConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := Measure(drawResult(t), nil)
		value := func(name string) float64 { v, _ := vs.Get(name); return v }
		if value("jobs.finished")+value("jobs.unfinished") != value("jobs.submitted") || value("jobs.unstarted") > value("jobs.unfinished") {
			t.Fatalf("counts do not fit: %v", vs)
		}
		for _, name := range []string{"wait.p50_seconds", "wait.p90_seconds", "wait.p95_seconds", "wait.p99_seconds"} {
			most, finite := vs.Get("wait.max_seconds")
			if v, ok := vs.Get(name); finite && (!ok || v > most) {
				t.Fatalf("%s is %v, the largest %v", name, v, most)
			}
		}
		if v, ok := vs.Get("bounded_slowdown.p50"); ok && v < 1 {
			t.Fatalf("a bounded slowdown of %v", v)
		}
	})
}

// Values survive JSON to the last bit.
func TestValuesRoundTrip(t *testing.T) {
	number := rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) })
	rapid.Check(t, func(t *rapid.T) {
		vs := Values{}
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			v := Value{Name: rapid.String().Draw(t, "name"), Null: rapid.Bool().Draw(t, "null")}
			if !v.Null {
				v.Number = number.Draw(t, "number")
			}
			vs = append(vs, v)
		}
		b, err := json.Marshal(vs)
		if err != nil {
			t.Fatal(err)
		}
		var back Values
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if len(vs) > 0 && !reflect.DeepEqual(back, vs) {
			t.Fatalf("%s read back as %v", b, back)
		}
	})
}

// GPU-hours are within a rounding of the exact quotient, and whole hours exact.
func TestHours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Uint64Range(0, 1<<53).Draw(t, "hours")
		var u ledger.Uint128
		u.AddProduct(whole, milliNanosPerHour)
		if got := hours(u); got != float64(whole) {
			t.Fatalf("%d hours are %v", whole, got)
		}
		u.Add(ledger.Uint128{Lo: rapid.Uint64Range(0, milliNanosPerHour-1).Draw(t, "rest")})
		if got, near := hours(u), stats.Uint128(u).Float64()/float64(milliNanosPerHour); math.Abs(got-near) > 4e-16*near {
			t.Fatalf("%v is %v hours, about %v", u, got, near)
		}
	})
}

// Human forms never lie by more than their last digit.
func TestSpanIsClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Float64Range(0, 1e8).Draw(t, "seconds")
		text := Span(seconds)
		back := 0.0
		for rest := text; rest != ""; {
			n := slices.IndexFunc([]rune(rest), func(r rune) bool { return r >= 'a' && r <= 'z' })
			var v float64
			if err := json.Unmarshal([]byte(rest[:n]), &v); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			unit := rest[n : n+1]
			rest = rest[n+1:]
			if unit == "m" && rest == "s" {
				unit, rest = "ms", ""
			}
			back += v * map[string]float64{"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}[unit]
		}
		allowed := map[bool]float64{true: 0.0005, false: 0.05}[seconds < 1]
		switch {
		case seconds >= 86_400-30:
			allowed = 1800
		case seconds >= 3600-1:
			allowed = 30
		case seconds >= 10:
			allowed = 0.5
		}
		if math.Abs(back-seconds) > allowed+1e-9 {
			t.Fatalf("%v s is told as %s", seconds, text)
		}
	})
}
