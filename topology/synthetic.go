package topology

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"strconv"
)

// What a node offers where nothing is said: 16 cores and 128 GiB for each GPU, and the
// same once for a node without GPUs.
const (
	DefaultCPUPerGPU    = 16 * Milli
	DefaultMemoryPerGPU = 128 * GiB
)

// MaxGPUsPerHost bounds Synthetic.GPUs. The largest single host on the market has 16.
const MaxGPUsPerHost = 1024

// NVLinkDomainLabel is the node label that names the NVLink domain a host belongs to,
// where the domain is larger than the host.
const NVLinkDomainLabel = "nvlink-domain"

// cliqueLabel is how clusters say the same: NVIDIA's driver for dynamic resource allocation
// labels nodes with the part of an NVLink domain that they belong to.
const cliqueLabel = "nvidia.com/gpu.clique"

// NVLinkDomain returns the name of the NVLink domain of a node, "" if it is its own.
func NVLinkDomain(n *Node) string { return cmp.Or(n.Labels[NVLinkDomainLabel], n.Labels[cliqueLabel]) }

// Synthetic describes a regular cluster by counts: every domain of a level has the same
// number of children, and every host is the same.
type Synthetic struct {
	Levels   []string // from the highest to the host
	Counts   []int    // children per domain: Counts[0] is the number of highest domains, the last one hosts per lowest domain
	GPUs     int      // whole GPUs per host; 0 is a cluster without GPUs
	GPUModel string   // empty is UnnamedModel
	CPU      int64    // milli-cores per host; 0 is the default for the number of GPUs
	Memory   int64    // bytes per host; 0 is the default for the number of GPUs

	NVLinkHosts int // consecutive hosts that share an NVLink domain; 0 is 1
}

// Nodes lists the hosts in tree order. Domains are named by level and number, counted over
// the whole cluster and padded with zeros so that the order of names is the order of
// indices: zone-0, rack-07, host-0113. An error is a *FieldError; absurd sizes are refused
// before anything is made.
func (s Synthetic) Nodes() ([]Node, error) {
	totals, err := s.totals()
	if err != nil {
		return nil, err
	}
	res, err := s.allocatable()
	if err != nil {
		return nil, err
	}
	host := len(totals) - 1
	nodes := make([]Node, totals[host])
	var path []string // shared by the hosts of a lowest domain
	var labels map[string]string
	for i := range nodes {
		if i%s.Counts[host] == 0 {
			path = s.path(i, totals)
		}
		if k := s.NVLinkHosts; k > 1 && i%k == 0 {
			labels = map[string]string{NVLinkDomainLabel: numbered("nvlink", i/k, len(nodes)/k)}
		}
		nodes[i] = Node{
			Name:        numbered(s.Levels[host], i, len(nodes)),
			Path:        path,
			GPUModel:    s.GPUModel,
			Model:       -1,
			Allocatable: res,
			Labels:      labels,
		}
	}
	return nodes, nil
}

// totals returns the number of domains at each level of the whole cluster.
func (s Synthetic) totals() ([]int, error) {
	if err := checkLevels(s.Levels); err != nil {
		return nil, err
	}
	if len(s.Counts) != len(s.Levels) {
		return nil, &FieldError{"counts", fmt.Sprintf("expected one for each of the %d levels, got %d", len(s.Levels), len(s.Counts))}
	}
	totals := make([]int, len(s.Counts))
	total := 1
	for l, n := range s.Counts {
		if n < 1 {
			return nil, &FieldError{s.Levels[l], fmt.Sprintf("expected at least 1, got %d", n)}
		}
		if n > MaxNodes/total {
			return nil, &FieldError{s.Levels[l], fmt.Sprintf("the cluster would have more than %d nodes", MaxNodes)}
		}
		total *= n
		totals[l] = total
	}
	if k, hosts := s.NVLinkHosts, s.Counts[len(s.Counts)-1]; k < 0 || k > 1 && hosts%k != 0 {
		return nil, &FieldError{"nvlinkHosts", fmt.Sprintf("%d: expected a number that divides the %d hosts of each domain above", k, hosts)}
	}
	return totals, nil
}

// path names the domains above host i.
func (s Synthetic) path(i int, totals []int) []string {
	host := len(totals) - 1
	path := make([]string, host)
	for l := range path {
		hosts := totals[host] / totals[l]
		path[l] = numbered(s.Levels[l], i/hosts, totals[l])
	}
	return path
}

func numbered(level string, i, total int) string {
	width := len(strconv.Itoa(total - 1))
	return fmt.Sprintf("%s-%0*d", level, width, i)
}

func (s Synthetic) allocatable() (Resources, error) {
	if s.GPUs < 0 || s.GPUs > MaxGPUsPerHost {
		return Resources{}, &FieldError{"gpus", fmt.Sprintf("expected 0 to %d per host, got %d", MaxGPUsPerHost, s.GPUs)}
	}
	if s.CPU < 0 {
		return Resources{}, &FieldError{"cpu", fmt.Sprintf("expected at least 0, got %d", s.CPU)}
	}
	if s.Memory < 0 {
		return Resources{}, &FieldError{"memory", fmt.Sprintf("expected at least 0, got %d", s.Memory)}
	}
	r := DefaultAllocatable(int64(s.GPUs))
	if s.CPU > 0 {
		r[CPU] = s.CPU
	}
	if s.Memory > 0 {
		r[Memory] = s.Memory
	}
	return r, nil
}

// DefaultAllocatable is what a node with the given number of whole GPUs offers where
// nothing else is known of it.
func DefaultAllocatable(gpus int64) Resources {
	units := max(1, gpus)
	return Resources{
		GPU:    gpus * Milli,
		CPU:    units * DefaultCPUPerGPU,
		Memory: units * DefaultMemoryPerGPU,
		Pods:   DefaultPodLimit,
	}
}

// Multiply scales the number of nodes by y and returns floor(y * len(nodes)) of them. The
// list is repeated as a whole as often as it fits, and of the last repetition only the
// first nodes are kept: 0.5 keeps the first half, 2.5 is two copies and the first half of
// a third.
//
// The first copy is the list itself. In copy k the names of nodes and of all the domains
// above them end in "-xk", so that a copy of a rack is a rack of its own (and, where
// nodes have no path, the copies are more hosts of the one flat cluster). The NVLink
// domain label is copied in the same way.
//
// An error is a *FieldError: y is not a positive number, nothing or too much would be left.
func Multiply(nodes []Node, y float64) ([]Node, error) {
	if !(y > 0) || math.IsInf(y, 1) {
		return nil, &FieldError{"scale", fmt.Sprintf("expected a number above 0, got %v", y)}
	}
	// 0.29 * 100 is a hair below 29 in binary, and means 29.
	total := math.Floor(float64(y*float64(len(nodes))) + 1e-9)
	if total < 1 {
		return nil, &FieldError{"scale", fmt.Sprintf("%v of %d nodes is none", y, len(nodes))}
	}
	if total > MaxNodes {
		return nil, &FieldError{"scale", fmt.Sprintf("the cluster would have more than %d nodes", MaxNodes)}
	}
	out := make([]Node, int(total))
	for i := range out {
		out[i] = copyOf(&nodes[i%len(nodes)], i/len(nodes)+1)
	}
	return out, nil
}

// copyOf returns the node's k-th copy; the first is the node itself.
func copyOf(n *Node, k int) Node {
	out := *n
	if k == 1 {
		return out
	}
	suffix := "-x" + strconv.Itoa(k)
	out.Name += suffix
	out.Path = make([]string, len(n.Path))
	for l, name := range n.Path {
		out.Path[l] = name + suffix
	}
	if domain := NVLinkDomain(n); domain != "" {
		out.Labels = maps.Clone(n.Labels)
		out.Labels[NVLinkDomainLabel] = domain + suffix
	}
	return out
}
