package kube

// The fields of the objects that gangplan models, in the versions v1beta1 and v1beta2 of
// Kueue and v1 of Kubernetes. Where a field was renamed, both names are here.

// Metadata of an object.
type Metadata struct {
	Name              string            `yaml:"name"`
	Namespace         string            `yaml:"namespace"`
	Labels            map[string]string `yaml:"labels"`
	Annotations       map[string]string `yaml:"annotations"`
	CreationTimestamp string            `yaml:"creationTimestamp"`
	UID               string            `yaml:"uid"`
	ResourceVersion   string            `yaml:"resourceVersion"`
	OwnerReferences   []Owner           `yaml:"ownerReferences"`
	DeletionTimestamp string            `yaml:"deletionTimestamp"` // when its grace is over

	DeletionGracePeriodSeconds *int64 `yaml:"deletionGracePeriodSeconds"`
}

// Owner of an object.
type Owner struct {
	Kind       string `yaml:"kind"`
	Name       string `yaml:"name"`
	UID        string `yaml:"uid"`
	Controller bool   `yaml:"controller"`
}

// Taint of a node or flavor.
type Taint struct {
	Key    string `yaml:"key"`
	Value  string `yaml:"value"`
	Effect string `yaml:"effect"`

	TimeAdded string `yaml:"timeAdded"`
}

// Toleration of a pod or flavor.
type Toleration struct {
	Key      string `yaml:"key"`
	Operator string `yaml:"operator"`
	Value    string `yaml:"value"`
	Effect   string `yaml:"effect"`

	Seconds *int64 `yaml:"tolerationSeconds"`
}

// Node is v1 Node.
type Node struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Unschedulable bool    `yaml:"unschedulable"`
		Taints        []Taint `yaml:"taints"`
		ProviderID    string  `yaml:"providerID"`
		PodCIDR       string  `yaml:"podCIDR"`
		PodCIDRs      any     `yaml:"podCIDRs"`
	} `yaml:"spec"`
	Status struct {
		Allocatable Amounts     `yaml:"allocatable"`
		Conditions  []Condition `yaml:"conditions"`
	} `yaml:"status"`
}

// Condition of a node or Workload.
type Condition struct {
	Type               string `yaml:"type"`
	Status             string `yaml:"status"`
	Reason             string `yaml:"reason"`
	LastTransitionTime string `yaml:"lastTransitionTime"`
}

// ResourceFlavor is Kueue's.
type ResourceFlavor struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		NodeLabels   map[string]string `yaml:"nodeLabels"`
		NodeTaints   []Taint           `yaml:"nodeTaints"`
		Tolerations  []Toleration      `yaml:"tolerations"`
		TopologyName string            `yaml:"topologyName"`
	} `yaml:"spec"`
}

// ResourceGroup of a ClusterQueue or Cohort.
type ResourceGroup struct {
	CoveredResources []string `yaml:"coveredResources"`
	Flavors          []struct {
		Name      string `yaml:"name"`
		Resources []struct {
			Name           string `yaml:"name"`
			NominalQuota   string `yaml:"nominalQuota"`
			BorrowingLimit string `yaml:"borrowingLimit"`
			LendingLimit   string `yaml:"lendingLimit"`
		} `yaml:"resources"`
	} `yaml:"flavors"`
}

// FairSharing is a weight, 1 if there is none.
type FairSharing struct {
	Weight string `yaml:"weight"`
}

// ClusterQueue is Kueue's.
type ClusterQueue struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Cohort     string `yaml:"cohort"`     // v1beta1
		CohortName string `yaml:"cohortName"` // v1beta2

		QueueingStrategy string          `yaml:"queueingStrategy"`
		ResourceGroups   []ResourceGroup `yaml:"resourceGroups"`
		Preemption       struct {
			WithinClusterQueue  string `yaml:"withinClusterQueue"`
			ReclaimWithinCohort string `yaml:"reclaimWithinCohort"`
			BorrowWithinCohort  *struct {
				Policy               string `yaml:"policy"`
				MaxPriorityThreshold *int64 `yaml:"maxPriorityThreshold"`
			} `yaml:"borrowWithinCohort"`
		} `yaml:"preemption"`
		FlavorFungibility struct {
			WhenCanBorrow  string `yaml:"whenCanBorrow"`
			WhenCanPreempt string `yaml:"whenCanPreempt"`
			Preference     string `yaml:"preference"`
		} `yaml:"flavorFungibility"`
		FairSharing    *FairSharing `yaml:"fairSharing"`
		AdmissionScope *struct {
			AdmissionMode string `yaml:"admissionMode"`
		} `yaml:"admissionScope"`
		StopPolicy        string `yaml:"stopPolicy"`
		NamespaceSelector any    `yaml:"namespaceSelector"`
	} `yaml:"spec"`
}

// CohortName returns the cohort in whichever version it is given.
func (c *ClusterQueue) CohortName() string {
	if c.Spec.CohortName != "" {
		return c.Spec.CohortName
	}
	return c.Spec.Cohort
}

// Cohort is Kueue's.
type Cohort struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Parent         string          `yaml:"parent"`     // v1beta1
		ParentName     string          `yaml:"parentName"` // v1beta2
		ResourceGroups []ResourceGroup `yaml:"resourceGroups"`
		FairSharing    *FairSharing    `yaml:"fairSharing"`
	} `yaml:"spec"`
}

// ParentName returns the parent in whichever version it is given.
func (c *Cohort) ParentName() string {
	if c.Spec.ParentName != "" {
		return c.Spec.ParentName
	}
	return c.Spec.Parent
}

// LocalQueue is Kueue's.
type LocalQueue struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		ClusterQueue string       `yaml:"clusterQueue"`
		FairSharing  *FairSharing `yaml:"fairSharing"`
		StopPolicy   string       `yaml:"stopPolicy"`
	} `yaml:"spec"`
}

// Topology is Kueue's.
type Topology struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Levels []struct {
			NodeLabel string `yaml:"nodeLabel"`
		} `yaml:"levels"`
	} `yaml:"spec"`
}

// PriorityClass is Kueue's WorkloadPriorityClass, or PriorityClass of Kubernetes.
type PriorityClass struct {
	Metadata Metadata `yaml:"metadata"`
	Value    int32    `yaml:"value"`

	Description      string `yaml:"description"`
	PreemptionPolicy string `yaml:"preemptionPolicy"`
	GlobalDefault    bool   `yaml:"globalDefault"`
}

// Budget is PodDisruptionBudget of policy/v1.
type Budget struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Selector       *LabelSelector `yaml:"selector"`
		MinAvailable   string         `yaml:"minAvailable"`
		MaxUnavailable string         `yaml:"maxUnavailable"`

		EvictionPolicy any `yaml:"unhealthyPodEvictionPolicy"` // of the eviction API, which is not modelled
	} `yaml:"spec"`
}

// Controller is what makes pods of a template: batch Job, or a kind that keeps replicas.
type Controller struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Template PodTemplate    `yaml:"template"`
		Replicas *int32         `yaml:"replicas"`
		Selector *LabelSelector `yaml:"selector"`

		Parallelism    *int32 `yaml:"parallelism"`
		Completions    *int32 `yaml:"completions"`
		ActiveDeadline *int64 `yaml:"activeDeadlineSeconds"`

		// What says nothing about where pods go, or when.
		Suspend             any `yaml:"suspend"` // until the queue admits it
		BackoffLimit        any `yaml:"backoffLimit"`
		TTL                 any `yaml:"ttlSecondsAfterFinished"`
		CompletionMode      any `yaml:"completionMode"`
		ManualSelector      any `yaml:"manualSelector"`
		PodReplacement      any `yaml:"podReplacementPolicy"`
		Strategy            any `yaml:"strategy"`
		RevisionHistory     any `yaml:"revisionHistoryLimit"`
		ProgressDeadline    any `yaml:"progressDeadlineSeconds"`
		ServiceName         any `yaml:"serviceName"`
		UpdateStrategy      any `yaml:"updateStrategy"`
		PodManagementPolicy any `yaml:"podManagementPolicy"`
	} `yaml:"spec"`
	Status struct {
		StartTime      string `yaml:"startTime"`
		CompletionTime string `yaml:"completionTime"`
	} `yaml:"status"`
}

// Pod is v1 Pod.
type Pod struct {
	Metadata Metadata `yaml:"metadata"`
	Spec     PodSpec  `yaml:"spec"`
	Status   struct {
		StartTime string `yaml:"startTime"`
	} `yaml:"status"`
}

// Configuration is Kueue's own: what its manager is started with.
type Configuration struct {
	WaitForPodsReady *struct {
		Enable            *bool  `yaml:"enable"`
		Timeout           string `yaml:"timeout"`
		RecoveryTimeout   string `yaml:"recoveryTimeout"`
		BlockAdmission    *bool  `yaml:"blockAdmission"`
		RequeuingStrategy *struct {
			Timestamp          string `yaml:"timestamp"`
			BackoffLimitCount  *int32 `yaml:"backoffLimitCount"`
			BackoffBaseSeconds *int64 `yaml:"backoffBaseSeconds"`
			BackoffMaxSeconds  *int64 `yaml:"backoffMaxSeconds"`
		} `yaml:"requeuingStrategy"`
	} `yaml:"waitForPodsReady"`
	FairSharing *struct {
		Enable               *bool    `yaml:"enable"`
		PreemptionStrategies []string `yaml:"preemptionStrategies"`
	} `yaml:"fairSharing"`
	AdmissionFairSharing *struct {
		UsageHalfLifeTime     string             `yaml:"usageHalfLifeTime"`
		UsageSamplingInterval string             `yaml:"usageSamplingInterval"`
		ResourceWeights       map[string]float64 `yaml:"resourceWeights"`
	} `yaml:"admissionFairSharing"`
	FeatureGates map[string]bool `yaml:"featureGates"`
}
