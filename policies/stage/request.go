package stage

import (
	"errors"
	"fmt"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// Algorithm is the order in which the topology search takes domains.
type Algorithm uint8

// BestFit takes the domains with most room first and ends with the smallest that holds
// the rest. LeastFreeCapacity takes those with least room first and so keeps big holes
// whole.
const (
	BestFit Algorithm = iota
	LeastFreeCapacity
)

// Preset is how a Kueue version places pods.
type Preset struct {
	Name       string
	Mixed      bool // unconstrained requests use LeastFreeCapacity (gate TASProfileMixed)
	MultiLayer bool // more than one layer of slices (gate TASMultiLayerTopology)
	Balanced   bool // preferred requests are spread evenly (gate TASBalancedPlacement)
	// LeaderHosts: what a leader costs a domain is counted over the children that can
	// host it, and it goes to one of which the others can spare that. Older versions count
	// it over all, so one child without room for the leader makes it look free.
	LeaderHosts bool
	// SetsTakePods: PodSets take pod slots from those of their workload after them. In older
	// versions only workloads that are admitted do.
	SetsTakePods bool
	// TakesPerResource: for the rest of a cycle an entry takes its places as many times as
	// it asks for resources that quota covers.
	TakesPerResource bool
	// Affinity: required node affinity is looked at, beside selectors and taints.
	Affinity bool
	// StopsAtFull: LeastFreeCapacity over several domains ends at the first without room,
	// and those come first: while any is full nothing is found.
	StopsAtFull bool
}

// The presets of the versions gangplan knows, with their default gates.
var (
	Kueue013 = Preset{Name: "0.13", StopsAtFull: true, TakesPerResource: true}
	Kueue017 = Preset{Name: "0.17", Mixed: true, Affinity: true, TakesPerResource: true}
	Kueue019 = Preset{Name: "0.19", Mixed: true, MultiLayer: true, LeaderHosts: true, SetsTakePods: true, Affinity: true}
)

// Algorithm returns what a request of the mode is searched with.
func (p *Preset) Algorithm(m workloads.TopologyMode) Algorithm {
	if p.Mixed && (m == workloads.TopologyUnconstrained || m == workloads.TopologySliceOnly) {
		return LeastFreeCapacity
	}
	return BestFit
}

// MaxLayers is how many layers of slices a request may have.
const MaxLayers = workloads.MaxSliceLayers

// Layer says that Size consecutive pods must be in one domain of a level.
type Layer struct{ Level, Size int32 }

// Request is the topology request of a PodSet, resolved against the levels of a cluster.
// Its zero layers mean slices of one pod on a leaf.
type Request struct {
	Count    int32 // pods to place, without the leader
	Leader   bool  // a leader pod goes to one of the pods' domains
	Mode     workloads.TopologyMode
	Level    int32 // level the pods are to share
	Layers   [MaxLayers]Layer
	NLayers  int32
	Algo     Algorithm
	Balanced bool
	Hosts    bool  // Preset.LeaderHosts
	Stops    bool  // Preset.StopsAtFull
	Within   int32 // 1 + the only domain whose leaves may be used; 0 means all
}

// sliceSize returns the size of the outermost slices.
func (r *Request) sliceSize() int32 {
	if r.NLayers == 0 {
		return 1
	}
	return r.Layers[0].Size
}

// sliceLevel returns the level of the outermost slices.
func (r *Request) sliceLevel(leaf int32) int32 {
	if r.NLayers == 0 {
		return leaf
	}
	return r.Layers[0].Level
}

// plain reports whether a request is the ordinary one the index answers by itself: no
// slices of more than one pod, no leader, no balancing, anywhere.
func (r *Request) plain(leaf int32) bool {
	return !r.Leader && r.Within == 0 && r.NLayers == 0 && (!r.Balanced || r.Mode != workloads.TopologyPreferred) && leaf >= r.Level &&
		(!r.Stops || r.Algo == BestFit)
}

// Resolve turns a request into level indexes. leaf is the lowest level of the topology.
// A request without a mode is the unconstrained one that a queue with nothing but
// topologies implies. Errors are Kueue's own words.
func Resolve(t *workloads.TopologyRequest, count int32, c *topology.Cluster, leaf int32, p *Preset) (Request, error) {
	r := Request{Count: count, Mode: t.Mode, Level: leaf, Algo: p.Algorithm(t.Mode), Balanced: p.Balanced, Hosts: p.LeaderHosts, Stops: p.StopsAtFull}
	switch t.Mode {
	case workloads.TopologyNone:
		r.Mode = workloads.TopologyUnconstrained
		r.Algo = p.Algorithm(r.Mode)
	case workloads.TopologySliceOnly:
		r.Level = 0
	case workloads.TopologyUnconstrained:
		if t.Slices[0].Size > 0 {
			r.Level = 0 // nothing but slices is asked for
		}
	case workloads.TopologyPreferred, workloads.TopologyRequired:
		if r.Level = levelOf(c, leaf, t.Level); r.Level < 0 {
			return r, fmt.Errorf("no requested topology level: %s", t.Level)
		}
	}
	if err := r.resolveLayers(t, c, leaf, p); err != nil {
		return r, err
	}
	if s := r.sliceLevel(leaf); r.Level > s {
		return r, fmt.Errorf("podset slice topology %s is above the podset topology %s", c.Levels[s], c.Levels[r.Level])
	}
	return r, nil
}

// levelOf returns the index of a named level of the topology, or -1.
func levelOf(c *topology.Cluster, leaf int32, name string) int32 {
	if l := c.Level(name); l <= leaf {
		return l
	}
	return -1
}

// resolveLayers reads the layers of slices, outermost first: each must be at a lower
// level than the one before and divide its size.
func (r *Request) resolveLayers(t *workloads.TopologyRequest, c *topology.Cluster, leaf int32, p *Preset) error {
	for i := range t.Slices {
		s := &t.Slices[i]
		if s.Size == 0 {
			break
		}
		if i > 0 && !p.MultiLayer {
			break
		}
		level := levelOf(c, leaf, s.Level)
		if err := r.checkLayer(s, level, i, c); err != nil {
			return err
		}
		r.Layers[i] = Layer{level, s.Size}
		r.NLayers++
	}
	if t.Mode == workloads.TopologySliceOnly && r.NLayers == 0 {
		return errors.New("slice topology requested, but slice size not provided")
	}
	return nil
}

func (r *Request) checkLayer(s *workloads.Slice, level int32, i int, c *topology.Cluster) error {
	switch {
	case level < 0 && i == 0:
		return fmt.Errorf("no requested topology level for slices: %s", s.Level)
	case level < 0:
		return fmt.Errorf("no requested topology level for additional slice layer: %s", s.Level)
	case i > 0 && level <= r.Layers[i-1].Level:
		return fmt.Errorf("additional slice layer topology %s must be at a lower level than %s", s.Level, c.Levels[r.Layers[i-1].Level])
	case i > 0 && r.Layers[i-1].Size%s.Size != 0:
		return fmt.Errorf("additional slice layer size %d must evenly divide parent layer size %d", s.Size, r.Layers[i-1].Size)
	}
	return nil
}
