package flow

import "slices"

// Flow is one transfer. Weight 0 means 1.
type Flow struct {
	Route  []int32 // links, each at most once
	Bytes  int64
	Start  int64 // ps
	Weight int64
}

// Finish returns when each of the flows ends, Never for one that cannot.
func Finish(capacity []int64, flows []Flow) []int64 {
	ends := make([]int64, len(flows))
	order := make([]int32, len(flows))
	for i := range flows {
		ends[i], order[i] = Never, int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return compare(flows[a].Start, flows[b].Start) })
	net := NewNet(capacity)
	for {
		t := net.Next()
		if len(order) > 0 {
			t = min(t, flows[order[0]].Start)
		}
		if t == Never {
			return ends
		}
		for _, i := range net.AdvanceTo(t) {
			ends[i] = t
		}
		for len(order) > 0 && flows[order[0]].Start == t {
			f := &flows[order[0]]
			net.Join(order[0], f.Route, max(1, f.Weight), f.Bytes)
			order = order[1:]
		}
	}
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
