package scenario

import (
	"slices"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// Flavor is a kind of nodes that quota is given for: a ResourceFlavor.
type Flavor struct {
	Name        string            `yaml:"name,required"`
	NodeLabels  map[string]string `yaml:"nodeLabels"`
	GPUModels   []string          `yaml:"gpuModels"`
	NodeTaints  []Taint           `yaml:"nodeTaints"`
	Tolerations []Toleration      `yaml:"tolerations"`
}

// ResourceGroup is quota for some resources: a job takes them all from one of the flavors,
// the first in order that will do. Each names the same resources.
type ResourceGroup struct {
	Flavors []FlavorQuota `yaml:"flavors,required"`
}

// FlavorQuota is the quota of one flavor.
type FlavorQuota struct {
	Name           string `yaml:"name,required"`
	Quota          *Quota `yaml:"quota,required"`
	BorrowingLimit *Quota `yaml:"borrowingLimit"`
	LendingLimit   *Quota `yaml:"lendingLimit"`
}

// FlavorFungibility says when the search for a flavor goes on behind one that would do.
type FlavorFungibility struct {
	WhenCanBorrow  string `yaml:"whenCanBorrow"`  // MayStopSearch or TryNextFlavor
	WhenCanPreempt string `yaml:"whenCanPreempt"` // TryNextFlavor or MayStopSearch
	Preference     string `yaml:"preference"`     // BorrowingOverPreemption or PreemptionOverBorrowing
}

// maxFlavors is how many flavors fit the bit sets of the engine.
const maxFlavors = 64

// resolveFlavors reads the flavors.
func (r *resolver) resolveFlavors() {
	if len(r.Flavors) > maxFlavors {
		r.fail(at("flavors"), "there are %d flavors, at most %d are supported", len(r.Flavors), maxFlavors)
		return
	}
	for i := range r.Flavors {
		f, p := &r.Flavors[i], at("flavors", i)
		if slices.ContainsFunc(r.Flavors[:i], func(o Flavor) bool { return o.Name == f.Name }) {
			r.fail(p.to("name"), "%s is the name of another flavor too", quote(f.Name))
		}
		taints, problem := taintsOf(f.NodeTaints)
		if problem != "" {
			r.fail(p.to("nodeTaints"), "%s", problem)
		}
		for k, model := range f.GPUModels {
			if !slices.Contains(r.cluster.Models, model) {
				r.fail(p.to("gpuModels", k), "%s: the cluster has no such GPUs%s", quote(model), suggest.Hint(model, r.cluster.Models))
			}
		}
		out := topology.Flavor{Name: f.Name, Labels: f.NodeLabels, Models: f.GPUModels, Taints: taints,
			Tolerations: r.tolerations(p.to("tolerations"), f.Tolerations)}
		if !slices.ContainsFunc(r.cluster.Nodes, func(n topology.Node) bool { return out.Has(&n) }) {
			r.warn("flavor %s has no nodes: what is admitted with it is never bound", f.Name)
		}
		r.out.Config.Flavors = append(r.out.Config.Flavors, out)
	}
}

// owner is who has resource groups, as far as that limits their limits.
type owner struct {
	alone bool // nobody borrows from it or lends to it
	queue bool // it lends of its own quota only; a cohort lends its children's too
}

// resolveGroups reads the resource groups of a queue or cohort. No two of them may share a
// resource or a flavor.
func (r *resolver) resolveGroups(p path, given []ResourceGroup, whose owner) (groups []quota.Group) {
	var covered [quota.Resources]bool
	used := map[int32]bool{}
	for i := range given {
		g := r.resolveGroup(p.to(i), &given[i], whose, used)
		for k := range covered {
			if covered[k] && g.Covers[k] {
				r.fail(p.to(i), "%s is covered by another group too", topology.Resource(k))
			}
			covered[k] = covered[k] || g.Covers[k]
		}
		groups = append(groups, g)
	}
	return groups
}

func (r *resolver) resolveGroup(p path, given *ResourceGroup, whose owner, used map[int32]bool) (g quota.Group) {
	for i := range given.Flavors {
		f, p := &given.Flavors[i], p.to("flavors", i)
		index := r.flavorIndex(p.to("name"), f.Name)
		if used[index] {
			r.fail(p.to("name"), "flavor %s has its quota already", quote(f.Name))
		}
		used[index] = true
		if whose.alone {
			r.refuseLimits(p, "without a cohort it", f.BorrowingLimit, f.LendingLimit)
		}
		if whose.queue && f.LendingLimit != nil && exceeds(f.LendingLimit, f.Quota) {
			r.fail(p.to("lendingLimit"), "it is more than the quota")
		}
		nominal, covers := r.resolveQuota(p.to("quota"), f.Quota)
		if i > 0 && covers != g.Covers {
			r.fail(p.to("quota"), "expected the resources of the flavor before it: a job takes them all from one flavor")
		}
		g.Covers = covers
		limited := r.limited(p, nominal, covers, f.BorrowingLimit, f.LendingLimit).Flavors[0]
		limited.Flavor = index
		g.Flavors = append(g.Flavors, limited)
	}
	return g
}

func (r *resolver) flavorIndex(p path, name string) int32 {
	names := make([]string, len(r.Flavors))
	for i := range r.Flavors {
		names[i] = r.Flavors[i].Name
	}
	i := slices.Index(names, name)
	if i < 0 {
		r.fail(p, "%s: there is no such flavor%s", quote(name), suggest.Hint(name, names))
		return 0
	}
	return int32(i)
}

func (r *resolver) fungibility(p path, given *FlavorFungibility) (out quota.Fungibility) {
	if given == nil {
		return out
	}
	out.BorrowTriesNext = word(r, p.to("whenCanBorrow"), given.WhenCanBorrow, []string{"MayStopSearch", "TryNextFlavor"}, false, true)
	out.PreemptStops = word(r, p.to("whenCanPreempt"), given.WhenCanPreempt, []string{"TryNextFlavor", "MayStopSearch"}, false, true)
	out.LevelFirst = word(r, p.to("preference"), given.Preference, []string{"BorrowingOverPreemption", "PreemptionOverBorrowing"}, false, true)
	return out
}
