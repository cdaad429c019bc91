package policies

import (
	"slices"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

var gangTopology = Declaration{
	Name: "gang-topology",
	Doc:  "Kueue with topology-aware scheduling: a job is admitted whole and only with a node for every pod",
	Params: slices.Concat([]Param{
		{Name: "mode", Doc: "topology request of jobs that carry none",
			Values: []string{"preferred", "required", "unconstrained"}, Default: "preferred"},
		{Name: "level", Doc: "the level of that request; by default the one above the host"},
		{Name: "placement", Doc: "search when no single domain holds the job: kueue is BestFit, and LeastFreeCapacity for unconstrained requests",
			Values: []string{"kueue", "BestFit", "LeastFreeCapacity"}, Default: "kueue"},
	}, kueueParams, binderParams),
	build: func(s Settings) sim.Policy {
		k := newKueue(s)
		k.placer = newPlacer(s)
		return sim.Policy{Admitter: k, Binder: newKube(s), Readiness: true}
	},
}

func newPlacer(s Settings) *placer {
	p := &placer{fallback: workloads.TopologyRequest{Mode: workloads.TopologyPreferred, Level: s.Get("level")}}
	switch s.Get("mode") {
	case "required":
		p.fallback.Mode = workloads.TopologyRequired
	case "unconstrained":
		p.fallback.Mode = workloads.TopologyUnconstrained
	}
	switch s.Get("placement") {
	case "BestFit":
		p.forced = new(stage.BestFit)
	case "LeastFreeCapacity":
		p.forced = new(stage.LeastFreeCapacity)
	}
	return p
}
