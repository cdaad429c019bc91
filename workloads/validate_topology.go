package workloads

import "fmt"

func validateTopology(field string, p *PodSet) error {
	t := &p.Topology
	needsLevel := t.Mode == TopologyPreferred || t.Mode == TopologyRequired
	switch {
	case t.Mode > TopologySliceOnly:
		return wrong(field+".topology", "mode %d: expected 0 to %d", t.Mode, TopologySliceOnly)
	case needsLevel && t.Level == "":
		return wrong(field+".topology", "a required or preferred topology names a level")
	case !needsLevel && t.Level != "":
		return wrong(field+".topology", "level %q: expected none unless the topology is required or preferred", t.Level)
	case t.Mode == TopologySliceOnly && t.Slices[0].Size == 0:
		return wrong(field+".topology.slices", "a topology of slices only needs a slice")
	case t.Mode == TopologyNone && t.Slices[0].Size > 0:
		return wrong(field+".topology.slices", "expected none without a topology")
	}
	if err := validateSlices(field+".topology.slices", &t.Slices); err != nil {
		return err
	}
	if z := t.Slices[0].Size; z > 0 && p.Count%z != 0 {
		return wrong(field+".topology.slices[0].size", "%d: expected a divisor of the %d pods", z, p.Count)
	}
	return nil
}

// validateSlices wants layers without gaps, each with a level of its own and a size that
// divides the one before. Which level is below which, the cluster knows.
func validateSlices(field string, layers *[MaxSliceLayers]Slice) error {
	for i, s := range layers {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case s == Slice{}:
			continue
		case i > 0 && layers[i-1].Size == 0:
			return wrong(at, "expected a layer before it")
		case s.Level == "":
			return wrong(at+".level", "a slice names a level")
		case s.Size < 1 || s.Size > MaxPods:
			return wrong(at+".size", "%d pods: expected 1 to %d", s.Size, MaxPods)
		case i > 0 && layers[i-1].Size%s.Size != 0:
			return wrong(at+".size", "%d pods: expected a divisor of the %d of the layer before", s.Size, layers[i-1].Size)
		}
	}
	return nil
}

// validateGroups wants two PodSets in each group, the smaller of a single pod, the leader.
// They share one search, so they must ask for the same; only the workers have slices.
func validateGroups(sets []PodSet) error {
	for i := range sets {
		t := &sets[i].Topology
		if t.Group == "" {
			continue
		}
		field := fmt.Sprintf("podsets[%d].topology", i)
		other, members := -1, 0
		for k := range sets {
			if sets[k].Topology.Group == t.Group {
				members++
				if k != i {
					other = k
				}
			}
		}
		if members != 2 {
			return wrong(field+".group", "%q has %d PodSets: expected a leader and its workers", t.Group, members)
		}
		if err := validatePair(field, &sets[i], &sets[other]); err != nil {
			return err
		}
	}
	return nil
}

func validatePair(field string, a, b *PodSet) error {
	leader := a
	if b.Count < a.Count {
		leader = b
	}
	switch {
	case leader.Count != 1:
		return wrong(field+".group", "%q has PodSets of %d and %d pods: expected one of a single pod", a.Topology.Group, a.Count, b.Count)
	case a.Topology.Mode != b.Topology.Mode || a.Topology.Level != b.Topology.Level:
		return wrong(field, "the PodSets of group %q ask for different topologies: expected the same", a.Topology.Group)
	case a.Node != "" || b.Node != "":
		return wrong(field+".group", "%q: expected no PodSet that is pinned to a node", a.Topology.Group)
	}
	return nil
}
