package fabric

// Dim is one dimension of a regular fabric: groups of Ranks joined by equal links. It is
// what analytical simulators of collectives work with, and serves to be compared with them.
type Dim struct {
	Ranks        int64
	Rate         float64 // of a link, bytes per ns
	Latency      float64 // of a link, ns
	Hops         int64   // links between two ranks: 1 of a ring or a full mesh, 2 over a switch
	StoreForward bool    // a hop begins when the one before has ended
	Algorithm    Algorithm
}

// Schedule is how a collective goes over several dimensions.
type Schedule uint8

const (
	// Nested scatters over every dimension but the last, reduces over that, and gathers
	// back: the size shrinks by each dimension passed.
	Nested Schedule = iota
	// PerDim reduces everything over each dimension in turn.
	PerDim
)

// MultiDim returns the nanoseconds of a collective over dimensions, one chunk in flight; the
// size is that of the whole array. Every message costs its link time, truncated to a
// nanosecond, and the delay of the endpoint; and so does every phase. It reports false for an
// algorithm that has no such form: ring, direct and halving-doubling (powers of two) have.
func MultiDim(op Collective, dims []Dim, bytes, endpoint int64, schedule Schedule) (int64, bool) {
	total, ok := int64(0), true
	phase := func(d *Dim, op Collective, size int64) {
		t, known := d.messages(op, size, endpoint)
		total += t + endpoint
		ok = ok && known
	}
	if schedule == PerDim {
		for i := range dims {
			phase(&dims[i], op, bytes)
		}
		return total, ok
	}
	scatter, gather := len(dims), 0 // dimensions that are scattered over on the way there, gathered on the way back
	switch op {
	case AllReduce:
		scatter, gather = len(dims)-1, len(dims)-1
	case AllGather:
		scatter, gather = 0, len(dims)
		for i := range dims {
			bytes /= dims[i].Ranks
		}
	}
	for i := range dims[:scatter] {
		phase(&dims[i], ReduceScatter, bytes)
		bytes /= dims[i].Ranks
	}
	if op == AllReduce {
		phase(&dims[scatter], AllReduce, bytes)
	}
	for i := gather - 1; i >= 0; i-- {
		bytes *= dims[i].Ranks
		phase(&dims[i], AllGather, bytes)
	}
	return total, ok
}

// messages is the time of the steps of a phase, without its end.
func (d *Dim) messages(op Collective, bytes, endpoint int64) (int64, bool) {
	ways := int64(1)
	if op == AllReduce {
		ways = 2
	}
	switch d.Algorithm {
	case Ring:
		return ways * (d.Ranks - 1) * (d.link(bytes/d.Ranks) + endpoint), true
	case Direct:
		return ways * (d.link(bytes/d.Ranks) + endpoint), true
	case HalvingDoubling:
		var t int64
		for k := int64(2); k <= d.Ranks; k *= 2 {
			t += ways * (d.link(bytes/k) + endpoint)
		}
		return t, d.Ranks&(d.Ranks-1) == 0
	}
	return 0, false
}

// link is the time of one message between two ranks.
func (d *Dim) link(bytes int64) int64 {
	if d.StoreForward {
		return d.Hops * d.hop(bytes)
	}
	return int64(float64(float64(d.Hops)*d.Latency) + float64(bytes)/d.Rate)
}

func (d *Dim) hop(bytes int64) int64 { return int64(d.Latency + float64(bytes)/d.Rate) }

// Pipelined returns the nanoseconds of a ring all-reduce over one store-and-forward
// dimension that is cut into chunks, all in flight. While a chunk is on its second link
// the next is on the first, so each link is busy without a pause: every chunk's part of
// every step once, then the way of the last one. It reports false when there are too few
// chunks to keep the links busy, or another algorithm.
func (d *Dim) Pipelined(bytes, endpoint, chunks int64) (int64, bool) {
	busy := int64(float64(bytes/d.Ranks/chunks) / d.Rate)
	lap := d.Hops*(busy+int64(d.Latency)) + endpoint
	if d.Algorithm != Ring || !d.StoreForward || chunks*busy < lap {
		return 0, false
	}
	return 2*(d.Ranks-1)*chunks*busy + (d.Hops-1)*busy + d.Hops*int64(d.Latency) + 2*endpoint, true
}
