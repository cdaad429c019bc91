package admission

// nominate finds what a workload could be given in the present state: its flavors, and the
// victims it needs. With fewer pods if it allows that and all of them neither fit nor find
// victims.
func (k *Kernel) nominate(w int32, a *Assignment) {
	wl := &k.Work[w]
	if wl.memory.valid && k.generation[wl.Queue] > wl.memory.generation {
		wl.memory.valid = false
	}
	whole := k.try(w, nil, a)
	if !whole {
		k.reduce(w, a)
	}
	if k.Room != nil && (!whole || a.Mode == Preempt) {
		k.settle(w, a)
	}
}

// settle seeks the places that go with an outcome. The search for victims and for fewer pods
// left others behind, or none.
func (k *Kernel) settle(w int32, a *Assignment) {
	switch {
	case a.Mode == NoFit:
	case a.Mode == Preempt && len(a.Targets) == 0:
		k.Room.FitsEmpty(w, a)
	default:
		k.leaveAll(a.Targets, k.Room.Leave)
		k.Room.Fits(w, a)
		k.leaveAll(a.Targets, k.Room.Return)
	}
}

func (k *Kernel) leaveAll(targets []Target, f func(int32)) {
	for _, t := range targets {
		f(t.Workload)
	}
}

// try assigns and, if need be, searches victims. It reports whether the workload could be
// admitted now or after preemption.
func (k *Kernel) try(w int32, counts []int32, a *Assignment) bool {
	k.assign(w, counts, a)
	switch a.Mode {
	case Fit:
		return true
	case Preempt:
		return k.findTargets(w, a)
	}
	return false
}

// reduce searches, by bisection, the smallest reduction of the pod counts with which the
// workload could be admitted, and takes it.
func (k *Kernel) reduce(w int32, a *Assignment) {
	total := k.reducible(w)
	if total == 0 {
		return
	}
	probe, good := &k.scratch[0], &k.scratch[1]
	goodAt := int64(-1)
	low, high := int64(0), total+1
	for low < high {
		mid := (low + high) / 2
		for i := range k.counts {
			k.counts[i] = k.Work[w].Sets[i].Count - int32(int64(k.deltas[i])*mid/total)
		}
		if k.try(w, k.counts, probe) {
			probe, good = good, probe
			goodAt, high = mid, mid
		} else {
			low = mid + 1
		}
	}
	if goodAt == low {
		a.copyFrom(good)
	}
}

// reducible returns by how many pods a workload may shrink in all, and notes by how many
// each PodSet may.
func (k *Kernel) reducible(w int32) (total int64) {
	k.counts, k.deltas = k.counts[:0], k.deltas[:0]
	for i := range k.Work[w].Sets {
		s := &k.Work[w].Sets[i]
		delta := int32(0)
		if s.Min > 0 {
			delta = s.Count - s.Min
		}
		k.counts, k.deltas = append(k.counts, s.Count), append(k.deltas, delta)
		total += int64(delta)
	}
	return total
}

func (a *Assignment) copyFrom(b *Assignment) {
	a.Mode, a.Level = b.Mode, b.Level
	a.Sets = append(a.Sets[:0], b.Sets...)
	a.Usage = append(a.Usage[:0], b.Usage...)
	a.Targets = append(a.Targets[:0], b.Targets...)
	a.Reasons = append(a.Reasons[:0], b.Reasons...)
}

// Nominate finds what one workload could be given in the present state.
func (k *Kernel) Nominate(w int32, a *Assignment) {
	k.search.parades.forget()
	k.nominate(w, a)
}
