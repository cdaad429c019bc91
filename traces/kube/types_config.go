package kube

// Configuration is Kueue's own: what its manager is started with. It is read strictly, as the
// manager does.
type Configuration struct {
	_ struct{} `quiet:"apiVersion kind metadata"`

	WaitForPodsReady *struct {
		Enable            bool   `yaml:"enable" in:"v1beta1" now:"what is there is on"`
		Timeout           string `yaml:"timeout" is:"span"`
		RecoveryTimeout   string `yaml:"recoveryTimeout" is:"span"`
		BlockAdmission    *bool  `yaml:"blockAdmission"`
		RequeuingStrategy *struct {
			Timestamp          string `yaml:"timestamp" one:"Eviction Creation"`
			BackoffLimitCount  *int32 `yaml:"backoffLimitCount" min:"0"`
			BackoffBaseSeconds *int32 `yaml:"backoffBaseSeconds" min:"0"`
			BackoffMaxSeconds  *int32 `yaml:"backoffMaxSeconds" min:"0"`
		} `yaml:"requeuingStrategy"`

		_ struct{} `also:"maxTimeoutOnWorkload"`
	} `yaml:"waitForPodsReady"`
	FairSharing *struct {
		Enable               bool     `yaml:"enable" in:"v1beta1" now:"what is there is on"`
		PreemptionStrategies []string `yaml:"preemptionStrategies" one:"LessThanOrEqualToFinalShare LessThanInitialShare"`
	} `yaml:"fairSharing"`
	AdmissionFairSharing *struct {
		UsageHalfLifeTime     string             `yaml:"usageHalfLifeTime" is:"span"`
		UsageSamplingInterval string             `yaml:"usageSamplingInterval" is:"longer"`
		ResourceWeights       map[string]float64 `yaml:"resourceWeights" keys:"key"`
	} `yaml:"admissionFairSharing"`
	FeatureGates map[string]bool `yaml:"featureGates"`

	Resources *struct {
		QuotaCheckStrategy      string   `yaml:"quotaCheckStrategy" in:"v1beta2" one:"BlockUndeclared IgnoreUndeclared"`
		ExcludeResourcePrefixes []string `yaml:"excludeResourcePrefixes"`
		Transformations         []struct {
			Input    string `yaml:"input" need:"yes" is:"key"`
			Strategy string `yaml:"strategy" one:"Retain Replace"`

			_ struct{} `quiet:"multiplyBy outputs"`
		} `yaml:"transformations" whole:"yes"`

		_ struct{} `also:"deviceClassMappings"`
	} `yaml:"resources"`
	Integrations *struct {
		Frameworks []string `yaml:"frameworks"`

		_ struct{} `quiet:"externalFrameworks podOptions labelKeysToCopy"`
	} `yaml:"integrations" whole:"yes"`
	MultiKueue *struct {
		GCInterval        string `yaml:"gcInterval" is:"span"`
		WorkerLostTimeout string `yaml:"workerLostTimeout" is:"span"`

		_ struct{} `quiet:"origin dispatcherName externalFrameworks clusterProfile incrementalDispatcherConfig"`
	} `yaml:"multiKueue" whole:"yes"`
	ObjectRetention *struct {
		Workloads *struct {
			AfterFinished    string `yaml:"afterFinished" is:"span"`
			AfterDeactivated string `yaml:"afterDeactivatedByKueue" is:"span"`
		} `yaml:"workloads"`
	} `yaml:"objectRetentionPolicies" whole:"yes"`
	ClientConnection *struct {
		_ struct{} `quiet:"qps burst kubeconfig acceptContentTypes contentType"`
	} `yaml:"clientConnection" whole:"yes"`
	Controller *struct {
		_ struct{} `quiet:"groupKindConcurrency cacheSyncTimeout"`
	} `yaml:"controller" whole:"yes"`

	// What says nothing about scheduling, and what does.
	_ struct{} `quiet:"namespace webhook leaderElection metrics health pprofBindAddress tls internalCertManagement queueVisibility visibilityServer syncPeriod cacheNamespace gracefulShutDown"`
	_ struct{} `also:"manageJobsWithoutQueueName managedJobsNamespaceSelector"`
}
