package admission

import (
	"slices"

	"github.com/gangplan/gangplan/sim/order"
	"github.com/gangplan/gangplan/sim/quota"
)

// A search for victims looks at other queues in an order that does not depend on who
// searches: by their first holders, and under fair sharing by their shares before that. The
// rankings keep the queues that borrow in this order from search to search. A queue whose
// holders or usage changed is stale; it is placed anew when the next search of its cohort
// tree begins.
type rankings struct {
	k       *Kernel
	ranked  [ranks][][]int32  // per node: queues in order
	lefts   [][]quota.Share   // per cohort, of blocks of its queues
	fresh   [ranks][][]int32  // per node: queues that are being placed
	of      [ranks][]standing // per queue
	staleOf [][]int32         // per root
	stale   []bool
	version []int64 // per root: grows whenever something was placed
	spare   []int32
	nodes   []int32 // with something fresh
}

// rank is one of the orders: of evicted holders and of live ones, per cohort tree; or of
// shares, per cohort.
type rank uint8

const (
	goneRank rank = iota
	liveRank
	shareRank
	ranks
)

// standing is what a queue is ranked by.
type standing struct {
	listed bool
	own    bool // the preemptor's, which comes after others of the same share
	live   bool // it has no evicted holder, who would come first
	share  quota.Share
	left   quota.Share // of shares, at most that when one of its holders is gone
	key    order.Key   // of its first holder
}

// block is how many queues of a ranking by shares are looked at at once, and mostHolders how
// many holders of one.
const block, mostHolders = 32, 64

// before reports whether a queue comes before another one.
func (s *standing) before(o *standing) bool {
	if c := s.share.Compare(&o.share); c != 0 {
		return c > 0
	}
	if s.live != o.live {
		return o.live
	}
	if s.own != o.own {
		return o.own
	}
	return s.key.Less(o.key)
}

func (r *rankings) reset(k *Kernel) {
	t := k.Tree
	*r = rankings{k: k, staleOf: make([][]int32, t.Nodes()), version: make([]int64, t.Nodes()), lefts: make([][]quota.Share, t.Nodes()), stale: make([]bool, t.Len())}
	for kind := range r.ranked {
		r.ranked[kind], r.fresh[kind], r.of[kind] = make([][]int32, t.Nodes()), make([][]int32, t.Nodes()), make([]standing, t.Len())
	}
	for q := range int32(t.Len()) {
		r.touch(q)
	}
}

// touch notes that a queue's place is not known any more.
func (r *rankings) touch(q int32) {
	if !r.stale[q] && r.k.Tree.Parent(q) != quota.None {
		r.stale[q] = true
		root := r.k.Tree.Root(q)
		r.staleOf[root] = append(r.staleOf[root], q)
	}
}

// queues returns those of a node in order. The slice is good until the next refresh.
func (r *rankings) queues(kind rank, node int32) []int32 { return r.ranked[kind][node] }

// refresh places the stale queues of a cohort tree.
func (r *rankings) refresh(root int32) {
	r.k.Tree.EachTouched(r.touch)
	if len(r.staleOf[root]) == 0 {
		return
	}
	r.version[root]++
	if r.k.Rules.FairSharing {
		r.place(shareRank, root)
	} else {
		r.place(goneRank, root)
		r.place(liveRank, root)
	}
	for _, q := range r.staleOf[root] {
		r.stale[q] = false
	}
	r.staleOf[root] = r.staleOf[root][:0]
}

// place sorts the stale queues of a tree into their rankings.
func (r *rankings) place(kind rank, root int32) {
	r.nodes = r.nodes[:0]
	for _, q := range r.staleOf[root] {
		node := root
		if kind == shareRank {
			node = r.k.Tree.Parent(q)
		}
		if len(r.fresh[kind][node]) == 0 {
			r.nodes = append(r.nodes, node)
		}
		r.fresh[kind][node] = append(r.fresh[kind][node], q)
	}
	for _, node := range r.nodes {
		r.merge(kind, node)
	}
}

// merge puts the fresh queues of a node where they belong.
func (r *rankings) merge(kind rank, node int32) {
	of, fresh := r.of[kind], r.fresh[kind][node]
	kept := slices.DeleteFunc(r.ranked[kind][node], func(q int32) bool { return r.stale[q] })
	n := 0
	for _, q := range fresh {
		if of[q] = r.stand(kind, q); of[q].listed {
			fresh[n] = q
			n++
		}
	}
	slices.SortStableFunc(fresh[:n], func(a, b int32) int {
		if of[a].before(&of[b]) {
			return -1
		}
		return 1
	})
	out := r.spare[:0]
	for _, q := range fresh[:n] {
		at := firstBehind(kept, of, q)
		out = append(append(out, kept[:at]...), q)
		kept = kept[at:]
	}
	out = append(out, kept...)
	r.spare, r.ranked[kind][node] = r.ranked[kind][node], out
	r.fresh[kind][node] = fresh[:0]
	if kind == shareRank {
		r.summarize(node)
	}
}

// firstBehind returns how many of some sorted queues come before another.
func firstBehind(sorted []int32, of []standing, q int32) int {
	low, high := 0, len(sorted)
	for low < high {
		if mid := (low + high) / 2; of[sorted[mid]].before(&of[q]) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// stand returns the standing of a queue. One that borrows nothing, or that nobody of a kind
// holds anything in, is not listed.
func (r *rankings) stand(kind rank, q int32) standing {
	s := standing{share: r.k.Tree.Share(q)}
	if !s.share.Borrowing {
		return s
	}
	first := r.k.gone[q].First()
	if kind == liveRank || kind == shareRank && first == order.None {
		first, s.live = r.k.live[q].First(), true
	}
	if first == order.None {
		return s
	}
	if s.listed, s.key = true, r.k.arena.Key(first); kind != shareRank {
		s.share = noShare
	} else {
		s.left = r.leftOf(q, &s.share)
	}
	return s
}

// leftOf returns the largest share that a queue may have without one of its holders.
func (r *rankings) leftOf(q int32, share *quota.Share) (most quota.Share) {
	gone, live := &r.k.gone[q], &r.k.live[q]
	if gone.Len()+live.Len() > mostHolders {
		return *share
	}
	for _, list := range [...]*order.List{gone, live} {
		for w := list.First(); w != order.None; w = list.Next(w) {
			if left := r.k.Tree.ShareWithout(q, r.k.Work[w].holds); most.Lendable == 0 || left.Compare(&most) > 0 {
				most = left
			}
		}
	}
	return most
}

// unfair returns how many queues of a cohort, from a place on, have at least a share, or
// more than it, and would fall below it without any one of their holders; or fewer.
func (r *rankings) unfair(cohort int32, from int, share *quota.Share, orEqual bool) int {
	queues, of := r.ranked[shareRank][cohort], r.of[shareRank]
	above := func(q int32) bool {
		c := of[q].share.Compare(share)
		return c > 0 || c == 0 && orEqual
	}
	if to := min(from+block, len(queues)); from%block == 0 && above(queues[to-1]) && r.lefts[cohort][from/block].Compare(share) < 0 {
		return to - from
	}
	if q := queues[from]; above(q) && of[q].left.Compare(share) < 0 {
		return 1
	}
	return 0
}

// summarize notes the largest left share of every block of a cohort's queues.
func (r *rankings) summarize(cohort int32) {
	lefts, queues := r.lefts[cohort][:0], r.ranked[shareRank][cohort]
	for i, q := range queues {
		left := r.of[shareRank][q].left
		if i%block == 0 {
			lefts = append(lefts, left)
		} else if last := &lefts[len(lefts)-1]; left.Compare(last) > 0 {
			*last = left
		}
	}
	r.lefts[cohort] = lefts
}

// noShare ranks all alike.
var noShare = quota.Share{Lendable: 1, Weight: 1}

// listOf returns the holders of a queue of one kind.
func (k *Kernel) listOf(kind rank, q int32) *order.List {
	if kind == goneRank {
		return &k.gone[q]
	}
	return &k.live[q]
}
