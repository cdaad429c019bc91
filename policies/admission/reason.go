package admission

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/sim/quota"
)

// Refusal is a kind of reason.
type Refusal uint8

// Why a flavor was refused to a PodSet.
const (
	Untolerated Refusal = iota
	NoAffinity
	OverCapacity // more than there could ever be: Prior of earlier PodSets, Amount, Limit
	Lacking      // Amount more needed
	NoPlace      // the topology has no place
	Undeclared   // the queue does not list the resource
)

// Reason is one refusal, in numbers; Message puts it into words.
type Reason struct {
	Kind                 Refusal
	Set                  int32
	FR                   quota.FR
	Prior, Amount, Limit int64
}

// Names tells Message what things are called, and how amounts are written.
type Names struct {
	Flavor   func(flavor int32) string
	Resource func(resource int) string
	Amount   func(resource int, amount int64) string
	Taint    func(flavor int32) string
	Set      func(set int32) string
}

// Message words all reasons of an assignment as Kueue does.
func (a *Assignment) Message(n *Names) string {
	var out []string
	for s := range a.Sets {
		var texts []string
		for _, r := range a.Reasons {
			if r.Set == int32(s) {
				texts = append(texts, r.text(n))
			}
		}
		if len(texts) == 0 {
			continue
		}
		slices.Sort(texts)
		out = append(out, "couldn't assign flavors to pod set "+n.Set(int32(s))+": "+strings.Join(texts, ", "))
	}
	return strings.Join(out, "; ")
}

func (r *Reason) text(n *Names) string {
	flavor, res := n.Flavor(r.FR.Flavor()), r.FR.Resource()
	switch r.Kind {
	case Untolerated:
		return "untolerated taint " + n.Taint(r.FR.Flavor()) + " in flavor " + flavor
	case NoAffinity:
		return "flavor " + flavor + " doesn't match node affinity"
	case OverCapacity:
		return "insufficient quota for " + n.Resource(res) + " in flavor " + flavor + ", previously considered podsets requests (" +
			n.Amount(res, r.Prior) + ") + current podset request (" + n.Amount(res, r.Amount) + ") > maximum capacity (" + n.Amount(res, r.Limit) + ")"
	case Undeclared:
		return "resource " + n.Resource(res) + " unavailable in ClusterQueue"
	case NoPlace:
		return "topology has no place for the pods"
	}
	return "insufficient unused quota for " + n.Resource(res) + " in flavor " + flavor + ", " + n.Amount(res, r.Amount) + " more needed"
}

// Pending words how many victims a preemptor waits for.
func Pending(victims int) string {
	return ". Pending the preemption of " + strconv.Itoa(victims) + " workload(s)"
}

// Why an entry was skipped, in Kueue's words.
const (
	Overlaps = "Workload has overlapping preemption targets with another workload"
	NoLonger = "Workload no longer fits after processing another workload"
)
