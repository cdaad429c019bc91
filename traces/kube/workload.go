package kube

import "time"

// Workload is Kueue's.
type Workload struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		QueueName            string   `yaml:"queueName"`
		Priority             *int32   `yaml:"priority"`
		PriorityClassName    string   `yaml:"priorityClassName"`
		PriorityClassSource  string   `yaml:"priorityClassSource"`
		PriorityClassRef     any      `yaml:"priorityClassRef"`
		PodSets              []PodSet `yaml:"podSets"`
		MaximumExecutionTime *int64   `yaml:"maximumExecutionTimeSeconds"`
		Active               *bool    `yaml:"active"`
	} `yaml:"spec"`
	Status struct {
		Conditions []Condition `yaml:"conditions"`
		Admission  *struct {
			ClusterQueue string `yaml:"clusterQueue"`
		} `yaml:"admission"`
		RequeueState *struct {
			Count int32 `yaml:"count"`
		} `yaml:"requeueState"`
	} `yaml:"status"`
}

// PodSet of a Workload.
type PodSet struct {
	Name            string           `yaml:"name"`
	Count           int32            `yaml:"count"`
	MinCount        *int32           `yaml:"minCount"`
	TopologyRequest *TopologyRequest `yaml:"topologyRequest"`
	Template        PodTemplate      `yaml:"template"`
}

// PodTemplate is what the pods of a controller are made of.
type PodTemplate struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     PodSpec  `yaml:"spec"`
}

// TopologyRequest of a PodSet. Levels are label keys.
type TopologyRequest struct {
	Required      string `yaml:"required"`
	Preferred     string `yaml:"preferred"`
	Unconstrained *bool  `yaml:"unconstrained"`
	SliceTopology string `yaml:"podSetSliceRequiredTopology"`
	SliceSize     *int32 `yaml:"podSetSliceSize"`
	Group         string `yaml:"podSetGroupName"`
	PodIndexLabel string `yaml:"podIndexLabel"`
	SubGroupLabel string `yaml:"subGroupIndexLabel"`
	SubGroupCount *int32 `yaml:"subGroupCount"`
}

// PodSpec is what a pod asks for.
type PodSpec struct {
	Containers     []Container       `yaml:"containers"`
	InitContainers []Container       `yaml:"initContainers"`
	Overhead       Amounts           `yaml:"overhead"`
	NodeSelector   map[string]string `yaml:"nodeSelector"`
	Tolerations    []Toleration      `yaml:"tolerations"`
	Affinity       struct {
		NodeAffinity *struct {
			Required *struct {
				Terms []NodeTerm `yaml:"nodeSelectorTerms"`
			} `yaml:"requiredDuringSchedulingIgnoredDuringExecution"`
			Preferred []struct {
				Weight     int32    `yaml:"weight"`
				Preference NodeTerm `yaml:"preference"`
			} `yaml:"preferredDuringSchedulingIgnoredDuringExecution"`
		} `yaml:"nodeAffinity"`
		PodAffinity     *PodAffinity `yaml:"podAffinity"`
		PodAntiAffinity *PodAffinity `yaml:"podAntiAffinity"`
	} `yaml:"affinity"`
	Spread            []SpreadConstraint `yaml:"topologySpreadConstraints"`
	NodeName          string             `yaml:"nodeName"`
	Priority          *int32             `yaml:"priority"`
	PriorityClassName string             `yaml:"priorityClassName"`
	PreemptionPolicy  string             `yaml:"preemptionPolicy"`
	RestartPolicy     string             `yaml:"restartPolicy"`

	// What says nothing about where a pod may go, or when.
	Plain `yaml:",inline"`
}

// PodAffinity is what a pod asks of other pods.
type PodAffinity struct {
	Required  []PodTerm `yaml:"requiredDuringSchedulingIgnoredDuringExecution"`
	Preferred []struct {
		Weight int32   `yaml:"weight"`
		Term   PodTerm `yaml:"podAffinityTerm"`
	} `yaml:"preferredDuringSchedulingIgnoredDuringExecution"`
}

// PodTerm is a term of pod affinity. Its namespaces are the pod's own if it names none.
type PodTerm struct {
	TopologyKey       string         `yaml:"topologyKey"`
	LabelSelector     *LabelSelector `yaml:"labelSelector"`
	Namespaces        []string       `yaml:"namespaces"`
	NamespaceSelector *LabelSelector `yaml:"namespaceSelector"`
}

// LabelSelector means what has all of these labels.
type LabelSelector struct {
	MatchLabels      map[string]string `yaml:"matchLabels"`
	MatchExpressions []Expression      `yaml:"matchExpressions"`
}

// SpreadConstraint is a topology spread constraint.
type SpreadConstraint struct {
	TopologyKey        string         `yaml:"topologyKey"`
	MaxSkew            int32          `yaml:"maxSkew"`
	WhenUnsatisfiable  string         `yaml:"whenUnsatisfiable"`
	MinDomains         *int32         `yaml:"minDomains"`
	LabelSelector      *LabelSelector `yaml:"labelSelector"`
	NodeAffinityPolicy string         `yaml:"nodeAffinityPolicy"`
	NodeTaintsPolicy   string         `yaml:"nodeTaintsPolicy"`
}

// Expression is a condition on a label.
type Expression struct {
	Key      string   `yaml:"key"`
	Operator string   `yaml:"operator"`
	Values   []string `yaml:"values"`
}

// Plain are fields of a pod that no scheduler reads.
type Plain struct {
	DNSPolicyField     any `yaml:"dnsPolicy"`
	SecurityContext    any `yaml:"securityContext"`
	Grace              any `yaml:"terminationGracePeriodSeconds"`
	ServiceAccountName any `yaml:"serviceAccountName"`
	ServiceAccountOld  any `yaml:"serviceAccount"`
	Volumes            any `yaml:"volumes"`
	ImagePullSecrets   any `yaml:"imagePullSecrets"`
	Scheduler          any `yaml:"schedulerName"`
	Subdomain          any `yaml:"subdomain"`
	Hostname           any `yaml:"hostname"`
	HostNetwork        any `yaml:"hostNetwork"`
	ServiceLinks       any `yaml:"enableServiceLinks"`
}

// Container is what one container asks for. Requests that are missing are the limits, as the
// API server fills them in.
type Container struct {
	Name      string `yaml:"name"`
	Resources struct {
		Requests Amounts `yaml:"requests"`
		Limits   Amounts `yaml:"limits"`
	} `yaml:"resources"`
	RestartPolicy string `yaml:"restartPolicy"` // Always makes an init container a sidecar

	Image       any `yaml:"image"`
	Command     any `yaml:"command"`
	Args        any `yaml:"args"`
	Env         any `yaml:"env"`
	EnvFrom     any `yaml:"envFrom"`
	Ports       any `yaml:"ports"`
	Volumes     any `yaml:"volumeMounts"`
	PullPolicy  any `yaml:"imagePullPolicy"`
	WorkingDir  any `yaml:"workingDir"`
	Security    any `yaml:"securityContext"`
	Message     any `yaml:"terminationMessagePath"`
	MessageRule any `yaml:"terminationMessagePolicy"`
	Readiness   any `yaml:"readinessProbe"`
	Liveness    any `yaml:"livenessProbe"`
	Startup     any `yaml:"startupProbe"`
	Lifecycle   any `yaml:"lifecycle"`
}

// NodeTerm is a term of node affinity.
type NodeTerm struct {
	MatchExpressions []Expression `yaml:"matchExpressions"`
}

// Since returns when a condition became true, or the zero time if it is not true.
func (w *Workload) Since(condition string) time.Time {
	for _, c := range w.Status.Conditions {
		if c.Type == condition && c.Status == "True" {
			t, _ := time.Parse(time.RFC3339, c.LastTransitionTime)
			return t
		}
	}
	return time.Time{}
}
