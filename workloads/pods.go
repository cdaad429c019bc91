package workloads

import (
	"slices"

	"github.com/gangplan/gangplan/topology"
)

// This file holds what kube-scheduler knows of pods beside what they need: who they are to
// other pods, and what they ask of them.

// PodSelector says which pods are meant: those in one of the namespaces whose labels meet
// every requirement. Without namespaces it is the one of the pod that asks; "*" is all.
type PodSelector struct {
	Namespaces []string               `json:",omitempty"`
	Match      []topology.Requirement `json:",omitempty"`
	None       bool                   `json:",omitempty"` // no pod at all, as the selector that is missing in Kubernetes
}

// AllNamespaces stands in a selector for every namespace.
const AllNamespaces = "*"

// Selects reports whether pods of a job are meant, when pods in a namespace ask.
func (s *PodSelector) Selects(j *Job, namespace string) bool {
	if len(s.Namespaces) > 0 {
		if !slices.Contains(s.Namespaces, j.Namespace) && !slices.Contains(s.Namespaces, AllNamespaces) {
			return false
		}
	} else if j.Namespace != namespace {
		return false
	}
	return !s.None && topology.MatchAll(s.Match, j.Labels)
}

// PodTerm asks for a job's pods to be in a domain of a level with a pod that is meant, or
// with none; of what is preferred by how much. Weight 0 is required. Without a selector the
// pods of the same job are meant.
type PodTerm struct {
	Level  string
	Weight int32
	Of     *PodSelector `json:",omitempty"`
}

// SpreadConstraint bounds by how much the domains of a level differ in the number of pods
// that are meant: without a selector those of the job, else those of the job's namespace. A
// soft one is preferred only.
type SpreadConstraint struct {
	Level      string
	MaxSkew    int32
	Soft       bool
	MinDomains int32        `json:",omitempty"` // fewer domains count as one more that is empty
	Taints     bool         `json:",omitempty"` // nodeTaintsPolicy Honor: nodes with taints that bar the pods are no part of it
	AllNodes   bool         `json:",omitempty"` // nodeAffinityPolicy Ignore: nodes that selector and affinity bar are
	Default    bool         `json:",omitempty"` // kube-scheduler's own: it falls away where the cluster has no such level
	Of         *PodSelector `json:",omitempty"`
}

// Budget is a PodDisruptionBudget: how many of the pods that are meant may be away at a
// time. Preemption keeps to it where it can.
type Budget struct {
	Name      string
	Namespace string
	Of        PodSelector
	N         int32 // pods that must be there, at least
	Percent   bool  // N is a percentage of all that exist
	UseMax    bool  // N is maxUnavailable: what may be away, at most
}

// Allowed is how many pods more may go of a budget's, of which so many are expected and so
// many ready.
func (b *Budget) Allowed(expected, ready int32) int32 {
	n := b.N
	if b.Percent { // rounded up, as Kubernetes does for both
		n = int32((int64(n)*int64(expected) + 99) / 100)
	}
	if b.UseMax {
		n = max(0, expected-n)
	}
	return max(0, ready-n)
}
