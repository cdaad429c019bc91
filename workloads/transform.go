package workloads

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Sort puts jobs in the order in which a simulation takes them: by (submit, row), carried
// jobs before the others of their instant. Jobs equal in all keep their order. Sorted
// jobs cost one pass; otherwise a second copy of them is held for a while.
func Sort(jobs []Job) {
	order := make([]place, len(jobs))
	for i := range jobs {
		order[i] = place{jobs[i].Submit, !jobs[i].Carried, jobs[i].Row, i}
	}
	if slices.IsSortedFunc(order, place.compare) {
		return
	}
	slices.SortStableFunc(order, place.compare)
	old := slices.Clone(jobs)
	for i, p := range order {
		jobs[i] = old[p.index]
	}
}

// place is what decides a job's position, the last key being where it stood before.
// Sorting places moves fewer bytes than sorting jobs.
type place struct {
	submit int64
	fresh  bool // not carried
	row    int64
	index  int
}

func (a place) compare(b place) int {
	if a.submit == b.submit && a.fresh != b.fresh {
		if a.fresh {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.row, b.row), cmp.Compare(a.index, b.index))
}

// Carry says what Window does with the jobs that were running when the window began.
type Carry uint8

// The choices: leave them out, so that the cluster starts empty, or carry their
// remainder into the window.
const (
	CarryNone Carry = iota
	CarryRunning
)

// Window returns the jobs submitted in [from, to), with from as the new time zero, in the
// order of Sort. The jobs given are left alone; those returned share their PodSets.
//
// CarryRunning adds the jobs that run at from under the assumption that they started
// when they were submitted. They are submitted at zero with what is left of their
// duration and time limit, before all others, and flagged Carried.
func Window(jobs []Job, from, to int64, carry Carry) []Job {
	var kept []Job
	for _, j := range jobs {
		switch {
		case j.Submit >= from && j.Submit < to:
			j.Submit -= from
			kept = append(kept, j)
		case carry == CarryRunning && j.Submit < from && j.runsAt(from):
			kept = append(kept, j.remainder(from))
		}
	}
	Sort(kept)
	return kept
}

// runsAt reports whether a job that started at its submission still runs at t, having
// neither finished nor met its time limit.
func (j *Job) runsAt(t int64) bool {
	ran := t - j.Submit
	return ran < j.Duration && (j.TimeLimit == 0 || ran < j.TimeLimit)
}

// remainder returns what is left at t of a job that runs at t.
func (j Job) remainder(t int64) Job {
	ran := t - j.Submit
	j.Submit, j.Carried = 0, true
	j.Duration -= ran
	if j.TimeLimit > 0 {
		j.TimeLimit -= ran
	}
	return j
}

// loadScale is the resolution of ScaleLoad: factors count in parts of 1e-9, so that a
// factor written in decimals means exactly that.
const loadScale = 1e9

// ScaleLoad divides the times between arrivals by x; durations stay. Every submission
// becomes submit / x, rounded to the nearest ns, halves up, computed in integers with x
// to nine decimals. Submissions that rounding brings together are in no new order: call
// Sort afterwards.
//
// It fails, changing nothing, unless x lies in [1e-9, 1e9] and every submission lies
// between 0 and MaxTime before and after.
func ScaleLoad(jobs []Job, x float64) error {
	if !(x >= 1/loadScale && x <= loadScale) {
		return fmt.Errorf("load scale is %v: expected a number from 1e-9 to 1e9", x)
	}
	divisor := uint64(math.Round(x * loadScale))
	submits := make([]int64, len(jobs))
	for i := range jobs {
		t, ok := divide(jobs[i].Submit, divisor)
		if !ok {
			return fmt.Errorf("load scale is %v: job %q, submitted at %d ns, would leave the range from 0 to 100 years",
				x, jobs[i].ID, jobs[i].Submit)
		}
		submits[i] = t
	}
	for i := range jobs {
		jobs[i].Submit = submits[i]
	}
	return nil
}

// divide returns round(t x 1e9 / divisor), and false if t or the result lies outside
// [0, MaxTime].
func divide(t int64, divisor uint64) (int64, bool) {
	if t < 0 || t > MaxTime {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(t), loadScale)
	lo, carry := bits.Add64(lo, divisor/2, 0)
	hi += carry
	if hi >= divisor {
		return 0, false
	}
	quotient, _ := bits.Div64(hi, lo, divisor)
	return int64(quotient), quotient <= uint64(MaxTime)
}
