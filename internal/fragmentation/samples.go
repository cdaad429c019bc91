package fragmentation

import "math"

// Samples are what was measured after every pod of a run.
type Samples struct {
	Dropped  int // pods that found no place
	rows     []sample
	capacity int64
}

// sample: milli-GPU asked for so far, used, and fragments of what is free.
type sample struct {
	arrived, used int64
	fragments     float64
}

// Point is the mean of the samples at a percentage of the cluster's GPUs asked for: how
// much of the GPUs is used, how much of them a fragment, how much of the free ones.
type Point struct {
	Arrived        int
	Allocated      float64 // percent of all GPUs
	FragmentAmount float64 // percent of all GPUs
	FragmentRatio  float64 // percent of the free GPUs
}

// Arrived is the number of percentages of a published table, from 0.
const Arrived = 131

// Points makes the published table of the samples: the mean at every percentage from 0 to
// 130, of the neighbours where there is no sample, and nothing where they have none.
func (s *Samples) Points() []Point {
	var at [Arrived + 1][]sample
	for _, r := range s.rows {
		if a := int(math.RoundToEven(s.percent(r.arrived))); a <= Arrived {
			at[a] = append(at[a], r)
		}
	}
	var out []Point
	for q := range Arrived {
		rows := at[q]
		if len(rows) == 0 {
			rows = append(rows, at[max(0, q-1)]...)
			rows = append(rows, at[q+1]...)
		}
		if len(rows) > 0 {
			out = append(out, s.mean(q, rows))
		}
	}
	return out
}

// percent divides twice, as published, so that the digits come out.
func (s *Samples) percent(milli int64) float64 {
	return float64(milli) / (float64(s.capacity) / 1000) / 10
}

func (s *Samples) mean(q int, rows []sample) Point {
	used, amounts, ratios := make([]float64, len(rows)), make([]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		used[i] = round2(s.percent(r.used))
		amounts[i] = round2(r.fragments)
		if free := s.capacity - r.used; free > 0 {
			ratios[i] = round2(100 * r.fragments / float64(free))
		}
	}
	amount := 100 * mean(amounts) / 1000 / (float64(s.capacity) / 1000)
	return Point{Arrived: q, Allocated: round2(mean(used)), FragmentAmount: round2(amount), FragmentRatio: mean(ratios)}
}

// round2 rounds to two decimals, halves of the binary value to even.
func round2(x float64) float64 { return math.RoundToEven(x*100) / 100 }

func mean(x []float64) float64 { return pairwise(x) / float64(len(x)) }

// pairwise sums as numpy does: up to 128 numbers in eight partial sums, more in halves
// whose first is a multiple of eight. The published means depend on it in the last digit.
func pairwise(x []float64) float64 {
	n := len(x)
	if n < 8 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum
	}
	if n > 128 {
		half := n / 2
		half -= half % 8
		return pairwise(x[:half]) + pairwise(x[half:])
	}
	var r [8]float64
	copy(r[:], x)
	i := 8
	for ; i < n-n%8; i += 8 {
		for j := range r {
			r[j] += x[i+j]
		}
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for ; i < n; i++ {
		sum += x[i]
	}
	return sum
}
