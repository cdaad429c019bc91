package sim

import (
	"github.com/gangplan/gangplan/topology"
)

// An admission may grant a PodSet fewer pods than it asks for: the first ranks of it. The
// job then does the same work more slowly. What is left of it counts in time of the gang
// that was granted, so that rates and books need not know.

// grant sets how many pods of a PodSet are admitted, and how many its barrier wants.
func (e *Engine) grant(s, count, least int32) {
	st := &e.sets[s]
	jb := &e.jobs[st.job]
	more := count - st.count
	jb.pods += more
	jb.request = jb.request.Plus(st.request.Times(int64(more)))
	st.count, st.min = count, least
}

// grantAll ends a reduction: the job asks for all its pods again.
func (e *Engine) grantAll(j int32) {
	jb := &e.jobs[j]
	for s := jb.setBase; s < jb.setBase+jb.sets; s++ {
		st := &e.sets[s]
		all, least := e.pending(j, st.full), e.cfg.Jobs[j].PodSets[s-jb.setBase].MinCount
		if least == 0 {
			least = all
		}
		if least = min(least, all); st.count != all || st.min != least {
			e.grant(s, all, least)
		}
		if st.flavors != 0 {
			e.give(s, 0)
		}
	}
}

// granted reports whether a pod is part of its job's admission.
func (e *Engine) granted(p int32) bool {
	st := &e.sets[e.pods[p].set]
	return p-e.jobs[st.job].podBase-st.first < st.count
}

// stretch restates the work that is left in time of the gang that was just admitted.
func (e *Engine) stretch(j int32) {
	jb := &e.jobs[j]
	if whole, part := e.shareOf(j); part < whole {
		jb.remaining, jb.safe = jb.remaining.Scale(whole, part, true), jb.safe.Scale(whole, part, true)
	}
	if jb.pods != jb.granted {
		jb.granted, jb.idealAllReduce = jb.pods, 0 // another gang, another best placement
	}
}

// unstretch restates it in time of the whole gang. Rounding down makes it the inverse.
func (e *Engine) unstretch(j int32) {
	jb := &e.jobs[j]
	if whole, part := e.shareOf(j); part < whole {
		jb.remaining, jb.safe = jb.remaining.Scale(part, whole, false), jb.safe.Scale(part, whole, false)
	}
}

// shareOf returns what a job asks for and what it was granted: GPUs, or pods if it has none.
func (e *Engine) shareOf(j int32) (whole, part uint64) {
	jb := &e.jobs[j]
	if jb.pods == jb.slots || e.cfg.Jobs[j].Completions > 0 {
		return 1, 1
	}
	if all := e.cfg.Jobs[j].TotalGPUs(); all > 0 {
		return uint64(all), uint64(jb.request[topology.GPU])
	}
	return uint64(jb.slots), uint64(jb.pods)
}
