package stage

import (
	"github.com/gangplan/gangplan/sim/devices"
)

// DeviceScorer rates nodes whose GPUs are shared, from 0 to 100 and rounded down: nodes
// that score alike are many. Score is asked for guests that fit only; Pick says which GPUs
// of the chosen node the guest gets.
type DeviceScorer interface {
	Score(g *Guest, s *Site) int64
	Pick(g *Guest, s *Site) devices.Mask
}

// Largest is the CPU of the node that has most of it and the milli-GPU of the one that has
// most of those: what scorers call all of a resource.
type Largest struct{ CPU, GPU int64 }

// LookupDeviceScorer returns a scorer by its name; nil for one that rates all nodes alike.
func LookupDeviceScorer(name string, most Largest, f *Fragments) DeviceScorer {
	switch name {
	case "dot-product":
		return DotProduct{most: most}
	case "gpu-clustering":
		return Clustering{most: most}
	case "gpu-packing":
		return Packing{}
	case "best-fit":
		return TightFit{most: most}
	case "fgd":
		return FGD{f}
	}
	return nil
}

// bestDevice gives a part of a GPU to the one with the least that suffices.
type bestDevice struct{}

func (bestDevice) Pick(g *Guest, s *Site) devices.Mask { return s.GPUs.Best(g.Ask) }

// TightFit, known as best fit, prefers the node with the least left of CPU and GPUs together.
type TightFit struct {
	bestDevice
	most Largest
}

// Score implements DeviceScorer.
func (t TightFit) Score(g *Guest, s *Site) int64 {
	cpu := float64(0.5*float64(s.CPU-g.CPU)) / float64(t.most.CPU)
	gpu := float64(0.5*float64(s.GPUs.Total()-g.Ask.Total())) / float64(t.most.GPU)
	return int64(100 * (1 - (cpu + gpu)))
}

// DotProduct prefers the node whose free resources point least in the direction of the
// request.
type DotProduct struct {
	bestDevice
	most Largest
}

// Score implements DeviceScorer.
func (d DotProduct) Score(g *Guest, s *Site) int64 {
	mostCPU, mostGPU := float64(d.most.CPU), float64(d.most.GPU)
	cpu := float64(float64(s.CPU) / mostCPU * float64(g.CPU) / mostCPU)
	gpu := float64(float64(s.GPUs.Total()) / mostGPU * float64(g.Ask.Total()) / mostGPU)
	return int64(100 * (1 - (cpu+gpu)/2))
}

// Clustering keeps pods that ask for the same number of GPUs together.
type Clustering struct {
	bestDevice
	most Largest
}

// Score implements DeviceScorer.
func (c Clustering) Score(g *Guest, s *Site) int64 {
	if g.Ask.Count == 0 {
		return 0
	}
	base := 25 * (c.most.GPU - s.GPUs.Total()) / c.most.GPU
	mine := g.Class()
	switch {
	case s.Classes == mine:
		return base + 75
	case s.Classes&mine != 0:
		return base + 50
	case s.Classes == 0:
		return base + 25
	}
	return base
}

// Packing fills used GPUs before free ones, and used nodes before free ones.
type Packing struct{ bestDevice }

// Score implements DeviceScorer.
func (Packing) Score(g *Guest, s *Site) int64 {
	if g.Ask.Count == 0 {
		return 0
	}
	free := int64(s.GPUs.FullyFree())
	if free == int64(s.GPUs.Len()) {
		return max(33-free, free)
	}
	opened, left := packed(g, s)
	if opened > 0 {
		return max(50-opened, 33)
	}
	return max(100-left/10, 50)
}

// packed takes the least free GPUs that suffice, first of equals, and returns how many of
// them were fully free and what the others have free, in percent.
func packed(g *Guest, s *Site) (opened, left int64) {
	var taken devices.Mask
	for range g.Ask.Count {
		best := -1
		for i := range s.GPUs.Len() {
			if f := s.GPUs.Free(i); taken>>i&1 == 0 && f >= int64(g.Ask.Milli) && (best < 0 || f < s.GPUs.Free(best)) {
				best = i
			}
		}
		if best < 0 {
			return opened, left
		}
		taken |= 1 << best
		if s.GPUs.Free(best) == devices.Whole {
			opened++
		}
		left += s.GPUs.Free(best) * 100 / devices.Whole
	}
	return opened, left
}

// FGD descends the gradient of fragmentation: it prefers the node, and on it the GPU,
// where the pod adds least to what typical pods cannot use.
type FGD struct{ Fragments *Fragments }

// Score implements DeviceScorer.
func (f FGD) Score(g *Guest, s *Site) int64 {
	score, _ := f.best(g, s)
	return score
}

// Pick implements DeviceScorer.
func (f FGD) Pick(g *Guest, s *Site) devices.Mask {
	_, mask := f.best(g, s)
	return mask
}

// best tries every GPU for a pod that wants a part of one, and the first free ones for a
// pod that wants whole ones. The first GPU with the best score, rounded down, wins.
func (f FGD) best(g *Guest, s *Site) (score int64, mask devices.Mask) {
	before := f.Fragments.Amount(s)
	if g.Ask.Count == 0 || g.Ask.Milli == devices.Whole {
		mask = s.GPUs.Best(g.Ask)
		return f.after(g, s, mask, before), mask
	}
	score = -1
	var tried [devices.Max]int64 // free milli of the GPUs tried: equal ones score alike
	n := 0
candidates:
	for left := s.GPUs.With(g.Ask.Milli); left != 0; left &= left - 1 {
		gpu := left & -left
		free := s.GPUs.Free(gpu.Lowest())
		for _, t := range tried[:n] {
			if t == free {
				continue candidates
			}
		}
		tried[n] = free
		n++
		if sc := f.after(g, s, gpu, before); sc > score {
			score, mask = sc, gpu
		}
	}
	return score, mask
}

// after scores the change of fragments if the guest is given certain GPUs.
func (f FGD) after(g *Guest, s *Site, gpus devices.Mask, before float64) int64 {
	then := *s
	then.CPU -= g.CPU
	then.GPUs.Take(gpus, g.Ask.Milli)
	return sigmoid100((before - f.Fragments.Amount(&then)) / 1000)
}
