package quota

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Who was charged is named once, and what was only tried is not.
func TestEachTouched(t *testing.T) {
	tree := New(make([]Queue, 3))
	touched := func() (nodes []int32) {
		tree.EachTouched(func(node int32) { nodes = append(nodes, node) })
		return nodes
	}
	tree.Use(2, 0, 5)
	tree.Free(2, 0, 1)
	tree.Use(0, 0, 1)
	mark := tree.Mark()
	tree.Use(1, 0, 1)
	tree.Undo(mark)
	if got := touched(); !slices.Equal(got, []int32{2, 0}) {
		t.Errorf("touched are %v", got)
	}
	if tree.Use(1, 0, 1); !slices.Equal(touched(), []int32{1}) || touched() != nil {
		t.Error("the second time differs")
	}
}

// A share without something is the share when that is given back.
func TestShareWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		queues := make([]Queue, 3)
		for q := range queues {
			queues[q] = Queue{Cohort: "c", Nominal: Amounts{r.Int64N(9), r.Int64N(9)}, Covers: [4]bool{true, true}}
		}
		tree := NewTree(queues, nil)
		for range 6 {
			tree.Use(r.Int32N(3), FR(r.IntN(2)), r.Int64N(9))
		}
		q := r.Int32N(3)
		less := []Item{{0, r.Int64N(1 + tree.Usage(q, 0))}, {1, r.Int64N(1 + tree.Usage(q, 1))}}
		got, before := tree.ShareWithout(q, less), tree.Share(q)
		tree.FreeAll(q, less)
		if want := tree.Share(q); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if got.Compare(&before) > 0 {
			t.Fatalf("less is more: %+v, before %+v", got, before)
		}
	}
}

// Usage adds up in a cohort of queues that keep nothing, and in no other.
func TestAdditive(t *testing.T) {
	lends := func(lending Limit, cohort string) Queue {
		g := Group{Covers: [4]bool{true}, Flavors: []FlavorQuota{{}}}
		g.Flavors[0].Quota[0] = Quota{Nominal: 4, Lending: lending}
		return Queue{Name: cohort, Cohort: cohort, Groups: []Group{g}}
	}
	tree := NewTree([]Queue{lends(Limit{}, "plain"), lends(Max(4), "plain"), lends(Limit{}, "keeps"), lends(Max(3), "keeps"), lends(Limit{}, "nested")},
		[]Cohort{{Name: "plain"}, {Name: "keeps"}, {Name: "top"}, {Name: "nested", Parent: "top"}})
	for node, want := range []bool{false, false, false, false, false, true, false, false, true} {
		if got := tree.Additive(int32(node)); got != want {
			t.Errorf("%s: %v", tree.Name(int32(node)), got)
		}
	}
}
