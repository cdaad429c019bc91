package kube

import (
	"maps"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// ask fills in what a pod with the spec asks for, as the scheduler counts it: its containers
// and sidecars together, or an init container beside the sidecars before it where that is
// more; in their place what the pod asks for as a whole; and the overhead. It counts as one
// pod. What it does not ask for it does not need.
func (d *Dump) ask(o *Object, spec *PodSpec, set *workloads.PodSet) {
	var running, most topology.Resources
	for i := range spec.InitContainers {
		r := d.container(o, &spec.InitContainers[i])
		if spec.InitContainers[i].RestartPolicy == "Always" {
			running = running.Plus(r)
			r = topology.Resources{}
		}
		most = larger(most, running.Plus(r))
	}
	for i := range spec.Containers {
		running = running.Plus(d.container(o, &spec.Containers[i]))
	}
	sum := larger(most, running)
	whole := spec.Resources.asked()
	for _, name := range sortedKeys(whole) {
		if r := ResourceOf(name); r == topology.CPU || r == topology.Memory { // and no others
			sum[r], _ = Quantity(r, whole[name])
		}
	}
	set.Request = sum.Plus(spec.Overhead.resources(o.Kind+".overhead", &d.unknown))
	set.Request[topology.Pods] = 1
	for _, r := range []topology.Resource{topology.CPU, topology.Memory} {
		set.None[r] = set.Request[r] == 0
	}
}

func larger(a, b topology.Resources) topology.Resources {
	for r := range a {
		a[r] = max(a[r], b[r])
	}
	return a
}

// asked are the requests, and the limits where there are none.
func (r *Resources) asked() Amounts {
	asked := maps.Clone(r.Limits)
	if asked == nil {
		asked = Amounts{}
	}
	maps.Copy(asked, r.Requests)
	return asked
}

func (d *Dump) container(o *Object, c *Container) topology.Resources {
	return c.Resources.asked().resources(o.Kind+".resources", &d.unknown)
}

// place fills in where pods with the spec, which is at a path, may go.
func place(o *Object, p Path, spec *PodSpec, set *workloads.PodSet) error {
	for _, key := range sortedKeys(spec.NodeSelector) {
		set.NodeSelector = append(set.NodeSelector, topology.Requirement{Key: key, Operator: topology.In, Values: []string{spec.NodeSelector[key]}})
	}
	set.Tolerations = TolerationsOf(spec.Tolerations)
	a := spec.Affinity.NodeAffinity
	if a == nil {
		return nil
	}
	p = p.To("affinity", "nodeAffinity")
	if a.Required != nil {
		for i := range a.Required.Terms {
			term, err := termOf(o, p.To("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", i), &a.Required.Terms[i])
			if err != nil {
				return err
			}
			set.NodeAffinity.Required = append(set.NodeAffinity.Required, term)
		}
	}
	for i := range a.Preferred {
		term, err := termOf(o, p.To("preferredDuringSchedulingIgnoredDuringExecution", i, "preference"), &a.Preferred[i].Preference)
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

func termOf(o *Object, p Path, given *NodeTerm) (term topology.Term, err error) {
	for i := range given.MatchExpressions {
		q, err := requirement(o, p.To("matchExpressions", i), (*Expression)(&given.MatchExpressions[i]))
		if err != nil {
			return nil, err
		}
		term = append(term, q)
	}
	return term, nil
}
