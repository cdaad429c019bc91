package stage

import (
	"math/bits"
	"slices"
)

// dpTable finds, among sets of a given number of domains, one that holds what is asked
// with the least left over. Row i is what can be reached with i domains: states by what
// is still to be placed, with and without the leader placed. A state keeps the first way
// it was reached.
type dpTable struct {
	ways []way
	rows []dpRow
}

// way is a state: what is left, and the domain and the state it was reached by.
type way struct{ left, domain, from int32 }

// dpRow lists the states of a row as indexes of ways, sorted by what is left: those with
// the leader placed, and those with the leader still to be placed.
type dpRow [2][]int32

func (t *dpTable) reset(rows int32) {
	for int32(len(t.rows)) < rows {
		t.rows = append(t.rows, dpRow{})
	}
	for i := range t.rows {
		t.rows[i][0], t.rows[i][1] = t.rows[i][0][:0], t.rows[i][1][:0]
	}
	t.ways = t.ways[:0]
}

// reach adds a state unless it is known.
func (t *dpTable) reach(row, leaders int32, w way) {
	list := t.rows[row][leaders]
	at, known := slices.BinarySearchFunc(list, w.left, func(i, left int32) int { return int(t.ways[i].left) - int(left) })
	if known {
		return
	}
	t.ways = append(t.ways, w)
	t.rows[row][leaders] = slices.Insert(list, at, int32(len(t.ways)-1))
}

// cheapestSet chooses, of the listed domains, as few as a greedy walk needs, with the
// least room left over. byEntropy prefers, among domains with equal room, those whose
// children are most evenly filled.
func (s *Search) cheapestSet(list []int32, byEntropy bool) bool {
	e, fits := s.greedy()
	if !fits {
		return false
	}
	if byEntropy {
		s.sortByEntropy(list)
	} else {
		slices.SortStableFunc(list, s.byName)
	}
	s.dp.reset(e.domains + 1)
	s.dp.reach(0, s.leaders(), way{left: s.need() * s.size, domain: -1, from: -1})
	for _, d := range list {
		for row := e.domains; row > 0; row-- {
			s.addDomain(row, d)
		}
	}
	return s.readCheapest(e.domains)
}

// addDomain extends every state of the row before by a domain, with and without the
// leader on it.
func (s *Search) addDomain(row, d int32) {
	t := s.st[d]
	for leaders := range int32(2) {
		for _, i := range s.dp.rows[row-1][leaders] {
			left := s.dp.ways[i].left
			if leaders == 0 && left <= 0 {
				continue
			}
			if leaders > 0 && t.leader > 0 {
				s.dp.reach(row, 0, way{left - t.podsL, d, i})
			}
			if t.slices > 0 {
				s.dp.reach(row, leaders, way{left - t.pods, d, i})
			}
		}
	}
}

// readCheapest follows the best state of the last row back.
func (s *Search) readCheapest(row int32) bool {
	best := int32(-1)
	for _, i := range s.dp.rows[row][0] {
		if s.dp.ways[i].left <= 0 {
			best = i
		}
	}
	s.chosen = s.chosen[:0]
	for i := best; i >= 0 && s.dp.ways[i].domain >= 0; i = s.dp.ways[i].from {
		s.chosen = append(s.chosen, s.dp.ways[i].domain)
	}
	return best >= 0
}

// sortByEntropy orders by whether a leader fits, by slices beside it, by how evenly the
// room is spread over the children, most evenly first, then by name.
func (s *Search) sortByEntropy(list []int32) {
	slices.SortStableFunc(list, func(a, b int32) int {
		x, y := &s.st[a], &s.st[b]
		switch {
		case x.leader != y.leader:
			return int(y.leader - x.leader)
		case x.slicesL != y.slicesL:
			return int(y.slicesL) - int(x.slicesL)
		}
		if p, q := s.entropy(a), s.entropy(b); p != q {
			return int(q - p)
		}
		return s.byName(a, b)
	})
}

// entropy is the Shannon entropy of the room of a domain's children, in 2^-20 bits. It is
// computed in integers, so that it orders alike on every machine; entropies closer than
// that are equal.
func (s *Search) entropy(d int32) int64 {
	dom := &s.cluster.Domains[d]
	var total, sum int64
	for c := dom.FirstChild; c < dom.LastChild; c++ {
		n := int64(s.st[c].pods)
		total += n
		sum += n * log2(n)
	}
	if total == 0 {
		return 0
	}
	return ((total*log2(total)-sum)/total + 1<<11) >> 12
}

// log2 is the binary logarithm of n in 2^-32, 0 for n < 2: the whole part from the number
// of bits, then one bit for every squaring of the mantissa.
func log2(n int64) int64 {
	if n < 2 {
		return 0
	}
	whole := bits.Len64(uint64(n)) - 1
	m := uint64(n) << (63 - whole) // mantissa in [1, 2) with 63 fractional bits
	result := int64(whole)
	for range 32 {
		hi, _ := bits.Mul64(m, m)
		result <<= 1
		if hi >= 1<<63 {
			result |= 1
			m = hi
		} else {
			m = hi << 1
		}
	}
	return result
}
