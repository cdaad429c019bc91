package flow

// Shares sets rates[i] to the weighted max-min share of the flow with routes[i] and
// weights[i], in bytes per second. Every round finds the link whose capacity left per
// unit of weight is least, and gives all its flows that much: they can get no more, and
// nobody who gets less is in their way. Of equal links the first is taken. A flow
// without links must not be asked for. O(rounds x links + sum of the routes).
func Shares(capacity []int64, routes [][]int32, weights []int64, rates []int64) {
	var s sharer
	s.reset(len(capacity))
	copy(s.left, capacity)
	for i, route := range routes {
		rates[i] = -1
		s.join(int32(i), route, weights[i])
	}
	for {
		link, unit := s.tightest()
		if link < 0 {
			return
		}
		for _, i := range s.on[link] {
			if rates[i] < 0 {
				rates[i] = unit * weights[i]
				s.freeze(routes[i], weights[i], rates[i])
			}
		}
	}
}

// sharer is the state of one filling.
type sharer struct {
	left   []int64   // capacity not given away, by link
	weight []int64   // weight of the flows without a rate, by link
	on     [][]int32 // flows by link
	used   []int32   // links that carry anything
}

func (s *sharer) reset(links int) {
	s.left, s.weight, s.on = make([]int64, links), make([]int64, links), make([][]int32, links)
}

func (s *sharer) join(flow int32, route []int32, weight int64) {
	for _, l := range route {
		if len(s.on[l]) == 0 {
			s.used = append(s.used, l)
		}
		s.on[l] = append(s.on[l], flow)
		s.weight[l] += weight
	}
}

// tightest returns the link that gives least per unit of weight, and that much; -1 when
// every flow has its rate.
func (s *sharer) tightest() (link int32, unit int64) {
	link = -1
	for _, l := range s.used {
		if s.weight[l] == 0 {
			continue
		}
		u := s.left[l] / s.weight[l]
		if link < 0 || u < unit || u == unit && l < link {
			link, unit = l, u
		}
	}
	return link, unit
}

func (s *sharer) freeze(route []int32, weight, rate int64) {
	for _, l := range route {
		s.left[l] -= rate
		s.weight[l] -= weight
	}
}
