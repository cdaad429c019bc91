package stage

import (
	"errors"

	"github.com/gangplan/gangplan/workloads"
)

// Replacement narrows a request to the pods of one leaf that failed: missing of them,
// while kept holds the others by the names of their leaves. The new leaves must keep what
// the old ones promised: a slice that is now incomplete is completed in its own domain,
// and a required request stays in its domain. Otherwise they may be anywhere. The error is
// Kueue's, which forgets what a request for slices only was about when a slice is broken.
func (s *Search) Replacement(r *Request, kept []Slot, missing int32) (Request, error) {
	n := *r
	n.Count, n.Leader = missing, false
	if len(kept) == 0 {
		return n, nil
	}
	if z := r.sliceSize(); r.NLayers > 0 && missing%z != 0 {
		if in := s.incompleteSlice(r, kept, missing); in >= 0 {
			n.Within = 1 + in
			n.keepLayer(r, missing)
		}
		if n.NLayers == 0 && r.Mode == workloads.TopologySliceOnly {
			return n, errors.New("topology level not specified")
		}
		return n, nil
	}
	if r.Mode == workloads.TopologyRequired {
		node := s.cluster.Domains[s.cluster.LevelStart[s.leaf]+kept[0].Leaf].First
		n.Within = 1 + s.cluster.DomainOf(node, r.Level)
	}
	return n, nil
}

// incompleteSlice returns the domain in which the missing pods leave a slice of the
// innermost broken layer incomplete, the first by name, or -1.
func (s *Search) incompleteSlice(r *Request, kept []Slot, missing int32) int32 {
	layer := r.Layers[0]
	for i := r.NLayers - 1; i > 0; i-- {
		if missing%r.Layers[i].Size != 0 {
			layer = r.Layers[i]
			break
		}
	}
	for i := 0; i < len(kept); {
		domain, pods := s.above(kept[i].Leaf, layer.Level), int32(0)
		for ; i < len(kept) && s.above(kept[i].Leaf, layer.Level) == domain; i++ {
			pods += kept[i].Count
		}
		if (pods+missing)%layer.Size == 0 {
			return domain
		}
	}
	return -1
}

// above returns the domain of a leaf at a level.
func (s *Search) above(leaf, level int32) int32 {
	return s.cluster.DomainOf(s.cluster.Domains[s.cluster.LevelStart[s.leaf]+leaf].First, level)
}

// keepLayer leaves only the innermost layer that the number of pods still fills.
func (n *Request) keepLayer(r *Request, missing int32) {
	n.Layers, n.NLayers = [MaxLayers]Layer{}, 0
	for i := r.NLayers - 1; i >= 0; i-- {
		if missing%r.Layers[i].Size == 0 {
			n.Layers[0], n.NLayers = r.Layers[i], 1
			return
		}
	}
}
