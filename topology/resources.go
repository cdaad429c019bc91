package topology

// Resource indexes a Resources vector.
type Resource uint8

// The resources gangplan accounts for. GPUs are counted in milli-GPU and CPU in
// milli-cores so that shares of a device stay integers; memory is in bytes; Pods is a
// plain count (every pod uses one).
const (
	GPU Resource = iota
	CPU
	Memory
	Pods
	NumResources
)

// Milli is one whole GPU or one whole core in the units of a Resources vector.
const Milli = 1000

// GiB is the number of bytes in a gibibyte.
const GiB = 1 << 30

// DefaultPodLimit is the kubelet's default limit of pods per node.
const DefaultPodLimit = 110

// Resources is a vector of quantities indexed by Resource.
type Resources [NumResources]int64

// String returns the resource's name as Kubernetes writes it.
func (r Resource) String() string {
	return [...]string{"nvidia.com/gpu", "cpu", "memory", "pods"}[r]
}

// Plus returns r + o.
func (r Resources) Plus(o Resources) Resources {
	for i := range r {
		r[i] += o[i]
	}
	return r
}

// Minus returns r - o.
func (r Resources) Minus(o Resources) Resources {
	for i := range r {
		r[i] -= o[i]
	}
	return r
}

// Times returns r multiplied by n.
func (r Resources) Times(n int64) Resources {
	for i := range r {
		r[i] *= n
	}
	return r
}

// FitsIn reports whether the request r can be taken from free.
func (r *Resources) FitsIn(free *Resources) bool {
	for i := range r {
		if r[i] > 0 && r[i] > free[i] {
			return false
		}
	}
	return true
}

// CountIn returns how many times the request r can be taken from free. A request that
// asks for nothing fits without limit; NoLimit is returned.
func (r *Resources) CountIn(free *Resources) int64 {
	n := int64(NoLimit)
	for i := range r {
		if r[i] > 0 {
			n = min(n, max(0, free[i])/r[i])
		}
	}
	return n
}

// NoLimit is the answer of CountIn for a request of nothing.
const NoLimit = 1 << 31
