package sim_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/workloads"
)

// Two nodes of four GPUs under Kueue's quota. B waits for A; C finds two nodes with three
// GPUs too few each when it wants pods of four; D is over its time; E loses its node.
func TestWhy(t *testing.T) {
	jobs := []workloads.Job{gang("A", 2, 3, 10), gang("B", 2, 3, 10), gang("C", 1, 4, 10), gang("D", 1, 1, 50), gang("E", 1, 1, 50)}
	jobs[2].Submit, jobs[3].Submit, jobs[4].Submit = 15*sec, 30*sec, 30*sec
	jobs[3].TimeLimit = 5 * sec
	cfg := sim.Config{Cluster: hosts(4, 4), Jobs: jobs, Until: 60 * sec,
		Queues:  []quota.Queue{{Name: "default", Nominal: quota.Amounts{8000}, Covers: [4]bool{true}}},
		Actions: []sim.Action{{Time: 40 * sec, Node: 0}, {Time: 40 * sec, Node: 1}}}
	d, _ := policies.Lookup("gang")
	var trace sim.Transitions
	e, err := sim.New(&cfg, d.New(nil), &trace)
	if err != nil {
		t.Fatal(err)
	}
	e.Run()
	var got []string
	for _, x := range trace {
		if x.Why != 0 {
			got = append(got, fmt.Sprintf("%d %v %s %v", x.Time/sec, x.Kind, jobs[x.Job].ID, x.Why))
		}
	}
	want := []string{"10 admit B insufficient", "20 admit C insufficient", "35 fail D deadline", "40 evict E node"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every reason and every cause has a name of its own; all else has none.
func TestWhyNames(t *testing.T) {
	named := map[string]bool{}
	for w := range 256 {
		if name := sim.Why(w).String(); name != "" {
			if named[name] {
				t.Errorf("two are called %q", name)
			}
			named[name] = true
		}
	}
	if want := int(sim.ReasonTopology) + int(sim.NumCauses); len(named) != want {
		t.Errorf("%d names, want %d", len(named), want)
	}
}

// What explains a transition does not make it another.
func TestSameWithoutWhy(t *testing.T) {
	a := sim.Transition{Time: 1, Kind: sim.Evict, Job: 2, Rank: -1, Place: -1, Count: 3, Why: 33}
	b := a
	if b.Why = 0; !a.Same(b) || sim.NewDigest.Add(a) != sim.NewDigest.Add(b) {
		t.Error("why it came makes it another")
	}
	if b.Count++; a.Same(b) {
		t.Error("another number of pods is the same")
	}
}

func TestWhyNamed(t *testing.T) {
	for w := range sim.Why(64) {
		name := w.String()
		if got := sim.WhyNamed(name); name != "" && got != w || name == "" && got != 0 {
			t.Errorf("%d is called %q, which is %d", w, name, got)
		}
	}
	if sim.WhyNamed("nosuch") != 0 {
		t.Error("a name that there is not")
	}
}
