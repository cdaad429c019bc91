package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// kueueCase is the input that the two suites of recorded Kueue decisions share.
type kueueCase struct {
	ID          string          `json:"id"`
	Kueue       string          `json:"kueue"`
	FairSharing bool            `json:"fair_sharing"`
	Flavors     []kueueFlavor   `json:"flavors"`
	Cohorts     []kueueCohort   `json:"cohorts"`
	Queues      []kueueQueue    `json:"cluster_queues"`
	Admitted    []kueueWorkload `json:"admitted"`
}

type kueueFlavor struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Taint string `json:"taint"`
}

type kueueCohort struct {
	Name   string       `json:"name"`
	Parent string       `json:"parent"`
	Weight *float64     `json:"fair_weight"`
	Groups []kueueGroup `json:"groups"`
}

type kueueQueue struct {
	Name       string       `json:"name"`
	Cohort     string       `json:"cohort"`
	Strategy   string       `json:"queueing_strategy"`
	Weight     *float64     `json:"fair_weight"`
	Groups     []kueueGroup `json:"groups"`
	Preemption struct {
		Within  string `json:"within_cluster_queue"`
		Reclaim string `json:"reclaim_within_cohort"`
		Borrow  struct {
			Policy    string `json:"policy"`
			Threshold *int64 `json:"max_priority_threshold"`
		} `json:"borrow_within_cohort"`
	} `json:"preemption"`
	Fungibility struct {
		Borrow     string `json:"when_can_borrow"`
		Preempt    string `json:"when_can_preempt"`
		Preference string `json:"preference"`
	} `json:"flavor_fungibility"`
}

type kueueGroup struct {
	Resources []string `json:"resources"`
	Flavors   []struct {
		Flavor string `json:"flavor"`
		Quota  map[string]struct {
			Nominal   int64  `json:"nominal"`
			Borrowing *int64 `json:"borrowing_limit"`
			Lending   *int64 `json:"lending_limit"`
		} `json:"quota"`
	} `json:"flavors"`
}

type kueueWorkload struct {
	Name     string        `json:"name"`
	Queue    string        `json:"cluster_queue"`
	Priority int32         `json:"priority"`
	Created  int64         `json:"created_s"`
	Reserved int64         `json:"quota_reserved_s"`
	Evicted  bool          `json:"evicted"`
	PodSets  []kueuePodSet `json:"podsets"`
}

type kueuePodSet struct {
	Name     string            `json:"name"`
	Count    int32             `json:"count"`
	MinCount int32             `json:"min_count"`
	Requests map[string]int64  `json:"requests"`
	Flavors  map[string]string `json:"flavors"`
	Pool     string            `json:"pool"`
	Tolerate string            `json:"tolerate"`
}

// kueueWorld is a case ready to run: the kernel, and names to find things by.
type kueueWorld struct {
	*admission.Kernel
	tree      *quota.Tree
	case_     *kueueCase
	workloads []kueueWorkload // by name, which is the order of Kueue's UIDs here
	index     map[string]int32
	queues    map[string]int32
	nodes     map[string]int32
	flavors   map[string]int32
}

// build makes the world of a case, with the workloads that hold quota and those that do
// not.
func (c *kueueCase) build(waiting []kueueWorkload) (*kueueWorld, error) {
	w := &kueueWorld{case_: c, index: map[string]int32{}, queues: map[string]int32{}, nodes: map[string]int32{}, flavors: map[string]int32{}}
	rules, known := admission.Version(c.Kueue)
	if !known || c.Kueue == "" {
		return nil, cannot("Kueue version %q", c.Kueue)
	}
	rules.FairSharing = c.FairSharing
	for i, f := range c.Flavors {
		w.flavors[f.Name] = int32(i)
	}
	queues, cohorts, err := w.specs()
	if err != nil {
		return nil, err
	}
	w.tree = quota.NewTree(queues, cohorts)
	for node := range int32(w.tree.Nodes()) {
		w.nodes[w.tree.Name(node)] = node
	}
	w.workloads = append(slices.Clone(c.Admitted), waiting...)
	slices.SortStableFunc(w.workloads, func(a, b kueueWorkload) int { return cmp.Compare(a.Name, b.Name) })
	work := make([]admission.Workload, len(w.workloads))
	for i := range w.workloads {
		w.index[w.workloads[i].Name] = int32(i)
		if work[i], err = w.workload(&w.workloads[i], int64(i)); err != nil {
			return nil, err
		}
	}
	w.Kernel = admission.New(rules, w.tree, work)
	return w, w.admitAll()
}

// specs converts the configuration.
func (w *kueueWorld) specs() (queues []quota.Queue, cohorts []quota.Cohort, err error) {
	for i := range w.case_.Cohorts {
		given := &w.case_.Cohorts[i]
		c := quota.Cohort{Name: given.Name, Parent: given.Parent, Weight: weight(given.Weight)}
		if c.Groups, err = w.groups(given.Groups); err != nil {
			return nil, nil, err
		}
		cohorts = append(cohorts, c)
	}
	for i := range w.case_.Queues {
		given := &w.case_.Queues[i]
		w.queues[given.Name] = int32(i)
		q := quota.Queue{Name: given.Name, Cohort: given.Cohort, Weight: weight(given.Weight)}
		if q.Groups, err = w.groups(given.Groups); err != nil {
			return nil, nil, err
		}
		if given.Strategy == "StrictFIFO" {
			q.Strategy = quota.StrictFIFO
		}
		q.Preemption, q.Fungibility = given.preemption(), given.fungibility()
		queues = append(queues, q)
	}
	return queues, cohorts, nil
}

func weight(given *float64) quota.Limit {
	if given == nil {
		return quota.Limit{}
	}
	return quota.Max(int64(math.Round(*given * 1000)))
}

func limit(given *int64) quota.Limit {
	if given == nil {
		return quota.Limit{}
	}
	return quota.Max(*given)
}

var policyNames = map[string]quota.Policy{"": quota.Never, "Never": quota.Never, "LowerPriority": quota.LowerPriority,
	"LowerOrNewerEqualPriority": quota.LowerOrNewerEqual, "Any": quota.Any}

func (q *kueueQueue) preemption() quota.Preemption {
	p := quota.Preemption{Within: policyNames[q.Preemption.Within], Reclaim: policyNames[q.Preemption.Reclaim]}
	p.WhileBorrow = q.Preemption.Borrow.Policy == "LowerPriority"
	p.Threshold = limit(q.Preemption.Borrow.Threshold)
	return p
}

func (q *kueueQueue) fungibility() quota.Fungibility {
	return quota.Fungibility{BorrowTriesNext: q.Fungibility.Borrow == "TryNextFlavor",
		PreemptStops: q.Fungibility.Preempt == "MayStopSearch", LevelFirst: q.Fungibility.Preference == "PreemptionOverBorrowing"}
}

func (w *kueueWorld) groups(given []kueueGroup) ([]quota.Group, error) {
	out := []quota.Group{}
	for _, g := range given {
		group := quota.Group{}
		for _, name := range g.Resources {
			r, err := resourceOf(name)
			if err != nil {
				return nil, err
			}
			group.Covers[r] = true
		}
		for _, f := range g.Flavors {
			flavor, ok := w.flavors[f.Flavor]
			if !ok {
				return nil, fmt.Errorf("flavor %q is not described", f.Flavor)
			}
			fq := quota.FlavorQuota{Flavor: flavor}
			for name, q := range f.Quota {
				r, err := resourceOf(name)
				if err != nil {
					return nil, err
				}
				fq.Quota[r] = quota.Quota{Nominal: q.Nominal, Borrowing: limit(q.Borrowing), Lending: limit(q.Lending)}
			}
			group.Flavors = append(group.Flavors, fq)
		}
		out = append(out, group)
	}
	return out, nil
}

func resourceOf(name string) (int, error) {
	for r := range topology.NumResources {
		if r.String() == name {
			return int(r), nil
		}
	}
	return 0, cannot("the resource %q", name)
}

func (w *kueueWorld) workload(given *kueueWorkload, rank int64) (admission.Workload, error) {
	q, ok := w.queues[given.Queue]
	if !ok {
		return admission.Workload{}, fmt.Errorf("workload %s: no ClusterQueue %q", given.Name, given.Queue)
	}
	out := admission.Workload{Queue: q, Priority: given.Priority, Time: given.Created, Rank: rank, Evicted: given.Evicted}
	for i := range given.PodSets {
		ps := &given.PodSets[i]
		set := admission.PodSet{Count: ps.Count, Min: ps.MinCount}
		for name, v := range ps.Requests {
			r, err := resourceOf(name)
			if err != nil {
				return out, err
			}
			set.Request[r] = v
		}
		w.refuse(&set, ps, w.tree.Groups(q))
		out.Sets = append(out.Sets, set)
	}
	return out, nil
}

// refuse notes the flavors that a PodSet's selector and tolerations rule out. A selector
// counts only if some flavor of the group has the label.
func (w *kueueWorld) refuse(set *admission.PodSet, ps *kueuePodSet, groups []quota.Group) {
	for f, flavor := range w.case_.Flavors {
		if flavor.Taint != "" && flavor.Taint != ps.Tolerate {
			set.Tainted |= 1 << f
		}
	}
	for _, g := range groups {
		labelled := slices.ContainsFunc(g.Flavors, func(f quota.FlavorQuota) bool { return w.case_.Flavors[f.Flavor].Label != "" })
		for _, f := range g.Flavors {
			if ps.Pool != "" && labelled && w.case_.Flavors[f.Flavor].Label != ps.Pool {
				set.Mismatched |= 1 << f.Flavor
			}
		}
	}
}

// admitAll charges those that hold quota from the start.
func (w *kueueWorld) admitAll() error {
	for _, given := range w.case_.Admitted {
		j := w.index[given.Name]
		usage, err := w.usageOf(&given)
		if err != nil {
			return err
		}
		w.Hold(j, given.Reserved, usage)
		w.tree.UseAll(w.Work[j].Queue, usage)
	}
	return nil
}

func (w *kueueWorld) usageOf(given *kueueWorkload) ([]quota.Item, error) {
	var out []quota.Item
	for i := range given.PodSets {
		ps := &given.PodSets[i]
		for name, flavor := range ps.Flavors {
			r, err := resourceOf(name)
			if err != nil {
				return nil, err
			}
			out = append(out, quota.Item{FR: quota.Of(w.flavors[flavor], r), Amount: ps.Requests[name] * int64(ps.Count)})
		}
	}
	slices.SortStableFunc(out, func(a, b quota.Item) int { return cmp.Compare(a.FR, b.FR) })
	return out, nil
}

// names words reasons as Kueue does.
func (w *kueueWorld) names(j int32) *admission.Names {
	return &admission.Names{
		Flavor:   func(f int32) string { return w.case_.Flavors[f].Name },
		Resource: resourceName,
		Amount:   quantity,
		Taint:    func(f int32) string { return "{" + w.case_.Flavors[f].Taint + " true NoSchedule <nil>}" },
		Set:      func(s int32) string { return w.workloads[j].PodSets[s].Name },
	}
}

func resourceName(r int) string { return topology.Resource(r).String() }

// quantity writes an amount as Kubernetes does: CPU in cores, others as they are, with a
// decimal suffix where nothing is lost by it.
func quantity(resource int, n int64) string {
	if resource == int(topology.CPU) {
		if n%1000 != 0 {
			return strconv.FormatInt(n, 10) + "m"
		}
		n /= 1000
	}
	suffix := 0
	for n != 0 && n%1000 == 0 && suffix < 6 {
		n /= 1000
		suffix++
	}
	return strconv.FormatInt(n, 10) + strings.TrimSpace(" kMGTPE"[suffix:suffix+1])
}
