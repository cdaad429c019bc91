package kube

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
	"k8s.io/apimachinery/pkg/api/resource"
)

// checked is an object with rules that a schema cannot say: those of Kueue's webhooks, and of
// the expressions in its schemas.
type checked interface{ check(c *checker) }

// checker collects what is wrong with an object by its rules.
type checker struct {
	o     *Object
	wrong func(*Error)
}

func (c *checker) fail(p Path, format string, args ...any) { c.wrong(c.o.Fail(p, format, args...)) }

var specPath = At("spec")

// The most of what a ClusterQueue or Cohort has in all.
const (
	maxFlavorsInAll   = 256
	maxResourcesInAll = 256
	maxPairsInGroup   = 512
)

// check of a node: what Kubernetes says of extended resources, and what there is.
func (n *Node) check(c *checker) {
	for _, name := range sortedKeys(n.Status.Allocatable) {
		text := n.Status.Allocatable[name]
		milli, ok := Quantity(topology.GPU, text)
		if at := At("status", "allocatable", name); ResourceOf(name) != topology.GPU || !ok {
			continue
		} else if milli > topology.MaxGPUsPerHost*topology.Milli {
			c.fail(at, "%s: expected at most %d", quote(text), topology.MaxGPUsPerHost)
		} else if milli%topology.Milli != 0 {
			c.fail(at, "%s: expected a whole number", quote(text))
		}
	}
}

func (q *ClusterQueue) check(c *checker) {
	c.groups(q.Spec.ResourceGroups, q.CohortName() != "", "cohort", true)
	c.weight(q.Spec.FairSharing)
	if s := q.Spec.NamespaceSelector; s != nil {
		c.selector(specPath.To("namespaceSelector"), s)
	}
	p := &q.Spec.Preemption
	if b := p.BorrowWithinCohort; b != nil && b.Policy == "LowerPriority" && (p.ReclaimWithinCohort == "" || p.ReclaimWithinCohort == "Never") {
		c.fail(specPath.To("preemption", "borrowWithinCohort", "policy"), "LowerPriority needs reclaimWithinCohort, which is Never")
	}
	f := &q.Spec.FlavorFungibility
	if f.Preference != "" && (f.WhenCanBorrow != "TryNextFlavor" || f.WhenCanPreempt != "TryNextFlavor") {
		c.fail(specPath.To("flavorFungibility", "preference"), "expected whenCanBorrow and whenCanPreempt beside it, both TryNextFlavor")
	}
	c.admissionChecks(q)
}

// admissionChecks are not modelled, but may only speak of flavors that there are.
func (c *checker) admissionChecks(q *ClusterQueue) {
	s := q.Spec.ChecksStrategy
	if s == nil {
		return
	}
	if len(q.Spec.AdmissionChecks) > 0 {
		c.fail(specPath.To("admissionChecks"), "expected only one of admissionChecks and admissionChecksStrategy")
	}
	var flavors []string
	for _, g := range q.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			flavors = append(flavors, f.Name)
		}
	}
	for i := range s.Checks {
		for k, name := range s.Checks[i].OnFlavors {
			if !slices.Contains(flavors, name) {
				c.fail(specPath.To("admissionChecksStrategy", "admissionChecks", i, "onFlavors", k), "%s: the queue has no such flavor%s", quote(name), suggest.Hint(name, flavors))
			}
		}
	}
}

func (q *Cohort) check(c *checker) {
	c.groups(q.Spec.ResourceGroups, q.ParentName() != "", "parent", false)
	c.weight(q.Spec.FairSharing)
	if q.ParentName() != "" && q.ParentName() == c.o.Name {
		field := "parentName"
		if q.Spec.ParentName == "" {
			field = "parent"
		}
		c.fail(specPath.To(field), "cohort %s is above itself", quote(c.o.Name))
	}
}

func (l *LocalQueue) check(c *checker) { c.weight(l.Spec.FairSharing) }

// groups checks resource groups, whose limits need somebody to borrow from and lend to.
func (c *checker) groups(groups []ResourceGroup, shares bool, with string, lendsOwn bool) {
	p := specPath.To("resourceGroups")
	resources, flavors := map[string]Path{}, map[string]Path{}
	twice := func(seen map[string]Path, name, what string, at Path) {
		if first, ok := seen[name]; ok {
			c.fail(at, "%s: the %s is in %s already", quote(name), what, first)
			return
		}
		seen[name] = at
	}
	inAll, covered := 0, 0
	for i, g := range groups {
		pairs := 0
		for k, name := range g.CoveredResources {
			twice(resources, name, "resource", p.To(i, "coveredResources", k))
		}
		for k := range g.Flavors {
			at := p.To(i, "flavors", k)
			twice(flavors, g.Flavors[k].Name, "flavor", at.To("name"))
			c.quotas(at, g.CoveredResources, g.Flavors[k].Resources, shares, with, lendsOwn)
			pairs += len(g.Flavors[k].Resources)
		}
		if pairs > maxPairsInGroup {
			c.fail(p.To(i), "%d flavors and resources: expected at most %d in a group", pairs, maxPairsInGroup)
		}
		inAll, covered = inAll+len(g.Flavors), covered+len(g.CoveredResources)
	}
	if inAll > maxFlavorsInAll {
		c.fail(p, "%d flavors in all groups: expected at most %d", inAll, maxFlavorsInAll)
	}
	if covered > maxResourcesInAll {
		c.fail(p, "%d resources in all groups: expected at most %d", covered, maxResourcesInAll)
	}
}

// quotas checks what a flavor has: the resources that the group covers, in their order.
func (c *checker) quotas(p Path, covered []string, given []ResourceQuota, shares bool, with string, lendsOwn bool) {
	if len(given) != len(covered) {
		c.fail(p.To("resources"), "%s: expected those of coveredResources, which are %d", Count(len(given), "resource", "resources"), len(covered))
	}
	for i := range min(len(given), len(covered)) {
		q, at := &given[i], p.To("resources", i)
		if q.Name != covered[i] {
			c.fail(at.To("name"), "%s: expected %s, since flavors have the resources of coveredResources in their order", quote(q.Name), covered[i])
		}
		for _, limit := range []struct{ field, text, from string }{{"borrowingLimit", q.BorrowingLimit, "borrow from"}, {"lendingLimit", q.LendingLimit, "lend to"}} {
			if limit.text != "" && !shares {
				c.fail(at.To(limit.field), "without a %s there is nobody to %s", with, limit.from)
			}
		}
		if lendsOwn && q.LendingLimit != "" && exceeds(q.LendingLimit, q.NominalQuota) {
			c.fail(at.To("lendingLimit"), "%s: expected at most nominalQuota, which is %s", q.LendingLimit, q.NominalQuota)
		}
	}
}

// exceeds reports whether a quantity is above another. One that is none is not.
func exceeds(a, b string) bool {
	x, bad := resource.ParseQuantity(a)
	y, worse := resource.ParseQuantity(b)
	return bad == nil && worse == nil && x.Cmp(y) > 0
}

// weight checks that a weight is 0 or large enough to be divided by.
func (c *checker) weight(f *FairSharing) {
	if f == nil || f.Weight == "" {
		return
	}
	if least := "1n"; exceeds(f.Weight, "0") && !exceeds(f.Weight, least) {
		c.fail(specPath.To("fairSharing", "weight"), "%s: expected 0, or more than %s", f.Weight, least)
	}
}

// selector checks the expressions of a label selector.
func (c *checker) selector(p Path, s *LabelSelector) {
	for i := range s.MatchExpressions {
		e, at := &s.MatchExpressions[i], p.To("matchExpressions", i)
		switch e.Operator {
		case "In", "NotIn":
			if len(e.Values) == 0 {
				c.fail(at.To("values"), "missing: expected values for the operator %s", e.Operator)
			}
		case "Exists", "DoesNotExist":
			if len(e.Values) > 0 {
				c.fail(at.To("values"), "expected none for the operator %s", e.Operator)
			}
		}
	}
}

func (f *ResourceFlavor) check(c *checker) {
	if f.Spec.TopologyName != "" && len(f.Spec.NodeLabels) == 0 {
		c.fail(specPath.To("topologyName"), "expected nodeLabels beside it, which say whose topology it is")
	}
	seen := map[[2]string]int{}
	for i, t := range f.Spec.NodeTaints {
		if k, ok := seen[[2]string{t.Key, t.Effect}]; ok {
			c.fail(specPath.To("nodeTaints", i), "the taint %s:%s is nodeTaints[%d] already", t.Key, t.Effect, k)
		}
		seen[[2]string{t.Key, t.Effect}] = i
	}
	c.tolerations(specPath.To("tolerations"), f.Spec.Tolerations)
	for i, t := range f.Spec.Tolerations {
		if t.Operator == "Lt" || t.Operator == "Gt" { // which are newer than Kueue's flavors
			c.fail(specPath.To("tolerations", i, "operator"), "%s: expected Equal or Exists", t.Operator)
		}
	}
}

func (c *checker) tolerations(p Path, list []Toleration) {
	for i, t := range list {
		at, exists := p.To(i), t.Operator == "Exists"
		switch {
		case t.Key == "" && !exists:
			c.fail(at, "expected a key, or the operator Exists to tolerate all taints")
		case exists && t.Value != "":
			c.fail(at.To("value"), "expected none where the operator is Exists")
		case t.Seconds != nil && t.Effect != "NoExecute":
			c.fail(at.To("tolerationSeconds"), "expected the effect NoExecute beside it")
		}
	}
}

const hostname = "kubernetes.io/hostname"

func (t *Topology) check(c *checker) {
	levels := t.Spec.Levels
	seen := map[string]int{}
	for i := range levels {
		label, at := levels[i].NodeLabel, specPath.To("levels", i, "nodeLabel")
		if k, ok := seen[label]; ok {
			c.fail(at, "%s is the label of levels[%d] already", quote(label), k)
		}
		seen[label] = i
		if label == hostname && i < len(levels)-1 {
			c.fail(at, "%s can only be the lowest level, the last", hostname)
		}
	}
}

func (p *PriorityClass) check(c *checker) {
	const most = 1_000_000_000 // above are those of Kubernetes itself
	if c.o.Kind == "PriorityClass" && p.Value > most && !strings.HasPrefix(c.o.Name, "system-") {
		c.fail(At("value"), "%d: expected at most %d", p.Value, most)
	}
}

// strategySets are the lists of strategies that Kueue takes.
var strategySets = []string{"[LessThanOrEqualToFinalShare]", "[LessThanInitialShare]", "[LessThanOrEqualToFinalShare LessThanInitialShare]"}

func (f *Configuration) check(c *checker) {
	if s := f.FairSharing; s != nil {
		at := At("fairSharing", "preemptionStrategies")
		if len(s.PreemptionStrategies) == 0 && c.o.version() != "v1beta1" {
			c.fail(at, "missing: expected LessThanOrEqualToFinalShare, LessThanInitialShare or both in this order")
		} else if len(s.PreemptionStrategies) > 0 && !slices.Contains(strategySets, fmt.Sprint(s.PreemptionStrategies)) {
			c.fail(at, "expected LessThanOrEqualToFinalShare, LessThanInitialShare or both in this order")
		}
	}
	if a := f.AdmissionFairSharing; a != nil {
		for _, name := range sortedKeys(a.ResourceWeights) {
			if a.ResourceWeights[name] < 0 {
				c.fail(At("admissionFairSharing", "resourceWeights", name), "%g: expected at least 0", a.ResourceWeights[name])
			}
		}
	}
	for _, name := range sortedKeys(f.FeatureGates) {
		if !slices.Contains(kueueGates, name) && near(name, kueueGates) {
			c.fail(At("featureGates", name), "there is no such feature gate%s", suggest.Hint(name, kueueGates))
		}
	}
	c.resources(f)
}

func (c *checker) resources(f *Configuration) {
	r, at := f.Resources, At("resources")
	if r == nil {
		return
	}
	if r.QuotaCheckStrategy == "IgnoreUndeclared" && len(r.ExcludeResourcePrefixes) > 0 {
		c.fail(at.To("quotaCheckStrategy"), "IgnoreUndeclared: expected no excludeResourcePrefixes beside it")
	}
	seen := map[string]int{}
	for i, t := range r.Transformations {
		if k, ok := seen[t.Input]; ok {
			c.fail(at.To("transformations", i, "input"), "%s is the input of transformations[%d] already", quote(t.Input), k)
		}
		seen[t.Input] = i
	}
}
