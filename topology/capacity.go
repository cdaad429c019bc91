package topology

import "slices"

// Capacity returns the sum of what all nodes offer.
func (c *Cluster) Capacity() Resources {
	var sum Resources
	for i := range c.Nodes {
		sum = sum.Plus(c.Nodes[i].Allocatable)
	}
	return sum
}

// GPUsByModel returns the milli-GPU of each model, indexed as Models.
func (c *Cluster) GPUsByModel() []int64 {
	sum := make([]int64, len(c.Models))
	for i := range c.Nodes {
		if n := &c.Nodes[i]; n.Model >= 0 {
			sum[n.Model] += n.Allocatable[GPU]
		}
	}
	return sum
}

// DominantNodeGPUs returns the node size, in whole GPUs, that holds most of the cluster's
// GPUs; of equals the larger. It is the size that jobs without a shape are cut to. Nodes
// without a whole GPU are ignored; 0 means that there are no others.
func (c *Cluster) DominantNodeGPUs() int64 {
	var sizes []int64
	for i := range c.Nodes {
		if g := c.Nodes[i].Allocatable[GPU] / Milli; g > 0 {
			sizes = append(sizes, g)
		}
	}
	slices.Sort(sizes)
	var best, most, held int64
	for i, g := range sizes { // ascending: an equal later size is larger and wins
		if i > 0 && sizes[i-1] != g {
			held = 0
		}
		held += g
		if held >= most {
			best, most = g, held
		}
	}
	return best
}
