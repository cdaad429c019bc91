package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/workloads"
)

// diary is a witness that writes down what it sees.
type diary struct {
	sim.Transitions
	lines []string
}

func (d *diary) See(s sim.Sight) {
	names := []string{"created", "attempt", "assigned", "gone", "released", "queued", "unsuspended", "finished"}
	d.lines = append(d.lines, fmt.Sprintf("%d %s %d/%d %d", s.Time/sec, names[s.Kind], s.Job, s.Rank, s.Node))
}

// A gang of two on one host of two GPUs, and one that has to wait for its end: what shows
// of them beside the transitions. The digest does not know that somebody looked.
func TestWitness(t *testing.T) {
	cfg := &sim.Config{Cluster: hosts(2), Jobs: []workloads.Job{gang("a", 2, 1, 5), gang("b", 1, 2, 5)}, Stable: []uint64{1, 2},
		Queues: []quota.Queue{{Name: "q"}}, Seed: 1}
	d, _ := policies.Lookup("per-pod")
	var seen diary
	e, err := sim.New(cfg, d.New(nil), &seen)
	if err != nil {
		t.Fatal(err)
	}
	watched := e.Run()
	want := `0 created 0/0 -1
0 created 0/1 -1
0 created 1/0 -1
0 attempt 0/0 -1
0 attempt 0/1 -1
0 attempt 1/0 -1
5 gone 0/0 0
5 gone 0/1 0
5 finished 0/-1 -1
5 attempt 1/0 -1
10 gone 1/0 0
10 finished 1/-1 -1`
	if got := strings.Join(seen.lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if e, err = sim.New(cfg, d.New(nil), nil); err != nil {
		t.Fatal(err)
	}
	if alone := e.Run(); alone.Digest != watched.Digest {
		t.Error("a witness changes the digest")
	}
}
