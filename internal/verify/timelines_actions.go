package verify

import (
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/suggest"
)

// timelineDeeds are gangplan's words for those of the recorded scenarios. Where a verb can only be
// meant of one kind of object, a recording may name it (cordon_node) or not; a kubelet that dies
// has its node's condition set to Unknown by the recorder, which is named by either; and set_active
// writes the field of a Workload that takes a job out of the queues and lets it back in: activate
// it, or reactivate. An action that is none of these makes its case one that cannot be said.
var timelineDeeds = map[string]string{
	"add_node": "add", "delete_node": "delete", "node_down": "unreachable", "node_up": "up",
	"node_unknown": "unreachable", "node_unreachable": "unreachable", "node_ready": "up",
	"cordon": "cordon", "uncordon": "uncordon",
	"delete_pod": "deletePod", "fail_pod": "failPod",
	"delete_job": "deleteJob", "deactivate": "deactivate",
	"set_active": "activate", "activate": "activate", "reactivate": "activate",
}

// timelineObjects are the endings that name what the verb says already, after those that say
// which: the node of a pod, the pods on a node. The fields say it too.
var timelineObjects = []string{"", "_node", "_job", "_workload"}

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

// deed is gangplan's word for what an action does.
func (a *timelineAction) deed() (string, error) {
	word := strings.TrimSuffix(strings.TrimSuffix(a.Do, "_of"), "_on")
	for _, object := range timelineObjects {
		do, ok := timelineDeeds[strings.TrimSuffix(word, object)]
		if !ok {
			continue
		}
		if a.Value != nil && !*a.Value {
			if do, ok = opposite[do]; !ok {
				return "", cannot("the action %q with value false", a.Do)
			}
		}
		return do, nil
	}
	known := slices.Sorted(maps.Keys(timelineDeeds))
	return "", cannot("the action %q%s", a.Do, suggest.Hint(word, known))
}

func (a *timelineAction) convert() (scenario.Event, error) {
	do, err := a.deed()
	if err != nil {
		return scenario.Event{}, err
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
