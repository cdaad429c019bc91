package workloads

import "strings"

// gpu is a GPU model and its peak in dense 16-bit TFLOP/s, by its maker's data sheet.
type gpu struct {
	word string // what is in the names that clusters have for it, in lower case
	peak int64  // in 0.1 TFLOP/s
}

// gpus are in such an order that of several words in a name the right one comes first.
var gpus = [...]gpu{
	{"gb300", 25_000}, {"gb200", 25_000}, {"b300", 22_500}, {"b200", 22_500},
	{"gh200", 9_890}, {"h200", 9_890}, {"h100", 9_890}, {"h800", 9_890}, {"h20", 1_480},
	{"mi325x", 13_070}, {"mi300x", 13_070}, {"mi250x", 3_830},
	{"a100", 3_120}, {"a800", 3_120}, {"a10g", 700}, {"a10", 1_250}, {"l40s", 3_620}, {"l40", 1_810}, {"l4", 1_210},
	{"v100", 1_250}, {"t4", 650}, {"p100", 212},
}

func lookupGPU(name string) *gpu {
	name = strings.ToLower(name)
	for i := range gpus {
		if strings.Contains(name, gpus[i].word) {
			return &gpus[i]
		}
	}
	return nil
}

// On returns what is known of the model on a GPU, by any name that contains the model's, as
// NVIDIA-H100-80GB-HBM3: what was published, or the computation scaled by the peak of the
// two GPUs, which is an estimate and makes scaled true. A GPU that nothing is known of, or a
// profile that does not say what it was found on, leaves the profile as it is.
func (p *ModelProfile) On(name string) (profile *ModelProfile, scaled bool) {
	to, from := lookupGPU(name), lookupGPU(p.GPU)
	if to == nil || from == nil || to == from {
		return p, false
	}
	own := *p
	own.GPU, own.Others, own.Estimate = to.word, nil, true
	own.Compute = max(1, p.Compute/to.peak*from.peak+p.Compute%to.peak*from.peak/to.peak)
	for _, o := range p.Others {
		if o.GPU == to.word {
			own.Compute, own.Estimate = o.Compute, p.Estimate
			return &own, false
		}
	}
	return &own, true
}
