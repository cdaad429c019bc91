package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/policies/admission"
	"github.com/gangplan/gangplan/policies/stage"
)

// Versions of Kueue differ in the defaults of its feature gates, and in bugs that were fixed
// without one. A version sets them all; the parameter gates overrides some by name, those of
// Kueue, and for what has no gate names of our own that begin with a small letter.

// versions are the releases that stand for a minor version of Kueue.
var versions = map[string]string{"0.13": "v0.13.4", "0.17": "v0.17.0", "0.19": "v0.19.2"}

var versionParam = Param{Name: "version", Doc: "the version of Kueue whose rules apply", Values: []string{"0.13", "0.17", "0.19"}, Default: "0.19"}

// gate is one switch. Those of topology do nothing under gang.
type gateSwitch struct {
	name, doc string
	set       func(k *kueue, on bool)
}

var gateSwitches = []gateSwitch{
	{"PrioritySortingWithinCohort", "heads that borrow alike are ordered by priority before age", rule(func(r *admission.Rules) *bool { return &r.AgeFirst }, true)},
	{"FairSharingPreemptWithinNominal", "fair sharing: below nominal quota no strategy is asked", rule(func(r *admission.Rules) *bool { return &r.PreemptWithinNominal }, false)},
	{"FairSharingPrioritizeNonBorrowing", "fair sharing: who borrows nothing it asks for comes first", rule(func(r *admission.Rules) *bool { return &r.NonBorrowingFirst }, false)},
	{"SchedulingEquivalenceHashing", "a job set aside takes its equals with it", rule(func(r *admission.Rules) *bool { return &r.Hashing }, false)},
	{"PartialAdmission", "jobs with minPods may be admitted with fewer pods", func(k *kueue, on bool) { k.partial = on }},
	{"TASRecomputeAssignmentWithinSchedulingCycle", "who lost its places to an earlier entry of the cycle looks for others at once", rule(func(r *admission.Rules) *bool { return &r.PlaceAgain }, false)},
	{"TASProfileMixed", "unconstrained requests use LeastFreeCapacity", preset(func(p *stage.Preset) *bool { return &p.Mixed })},
	{"TASBalancedPlacement", "preferred requests are spread evenly over the domains they need", preset(func(p *stage.Preset) *bool { return &p.Balanced })},
	{"TASMultiLayerTopology", "slices may have layers", preset(func(p *stage.Preset) *bool { return &p.MultiLayer })},
	{"stickyPreemptor", "who preempted stays at the head of its queue", rule(func(r *admission.Rules) *bool { return &r.Sticky }, false)},
	{"candidatesRequired", "a flavor without anybody to preempt loses to every other (fixed in 0.19.1)", rule(func(r *admission.Rules) *bool { return &r.CandidatesRequired }, false)},
	{"batchedFlush", "what was set aside is looked at once a second, not at every change", func(k *kueue, on bool) { k.flushNow = !on }},
	{"wakeTopology", "what a job frees in a topology wakes the queues of all cohorts, not of its own only (in no version so far)", func(k *kueue, on bool) { k.wakeAll = on }},
	{"lfcStopsAtFull", "LeastFreeCapacity over several domains ends at the first full one (a bug up to 0.14.5)", preset(func(p *stage.Preset) *bool { return &p.StopsAtFull })},
}

// rule is a switch of the scheduler's rules, or of their opposite.
func rule(of func(r *admission.Rules) *bool, inverted bool) func(k *kueue, on bool) {
	return func(k *kueue, on bool) { *of(&k.rules) = on != inverted }
}

// preset is a switch of the search in the topology.
func preset(of func(p *stage.Preset) *bool) func(k *kueue, on bool) {
	return func(k *kueue, on bool) {
		if k.placer != nil {
			*of(&k.placer.preset) = on
		}
	}
}

var gatesParam = Param{Name: "gates", Doc: "feature gates that differ from those of the version: " + strings.Join(gateNames(), ", "),
	Syntax: "such as PartialAdmission=false,stickyPreemptor=true", parse: func(s string) error { _, err := parseGates(s); return err }}

func gateNames() []string {
	names := make([]string, len(gateSwitches))
	for i := range gateSwitches {
		names[i] = gateSwitches[i].name
	}
	return names
}

// setting is a switch and where it is put.
type setting struct {
	*gateSwitch
	on bool
}

// parseGates reads a list of gates as Kueue's command line has them.
func parseGates(text string) (settings []setting, err error) {
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		i := slices.Index(gateNames(), name)
		switch {
		case i < 0:
			return nil, fmt.Errorf("unknown gate %q: expected some of %s", name, strings.Join(gateNames(), ", "))
		case value != "true" && value != "false":
			return nil, fmt.Errorf("%q: expected %s=true or %s=false", part, name, name)
		}
		settings = append(settings, setting{&gateSwitches[i], value == "true"})
	}
	return settings, nil
}

// setGates applies the gates to an Admitter that has its version's defaults.
func (k *kueue) setGates(s Settings) {
	settings, _ := parseGates(s.Get("gates"))
	for _, x := range settings {
		x.set(k, x.on)
	}
}
