package quota

// Use charges an amount of a flavor-resource to a node. What its local quota does not
// cover counts at its parent too.
func (t *Tree) Use(node int32, fr FR, v int64) {
	t.touch(node)
	for {
		i := t.at(node, fr)
		room := max(0, t.local[i]-t.usage[i])
		t.set(i, t.usage[i]+v)
		if v <= room || t.parent[node] == None {
			return
		}
		v -= room
		node = t.parent[node]
	}
}

// Free takes an amount back, the part that counts at the parent first.
func (t *Tree) Free(node int32, fr FR, v int64) {
	t.touch(node)
	for {
		i := t.at(node, fr)
		above := t.usage[i] - t.local[i]
		t.set(i, t.usage[i]-v)
		if above <= 0 || t.parent[node] == None {
			return
		}
		v = min(v, above)
		node = t.parent[node]
	}
}

// UseAll and FreeAll charge and take back a list.
func (t *Tree) UseAll(node int32, items []Item) {
	for _, it := range items {
		t.Use(node, it.FR, it.Amount)
	}
}

// FreeAll takes a list back.
func (t *Tree) FreeAll(node int32, items []Item) {
	for _, it := range items {
		t.Free(node, it.FR, it.Amount)
	}
}

// touch notes a node whose usage changes for good, not in a simulation.
func (t *Tree) touch(node int32) {
	if t.open == 0 && !t.isTouched[node] {
		t.isTouched[node] = true
		t.touched = append(t.touched, node)
	}
}

// EachTouched calls f once for every node that was charged or given back something outside
// simulations since the last call. Cohorts above it are not mentioned.
func (t *Tree) EachTouched(f func(node int32)) {
	for _, node := range t.touched {
		t.isTouched[node] = false
		f(node)
	}
	t.touched = t.touched[:0]
}

func (t *Tree) set(i int32, v int64) {
	if t.open > 0 {
		t.log = append(t.log, change{i, t.usage[i]})
	}
	t.usage[i] = v
}

// Mark is a state that Undo returns to.
type Mark int

// Mark begins a simulation: from now on changes are logged, until its Undo. Simulations
// nest.
func (t *Tree) Mark() Mark {
	t.open++
	return Mark(len(t.log))
}

// Undo ends the simulation begun by the mark and restores every usage.
func (t *Tree) Undo(m Mark) {
	t.Rewind(m)
	t.open--
}

// Rewind restores every usage as it was at the mark, and the simulation goes on.
func (t *Tree) Rewind(m Mark) {
	for i := len(t.log) - 1; i >= int(m); i-- {
		t.usage[t.log[i].at] = t.log[i].old
	}
	t.log = t.log[:m]
}

// Usage returns what counts against a node's subtree quota.
func (t *Tree) Usage(node int32, fr FR) int64 { return t.usage[t.at(node, fr)] }

// Nominal returns a node's own quota, Subtree what it has with its children's.
func (t *Tree) Nominal(node int32, fr FR) int64 { return t.nominal[t.at(node, fr)] }
func (t *Tree) Subtree(node int32, fr FR) int64 { return t.subtree[t.at(node, fr)] }

// BorrowingLimit returns a node's own limit.
func (t *Tree) BorrowingLimit(node int32, fr FR) Limit {
	if l := t.limit[t.at(node, fr)]; l != unlimited {
		return Max(l)
	}
	return Limit{}
}

// Potential returns what a node could have if nothing were used.
func (t *Tree) Potential(node int32, fr FR) int64 { return t.potential[t.at(node, fr)] }

// Available returns what a node can still take. It is never negative, even when the tree
// above is overcommitted.
func (t *Tree) Available(node int32, fr FR) int64 { return max(0, t.available(node, fr)) }

func (t *Tree) available(node int32, fr FR) int64 {
	i := t.at(node, fr)
	if t.parent[node] == None {
		return t.subtree[i] - t.usage[i]
	}
	above := t.available(t.parent[node], fr)
	if t.limit[i] != unlimited {
		stored := t.subtree[i] - t.local[i]
		used := max(0, t.usage[i]-t.local[i])
		above = min(above, stored-used+t.limit[i])
	}
	return max(0, t.local[i]-t.usage[i]) + above
}

// LocalAvailable returns what is left of a node's local quota.
func (t *Tree) LocalAvailable(node int32, fr FR) int64 {
	i := t.at(node, fr)
	return max(0, t.local[i]-t.usage[i])
}

// BorrowsWith reports whether a node with v more would use more than its subtree quota.
func (t *Tree) BorrowsWith(node int32, fr FR, v int64) bool {
	i := t.at(node, fr)
	return t.usage[i]+v > t.subtree[i]
}

// Exceeds reports whether a node uses more than its subtree quota of any of some
// flavor-resources.
func (t *Tree) Exceeds(node int32, frs []FR) bool {
	for _, fr := range frs {
		if t.BorrowsWith(node, fr, 0) {
			return true
		}
	}
	return false
}

// BorrowLevel returns 0 if a queue can take v more within its nominal quota, and else the
// height of the lowest cohort above it whose subtree quota covers the rest, or of its
// root. Below says that some subtree smaller than the whole tree does.
func (t *Tree) BorrowLevel(q int32, fr FR, v int64) (level int32, below bool) {
	if t.parent[q] == None {
		return 0, false
	}
	if !t.BorrowsWith(q, fr, v) {
		return 0, true
	}
	node := q
	for {
		v -= t.LocalAvailable(node, fr)
		node = t.parent[node]
		if t.parent[node] == None || !t.BorrowsWith(node, fr, v) {
			return t.height[node], t.parent[node] != None
		}
	}
}

// Covers reports whether a node's subtree quota has room for a request, and reduces the
// request to what its local quota leaves over for its parent.
func (t *Tree) Covers(node int32, request []Item) bool {
	covers := true
	for i := range request {
		it := &request[i]
		covers = covers && !t.BorrowsWith(node, it.FR, it.Amount)
		it.Amount = max(0, it.Amount-t.LocalAvailable(node, it.FR))
	}
	return covers
}
