package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
	"github.com/gangplan/gangplan/topology"
)

// What scenarios say of topologies: racks and groups of hosts, requests and placements,
// and where jobs ran.

// topologyPolicy reads a policy that is gang-topology: with the request of jobs that carry
// none, or with a placement.
func topologyPolicy(p *scenario.Policy, base, variant string) error {
	p.Name = "gang-topology"
	if name, ok := strings.CutPrefix(base, "TAS "); ok {
		if name == "Balanced" {
			p.Params["balanced"] = "on"
			return nil
		}
		p.Params["mode"], p.Params["placement"] = "unconstrained", name
		return nil
	}
	mode, level, _ := strings.Cut(variant, " ")
	switch mode {
	case "":
	case "required", "preferred", "unconstrained":
		p.Params["mode"] = mode
		if level != "" {
			p.Params["level"] = level
		}
	default:
		p.Params["placement"] = variant
	}
	return nil
}

// convertRacks makes the nodes of racks that list their hosts.
func convertRacks(f *scenario.File, given any) error {
	racks, ok := given.([]any)
	if !ok {
		return cannot("racks that do not list their hosts")
	}
	f.Cluster.Levels = []string{"rack", "host"}
	for _, raw := range racks {
		rack, _ := raw.(map[string]any)
		if err := onlyKeys("rack", rack, "name", "hosts"); err != nil {
			return err
		}
		hosts, _ := rack["hosts"].([]any)
		for _, raw := range hosts {
			n, err := convertNode(raw, len(f.Cluster.Nodes))
			if err != nil {
				return err
			}
			n.Path = []string{text(rack["name"])}
			f.Cluster.Nodes = append(f.Cluster.Nodes, n)
		}
	}
	return nil
}

// convertGroups makes the hosts of leaf groups that are told by their sizes, each in one
// of the superpods, which list the sizes they have; one may have "the others".
func (c *scenarioCase) convertGroups(f *scenario.File) error {
	left := numbers(c.Cluster["leaf_groups"])
	superpods, _ := c.Cluster["superpods"].([]any)
	type pod struct {
		name  string
		sizes []int
	}
	var pods []pod
	for _, raw := range superpods {
		s, _ := raw.(map[string]any)
		p := pod{text(s["name"]), numbers(s["leaf_groups"])}
		for _, size := range p.sizes {
			i := slices.Index(left, size)
			if i < 0 {
				return cannot("a superpod with a leaf group of %d, of which there is none left", size)
			}
			left = slices.Delete(left, i, i+1)
		}
		pods = append(pods, p)
	}
	f.Cluster.Levels = []string{"superpod", "leaf", "host"}
	for _, p := range pods {
		if p.sizes == nil {
			p.sizes, left = left, nil
		}
		for i, size := range p.sizes {
			leaf := fmt.Sprintf("%s-%02d", p.name, i)
			f.Cluster.Nodes = append(f.Cluster.Nodes, scenario.Node{Name: leaf, Count: size,
				GPUs: int(number(c.Cluster["gpus_per_host"])), Path: []string{p.name, leaf}})
		}
	}
	if len(left) > 0 {
		return cannot("leaf groups in no superpod")
	}
	return nil
}

// numbers returns a list of whole numbers, or nil.
func numbers(v any) []int {
	list, _ := v.([]any)
	var out []int
	for _, x := range list {
		out = append(out, int(number(x)))
	}
	return out
}

func convertTopology(given any) (*scenario.Topology, error) {
	t, ok := given.(map[string]any)
	if !ok {
		return nil, nil
	}
	if err := onlyKeys("topology", t, "required", "preferred", "unconstrained"); err != nil {
		return nil, err
	}
	return &scenario.Topology{Required: text(t["required"]), Preferred: text(t["preferred"]), Unconstrained: t["unconstrained"] == true}, nil
}

// separateRuns returns the runs of their own among the expectations: another job, alone on
// the same cluster.
func (c *scenarioCase) separateRuns() []*scenarioCase {
	var out []*scenarioCase
	for _, key := range slices.Sorted(maps.Keys(c.Expect)) {
		var hosts int
		var level string
		if n, _ := fmt.Sscanf(key, "job needing %d hosts in one %s", &hosts, &level); n != 2 {
			continue
		}
		v := *c
		v.ID += "/" + key
		v.Policy = []string{"gang-topology/required " + level}
		v.Expect, _ = c.Expect[key].(map[string]any)
		v.Jobs = []map[string]any{{"id": "alone", "pods": float64(hosts), "gpus_per_pod": c.Cluster["gpus_per_host"], "duration": 1.0}}
		out = append(out, &v)
	}
	return out
}

// verdict answers whether the only job could ever run; what is said of the largest domain
// of a level is looked up.
func verdict(r *ran, want any) (any, error) {
	kind, why, _ := strings.Cut(text(want), " (")
	if kind != "never satisfiable" {
		return nil, cannot("the verdict %v", want)
	}
	if !slices.ContainsFunc(r.result.Findings, func(f sim.Finding) bool { return f.Kind == sim.NeverFits }) {
		return "satisfiable", nil
	}
	var name string
	var size int
	if n, _ := fmt.Sscanf(why, "largest %s group is %d", &name, &size); n == 2 && r.largest(name) != size {
		return fmt.Sprintf("never satisfiable (largest %s group is %d)", name, r.largest(name)), nil
	}
	return want, nil
}

// largest counts the hosts of the largest domain of a level.
func (r *ran) largest(level string) int {
	c := r.scenario.Config.Cluster
	l, most := c.Level(level), int32(0)
	if l < 0 {
		return 0
	}
	for d, last := c.DomainsAt(l); d < last; d++ {
		most = max(most, c.Domains[d].Last-c.Domains[d].First)
	}
	return int(most)
}

// nodesOf lists the nodes of a job's pods by rank, as they were bound first.
func (r *ran) nodesOf(j int32) any {
	nodes := make([]any, r.result.Jobs[j].Pods)
	for _, t := range r.transitions {
		if t.Kind == sim.Bind && t.Job == j && nodes[t.Rank] == nil {
			nodes[t.Rank] = r.scenario.Config.Cluster.Nodes[t.Place].Name
		}
	}
	return nodes
}

// assignment counts the pods in each domain of the level that the expectation names, or in
// each node.
func assignment(r *ran, want any) (any, error) {
	c := r.scenario.Config.Cluster
	asked, _ := want.(map[string]any)
	level := int32(-1)
	for d := range c.Domains {
		if _, ok := asked[c.Domains[d].Name]; ok {
			level = c.Domains[d].Level
		}
	}
	if level < 0 {
		return nil, cannot("an assignment to %v", want)
	}
	got := map[string]any{}
	for _, t := range r.transitions {
		if t.Kind == sim.Bind {
			name := c.Domains[c.DomainOf(t.Place, level)].Name
			n, _ := got[name].(float64)
			got[name] = n + 1
		}
	}
	return got, nil
}

// concurrent is the most jobs that ever ran at once.
func concurrent(r *ran, _ any) (any, error) {
	running, most := map[int32]bool{}, 0
	for _, t := range r.transitions {
		switch t.Kind {
		case sim.Barrier:
			running[t.Job] = true
		case sim.Finish, sim.Evict, sim.Fail, sim.Deactivate:
			delete(running, t.Job)
		}
		most = max(most, len(running))
	}
	return float64(most), nil
}

// firstWave counts the hosts that pods were bound to in the first instant in which any
// was.
func (r *ran) firstWave() int {
	used, at := map[int32]bool{}, int64(-1)
	for _, t := range r.transitions {
		if t.Kind == sim.Bind && (at < 0 || t.Time == at) {
			at = t.Time
			used[t.Place] = true
		}
	}
	return len(used)
}

func hostsUsed(r *ran, _ any) (any, error) { return float64(r.firstWave()), nil }

func hostsIdle(r *ran, _ any) (any, error) {
	return float64(len(r.scenario.Config.Cluster.Nodes) - r.firstWave()), nil
}

// settled is the run cut off once the last job was submitted and looked at: what runs,
// what waits and what is free by then.
func (r *ran) settled() (*sim.Result, error) {
	last := int64(0)
	for i := range r.scenario.Config.Jobs {
		last = max(last, r.scenario.Config.Jobs[i].Submit)
	}
	return r.until(last + 1)
}

func settledCount(states ...sim.JobState) measureFunc {
	return func(r *ran, _ any) (any, error) {
		then, err := r.settled()
		if err != nil {
			return nil, err
		}
		n := 0
		for i := range then.Jobs {
			if slices.Contains(states, then.Jobs[i].State) {
				n++
			}
		}
		return float64(n), nil
	}
}

func settledFree(r *ran, _ any) (any, error) {
	then, err := r.settled()
	if err != nil {
		return nil, err
	}
	var free int64
	for m := range then.Books.Models() {
		for a, rate := range then.Books.Rates(m) {
			if ledger.Account(a).Unallocated() {
				free += rate
			}
		}
	}
	return float64(free) / topology.Milli, nil
}

func settledStranded(r *ran, _ any) (any, error) {
	then, err := r.settled()
	if err != nil {
		return nil, err
	}
	return float64(then.Last.Stranded()) / topology.Milli, nil
}
