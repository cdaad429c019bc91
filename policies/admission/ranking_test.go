package admission

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// Whatever happened to holders and usage since, the rankings hold who a ranking from
// scratch holds, in its order.
func TestRankingsAgainstScratch(t *testing.T) {
	ranked := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		k := random(r, seed%2 == 0)
		if seed%4 > 1 {
			k = randomFlat(r, seed%2 == 0)
		}
		for range 20 {
			k.disturb(r)
			for q := range int32(k.Tree.Len()) {
				k.ranks.refresh(k.Tree.Root(q))
			}
			scratch := rankings{}
			scratch.reset(k)
			for q := range int32(k.Tree.Len()) {
				scratch.refresh(k.Tree.Root(q))
			}
			for kind := range ranks {
				for node := range int32(k.Tree.Nodes()) {
					got, want := k.ranks.queues(kind, node), scratch.queues(kind, node)
					if ranked += len(want); !slices.Equal(got, want) {
						t.Fatalf("seed %d, kind %d, node %d: %v, want %v", seed, kind, node, got, want)
					}
					if kind == shareRank && !slices.Equal(k.ranks.lefts[node], scratch.lefts[node]) {
						t.Fatalf("seed %d, node %d: blocks %v, want %v", seed, node, k.ranks.lefts[node], scratch.lefts[node])
					}
				}
			}
		}
	}
	if ranked < 10000 {
		t.Errorf("%d queues ranked: too few to prove anything", ranked)
	}
}

// disturb changes a holder or two: admits, evicts, drops, or shrinks what one uses.
func (k *Kernel) disturb(r *rand.Rand) {
	for range 1 + r.IntN(3) {
		w := r.Int32N(int32(len(k.Work)))
		switch q := k.Work[w].Queue; {
		case !k.Holds(w):
			k.holdRandom(r, w, 1)
		case r.IntN(3) == 0:
			k.Evict(w)
		case r.IntN(2) == 0:
			k.free(w)
			k.Drop(w)
		default:
			if it := &k.Work[w].holds[0]; it.Amount > 1 {
				k.Tree.Free(q, it.FR, 1)
				it.Amount--
				k.Shrunk(w)
			}
		}
	}
}

// A ranking by shares is sorted, with live after evicted at equal shares, and no queue is
// in it that borrows nothing.
func TestRankingByShare(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		k := randomFlat(r, true)
		k.ranks.refresh(k.Tree.Root(0))
		list := k.ranks.queues(shareRank, k.Tree.Root(0))
		for i, q := range list {
			share := k.Tree.Share(q)
			if !share.Borrowing || k.live[q].First() == order.None && k.gone[q].First() == order.None {
				t.Fatalf("queue %d has nothing to give", q)
			}
			if i == 0 {
				continue
			}
			last := k.Tree.Share(list[i-1])
			if c := last.Compare(&share); c < 0 || c == 0 && k.gone[list[i-1]].First() == order.None && k.gone[q].First() != order.None {
				t.Fatalf("queue %d before %d: shares %v and %v", list[i-1], q, last, share)
			}
		}
	}
}

// What is left of a share without any one holder is found, or bounded where holders are many.
func TestLeftOf(t *testing.T) {
	for _, holders := range []int{1, 3, mostHolders, mostHolders + 1} {
		work := make([]Workload, holders)
		for w := range work {
			work[w] = Workload{Rank: int64(w), Sets: []PodSet{{Count: int32(1 + w%3), Request: quota.Amounts{1}}}}
		}
		lender := gpus(1000)
		lender.Name, lender.Cohort = "lender", "c"
		borrower := gpus(0)
		borrower.Cohort = "c"
		k := New(Rules{FairSharing: true}, quota.NewTree([]quota.Queue{borrower, lender}, nil), work)
		for w := range work {
			usage := []quota.Item{{FR: 0, Amount: int64(work[w].Sets[0].Count)}}
			k.Hold(int32(w), 0, usage)
			k.Tree.UseAll(0, usage)
		}
		share := k.Tree.Share(0)
		want := share.Borrowed - 1
		if holders > mostHolders {
			want = share.Borrowed
		}
		if left := k.ranks.leftOf(0, &share); left.Borrowed != want {
			t.Errorf("%d holders of %d: %d left, want %d", holders, share.Borrowed, left.Borrowed, want)
		}
	}
}
