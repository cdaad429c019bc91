package verify

import (
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
)

// timelineDeeds are the words of the recorded scenarios for what is done, without the endings that
// say to which pod's node, and gangplan's. A kubelet that dies has its node's condition set
// to Unknown by the recorder.
var timelineDeeds = map[string]string{
	"add_node": "add", "create_node": "add",
	"delete_node": "delete", "remove_node": "delete",
	"node_down": "unreachable", "node_unreachable": "unreachable", "node_unknown": "unreachable", "node_not_ready": "unreachable", "node_notready": "unreachable",
	"node_up": "up", "node_ready": "up",
	"cordon": "cordon", "cordon_node": "cordon", "uncordon": "uncordon", "uncordon_node": "uncordon",
	"delete_pod": "deletePod", "evict_pod": "deletePod", "fail_pod": "failPod",
	"delete_job": "deleteJob", "remove_job": "deleteJob",
	"deactivate": "deactivate", "deactivate_job": "deactivate", "deactivate_workload": "deactivate", "deactivate_wl": "deactivate",
	"activate": "activate", "activate_job": "activate", "activate_workload": "activate", "activate_wl": "activate",
	"reactivate": "activate", "reactivate_job": "activate", "reactivate_workload": "activate", "set_active": "activate", "active": "activate",
}

// opposite deeds are what an action with value false means.
var opposite = map[string]string{"cordon": "uncordon", "activate": "deactivate", "unreachable": "up", "deactivate": "activate"}

func (s *timelineScenario) convertActions(f *scenario.File) error {
	for i := range s.Actions {
		a := &s.Actions[i]
		e, err := a.convert()
		if err != nil {
			return err
		}
		f.Events = append(f.Events, e)
	}
	return nil
}

func (a *timelineAction) convert() (scenario.Event, error) {
	word := strings.ToLower(a.Do)
	for _, ending := range []string{"_of", "_on"} {
		word = strings.TrimSuffix(word, ending)
	}
	do, ok := timelineDeeds[word]
	if !ok {
		return scenario.Event{}, cannot("the action %q", a.Do)
	}
	if a.Value != nil && !*a.Value {
		if do, ok = opposite[do]; !ok {
			return scenario.Event{}, cannot("the action %q with value false", a.Do)
		}
	}
	e := scenario.Event{At: seconds(a.At), Do: do, Node: a.Node, Job: a.Job, Pod: a.Index}
	if e.Node == "" {
		e.Node = a.Name
	}
	if a.Spec != nil {
		e.Node = a.Spec.Name
	}
	return e, nil
}
