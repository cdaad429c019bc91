package policies

import (
	"slices"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
)

var strategyParam = Param{
	Name: "strategy", Doc: "queueing strategy of every ClusterQueue; queue leaves each as configured",
	Values: []string{"queue", "BestEffortFIFO", "StrictFIFO"}, Default: "queue",
}

var gang = Declaration{
	Name:   "gang",
	Doc:    "Kueue: a job is admitted whole against its quota; its pods are then bound one by one, which can fail",
	Params: slices.Concat([]Param{strategyParam}, binderParams),
	build: func(s Settings) sim.Policy {
		return policyOf(newKueue(s), s, true)
	},
}

func newKueue(s Settings) *kueue {
	k := &kueue{}
	switch s.Get("strategy") {
	case "StrictFIFO":
		k.strategy = new(quota.StrictFIFO)
	case "BestEffortFIFO":
		k.strategy = new(quota.BestEffortFIFO)
	}
	return k
}
