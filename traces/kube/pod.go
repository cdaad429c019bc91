package kube

import (
	"maps"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// Request returns what a pod with the spec asks for, as the scheduler counts it: its
// containers and sidecars together, or an init container beside the sidecars before it where
// that is more, and the overhead. It counts as one pod.
func (d *Dump) request(o *Object, spec *PodSpec) (topology.Resources, error) {
	var running, most topology.Resources
	for i := range spec.InitContainers {
		r, err := d.container(o, &spec.InitContainers[i])
		if err != nil {
			return r, err
		}
		if spec.InitContainers[i].RestartPolicy == "Always" {
			running = running.Plus(r)
			r = topology.Resources{}
		}
		most = larger(most, running.Plus(r))
	}
	for i := range spec.Containers {
		r, err := d.container(o, &spec.Containers[i])
		if err != nil {
			return r, err
		}
		running = running.Plus(r)
	}
	overhead, wrong := spec.Overhead.resources(o.Kind+".overhead", &d.unknown)
	if wrong != "" {
		return overhead, o.fail(nil, "overhead."+wrong, "%q: expected a quantity such as 8, 500m or 96Gi", spec.Overhead[wrong])
	}
	sum := larger(most, running).Plus(overhead)
	sum[topology.Pods] = 1
	return sum, nil
}

func larger(a, b topology.Resources) topology.Resources {
	for r := range a {
		a[r] = max(a[r], b[r])
	}
	return a
}

// container is what one container asks for: its requests, and its limits where it has none.
func (d *Dump) container(o *Object, c *Container) (topology.Resources, error) {
	asked := maps.Clone(c.Resources.Limits)
	if asked == nil {
		asked = Amounts{}
	}
	maps.Copy(asked, c.Resources.Requests)
	sum, wrong := asked.resources(o.Kind+".resources", &d.unknown)
	if wrong != "" {
		return sum, o.fail(nil, "container "+c.Name+": "+wrong, "%q: expected a quantity such as 8, 500m or 96Gi", asked[wrong])
	}
	return sum, nil
}

// place fills in where pods with the spec may go.
func (d *Dump) place(o *Object, spec *PodSpec, set *workloads.PodSet) error {
	for _, key := range sortedKeys(spec.NodeSelector) {
		set.NodeSelector = append(set.NodeSelector, topology.Requirement{Key: key, Operator: topology.In, Values: []string{spec.NodeSelector[key]}})
	}
	set.Tolerations = TolerationsOf(spec.Tolerations)
	a := spec.Affinity.NodeAffinity
	if a == nil {
		return nil
	}
	if a.Required != nil {
		for i := range a.Required.Terms {
			term, err := termOf(o, &a.Required.Terms[i])
			if err != nil {
				return err
			}
			set.NodeAffinity.Required = append(set.NodeAffinity.Required, term)
		}
	}
	for i := range a.Preferred {
		term, err := termOf(o, &a.Preferred[i].Preference)
		if err != nil {
			return err
		}
		set.NodeAffinity.Preferred = append(set.NodeAffinity.Preferred, topology.PreferredTerm{Weight: a.Preferred[i].Weight, Term: term})
	}
	return nil
}

// TolerationsOf turns tolerations into those of topology.
func TolerationsOf(given []Toleration) (list []topology.Toleration) {
	for _, t := range given {
		list = append(list, topology.Toleration{Key: t.Key, Value: t.Value, Effect: t.Effect, Exists: t.Operator == "Exists"})
	}
	return list
}

// operators are those of node affinity, in the order of topology.Operator.
var operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}

func termOf(o *Object, given *NodeTerm) (term topology.Term, err error) {
	for i := range given.MatchExpressions {
		q, err := requirement(o, "nodeAffinity", &given.MatchExpressions[i])
		if err != nil {
			return nil, err
		}
		term = append(term, q)
	}
	return term, nil
}
