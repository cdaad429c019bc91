package admission

import (
	"testing"

	"github.com/gangplan/gangplan/sim/quota"
)

// A head that waits in a queue beyond its borrowing limit reserves less than nothing (B4d has
// no floor at 0), and that gives nothing to the cohort. The cohort has 6 + 2 GPUs. q holds 5,
// though it may have 3, so there are 3 left. Its head reserves min(1, 2 + 1 - 5) = -2; then
// the head of o takes the 3, and that of p, which asks for 2, finds none.
func TestReservationBeyondTheLimit(t *testing.T) {
	group := func(nominal int64, borrowing quota.Limit) []quota.Group {
		g := quota.Group{Covers: [4]bool{true}, Flavors: []quota.FlavorQuota{{}}}
		g.Flavors[0].Quota[0] = quota.Quota{Nominal: nominal, Borrowing: borrowing}
		return []quota.Group{g}
	}
	tree := quota.NewTree([]quota.Queue{
		{Name: "q", Cohort: "c", Groups: group(2, quota.Max(1))},
		{Name: "o", Cohort: "c", Groups: group(0, quota.Limit{})},
		{Name: "p", Cohort: "c", Groups: group(0, quota.Limit{})},
	}, []quota.Cohort{{Name: "c", Groups: group(6, quota.Limit{})}})
	work := []Workload{wants(5, 0), wants(1, 0), wants(3, 0), wants(2, 0)}
	for w, queue := range []int32{0, 0, 1, 2} {
		work[w].Queue, work[w].Priority, work[w].Rank = queue, int32(9-w), int64(w)
	}
	rules, _ := Version("v0.17.0")
	k := New(rules, tree, work)
	held := []quota.Item{{FR: 0, Amount: 5}}
	k.Hold(0, 0, held)
	tree.UseAll(0, held)
	entries := k.Cycle([]int32{1, 2, 3})
	if e := entries[0]; e.Workload != 1 || !e.Blocked() || e.Level != 1 {
		t.Fatalf("first is %d, %v at level %d", e.Workload, e.Mode, e.Level)
	}
	if entries[1].Status != Assumed || entries[2].Skipped != NoLonger {
		t.Errorf("o is %v, p is %v %q", entries[1].Status, entries[2].Status, entries[2].Skipped)
	}
}
