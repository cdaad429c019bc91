package policies

import (
	"testing"

	"github.com/gangplan/gangplan/workloads"
)

// duel is a scenario on which Kueue's placement and another differ: when the last job
// starts under each. docs/placement.md tells the same stories.
type duel struct {
	name, placement, mode string
	racks                 []string
	jobs                  []workloads.Job
	kueue, other          int64
}

func (d *duel) fight(t *testing.T) {
	t.Helper()
	c := rows(t, d.racks...)
	last := len(d.jobs) - 1
	for _, e := range []struct {
		placement string
		want      int64
	}{{"kueue", d.kueue}, {d.placement, d.other}} {
		s := tell(t, c, map[string]string{"placement": e.placement, "mode": d.mode}, nil, d.jobs...)
		if got := s.start(last); got != e.want {
			t.Errorf("%s: with %s the last job starts at %d, want %d", d.name, e.placement, got, e.want)
		}
	}
}

// long is a job from 0 to 1000, gang one of a whole rack that comes at 1.
func long(id string, pods int32, gpus int64) workloads.Job { return job(id, 0, pods, gpus, 1000) }

func gangOf(id string, pods int32, gpus int64) workloads.Job {
	return asks(job(id, 1, pods, gpus, 100), need(workloads.TopologyRequired, "rack"))
}

func pinned(j workloads.Job, node string) workloads.Job {
	j.PodSets[0].Node = node
	return j
}

func TestPlacementsWinAndLose(t *testing.T) {
	for _, d := range []duel{
		{
			// Kueue's flat order sends B to the small host of the untouched rack;
			// rack-aware to the rack that the others broke, and C finds five in the other.
			name: "rack-aware wins", placement: "rack-aware", mode: "unconstrained", racks: []string{"4 4", "4 1"},
			jobs:  []workloads.Job{pinned(long("A", 1, 2), "r0-0"), pinned(long("A2", 1, 4), "r0-1"), long("B", 1, 1), gangOf("C", 5, 1)},
			kueue: 1000, other: 1,
		},
		{
			// The rack with least room is one whole host, and rack-aware breaks it; Kueue
			// fills the broken host of the larger rack, so that two hosts stay whole.
			name: "rack-aware loses", placement: "rack-aware", mode: "unconstrained", racks: []string{"4", "4 4"},
			jobs:  []workloads.Job{pinned(long("A", 1, 3), "r1-0"), long("B", 1, 1), job("C", 1, 2, 4, 100)},
			kueue: 1, other: 1000,
		},
		{
			// 19 + 1 leaves no host of 19; 10 + 10 does.
			name: "fewest-domains wins", placement: "fewest-domains", mode: "preferred", racks: []string{"19", "10", "10"},
			jobs:  []workloads.Job{long("A", 20, 1), job("B", 1, 1, 19, 100)},
			kueue: 1000, other: 1,
		},
		{
			// 5 + 5 is exact but takes both hosts that a pod of 5 could have had.
			name: "fewest-domains loses", placement: "fewest-domains", mode: "preferred", racks: []string{"2 2 2", "5", "5"},
			jobs:  []workloads.Job{long("A", 10, 1), job("B", 1, 1, 5, 100)},
			kueue: 1, other: 1000,
		},
		{
			// A pod on every host of the rack leaves no host whole.
			name: "spread loses", placement: "spread", mode: "preferred", racks: []string{"4 4 4 4"},
			jobs:  []workloads.Job{long("A", 4, 1), job("B", 1, 1, 4, 100)},
			kueue: 1, other: 1000,
		},
		{
			// Five pods need two racks: Kueue starts with a whole one, keep-whole fills the
			// two broken ones, and both gangs of a whole rack start.
			name: "keep-whole wins", placement: "keep-whole", mode: "preferred", racks: []string{"4", "4", "4", "4"},
			jobs: []workloads.Job{pinned(long("A", 1, 2), "r0-0"), pinned(long("A2", 1, 1), "r1-0"), long("B", 5, 1),
				gangOf("C", 4, 1), gangOf("D", 4, 1)},
			kueue: 101, other: 1,
		},
		{
			// The small rack would have been an exact fit; keep-whole breaks the large one
			// further, and its eight are gone.
			name: "keep-whole loses", placement: "keep-whole", mode: "preferred", racks: []string{"4", "4 4 4"},
			jobs:  []workloads.Job{pinned(long("A", 1, 4), "r1-0"), long("B", 4, 1), gangOf("C", 8, 1)},
			kueue: 1, other: 1000,
		},
	} {
		d.fight(t)
	}
}

// A job that can do with three of its four pods runs on when a host of the four fails;
// packed onto that host it loses all it did.
func TestSpreadWinsWhenAHostFails(t *testing.T) {
	c := rows(t, "4 4 4 4")
	j := job("A", 0, 4, 1, 1000)
	j.PodSets[0].MinCount = 3
	for _, e := range []struct {
		placement string
		want      int64
	}{{"kueue", 1500}, {"spread", 1000}} {
		placement, want := e.placement, e.want
		s := tell(t, c, map[string]string{"placement": placement}, fault(c, 500, false, "r0-0"), j)
		if got := s.r.Jobs[0].Finish / sec; got != want {
			t.Errorf("%s: finished at %d, want %d", placement, got, want)
		}
	}
}
