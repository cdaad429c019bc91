package policies

import (
	"slices"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
)

var strategyParam = Param{
	Name: "strategy", Doc: "queueing strategy of every ClusterQueue; queue leaves each as configured",
	Values: []string{"queue", "BestEffortFIFO", "StrictFIFO"}, Default: "queue",
}

// kueueParams are the parameters of every policy that admits as Kueue does.
var kueueParams = []Param{
	strategyParam,
	{Name: "sorting", Doc: "order of the heads of a cycle that borrow alike: by priority, or by age alone (gate PrioritySortingWithinCohort off)",
		Values: []string{"priority", "age"}, Default: "priority"},
	{Name: "fairSharing", Doc: "order and preempt by the queues' shares of what they borrow", Values: []string{"off", "on"}, Default: "off"},
	{Name: "partialAdmission", Doc: "admit a job that has min_pods with fewer pods when not all of them can be had (gate PartialAdmission); its barrier is then what was admitted",
		Values: []string{"on", "off"}, Default: "on"},
	{Name: "fairStrategies", Doc: "when fair sharing preempts beyond nominal quota (preemptionStrategies): both in turn, or one alone",
		Values: []string{"both", "LessThanOrEqualToFinalShare", "LessThanInitialShare"}, Default: "both"},
	gatesParam,
}

var gang = Declaration{
	Name:   "gang",
	Doc:    "Kueue: a job is admitted whole against its quota; its pods are then bound one by one, which can fail",
	Params: slices.Concat([]Param{versionParam}, kueueParams, binderParams),
	build: func(s Settings) sim.Policy {
		k := newKueue(s)
		k.setGates(s)
		return policyOf(k, s, true)
	},
}

func newKueue(s Settings) *kueue {
	k := &kueue{partial: s.Get("partialAdmission") == "on"}
	k.rules, _ = admission.Version(versions[s.Get("version")])
	k.rules.AgeFirst = s.Get("sorting") == "age"
	k.rules.FairSharing = s.Get("fairSharing") == "on"
	k.flushNow = s.Get("version") == "0.13"
	switch s.Get("fairStrategies") {
	case "LessThanOrEqualToFinalShare":
		k.rules.Strategies = []admission.Strategy{admission.FinalShare}
	case "LessThanInitialShare":
		k.rules.Strategies = []admission.Strategy{admission.InitialShare}
	}
	switch s.Get("strategy") {
	case "StrictFIFO":
		k.strategy = new(quota.StrictFIFO)
	case "BestEffortFIFO":
		k.strategy = new(quota.BestEffortFIFO)
	}
	return k
}
