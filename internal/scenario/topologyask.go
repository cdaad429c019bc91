package scenario

import (
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

var topologyModes = []string{"required", "preferred", "unconstrained", "sliceOnly"}

// topology reads a topology request. One that names only a group leaves the rest to the
// policy.
func (r *resolver) topology(p path, t *Topology) workloads.TopologyRequest {
	out := workloads.TopologyRequest{}
	if t == nil {
		return out
	}
	out.Group = t.Group
	r.slices(p.to("slices"), t, &out)
	given := []bool{t.Required != "", t.Preferred != "", t.Unconstrained, t.SliceOnly}
	if t.Group != "" && t.Slices == nil && !slices.Contains(given, true) {
		return out
	}
	switch kind, _ := r.oneOf(p, topologyModes, given...); kind {
	case "required":
		out.Mode, out.Level = workloads.TopologyRequired, t.Required
	case "preferred":
		out.Mode, out.Level = workloads.TopologyPreferred, t.Preferred
	case "unconstrained":
		out.Mode = workloads.TopologyUnconstrained
	case "sliceOnly":
		out.Mode = workloads.TopologySliceOnly
	}
	return out
}

func (r *resolver) slices(p path, t *Topology, out *workloads.TopologyRequest) {
	switch {
	case t.Slices != nil && len(t.Slices) == 0:
		r.fail(p, "the list is empty: expected at least one layer of slices")
	case len(t.Slices) > workloads.MaxSliceLayers:
		r.fail(p, "%d layers: expected at most %d", len(t.Slices), workloads.MaxSliceLayers)
	default:
		for i, s := range t.Slices {
			out.Slices[i] = workloads.Slice{Level: s.Level, Size: s.Size}
		}
	}
}

// checkTopology checks the levels of a request against those of the cluster: slices are
// not above the level that all pods share, and each layer is below the one before.
func checkTopology(t *workloads.TopologyRequest, c *topology.Cluster) (problem string) {
	above, what := int32(-1), ""
	if t.Level != "" {
		if above = c.Level(t.Level); above < 0 {
			return noLevel(t.Level, c)
		}
		above, what = above-1, t.Level // slices may be of the level itself
	}
	for i, s := range t.Slices {
		if s.Size == 0 {
			break
		}
		level := c.Level(s.Level)
		switch {
		case level < 0:
			return "slices: " + noLevel(s.Level, c)
		case level <= above && i == 0:
			return fmt.Sprintf("slices of a %s are above the %s that all pods are to share", s.Level, what)
		case level <= above:
			return fmt.Sprintf("slices of a %s: expected a level below %s, the layer before", s.Level, what)
		}
		above, what = level, s.Level
	}
	return ""
}
