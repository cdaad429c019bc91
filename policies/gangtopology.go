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
		{Name: "level", Level: true, Doc: "the level of that request; by default the one above the host"},
		{Name: "placement", Doc: "how domains are chosen: kueue is BestFit, and by version LeastFreeCapacity for unconstrained requests; the others are not Kueue's",
			Values: append([]string{"kueue", "BestFit", "LeastFreeCapacity"}, stage.PlacementNames[1:]...), Default: "kueue"},
		{Name: "version", Doc: "the Kueue version whose default gates decide placement and node replacement",
			Values: []string{"0.13", "0.17", "0.19"}, Default: "0.19"},
		{Name: "balanced", Doc: "spread preferred requests evenly over the domains they need (gate TASBalancedPlacement)",
			Values: []string{"off", "on"}, Default: "off"},
		{Name: "replacement", Doc: "when a node under an assignment fails: none leaves its pods to the readiness timeout, evict the whole job, retry looks for other nodes until there are some, fail-fast once; default by version",
			Values: []string{"default", "none", "evict", "retry", "fail-fast"}, Default: "default"},
		{Name: "leaf", Level: true, Doc: "the lowest level of the topology; by default the host. Above it, nodes are summed up and the scheduler finds one"},
	}, kueueParams, binderParams),
	build: func(s Settings) sim.Policy {
		k := newKueue(s)
		k.placer = newPlacer(s)
		k.setGates(s)
		k.placer.partial = k.partial
		k.repair = newRepair(s)
		p := policyOf(k, s, true)
		p.Blind = !k.placer.preset.Affinity
		return p
	},
}

func newPlacer(s Settings) *placer {
	p := &placer{leaf: s.Get("leaf"), preset: stage.Kueue017, fallback: workloads.TopologyRequest{Mode: workloads.TopologyPreferred, Level: s.Get("level")}}
	switch s.Get("mode") {
	case "required":
		p.fallback.Mode = workloads.TopologyRequired
	case "unconstrained":
		p.fallback.Mode = workloads.TopologyUnconstrained
	}
	switch s.Get("version") {
	case "0.13":
		p.preset = stage.Kueue013
	case "0.19":
		p.preset = stage.Kueue019
	}
	p.preset.Balanced = s.Get("balanced") == "on"
	switch name := s.Get("placement"); name {
	case "BestFit":
		p.forced = new(stage.BestFit)
	case "LeastFreeCapacity":
		p.forced = new(stage.LeastFreeCapacity)
	default:
		p.by = stage.Placement(slices.Index(stage.PlacementNames[:], name))
	}
	return p
}

// newRepair reads how failed nodes are replaced. Kueue 0.13 moves nothing.
func newRepair(s Settings) *repair {
	mode := s.Get("replacement")
	if mode == "default" {
		mode = "fail-fast"
		if s.Get("version") == "0.13" {
			mode = "none"
		}
	}
	if mode == "none" {
		return nil
	}
	return &repair{failFast: mode != "retry", evictOnly: mode == "evict"}
}
