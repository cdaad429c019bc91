package stage

import (
	"slices"

	"github.com/gangplan/gangplan/sim/devices"
)

// Site is a node as the scorers of the fragmentation study see it.
type Site struct {
	CPU     int64  // free milli-cores
	Model   int32  // of its GPUs, as a bit number
	Classes uint32 // of the GPU pods on it, see Guest.Class
	GPUs    devices.Set
}

// Guest is a pod as they see it. Models is a bit set of the GPU models it accepts, 0 for
// all.
type Guest struct {
	CPU    int64
	Ask    devices.Ask
	Models uint64
}

// Class is the kind of GPU pod that GpuClustering keeps apart, a bit each: a part of a GPU,
// or so many. It is 0 for a pod without GPUs.
func (g *Guest) Class() uint32 {
	switch {
	case g.Ask.Count == 0:
		return 0
	case g.Ask.Milli < devices.Whole:
		return 1
	}
	return 1 << g.Ask.Count
}

// Accepts reports whether the guest may use GPUs of a site.
func (g *Guest) Accepts(s *Site) bool { return g.Models == 0 || g.Models>>s.Model&1 == 1 }

// Fits reports whether the site has the CPU and the GPUs. Memory and the number of pods
// are the caller's.
func (g *Guest) Fits(s *Site) bool {
	return g.CPU <= s.CPU && (g.Ask.Count == 0 || g.Accepts(s) && s.GPUs.Fits(g.Ask))
}

// Typical is a kind of pod and how many of the workload are of it.
type Typical struct {
	Guest
	Spec  string // the models as the workload writes them; other words are another kind
	Count int64
}

// TypicalOf picks the kinds that make up a workload: the most frequent ones that together
// are at least 95% of its pods. The order, descending in count, CPU, milli, GPUs and
// spec, decides which of equally frequent ones are in and in which order sums are taken.
func TypicalOf(kinds []Typical) []Typical {
	kinds = slices.Clone(kinds)
	slices.SortStableFunc(kinds, func(a, b Typical) int {
		for _, d := range [...]int64{b.Count - a.Count, b.CPU - a.CPU, int64(b.Ask.Milli - a.Ask.Milli), int64(b.Ask.Count - a.Ask.Count)} {
			if d != 0 {
				return sign(d)
			}
		}
		return -compareStrings(a.Spec, b.Spec)
	})
	var total, covered int64
	for i := range kinds {
		total += kinds[i].Count
	}
	for i := range kinds {
		covered += kinds[i].Count
		if 100*covered >= 95*total {
			return kinds[:i+1]
		}
	}
	return kinds
}

func sign(d int64) int {
	if d < 0 {
		return -1
	}
	return 1
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Fragments measures how much of a node's free GPUs a typical pod could not use (Weng et
// al., Beware of Fragmentation, USENIX ATC 2023).
type Fragments struct {
	kinds  []kind
	widths []int32 // distinct milli the kinds ask of a GPU
}

type kind struct {
	Guest
	width int32   // index into widths
	share float64 // of the workload's pods
}

// NewFragments makes the measure for a workload of kinds, all of them.
func NewFragments(kinds []Typical) *Fragments {
	typical := TypicalOf(kinds)
	var total, covered int64
	for i := range kinds {
		total += kinds[i].Count
	}
	for i := range typical {
		covered += typical[i].Count
	}
	f := &Fragments{}
	for i := range typical {
		t := &typical[i]
		// A share of all, then of the covered ones: two roundings, as published.
		share := float64(t.Count) / float64(total)
		share /= float64(covered) / float64(total)
		f.kinds = append(f.kinds, kind{t.Guest, f.width(t.Ask.Milli), share})
	}
	return f
}

func (f *Fragments) width(milli int32) int32 {
	at := slices.Index(f.widths, milli)
	if at < 0 {
		at = len(f.widths)
		f.widths = append(f.widths, milli)
	}
	return int32(at)
}

// The classes of fragments, by what a typical pod lacks. Each is summed for itself, in
// the order of the kinds, so that the published digits come out.
const (
	lacksBoth = iota
	lacksGPU  // and the parts of GPUs too small for a pod that fits
	lacksCPU
	noGPUWithCPU
	noGPUWithoutCPU
	noAccess
	fragmentClasses
)

// Amount returns the milli-GPU of a site that are a fragment to the mean typical pod.
func (f *Fragments) Amount(s *Site) float64 {
	var room [64]gpuRoom
	widths := f.widths
	if len(widths) > len(room) {
		widths = widths[:len(room)] // the rest is measured pod by pod
	}
	for i, w := range widths {
		room[i] = roomFor(s, w)
	}
	total := s.GPUs.Total()
	var sums [fragmentClasses]float64
	for i := range f.kinds {
		k := &f.kinds[i]
		var r gpuRoom
		if int(k.width) < len(widths) {
			r = room[k.width]
		} else {
			r = roomFor(s, f.widths[k.width])
		}
		class, amount := k.fragment(s, total, r)
		sums[class] += float64(k.share * float64(amount))
	}
	amount := 0.0
	for _, sum := range sums {
		amount += sum
	}
	return amount
}

// gpuRoom is how many GPUs of a site have a certain milli free, and what is free of the
// others.
type gpuRoom struct {
	enough int32
	less   int64
}

func roomFor(s *Site, milli int32) gpuRoom {
	var r gpuRoom
	for i := range s.GPUs.Len() {
		if f := s.GPUs.Free(i); f >= int64(milli) {
			r.enough++
		} else {
			r.less += f
		}
	}
	return r
}

// fragment returns what of a site's free GPUs is of no use to a kind of pod, and why.
func (k *kind) fragment(s *Site, total int64, r gpuRoom) (class int, amount int64) {
	cpu := s.CPU >= k.CPU
	if k.Ask.Count == 0 {
		if cpu {
			return noGPUWithCPU, total
		}
		return noGPUWithoutCPU, total
	}
	if !k.Accepts(s) {
		return noAccess, total
	}
	gpu := r.enough >= k.Ask.Count
	switch {
	case gpu && cpu:
		return lacksGPU, r.less
	case gpu:
		return lacksCPU, total
	case cpu:
		return lacksGPU, total
	}
	return lacksBoth, total
}
