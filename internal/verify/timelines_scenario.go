package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// timelineScenario is the input of a recorded scenario. Its fields are read strictly: one
// that is not here is an error that names it.
type timelineScenario struct {
	ID         string           `json:"id"`
	Group      string           `json:"group"`
	Title      string           `json:"title"`
	Nodes      []timelineNode   `json:"nodes"`
	Kueue      *timelineKueue   `json:"kueue"`
	Jobs       []timelineJob    `json:"jobs"`
	Actions    []timelineAction `json:"actions"`
	Observe    float64          `json:"observe_s"`
	Repeats    int              `json:"reps"`
	Concurrent bool             `json:"concurrent_submit"` // jobs of a moment are created at once, not one after another
	StopEarly  *bool            `json:"stop_when_finished"`
}

type timelineNode struct {
	Name          string            `json:"name"`
	GPU           int               `json:"gpu"`
	CPU           float64           `json:"cpu"`
	MemGi         float64           `json:"mem_gi"`
	Labels        map[string]string `json:"labels"`
	Taints        []timelineTaint   `json:"taints"`
	Unschedulable bool              `json:"unschedulable"`
}

type timelineTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

type timelineKueue struct {
	Config     timelineConfig     `json:"config"`
	Flavors    []timelineFlavor   `json:"flavors"`
	Queues     []timelineQueue    `json:"queues"`
	Cohorts    []timelineCohort   `json:"cohorts"`
	Topologies []timelineTopology `json:"topologies"`
}

// timelineConfig is the part of Kueue's Configuration that a scenario sets.
type timelineConfig struct {
	PodsReady *struct {
		Enable    *bool  `json:"enable"`
		Timeout   string `json:"timeout"`
		Recovery  string `json:"recoveryTimeout"`
		Block     *bool  `json:"blockAdmission"`
		Requeuing struct {
			Timestamp string `json:"timestamp"`
			Base      *int64 `json:"backoffBaseSeconds"`
			Max       *int64 `json:"backoffMaxSeconds"`
			Limit     *int32 `json:"backoffLimitCount"`
		} `json:"requeuingStrategy"`
	} `json:"waitForPodsReady"`
	Fair *struct {
		Enable     *bool    `json:"enable"`
		Strategies []string `json:"preemptionStrategies"`
	} `json:"fairSharing"`
	Gates map[string]bool `json:"featureGates"`
}

type timelineFlavor struct {
	Name       string            `json:"name"`
	Topology   string            `json:"topologyName"`
	NodeLabels map[string]string `json:"nodeLabels"`
}

type timelineTopology struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
}

type timelineQueue struct {
	Name         string                  `json:"name"`
	Quota        map[string]timelineRoom `json:"quota"` // by flavor
	Strategy     string                  `json:"strategy"`
	Cohort       string                  `json:"cohort"`
	Preemption   *timelinePreemption     `json:"preemption"`
	FairWeight   *float64                `json:"fairWeight"`
	Borrowing    *timelineLimit          `json:"borrowingLimit"`
	Lending      *timelineLimit          `json:"lendingLimit"`
	FairSharing  *timelineWeight         `json:"fairSharing"`
	Fungibility  *timelineFungibility    `json:"flavorFungibility"`
	QueueingName string                  `json:"queueingStrategy"`
}

type timelineWeight struct {
	Weight *float64 `json:"weight"`
}

type timelineFungibility struct {
	WhenCanBorrow  string `json:"whenCanBorrow"`
	WhenCanPreempt string `json:"whenCanPreempt"`
}

type timelineCohort struct {
	Name        string                  `json:"name"`
	Parent      string                  `json:"parent"`
	Quota       map[string]timelineRoom `json:"quota"`
	FairWeight  *float64                `json:"fairWeight"`
	FairSharing *timelineWeight         `json:"fairSharing"`
}

type timelinePreemption struct {
	Within  string `json:"withinClusterQueue"`
	Reclaim string `json:"reclaimWithinCohort"`
	Borrow  *struct {
		Policy    string `json:"policy"`
		Threshold *int64 `json:"maxPriorityThreshold"`
	} `json:"borrowWithinCohort"`
}

// timelineRoom is the quota of one flavor.
type timelineRoom struct {
	GPU       *timelineLimit `json:"gpu"`
	Borrowing *timelineLimit `json:"borrowingLimit"`
	Lending   *timelineLimit `json:"lendingLimit"`
}

// timelineLimit is a number of GPUs: as such, or as {"gpu": n}, or with its limits.
type timelineLimit struct{ nominal, borrowing, lending *float64 }

func (l *timelineLimit) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &l.nominal); err == nil {
		return nil
	}
	var of struct {
		GPU       *float64 `json:"gpu"`
		Nominal   *float64 `json:"nominal"`
		Quota     *float64 `json:"nominalQuota"`
		Borrowing *float64 `json:"borrowingLimit"`
		Lending   *float64 `json:"lendingLimit"`
	}
	if err := strictJSON(b, &of); err != nil {
		return err
	}
	for _, n := range []*float64{of.GPU, of.Nominal, of.Quota} {
		if n != nil {
			l.nominal = n
		}
	}
	l.borrowing, l.lending = of.Borrowing, of.Lending
	return nil
}

type timelineJob struct {
	Name        string            `json:"name"`
	Pods        int32             `json:"pods"`
	GPUs        float64           `json:"gpus_per_pod"`
	CPU         float64           `json:"cpu"`
	MemGi       float64           `json:"mem_gi"`
	Submit      float64           `json:"submit_s"`
	Duration    float64           `json:"duration_s"` // 0: for good
	StartDelay  *float64          `json:"start_delay_s"`
	Termination *float64          `json:"term_s"`
	Tolerate    *float64          `json:"tolerate_s"`
	Queue       string            `json:"queue"`
	Priority    int32             `json:"priority"`     // of the Workload
	PodPriority int32             `json:"pod_priority"` // of the pods, to kube-scheduler
	MinPods     int32             `json:"min_pods"`
	Completions int32             `json:"completions"`
	Replacement string            `json:"podReplacementPolicy"` // makes no difference to when quota is back
	ReplaceWhen string            `json:"pod_replacement_policy"`
	Scheduler   string            `json:"schedulerName"`
	Selector    map[string]string `json:"nodeSelector"`
	Topology    map[string]any    `json:"topology"` // annotations
	Affinity    *timelineAffinity `json:"affinity"`
}

type timelineAffinity struct {
	Pod  *timelineTerms `json:"podAffinity"`
	Anti *timelineTerms `json:"podAntiAffinity"`
}

type timelineTerms struct {
	Required  []timelineTerm `json:"requiredDuringSchedulingIgnoredDuringExecution"`
	Preferred []struct {
		Weight int32        `json:"weight"`
		Term   timelineTerm `json:"podAffinityTerm"`
	} `json:"preferredDuringSchedulingIgnoredDuringExecution"`
}

type timelineTerm struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"labelSelector"`
	Key string `json:"topologyKey"`
}

// timelineAction is something done to the cluster while the jobs run. A pod is meant by
// its job and index, or by its job and node.
type timelineAction struct {
	At    float64       `json:"at_s"`
	Do    string        `json:"do"`
	Spec  *timelineNode `json:"spec"`
	Node  string        `json:"node"`
	Name  string        `json:"name"`
	Job   string        `json:"job"`
	Index *int32        `json:"index"`
	Value *bool         `json:"value"`
}

// strictJSON reads JSON without fields that are not known.
func strictJSON(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	return nil
}
