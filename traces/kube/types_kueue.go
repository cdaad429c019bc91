package kube

// The types of Kueue.

// ResourceFlavor is a kind of nodes that quota is given for.
type ResourceFlavor struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		NodeLabels   map[string]string `yaml:"nodeLabels" keys:"key" is:"value" max:"8"`
		NodeTaints   []Taint           `yaml:"nodeTaints" max:"8"`
		Tolerations  []Toleration      `yaml:"tolerations" max:"8"`
		TopologyName string            `yaml:"topologyName" is:"name"`

		_ struct{} `also:"resourceWeights"`
	} `yaml:"spec"`
}

// ResourceGroup of a ClusterQueue or Cohort.
type ResourceGroup struct {
	CoveredResources []string       `yaml:"coveredResources" need:"yes" is:"key" min:"1" max:"64"`
	Flavors          []FlavorQuotas `yaml:"flavors" need:"yes" min:"1" max:"64"`
}

// FlavorQuotas is the quota of one flavor.
type FlavorQuotas struct {
	Name      string          `yaml:"name" need:"yes" is:"name"`
	Resources []ResourceQuota `yaml:"resources" need:"yes" min:"1" max:"64"`
}

// ResourceQuota is the quota of one resource, and its limits.
type ResourceQuota struct {
	Name           string `yaml:"name" need:"yes" is:"key"`
	NominalQuota   string `yaml:"nominalQuota" need:"yes" is:"amount"`
	BorrowingLimit string `yaml:"borrowingLimit" is:"amount"`
	LendingLimit   string `yaml:"lendingLimit" is:"amount"`
}

// FairSharing is a weight, 1 if there is none.
type FairSharing struct {
	Weight string `yaml:"weight" is:"amount"`
}

// ClusterQueue is Kueue's.
type ClusterQueue struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Cohort     string `yaml:"cohort" is:"name" in:"v1beta1" now:"cohortName"`
		CohortName string `yaml:"cohortName" is:"name" in:"v1beta2" now:"cohort"`

		QueueingStrategy  string            `yaml:"queueingStrategy" one:"BestEffortFIFO StrictFIFO"`
		ResourceGroups    []ResourceGroup   `yaml:"resourceGroups" max:"16"`
		Preemption        QueuePreemption   `yaml:"preemption"`
		FlavorFungibility FlavorFungibility `yaml:"flavorFungibility"`
		FairSharing       *FairSharing      `yaml:"fairSharing"`
		AdmissionScope    *struct {
			AdmissionMode string `yaml:"admissionMode" need:"yes" one:"UsageBasedAdmissionFairSharing NoAdmissionFairSharing"`
		} `yaml:"admissionScope"`
		StopPolicy        string         `yaml:"stopPolicy" one:"None Hold HoldAndDrain"`
		NamespaceSelector *LabelSelector `yaml:"namespaceSelector"`

		AdmissionChecks []string `yaml:"admissionChecks" in:"v1beta1" now:"admissionChecksStrategy" whole:"yes"`
		ChecksStrategy  *struct {
			Checks []struct {
				Name      string   `yaml:"name" need:"yes"`
				OnFlavors []string `yaml:"onFlavors" is:"name" max:"64"`
			} `yaml:"admissionChecks" max:"64"`
		} `yaml:"admissionChecksStrategy" whole:"yes"`

		_ struct{} `also:"concurrentAdmissionPolicy preemptionConfigName"`
	} `yaml:"spec"`
}

// QueuePreemption says whom the jobs of a queue push off.
type QueuePreemption struct {
	WithinClusterQueue  string `yaml:"withinClusterQueue" one:"Never LowerPriority LowerOrNewerEqualPriority"`
	ReclaimWithinCohort string `yaml:"reclaimWithinCohort" one:"Never LowerPriority Any"`
	BorrowWithinCohort  *struct {
		Policy               string `yaml:"policy" one:"Never LowerPriority"`
		MaxPriorityThreshold *int32 `yaml:"maxPriorityThreshold"`
	} `yaml:"borrowWithinCohort"`
}

// FlavorFungibility says when the search for a flavor goes on.
type FlavorFungibility struct {
	WhenCanBorrow  string `yaml:"whenCanBorrow" one:"MayStopSearch TryNextFlavor Borrow@v1beta1"`
	WhenCanPreempt string `yaml:"whenCanPreempt" one:"TryNextFlavor MayStopSearch Preempt@v1beta1"`
	Preference     string `yaml:"preference" one:"BorrowingOverPreemption PreemptionOverBorrowing"`
}

// CohortName returns the cohort in whichever version it is given.
func (c *ClusterQueue) CohortName() string { return c.Spec.Cohort + c.Spec.CohortName }

// Cohort is Kueue's.
type Cohort struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Parent         string          `yaml:"parent" is:"name" in:"v1beta1" now:"parentName"` // of alpha
		ParentName     string          `yaml:"parentName" is:"name"`
		ResourceGroups []ResourceGroup `yaml:"resourceGroups" max:"16"`
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
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		ClusterQueue string       `yaml:"clusterQueue" need:"yes" is:"name"`
		FairSharing  *FairSharing `yaml:"fairSharing"`
		StopPolicy   string       `yaml:"stopPolicy" one:"None Hold HoldAndDrain"`

		_ struct{} `also:"wallTimePolicy"`
	} `yaml:"spec"`
}

// Topology is Kueue's.
type Topology struct {
	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		Levels []struct {
			NodeLabel string `yaml:"nodeLabel" need:"yes" is:"key"`
		} `yaml:"levels" need:"yes" min:"1" max:"16"`
	} `yaml:"spec" need:"yes"`
}

// Workload is Kueue's.
type Workload struct {
	trace trace

	Head     `yaml:",inline"`
	Metadata Metadata `yaml:"metadata"`
	Spec     struct {
		QueueName            string   `yaml:"queueName" is:"name"`
		Priority             *int32   `yaml:"priority"`
		PriorityClassName    string   `yaml:"priorityClassName" is:"name" in:"v1beta1" now:"priorityClassRef"`
		PriorityClassRef     ClassRef `yaml:"priorityClassRef" in:"v1beta2" now:"priorityClassName"`
		PodSets              []PodSet `yaml:"podSets" need:"yes" min:"1" max:"18"`
		MaximumExecutionTime *int32   `yaml:"maximumExecutionTimeSeconds" min:"1"`
		Active               *bool    `yaml:"active"`

		_ struct{} `also:"preemptionGates" quiet:"priorityClassSource"`
	} `yaml:"spec" need:"yes"`
	Status struct {
		Conditions []Condition `yaml:"conditions"`
		Admission  *struct {
			ClusterQueue string `yaml:"clusterQueue"`

			_ struct{} `quiet:"*"`
		} `yaml:"admission"`

		_ struct{} `quiet:"*"`
	} `yaml:"status"`
}

// ClassRef names a class of priorities.
type ClassRef struct {
	Group string `yaml:"group" need:"yes" one:"kueue.x-k8s.io scheduling.k8s.io"`
	Kind  string `yaml:"kind" need:"yes" one:"WorkloadPriorityClass PriorityClass"`
	Name  string `yaml:"name" need:"yes" is:"name"`
}

// PodSet of a Workload.
type PodSet struct {
	Name            string           `yaml:"name" is:"label"`
	Count           *int32           `yaml:"count" min:"0"`
	MinCount        *int32           `yaml:"minCount" min:"1"`
	TopologyRequest *TopologyRequest `yaml:"topologyRequest"`
	Template        PodTemplate      `yaml:"template"`
}

// TopologyRequest of a PodSet. Levels are label keys.
type TopologyRequest struct {
	Required      string `yaml:"required"`
	Preferred     string `yaml:"preferred"`
	Unconstrained *bool  `yaml:"unconstrained"`
	SliceTopology string `yaml:"podSetSliceRequiredTopology"`
	SliceSize     *int32 `yaml:"podSetSliceSize" min:"1"`
	Layers        []struct {
		Topology string `yaml:"topology" need:"yes"`
		Size     int32  `yaml:"size" need:"yes" min:"1"`
	} `yaml:"podsetSliceRequiredTopologyConstraints" max:"3"`
	Group string `yaml:"podSetGroupName"`

	_ struct{} `quiet:"podIndexLabel subGroupIndexLabel subGroupCount"`
}
