package quota

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFitsUpToTheNominalQuota(t *testing.T) {
	tree := New([]Queue{
		{Name: "a", Nominal: Amounts{8000, 0, 0, 0}, Covers: [4]bool{true}},
		{Name: "b", Nominal: Amounts{8000, 64_000, 0, 10}, Covers: [4]bool{true, true, false, true}},
	})
	for _, c := range []struct {
		name string
		q    int32
		req  Amounts
		want bool
	}{
		{"exactly", 0, Amounts{8000}, true},
		{"one too many", 0, Amounts{8001}, false},
		{"nothing", 0, Amounts{}, true},
		{"uncovered resources are free", 0, Amounts{8000, 1 << 60, 1 << 60, 1 << 60}, true},
		{"all covered at the limit", 1, Amounts{8000, 64_000, 1 << 60, 10}, true},
		{"one covered resource too many", 1, Amounts{8000, 64_001, 0, 10}, false},
		{"pods", 1, Amounts{0, 0, 0, 11}, false},
	} {
		if got := tree.Fits(c.q, c.req); got != c.want {
			t.Errorf("%s: fits %v", c.name, got)
		}
	}
}

func TestACoveredResourceWithoutQuotaFitsNobodyWhoAsks(t *testing.T) {
	tree := New([]Queue{{Covers: [4]bool{true, true}}})
	if !tree.Fits(0, Amounts{0, 0, 5, 5}) || tree.Fits(0, Amounts{1}) {
		t.Error("zero quota is not zero")
	}
}

func TestQueuesDoNotShare(t *testing.T) {
	spec := Queue{Nominal: Amounts{1000}, Covers: [4]bool{true}}
	tree := New([]Queue{spec, spec})
	tree.Add(0, Amounts{1000})
	if tree.Fits(0, Amounts{1}) || !tree.Fits(1, Amounts{1000}) || tree.Used(1) != (Amounts{}) {
		t.Error("usage of one queue shows in another")
	}
}

// Usage is what was added and not removed of what is covered, and Fits follows from it.
func TestUsageAgainstSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	spec := Queue{Nominal: Amounts{100, 100, 100, 100}, Covers: [4]bool{true, false, true, true}}
	tree := New([]Queue{spec})
	var held []Amounts
	var used Amounts
	refused := 0
	for range 2000 {
		req := Amounts{r.Int64N(40), r.Int64N(400), r.Int64N(40), r.Int64N(40)}
		fits := true
		for i := range req {
			fits = fits && (!spec.Covers[i] || used[i]+req[i] <= spec.Nominal[i])
		}
		if tree.Fits(0, req) != fits {
			t.Fatalf("%v on top of %v: fits %v", req, used, !fits)
		}
		if fits {
			tree.Add(0, req)
			held = append(held, req)
			used = plus(used, req, 1, spec.Covers)
		} else {
			refused++
			tree.Remove(0, held[0])
			used = plus(used, held[0], -1, spec.Covers)
			held = held[1:]
		}
		if tree.Used(0) != used {
			t.Fatalf("used is %v, want %v", tree.Used(0), used)
		}
	}
	if refused == 0 || len(held) == 0 {
		t.Errorf("%d refused, %d held: nothing was tested", refused, len(held))
	}
}

func plus(a, b Amounts, sign int64, covers [4]bool) Amounts {
	for r := range a {
		if covers[r] {
			a[r] += sign * b[r]
		}
	}
	return a
}

func TestDescription(t *testing.T) {
	tree := New([]Queue{{Name: "x", Strategy: StrictFIFO}, {Name: "y"}})
	if tree.Len() != 2 || tree.Queue(0).Name != "x" || tree.Queue(0).Strategy.String() != "StrictFIFO" ||
		tree.Queue(1).Strategy.String() != "BestEffortFIFO" {
		t.Error("a queue is not described as it was given")
	}
}

// A choice of flavors takes of each group what the group covers, from its flavor in the choice.
func TestAppendWith(t *testing.T) {
	group := func(covers [4]bool, flavors ...int32) (g Group) {
		g.Covers = covers
		for _, f := range flavors {
			g.Flavors = append(g.Flavors, FlavorQuota{Flavor: f})
		}
		return g
	}
	tree := New([]Queue{{Groups: []Group{group([4]bool{true, true}, 0, 2), group([4]bool{false, false, true}, 1)}}})
	got := tree.AppendWith(nil, 0, Amounts{5, 6, 7, 8}, 1<<2|1<<1)
	if want := []Item{{Of(2, 0), 5}, {Of(2, 1), 6}, {Of(1, 2), 7}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := tree.AppendWith(got[:0], 0, Amounts{0, 6, 7, 8}, 1); !slices.Equal(got, []Item{{Of(0, 1), 6}}) {
		t.Errorf("%v for the first flavor alone", got)
	}
}
