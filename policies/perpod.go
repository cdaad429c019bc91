package policies

import (
	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
)

// The parameters of the kube Binder, shared by every policy that binds with it.
var binderParams = []Param{
	{Name: "profile", Doc: "node scoring: spread is kube-scheduler's default, pack its MostAllocated with GPUs weighted 5",
		Values: []string{"spread", "pack"}, Default: "spread"},
	{Name: "ties", Doc: "which of equally good nodes a pod gets: the first in the cluster, or one at random (seeded)",
		Values: []string{"first", "random"}, Default: "first"},
}

var perPod = Declaration{
	Name:   "per-pod",
	Doc:    "the default Kubernetes scheduler: every pod by itself, no queue, no gangs, no timeout",
	Params: binderParams,
	build: func(s Settings) sim.Policy {
		return sim.Policy{Admitter: &kueue{passThrough: true}, Binder: newKube(s)}
	},
}

func newKube(s Settings) *kube {
	k := &kube{profile: stage.SpreadProfile(), randomTies: s.Get("ties") == "random"}
	if s.Get("profile") == "pack" {
		k.profile = stage.PackProfile()
	}
	return k
}
