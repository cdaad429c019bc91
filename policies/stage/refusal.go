package stage

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/topology"
)

// Refusal is why a node cannot take a pod, as a set: the first filter plugin that fails
// speaks alone, but the resources filter names every resource that is missing.
type Refusal uint16

// The reasons in the order of the filter plugins, within one plugin in the order it
// reports them.
const (
	NodeUnschedulable Refusal = 1 << iota
	NodeName
	NodeTaint
	NodeSelector
	TooManyPods
	LacksCPU
	LacksMemory
	LacksGPU
	SpreadLabel
	SpreadSkew
	PodAffinity
	PodAntiAffinity

	// Unresolvable marks a refusal that no preemption can lift.
	Unresolvable
)

var refusalTexts = [...]string{
	"node(s) were unschedulable",
	"node(s) didn't match the requested node name",
	"node(s) had untolerated taint(s)",
	"node(s) didn't match Pod's node affinity/selector",
	"Too many pods",
	"Insufficient cpu",
	"Insufficient memory",
	"Insufficient nvidia.com/gpu",
	"node(s) didn't match pod topology spread constraints (missing required label)",
	"node(s) didn't match pod topology spread constraints",
	"node(s) didn't match pod affinity rules",
	"node(s) didn't match pod anti-affinity rules",
}

// Texts returns kube-scheduler's words for the reasons.
func (r Refusal) Texts() []string {
	var texts []string
	for left := r &^ Unresolvable; left != 0; left &= left - 1 {
		texts = append(texts, refusalTexts[bits.TrailingZeros16(uint16(left))])
	}
	return texts
}

// lacks are the resources NodeResourcesFit checks, in its order, after the pod count.
var lacks = [...]struct {
	resource topology.Resource
	refusal  Refusal
}{{topology.CPU, LacksCPU}, {topology.Memory, LacksMemory}, {topology.GPU, LacksGPU}}

// FilterResources is the filter of NodeResourcesFit: 0 if the pod fits. It is
// unresolvable when the pod asks for more than the node would have empty.
func FilterResources(d *Demand, l *Load) Refusal {
	var r Refusal
	if l.Real[topology.Pods]+1 > l.Offers[topology.Pods] {
		r |= TooManyPods
	}
	for _, k := range lacks {
		want := d.Real[k.resource]
		if want > 0 && want > l.Offers[k.resource]-l.Real[k.resource] {
			r |= k.refusal
			if want > l.Offers[k.resource] {
				r |= Unresolvable
			}
		}
	}
	return r
}

// Effects of taints that matter to a scheduler.
const (
	NoSchedule       = "NoSchedule"
	NoExecute        = "NoExecute"
	PreferNoSchedule = "PreferNoSchedule"
)

// HardTaint returns the first taint that keeps pods off a node unless tolerated.
func HardTaint(taints []topology.Taint) (topology.Taint, bool) {
	for _, t := range taints {
		if t.Effect == NoSchedule || t.Effect == NoExecute {
			return t, true
		}
	}
	return topology.Taint{}, false
}

// SoftTaints counts the taints that discourage pods without a toleration. Those of other
// effects do not count.
func SoftTaints(taints []topology.Taint, tolerations []Toleration) (n int64) {
	for i := range taints {
		t := &taints[i]
		if t.Effect == PreferNoSchedule && !slices.ContainsFunc(tolerations, func(o Toleration) bool { return o.Tolerates(t) }) {
			n++
		}
	}
	return n
}

// Explain is the message of a pod that fits on none of the nodes: how many nodes gave
// each reason, ordered as kube-scheduler does, by the text with its count.
func Explain(nodes int, refusals []Refusal) string {
	var counts [len(refusalTexts)]int
	for _, r := range refusals {
		for left := r &^ Unresolvable; left != 0; left &= left - 1 {
			counts[bits.TrailingZeros16(uint16(left))]++
		}
	}
	var parts []string
	for i, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, refusalTexts[i]))
		}
	}
	slices.Sort(parts)
	message := fmt.Sprintf("0/%d nodes are available", nodes)
	if len(parts) > 0 {
		message += ": " + strings.Join(parts, ", ")
	}
	return message + "."
}
