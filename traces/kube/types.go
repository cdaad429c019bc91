package kube

// The fields of the objects that gangplan models, in the versions v1beta1 and v1beta2 of
// Kueue and v1 of Kubernetes, with what their schemas ask of them; schema.go says how to read
// the tags. Where a field was renamed, both names are here.

// Metadata of an object.
type Metadata struct {
	Name              string            `yaml:"name" is:"name"`
	GenerateName      string            `yaml:"generateName"`
	Namespace         string            `yaml:"namespace" is:"label"`
	Labels            map[string]string `yaml:"labels" keys:"key" is:"value"`
	Annotations       map[string]string `yaml:"annotations"`
	CreationTimestamp string            `yaml:"creationTimestamp" is:"time"`
	UID               string            `yaml:"uid"`
	ResourceVersion   string            `yaml:"resourceVersion"`
	OwnerReferences   []Owner           `yaml:"ownerReferences"`
	DeletionTimestamp string            `yaml:"deletionTimestamp" is:"time"` // when its grace is over

	DeletionGracePeriodSeconds *int64 `yaml:"deletionGracePeriodSeconds"`

	_ struct{} `core:"yes" quiet:"selfLink generation finalizers managedFields"`
}

// Owner of an object.
type Owner struct {
	Kind       string `yaml:"kind"`
	Name       string `yaml:"name"`
	UID        string `yaml:"uid"`
	Controller bool   `yaml:"controller"`

	_ struct{} `core:"yes" quiet:"apiVersion blockOwnerDeletion"`
}

// Head of an object: what is told apart before it is decoded.
type Head struct {
	_ struct{} `quiet:"apiVersion kind status"`
}

// Taint of a node or flavor.
type Taint struct {
	Key    string `yaml:"key" need:"yes" is:"key"`
	Value  string `yaml:"value" is:"value"`
	Effect string `yaml:"effect" need:"yes" one:"NoSchedule PreferNoSchedule NoExecute"`

	_ struct{} `core:"yes" quiet:"timeAdded"`
}

// Toleration of a pod or flavor.
type Toleration struct {
	Key      string `yaml:"key" is:"key"`
	Operator string `yaml:"operator" one:"Equal Exists Lt Gt"`
	Value    string `yaml:"value"`
	Effect   string `yaml:"effect" one:"NoSchedule PreferNoSchedule NoExecute"`

	Seconds *int64 `yaml:"tolerationSeconds"`

	_ struct{} `core:"yes"`
}

// Node is v1 Node.
type Node struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Unschedulable bool    `yaml:"unschedulable"`
		Taints        []Taint `yaml:"taints"`

		_ struct{} `core:"yes" quiet:"podCIDR podCIDRs providerID configSource externalID"`
	} `yaml:"spec"`
	Status struct {
		Allocatable Amounts     `yaml:"allocatable" keys:"key" is:"amount"`
		Conditions  []Condition `yaml:"conditions"`

		_ struct{} `core:"yes" quiet:"*"`
	} `yaml:"status"`
}

// Condition of a node or Workload.
type Condition struct {
	Type               string `yaml:"type" need:"yes"`
	Status             string `yaml:"status" need:"yes" one:"True False Unknown"`
	Reason             string `yaml:"reason"`
	LastTransitionTime string `yaml:"lastTransitionTime" is:"time"`

	_ struct{} `core:"yes" quiet:"*"`
}

// PriorityClass is Kueue's WorkloadPriorityClass, or PriorityClass of Kubernetes.
type PriorityClass struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Value    int32    `yaml:"value" need:"yes"`

	PreemptionPolicy string `yaml:"preemptionPolicy" one:"PreemptLowerPriority Never"`
	GlobalDefault    bool   `yaml:"globalDefault"`

	_ struct{} `core:"yes" quiet:"description"`
}

// Budget is PodDisruptionBudget of policy/v1.
type Budget struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Selector       *LabelSelector `yaml:"selector"`
		MinAvailable   string         `yaml:"minAvailable" is:"intorpart"`
		MaxUnavailable string         `yaml:"maxUnavailable" is:"intorpart"`

		_ struct{} `core:"yes" quiet:"unhealthyPodEvictionPolicy"` // of the eviction API, which is not modelled
	} `yaml:"spec"`
}

// Controller is what makes pods of a template: batch Job, or a kind that keeps replicas.
type Controller struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Template PodTemplate    `yaml:"template"`
		Replicas *int32         `yaml:"replicas" min:"0"`
		Selector *LabelSelector `yaml:"selector"`

		Parallelism    *int32 `yaml:"parallelism" min:"0"`
		Completions    *int32 `yaml:"completions" min:"0"`
		ActiveDeadline *int64 `yaml:"activeDeadlineSeconds" min:"0"`

		// What says nothing about where pods go, or when; suspend is until the queue admits it.
		_ struct{} `core:"yes" quiet:"suspend backoffLimit ttlSecondsAfterFinished completionMode manualSelector podReplacementPolicy strategy revisionHistoryLimit progressDeadlineSeconds serviceName updateStrategy podManagementPolicy"`
		_ struct{} `also:"podFailurePolicy successPolicy backoffLimitPerIndex maxFailedIndexes managedBy minReadySeconds paused volumeClaimTemplates persistentVolumeClaimRetentionPolicy ordinals"`
	} `yaml:"spec"`
	Status struct {
		StartTime      string `yaml:"startTime" is:"time"`
		CompletionTime string `yaml:"completionTime" is:"time"`

		_ struct{} `core:"yes" quiet:"*"`
	} `yaml:"status"`
}

// Pod is v1 Pod.
type Pod struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     PodSpec  `yaml:"spec"`
}
