package clusterimport

import (
	"fmt"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/traces/kube"
)

// Inspection is what a cluster has, and what does not add up in it.
type Inspection struct {
	Levels   []Level
	Models   []Model
	Flavors  []Flavor
	Problems []string // each is one sentence
}

// Level is a level of the cluster's tree.
type Level struct {
	Name    string
	Domains int
	Least   int64 // milli-GPU of the domain that has least, and of that which has most
	Most    int64
}

// Model is a GPU model: its nodes and GPUs.
type Model struct {
	Name  string
	Nodes int
	Milli int64
}

// Flavor is a kind of nodes: what it has, and what quota is given of it in all.
type Flavor struct {
	Name     string
	Nodes    int
	Capacity topology.Resources
	Quota    topology.Resources
	Covered  [quota.Resources]bool // resources that anybody has quota for
}

// Inspect looks at the cluster and the queues of a scenario.
func Inspect(s *scenario.Scenario) *Inspection {
	c := s.Config.Cluster
	in := &Inspection{Levels: levelsOf(c), Models: modelsOf(c)}
	flavors := s.Config.Flavors
	if len(flavors) == 0 {
		flavors = []topology.Flavor{{Name: "(all nodes)"}}
	}
	for i := range flavors {
		in.Flavors = append(in.Flavors, Flavor{Name: flavors[i].Name})
		f := &in.Flavors[i]
		for n := range c.Nodes {
			if flavors[i].Has(&c.Nodes[n]) {
				f.Nodes++
				f.Capacity = f.Capacity.Plus(c.Nodes[n].Allocatable)
			}
		}
	}
	for i := range s.Config.Queues {
		in.addQuota(s.Config.Queues[i].Resolved())
	}
	for i := range s.Config.Cohorts {
		in.addQuota(s.Config.Cohorts[i].Groups)
	}
	in.findProblems(s, flavors)
	return in
}

func (in *Inspection) addQuota(groups []quota.Group) {
	for _, g := range groups {
		for _, fq := range g.Flavors {
			f := &in.Flavors[fq.Flavor]
			for r, covered := range g.Covers {
				if covered {
					f.Quota[r] += fq.Quota[r].Nominal
					f.Covered[r] = true
				}
			}
		}
	}
}

func levelsOf(c *topology.Cluster) []Level {
	var out []Level
	for l, name := range c.Levels {
		first, last := c.DomainsAt(int32(l))
		level := Level{Name: name, Domains: int(last - first)}
		for d := first; d < last; d++ {
			var sum int64
			for n := c.Domains[d].First; n < c.Domains[d].Last; n++ {
				sum += c.Nodes[n].Allocatable[topology.GPU]
			}
			if d == first || sum < level.Least {
				level.Least = sum
			}
			level.Most = max(level.Most, sum)
		}
		out = append(out, level)
	}
	return out
}

func modelsOf(c *topology.Cluster) []Model {
	out := make([]Model, len(c.Models))
	for m := range out {
		out[m].Name = c.Models[m]
	}
	cpu := Model{Name: "(no GPUs)"}
	for n := range c.Nodes {
		m := &cpu
		if i := c.Nodes[n].Model; i >= 0 {
			m = &out[i]
		}
		m.Nodes++
		m.Milli += c.Nodes[n].Allocatable[topology.GPU]
	}
	if cpu.Nodes > 0 {
		out = append(out, cpu)
	}
	return out
}

// findProblems names what does not add up: flavors without nodes, quota beyond capacity, and
// GPUs that no queue can reach.
func (in *Inspection) findProblems(s *scenario.Scenario, flavors []topology.Flavor) {
	var empty, closed []string
	for i := range in.Flavors {
		f := &in.Flavors[i]
		if f.Nodes == 0 {
			empty = append(empty, f.Name)
			continue
		}
		for r := range f.Quota {
			if name := topology.Resource(r); f.Covered[r] && f.Quota[r] > f.Capacity[r] {
				in.problem("flavor %s: %s of quota for %s, but its nodes have %s", f.Name, Amount(name, f.Quota[r]), name, Amount(name, f.Capacity[r]))
			}
		}
	}
	in.several(empty, "flavor %s has no nodes: what is admitted with it is never bound", "flavors have no nodes (%s): what is admitted with them is never bound")
	in.findUnreachable(s, flavors)
	open := map[string]bool{}
	for _, l := range s.Config.Locals {
		open[l.ClusterQueue] = true
	}
	for i := range s.Config.Queues {
		if name := s.Config.Queues[i].Name; len(open) > 0 && !open[name] {
			closed = append(closed, name)
		}
	}
	in.several(closed, "queue %s has no LocalQueue: nobody can send it jobs", "queues have no LocalQueue (%s): nobody can send them jobs")
}

// several is a problem of one thing, or of many.
func (in *Inspection) several(names []string, one, many string) {
	switch len(names) {
	case 0:
	case 1:
		in.problem(one, names[0])
	default:
		in.problem("%d "+many, len(names), kube.Few(names))
	}
}

func (in *Inspection) findUnreachable(s *scenario.Scenario, flavors []topology.Flavor) {
	var milli int64
	var names []string
	for i := range s.Config.Cluster.Nodes {
		n := &s.Config.Cluster.Nodes[i]
		reached := n.Allocatable[topology.GPU] == 0
		for f := range flavors {
			reached = reached || in.Flavors[f].Covered[topology.GPU] && in.Flavors[f].Quota[topology.GPU] > 0 && flavors[f].Has(n)
		}
		if !reached {
			milli += n.Allocatable[topology.GPU]
			names = append(names, n.Name)
		}
	}
	if milli > 0 {
		in.problem("no queue can reach %s GPUs on %s", Amount(topology.GPU, milli), kube.Few(names))
	}
}

func (in *Inspection) problem(format string, args ...any) {
	in.Problems = append(in.Problems, fmt.Sprintf(format, args...))
}

// Amount writes a quantity of a resource as people do.
func Amount(r topology.Resource, n int64) string {
	switch {
	case r == topology.Memory && n%topology.GiB != 0:
		return fmt.Sprintf("%.1f GiB", float64(n)/float64(topology.GiB))
	case r == topology.Memory:
		return fmt.Sprintf("%d GiB", n/topology.GiB)
	case r == topology.Pods:
		return fmt.Sprint(n)
	case n%topology.Milli != 0:
		return fmt.Sprintf("%.3f", float64(n)/topology.Milli)
	}
	return fmt.Sprint(n / topology.Milli)
}
