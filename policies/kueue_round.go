package policies

import (
	"slices"

	"github.com/gangplan/gangplan/sim/quota"
)

// round watches a head that is looked at again at once because it remembers flavors that it
// has not tried. With several PodSets what it remembers can go round for ever: where one has
// come to its last flavor the others begin with their first again. Kueue then looks at it for
// ever. A round in which nothing else happened would be the same the next time, so the head
// waits for a change.
type round struct {
	job   int32
	epoch int64 // of the policy, when it began
	tried [][quota.Resources]int8
	steps int // since tried was noted,
	until int // and when the present state is noted instead
}

// closes reports whether a head remembers what it has remembered before, since anything
// moved. States are compared with one of those before, which is moved on at growing distances.
func (r *round) closes(job int32, epoch int64, tried [][quota.Resources]int8) bool {
	if r.job != job || r.epoch != epoch || r.until == 0 {
		*r = round{job: job, epoch: epoch, tried: append(r.tried[:0], tried...), until: 1}
		return false
	}
	if slices.Equal(r.tried, tried) {
		return true
	}
	if r.steps++; r.steps == r.until {
		r.tried, r.steps, r.until = append(r.tried[:0], tried...), 0, 2*r.until
	}
	return false
}
