package policies

import (
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// everKey is what decides whether a job could ever be admitted.
type everKey struct{ queue, class int32 }

// CanEver implements sim.Admitter. It says no only when that is certain. Equal jobs are
// looked at once.
func (k *kueue) CanEver(v sim.View, j int32) bool {
	if k.passThrough {
		return true
	}
	key := everKey{v.Queue(j), k.classOf[j]}
	can, known := k.ever[key]
	if !known {
		can = k.canEver(v, j) && (k.placer == nil || k.placer.canEver(v, j))
		k.ever[key] = can
	}
	return can
}

// canEver reports whether, with nothing used, every PodSet by itself can have flavors that
// have both the quota and the nodes for as few pods as it can do with; and whether those
// that can have no other ones have the quota all together.
func (k *kueue) canEver(v sim.View, j int32) bool {
	var all []quota.Item
	first, last := v.SetsOf(j)
	for s := first; s < last; s++ {
		n := v.Count(s)
		if k.partial {
			n = least(v, s)
		}
		one := counted(v, quota.Amounts(*v.PodRequest(s)))
		if !listed(v, v.Queue(j), &one) {
			return false
		}
		request := quota.Amounts(topology.Resources(one).Times(int64(n)))
		choices, choice := k.choicesOf(v, j, s, request)
		if choices == 0 {
			return false
		}
		if choices == 1 {
			all = v.Quota().AppendWith(all, v.Queue(j), request, choice)
		}
	}
	return coveredEver(v, v.Queue(j), all)
}

// choicesOf counts the choices of flavors that can do for a PodSet, up to 2, and returns the
// last. A job may run with fewer pods than it needs quota for.
func (k *kueue) choicesOf(v sim.View, j, s int32, request quota.Amounts) (count int, choice uint64) {
	v.AnyChoice(s, func(flavors uint64) bool {
		if v.Flavors() == 0 {
			flavors = 1
		}
		if coveredEver(v, v.Queue(j), v.Quota().AppendWith(nil, v.Queue(j), request, flavors)) && v.Room(sim.Empty, s, v.Given(s)) >= int64(least(v, s)) &&
			(k.placer == nil || k.placer.canEverHave(v, j, s)) {
			count, choice = count+1, flavors
		}
		return count == 2
	})
	return count, choice
}

// coveredEver reports whether a queue could have all of some amounts, with nothing used.
func coveredEver(v sim.View, q int32, items []quota.Item) bool {
	sums := make([]int64, v.Quota().FRs())
	for _, it := range items {
		if sums[it.FR] += it.Amount; sums[it.FR] > v.Quota().Potential(q, it.FR) {
			return false
		}
	}
	return true
}
