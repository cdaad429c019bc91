package kube

// PodTemplate is what the pods of a controller are made of.
type PodTemplate struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     PodSpec  `yaml:"spec"`

	_ struct{} `core:"yes"`
}

// PodSpec is what a pod asks for.
type PodSpec struct {
	Containers     []Container       `yaml:"containers"`
	InitContainers []Container       `yaml:"initContainers"`
	Resources      Resources         `yaml:"resources"` // of the pod as a whole: in place of its containers'
	Overhead       Amounts           `yaml:"overhead" keys:"key" is:"amount"`
	NodeSelector   map[string]string `yaml:"nodeSelector" keys:"key" is:"value"`
	Tolerations    []Toleration      `yaml:"tolerations"`
	Affinity       struct {
		NodeAffinity *struct {
			Required *struct {
				Terms []NodeTerm `yaml:"nodeSelectorTerms" need:"yes"`

				_ struct{} `core:"yes"`
			} `yaml:"requiredDuringSchedulingIgnoredDuringExecution"`
			Preferred []struct {
				Weight     int32    `yaml:"weight" need:"yes" min:"1" max:"100"`
				Preference NodeTerm `yaml:"preference" need:"yes"`

				_ struct{} `core:"yes"`
			} `yaml:"preferredDuringSchedulingIgnoredDuringExecution"`

			_ struct{} `core:"yes"`
		} `yaml:"nodeAffinity"`
		PodAffinity     *PodAffinity `yaml:"podAffinity"`
		PodAntiAffinity *PodAffinity `yaml:"podAntiAffinity"`

		_ struct{} `core:"yes"`
	} `yaml:"affinity"`
	Spread            []SpreadConstraint `yaml:"topologySpreadConstraints"`
	NodeName          string             `yaml:"nodeName" is:"name"`
	Priority          *int32             `yaml:"priority"`
	PriorityClassName string             `yaml:"priorityClassName" is:"name"`
	PreemptionPolicy  string             `yaml:"preemptionPolicy" one:"PreemptLowerPriority Never"`
	RestartPolicy     string             `yaml:"restartPolicy" one:"Always OnFailure Never"`

	// What says nothing about where a pod may go, or when.
	_ struct{} `core:"yes" quiet:"dnsPolicy securityContext terminationGracePeriodSeconds serviceAccountName serviceAccount volumes imagePullSecrets schedulerName subdomain hostname hostNetwork enableServiceLinks automountServiceAccountToken hostPID hostIPC shareProcessNamespace dnsConfig hostAliases setHostnameAsFQDN os hostUsers hostnameOverride"`
	_ struct{} `also:"ephemeralContainers activeDeadlineSeconds readinessGates runtimeClassName schedulingGates resourceClaims"`
}

// Resources are what a container or pod asks for. Requests that are missing are the limits, as
// the API server fills them in.
type Resources struct {
	Requests Amounts `yaml:"requests" keys:"key" is:"amount"`
	Limits   Amounts `yaml:"limits" keys:"key" is:"amount"`

	_ struct{} `core:"yes" also:"claims"`
}

// Container is what one container asks for.
type Container struct {
	Name          string    `yaml:"name"`
	Resources     Resources `yaml:"resources"`
	RestartPolicy string    `yaml:"restartPolicy"` // Always makes an init container a sidecar

	_ struct{} `core:"yes" quiet:"image command args env envFrom ports volumeMounts volumeDevices imagePullPolicy workingDir securityContext terminationMessagePath terminationMessagePolicy readinessProbe livenessProbe startupProbe lifecycle stdin stdinOnce tty resizePolicy restartPolicyRules"`
}

// PodAffinity is what a pod asks of other pods.
type PodAffinity struct {
	Required  []PodTerm `yaml:"requiredDuringSchedulingIgnoredDuringExecution"`
	Preferred []struct {
		Weight int32   `yaml:"weight" need:"yes" min:"1" max:"100"`
		Term   PodTerm `yaml:"podAffinityTerm" need:"yes"`

		_ struct{} `core:"yes"`
	} `yaml:"preferredDuringSchedulingIgnoredDuringExecution"`

	_ struct{} `core:"yes"`
}

// PodTerm is a term of pod affinity. Its namespaces are the pod's own if it names none.
type PodTerm struct {
	TopologyKey       string         `yaml:"topologyKey" need:"yes" is:"key"`
	LabelSelector     *LabelSelector `yaml:"labelSelector"`
	Namespaces        []string       `yaml:"namespaces"`
	NamespaceSelector *LabelSelector `yaml:"namespaceSelector"`

	_ struct{} `core:"yes" also:"matchLabelKeys mismatchLabelKeys"`
}

// LabelSelector means what has all of these labels.
type LabelSelector struct {
	MatchLabels      map[string]string `yaml:"matchLabels" keys:"key" is:"value"`
	MatchExpressions []Expression      `yaml:"matchExpressions"`
}

// SpreadConstraint is a topology spread constraint.
type SpreadConstraint struct {
	TopologyKey        string         `yaml:"topologyKey" need:"yes" is:"key"`
	MaxSkew            int32          `yaml:"maxSkew" need:"yes" min:"1"`
	WhenUnsatisfiable  string         `yaml:"whenUnsatisfiable" one:"DoNotSchedule ScheduleAnyway"`
	MinDomains         *int32         `yaml:"minDomains" min:"1"`
	LabelSelector      *LabelSelector `yaml:"labelSelector"`
	NodeAffinityPolicy string         `yaml:"nodeAffinityPolicy" one:"Honor Ignore"`
	NodeTaintsPolicy   string         `yaml:"nodeTaintsPolicy" one:"Honor Ignore"`

	_ struct{} `core:"yes" also:"matchLabelKeys"`
}

// Expression is a condition on a label.
type Expression struct {
	Key      string   `yaml:"key" need:"yes" is:"key"`
	Operator string   `yaml:"operator" need:"yes" one:"In NotIn Exists DoesNotExist"`
	Values   []string `yaml:"values"`

	_ struct{} `core:"yes"`
}

// NodeExpression is a condition on a label of a node, which may be a number.
type NodeExpression struct {
	Key      string   `yaml:"key" need:"yes" is:"key"`
	Operator string   `yaml:"operator" need:"yes" one:"In NotIn Exists DoesNotExist Gt Lt"`
	Values   []string `yaml:"values"`

	_ struct{} `core:"yes"`
}

// NodeTerm is a term of node affinity.
type NodeTerm struct {
	MatchExpressions []NodeExpression `yaml:"matchExpressions"`

	_ struct{} `core:"yes" also:"matchFields"`
}
