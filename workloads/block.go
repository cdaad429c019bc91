package workloads

import (
	"math/bits"

	"github.com/gangplan/gangplan/internal/rng"
)

// block is what is drawn for blockJobs consecutive jobs together: a function of the mix,
// the seed and the block's number only.
type block struct {
	order     [blockJobs]uint16 // the slot of each job
	durations [blockJobs]int64  // by slot, in ns
}

// deal draws the k-th block.
func (b *block) deal(m *mix, seed uint64, k int) {
	b.shuffle(seed, uint64(k))
	slot := 0
	for index := range m.classes {
		c := &m.classes[index]
		for rank := range c.slots {
			b.durations[slot] = c.duration(seed, index, k*c.slots+rank)
			slot++
		}
	}
	if m.gangsThird {
		b.balance(m)
	}
}

// shuffle draws the order of the slots (Fisher and Yates).
func (b *block) shuffle(seed, k uint64) {
	for i := range b.order {
		b.order[i] = uint16(i)
	}
	for i := blockJobs - 1; i > 0; i-- {
		at := rng.Below(rng.Hash(seed, rng.Size, k, uint64(i)), uint64(i)+1)
		b.order[i], b.order[at] = b.order[at], b.order[i]
	}
}

// duration draws the duration of the k-th job of a class, in ns. The quantiles of a class
// are an additive recurrence, u + k times the golden ratio modulo 1: any number of
// consecutive ones lie evenly between 0 and 1.
func (c *class) duration(seed uint64, index, k int) int64 {
	const goldenRatio = 0x9e3779b97f4a7c15 // of 2^64
	h := rng.Hash(seed, rng.Duration, uint64(index), 0) + uint64(k)*goldenRatio
	return clampDuration(rng.QuantiseMillis(rng.LogNormal(h, c.median, c.p99)))
}

func clampDuration(d int64) int64 { return min(max(d, minSynthetic), maxSynthetic) }

// balance scales the durations of the gangs by one factor, near 1, so that the gangs'
// GPU-time is half of the other jobs' and thus a third of the block's, up to the rounding
// to ms. Sums of GPU x ms of a block stay below 2^52.
func (b *block) balance(m *mix) {
	var gangs, others uint64
	for slot := range b.durations {
		c := m.class(slot)
		work := uint64(c.gpus) * uint64(b.durations[slot]/1e6)
		if c.gpus >= gangGPUs {
			gangs += work
		} else {
			others += work
		}
	}
	for slot := range b.durations {
		if m.class(slot).gpus < gangGPUs {
			continue
		}
		hi, lo := bits.Mul64(uint64(b.durations[slot]/1e6), others)
		ms, _ := bits.Div64(hi, lo, 2*gangs)
		b.durations[slot] = clampDuration(int64(ms) * 1e6)
	}
}
