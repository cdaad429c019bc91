package policies

import (
	"slices"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
)

// The parameters of the kube Binder, shared by every policy that binds with it.
var binderParams = slices.Concat([]Param{
	{Name: "profile", Doc: "node scoring: spread is kube-scheduler's default, pack its MostAllocated with GPUs weighted 5; custom is as the parameters below say; the others are those of the fragmentation study",
		Values: []string{"spread", "pack", "custom", "random", "dot-product", "gpu-clustering", "gpu-packing", "best-fit", "fgd"}, Default: "spread"},
	{Name: "ties", Doc: "which of equally good nodes a pod gets: the first in the cluster, or one at random (seeded)",
		Values: []string{"first", "random"}, Default: "first"},
	{Name: "sampling", Doc: "kube looks for some feasible nodes only from 100 nodes on, in turn, as kube-scheduler does; off looks at all",
		Values: []string{"kube", "off"}, Default: "kube"},
	{Name: "kubernetes", Doc: "the version of kube-scheduler, which decides what the two parameters below leave to it",
		Values: []string{"1.32", "1.34", "1.36"}, Default: "1.34"},
	{Name: "backoff", Doc: "whether a pod is tried before its backoff is over when nothing else waits: early from 1.33 on, late before (where backoffs take time, as under timing kubernetes)",
		Values: []string{"version", "early", "late"}, Default: "version"},
	{Name: "balance", Doc: "what BalancedAllocation rates: outcome up to 1.35, change from 1.36 on",
		Values: []string{"version", "outcome", "change"}, Default: "version"},
}, customParams)

var perPod = Declaration{
	Name: "per-pod",
	Doc:  "the default Kubernetes scheduler: every pod by itself, no queue, no gangs, no timeout",
	Params: slices.Concat(binderParams, []Param{{Name: "preemption", Doc: "whether a pod that fits nowhere pushes pods of lower priority off a node",
		Values: []string{"on", "off"}, Default: "on"}}),
	build: func(s Settings) sim.Policy {
		p := policyOf(&kueue{passThrough: true}, s, false)
		p.Binder.(*kube).preempts = s.Get("preemption") == "on"
		return p
	},
}

func newKube(s Settings) *kube {
	k := &kube{profile: stage.SpreadProfile(), randomTies: s.Get("ties") == "random", sampling: s.Get("sampling") == "kube",
		early: s.Get("backoff") == "early" || s.Get("backoff") == "version" && s.Get("kubernetes") != "1.32"}
	switch profile := s.Get("profile"); profile {
	case "spread":
	case "pack":
		k.profile = stage.PackProfile()
	case "custom":
		k.profile = customProfile(s)
	case "random":
		k.profile.Weights = stage.Weights{}
		k.randomTies = true
	default:
		k.scorer = profile
	}
	k.profile.Balanced.Compared = s.Get("balance") == "change" || s.Get("balance") == "version" && s.Get("kubernetes") == "1.36"
	return k
}

// policyOf puts a policy together from an Admitter and the kube Binder.
func policyOf(admitter sim.Admitter, s Settings, readiness bool) sim.Policy {
	k := newKube(s)
	p := sim.Policy{Admitter: admitter, Binder: k, Readiness: readiness, GPUs: k.scorer != ""}
	if k.sampling {
		p.Looks = stage.SampleSize
	}
	return p
}
