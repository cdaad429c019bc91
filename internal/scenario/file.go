package scenario

import "gopkg.in/yaml.v3"

// The format's identity.
const (
	APIVersion = "gangplan/v1alpha1"
	Kind       = "Scenario"
)

// File is a scenario as it is written. The tags are the format: a field's name, then
//
//	required   it must be there
//	positive   if it is there, it is more than 0
//	or=NAME    a second name for it
//	short      a text in place of the mapping stands for this field
//	rest       takes the fields that have no other place
//
// A field that is left out is zero or nil and means the default. docs/scenario.md has the
// defaults and an example of each field.
type File struct {
	APIVersion string `yaml:"apiVersion,required"`
	Kind       string `yaml:"kind,required"`
	Name       string `yaml:"name"`

	Cluster     Cluster      `yaml:"cluster,required"`
	Fabric      *Fabric      `yaml:"fabric"`
	Workload    Workload     `yaml:"workload,required"`
	Scale       Scale        `yaml:"scale"`
	Queues      []Queue      `yaml:"queues"`
	Cohorts     []Cohort     `yaml:"cohorts"`
	Flavors     []Flavor     `yaml:"flavors"`
	LocalQueues []LocalQueue `yaml:"localQueues"`
	Policies    []Policy     `yaml:"policies"`
	Kueue       string       `yaml:"kueue"` // its version

	Budgets              []Budget              `yaml:"podDisruptionBudgets"`
	WaitForPodsReady     *WaitForPodsReady     `yaml:"waitForPodsReady"`
	AdmissionFairSharing *AdmissionFairSharing `yaml:"admissionFairSharing"`
	Resources            *Resources            `yaml:"resources"`
	Notice               *Notice               `yaml:"notice"`
	Events               []Event               `yaml:"events"`
	Timing               Timing                `yaml:"timing"`
	PodCreation          string                `yaml:"podCreation"` // burst, slow-start or interleaved
	Starvation           *Starvation           `yaml:"starvation"`
	Until                Duration              `yaml:"until,positive,or=horizon"`
	Sample               Duration              `yaml:"sample,positive"` // how often to look how free GPUs lie
	NotModelled          []string              `yaml:"notModelled"`     // what the real cluster has and the scenario cannot say
	Seed                 *uint64               `yaml:"seed"`            // 1 if nil

	name string     // stands in errors
	root *yaml.Node // for the places of values; nil in a File that was not parsed

	foreign map[*yaml.Node]string // where the nodes stand that are not of the file itself
}

// Cluster has exactly one of Synthetic, Nodes and From.
type Cluster struct {
	Levels    []string   `yaml:"levels"`
	Synthetic *Synthetic `yaml:"synthetic"`
	Nodes     []Node     `yaml:"nodes"`
	From      *NodesFrom `yaml:"from"`
	Topology  string     `yaml:"topology"` // what Kueue's messages call it
}

// Synthetic is a regular cluster. Counts has the children per domain of each level, by
// the level's name in the plural; a level that is left out has one.
type Synthetic struct {
	Counts   map[string]int `yaml:",rest,positive"`
	GPUs     int            `yaml:"gpus,required"`
	GPUModel string         `yaml:"gpuModel,or=model"`
	CPU      Milli          `yaml:"cpu,positive"`
	Memory   Bytes          `yaml:"memory,positive"`

	NVLinkHosts int `yaml:"nvlinkHosts,positive"` // hosts that share an NVLink domain; 1 if 0
}

// Node is one node, or Count nodes that differ in their names only. Where it stands is
// said by Path, from the highest level down, or by Domains, by the name of the level.
type Node struct {
	Name     string            `yaml:"name,required"`
	Count    int               `yaml:"count,positive"`
	GPUs     int               `yaml:"gpus,required"`
	GPUModel string            `yaml:"gpuModel,or=model"`
	CPU      Milli             `yaml:"cpu,positive"`
	Memory   Bytes             `yaml:"memory,positive"`
	Pods     int64             `yaml:"pods,positive"`
	Path     []string          `yaml:"path"`
	Domains  map[string]string `yaml:",rest"`
	Labels   map[string]string `yaml:"labels"`
	Taints   []Taint           `yaml:"taints"`

	NVLinkDomain string `yaml:"nvlinkDomain"` // "" is a domain of its own
}

// Taint keeps pods that do not tolerate it off a node, as in Kubernetes.
type Taint struct {
	Key    string `yaml:"key,required"`
	Value  string `yaml:"value"`
	Effect string `yaml:"effect,required"` // NoSchedule, NoExecute or PreferNoSchedule
}

// NodesFrom names a file with the nodes.
type NodesFrom struct {
	File   string `yaml:"file,required"`
	SHA256 string `yaml:"sha256"` // what the file must have, in hex; empty: anything
	Format string `yaml:"format"` // csv
	GPUs   int    `yaml:"gpus,positive"`
}

// Fabric is a profile, what differs from it, and what is known of the levels' uplinks.
// Profile custom starts from a network without latency and needs the bandwidths.
type Fabric struct {
	Profile string            `yaml:"profile,required,short"`
	Levels  map[string]Uplink `yaml:"levels"`

	DomainBusGBps float64  `yaml:"domainBusGBps,positive"`
	NICs          int      `yaml:"nics,positive"`
	NICGBps       float64  `yaml:"nicGBps,positive"`
	Efficiency    float64  `yaml:"netEfficiency,positive"`
	DomainLinks   string   `yaml:"domainLinks"` // switch or mesh
	Algorithm     string   `yaml:"algorithm"`
	RankOrder     string   `yaml:"rankOrder"` // pods, topology or random
	NVLS          string   `yaml:"nvls"`
	Intra         *Latency `yaml:"intra"`
	Inter         *Latency `yaml:"inter"`
	Hop           Duration `yaml:"hop"`

	Contention string `yaml:"contention"`
}

// Latency is the two lines that collectives follow: small ones A0 and their size over B0
// GB/s, large ones A1 above what the bandwidth allows.
type Latency struct {
	A0 Duration `yaml:"a0"`
	B0 float64  `yaml:"b0,required,positive"`
	A1 Duration `yaml:"a1"`
}

// Uplink is the uplink of every domain of a level.
type Uplink struct {
	Oversubscription float64 `yaml:"oversubscription,positive"`
	Efficiency       float64 `yaml:"efficiency,positive"`
	HostGBps         float64 `yaml:"hostGBps,positive"`

	Latency Duration `yaml:"latency"`
}

// Workload has exactly one of Trace, Jobs and Synthetic.
type Workload struct {
	Trace     *Trace         `yaml:"trace"`
	Jobs      []Job          `yaml:"jobs"`
	Synthetic *SyntheticJobs `yaml:"synthetic"`
	Scale     LoadScale      `yaml:"scale"`
	Gang      *Gang          `yaml:"gang"`
	Models    *Models        `yaml:"models"` // of jobs that name none
}

// Models says which models jobs train that name none, by their GPUs: those of a mix, or of
// the first entry that is for so many.
type Models struct {
	Mix    string        `yaml:"mix,short"`
	ByGPUs []ModelChoice `yaml:"byGPUs"`
}

// ModelChoice is the models that jobs of up to so many GPUs train. 0 is any number.
type ModelChoice struct {
	UpTo int32   `yaml:"upTo,positive"`
	Of   []Model `yaml:"of,required"`
}

// Trace is a trace file.
type Trace struct {
	File     string  `yaml:"file,required,short"`
	SHA256   string  `yaml:"sha256"` // what the file must have, in hex; empty: anything
	Format   string  `yaml:"format"` // auto, or one of traces.Formats
	Window   *Window `yaml:"window"`
	Timezone string  `yaml:"timezone"`

	ArrivalsOnly bool     `yaml:"arrivalsOnly" json:",omitzero"` // of openb: jobs run for good
	Duration     Duration `yaml:"duration,positive" json:",omitzero"`
}

// Window is the part of a trace that is simulated: [From, To).
type Window struct {
	From  Duration `yaml:"from"`
	To    Duration `yaml:"to,positive"`
	Carry string   `yaml:"carry"` // none or running
}

// SyntheticJobs is a workload drawn from the seed.
type SyntheticJobs struct {
	Mix       string  `yaml:"mix,required"`
	Jobs      int     `yaml:"jobs,required,positive"`
	Load      float64 `yaml:"load,required,positive"`
	StartHour int     `yaml:"startHour"`
}

// Gang overrides the shape of jobs whose trace gives a total of GPUs only.
type Gang struct {
	Pods         int32 `yaml:"pods,positive"`
	GPUsPerPod   int32 `yaml:"gpusPerPod,positive"`
	CPUPerGPU    Milli `yaml:"cpuPerGPU,positive"`
	MemoryPerGPU Bytes `yaml:"memoryPerGPU,positive"`
}

// LoadScale divides the times between arrivals.
type LoadScale struct {
	Load float64 `yaml:"load,positive"`
}

// Scale divides the times between arrivals and multiplies the nodes.
type Scale struct {
	Load    float64 `yaml:"load,positive"`
	Cluster float64 `yaml:"cluster,positive"`
}

// Job is one job, or Count jobs that differ in their ids and submissions only. Its shape
// is GPUs, or Pods, or PodSets.
type Job struct {
	ID          string   `yaml:"id,required"`
	Count       int      `yaml:"count,positive"`
	Submit      Duration `yaml:"submit"`
	SubmitEvery Duration `yaml:"submitEvery"`
	Duration    Duration `yaml:"duration"`
	Steps       int64    `yaml:"steps,positive"`
	Queue       string   `yaml:"queue"`
	Priority    int32    `yaml:"priority,signed"`
	Tenant      string   `yaml:"tenant"`

	GPUs    *int32   `yaml:"gpus"`
	Pods    Pods     `yaml:",inline"`
	PodSets []PodSet `yaml:"podSets"`

	Namespace        string            `yaml:"namespace"`
	Labels           map[string]string `yaml:"labels"`
	PreemptionPolicy string            `yaml:"preemptionPolicy"` // PreemptLowerPriority or Never

	PodAffinity     []PodTerm `yaml:"podAffinity"`
	PodAntiAffinity []PodTerm `yaml:"podAntiAffinity"`
	Spread          []Spread  `yaml:"topologySpreadConstraints"`

	Model         *Model      `yaml:"model"` // the model it trains
	Startup       *Duration   `yaml:"startup"`
	TimeLimit     Duration    `yaml:"timeLimit,positive"`
	AdmittedLimit Duration    `yaml:"maximumExecutionTime,positive"`
	Termination   *Duration   `yaml:"termination"` // the timing's if nil
	Restarts      []Restart   `yaml:"restarts"`
	Completions   int32       `yaml:"completions,positive"` // pods that have to run to their end
	PlainPods     bool        `yaml:"plainPods"`            // no Job stands above its pods
	Checkpoint    *Checkpoint `yaml:"checkpoint"`
	Image         string      `yaml:"image"`
	ImageSize     Bytes       `yaml:"imageSize"`
}

// Restart is a failure of containers that start again where they are, ready after a while.
type Restart struct {
	At         Duration `yaml:"at,required"`
	Pod        *int32   `yaml:"pod"` // its rank; all of the job if absent
	ReadyAfter Duration `yaml:"readyAfter,required"`
}

// Model is a known model by its name, or one of the scenario's own.
type Model struct {
	Name       string   `yaml:"name,short"`
	GradientGB float64  `yaml:"gradientGB,positive"`
	Compute    Duration `yaml:"compute,positive"`
	Overlap    *float64 `yaml:"overlap"`
	Tensor     int32    `yaml:"tensor,positive"`
	Pipeline   int32    `yaml:"pipeline,positive"`
	FSDP       *bool    `yaml:"fsdp"`
}

// PodTerm is a term of pod affinity, between the pods of the job, or with those that the
// label selector means. Without a weight it is required.
type PodTerm struct {
	Level         string         `yaml:"level,required,or=topologyKey"`
	Weight        int32          `yaml:"weight,positive"`
	LabelSelector *LabelSelector `yaml:"labelSelector"`
	Namespaces    []string       `yaml:"namespaces"` // the job's if nil; "*" is all
}

// LabelSelector means the pods with all these labels. An empty one means all.
type LabelSelector struct {
	MatchLabels      map[string]string `yaml:"matchLabels"`
	MatchExpressions []Expression      `yaml:"matchExpressions"`
}

// Spread is a topology spread constraint over the pods of the job, or over those of its
// namespace that the label selector means.
type Spread struct {
	Level              string         `yaml:"level,required,or=topologyKey"`
	MaxSkew            int32          `yaml:"maxSkew,positive"`  // 1 if 0
	WhenUnsatisfiable  string         `yaml:"whenUnsatisfiable"` // DoNotSchedule or ScheduleAnyway
	MinDomains         int32          `yaml:"minDomains,positive"`
	NodeAffinityPolicy string         `yaml:"nodeAffinityPolicy"` // Honor or Ignore
	NodeTaintsPolicy   string         `yaml:"nodeTaintsPolicy"`   // Ignore or Honor
	LabelSelector      *LabelSelector `yaml:"labelSelector"`
}

// Budget is a PodDisruptionBudget. One of MinAvailable and MaxUnavailable is set.
type Budget struct {
	Name           string         `yaml:"name"`
	Namespace      string         `yaml:"namespace"`
	Selector       *LabelSelector `yaml:"selector,required"`
	MinAvailable   *Share         `yaml:"minAvailable"`
	MaxUnavailable *Share         `yaml:"maxUnavailable"`
}

// PodSet is a part of a job whose pods are equal.
type PodSet struct {
	Name string `yaml:"name,required"`
	Pods Pods   `yaml:",inline"`
}

// Pods is a number of equal pods.
type Pods struct {
	Pods         int32      `yaml:"pods,positive"`
	GPUsPerPod   *Milli     `yaml:"gpusPerPod"`
	CPUPerPod    *Milli     `yaml:"cpuPerPod"`
	MemoryPerPod *Bytes     `yaml:"memoryPerPod"`
	MinPods      int32      `yaml:"minPods,positive"`
	NeverReady   NeverReady `yaml:"neverReady"`
	Node         string     `yaml:"node"`
	GPUModels    []string   `yaml:"gpuModels"`
	Topology     *Topology  `yaml:"topology"`

	NodeSelector map[string]string `yaml:"nodeSelector"`
	NodeAffinity *NodeAffinity     `yaml:"nodeAffinity"`
	Tolerations  []Toleration      `yaml:"tolerations"`
}

// NodeAffinity is Kubernetes' nodeAffinity, with the two long words cut to their beginning:
// a node must meet one of the required terms, and is better by the weight of every
// preferred one that it meets.
type NodeAffinity struct {
	Required  []NodeTerm `yaml:"required"`
	Preferred []NodeTerm `yaml:"preferred"`
}

// NodeTerm is met by a node with all that it matches. Only preferred terms have a weight.
type NodeTerm struct {
	Weight           int32        `yaml:"weight,positive"`
	MatchExpressions []Expression `yaml:"matchExpressions,required"`
}

// Expression is a condition on a label of a node.
type Expression struct {
	Key      string   `yaml:"key,required"`
	Operator string   `yaml:"operator,required"`
	Values   []string `yaml:"values"`
}

// Toleration lets pods onto nodes with a taint, as in Kubernetes.
type Toleration struct {
	Key      string `yaml:"key"`      // empty with Exists: every taint
	Operator string `yaml:"operator"` // Equal or Exists
	Value    string `yaml:"value"`
	Effect   string `yaml:"effect"` // empty: every effect

	TolerationSeconds *int64 `yaml:"tolerationSeconds"` // of NoExecute; nil is for ever
}

// Topology is a topology request: exactly one of the first four fields is set, unless
// there is nothing but a Group. Required and Preferred name a level.
type Topology struct {
	Required      string  `yaml:"required"`
	Preferred     string  `yaml:"preferred"`
	Unconstrained bool    `yaml:"unconstrained"`
	SliceOnly     bool    `yaml:"sliceOnly"`
	Slices        []Slice `yaml:"slices"` // layers, the outermost first
	Group         string  `yaml:"group"`
}

// Slice puts every Size consecutive pods into one domain of a level.
type Slice struct {
	Level string `yaml:"level,required"`
	Size  int32  `yaml:"size,required,positive"`
}

// Checkpoint makes a job's progress safe from time to time.
type Checkpoint struct {
	Interval Duration `yaml:"interval,required,positive"`
	Cost     Duration `yaml:"cost"`
}

// Queue is a ClusterQueue.
type Queue struct {
	Name     string `yaml:"name,required"`
	Strategy string `yaml:"strategy"` // BestEffortFIFO or StrictFIFO
	Quota    *Quota `yaml:"quota"`

	ResourceGroups    []ResourceGroup    `yaml:"resourceGroups"`
	FlavorFungibility *FlavorFungibility `yaml:"flavorFungibility"`
	AdmissionMode     string             `yaml:"admissionMode"` // UsageBasedAdmissionFairSharing or NoAdmissionFairSharing

	Cohort         string      `yaml:"cohort"`
	BorrowingLimit *Quota      `yaml:"borrowingLimit"`
	LendingLimit   *Quota      `yaml:"lendingLimit"`
	FairWeight     *float64    `yaml:"fairWeight"` // 1 if nil
	Preemption     *Preemption `yaml:"preemption"`
}

// Cohort is a node of the quota tree above the queues. A cohort that queues name need not
// be described.
type Cohort struct {
	Name           string          `yaml:"name,required"`
	Parent         string          `yaml:"parent"`
	Quota          *Quota          `yaml:"quota"`
	ResourceGroups []ResourceGroup `yaml:"resourceGroups"`
	BorrowingLimit *Quota          `yaml:"borrowingLimit"`
	LendingLimit   *Quota          `yaml:"lendingLimit"`
	FairWeight     *float64        `yaml:"fairWeight"`
}

// Preemption is Kueue's setting of the same name. Left out, a policy is Never.
type Preemption struct {
	WithinClusterQueue  string              `yaml:"withinClusterQueue"`
	ReclaimWithinCohort string              `yaml:"reclaimWithinCohort"`
	BorrowWithinCohort  *BorrowWithinCohort `yaml:"borrowWithinCohort"`
}

// BorrowWithinCohort lets a queue preempt others and borrow at the same time.
type BorrowWithinCohort struct {
	Policy               string `yaml:"policy,required,short"` // Never or LowerPriority
	MaxPriorityThreshold *int64 `yaml:"maxPriorityThreshold,signed"`
}

// Quota covers the resources that are not nil.
type Quota struct {
	GPU    *Milli `yaml:"gpu,or=nvidia.com/gpu"`
	CPU    *Milli `yaml:"cpu"`
	Memory *Bytes `yaml:"memory"`
	Pods   *int64 `yaml:"pods"`
}

// Policy is a policy of the registry with its parameters. As is the name it is shown by.
type Policy struct {
	Name   string            `yaml:"name,required,short"`
	As     string            `yaml:"as"`
	Params map[string]string `yaml:",rest"`
}

// WaitForPodsReady is Kueue's setting of the same name.
type WaitForPodsReady struct {
	Timeout           Duration          `yaml:"timeout,positive"`
	RecoveryTimeout   *Duration         `yaml:"recoveryTimeout"`
	BlockAdmission    *bool             `yaml:"blockAdmission"`
	RequeuingStrategy RequeuingStrategy `yaml:"requeuingStrategy"`
}

// RequeuingStrategy is Kueue's setting of the same name.
type RequeuingStrategy struct {
	Timestamp          string `yaml:"timestamp"` // Eviction or Creation
	BackoffBaseSeconds *int64 `yaml:"backoffBaseSeconds"`
	BackoffMaxSeconds  *int64 `yaml:"backoffMaxSeconds"`
	BackoffLimitCount  *int32 `yaml:"backoffLimitCount"`
}

// Notice is the human who finds a hung job.
type Notice struct {
	After  Duration `yaml:"after,required,positive"`
	Action string   `yaml:"action"` // kill or restart
}

// Starvation says when a waiting job is called starved.
type Starvation struct {
	After Duration `yaml:"after,required,positive"`
}

// Timing is a preset and what differs from it. The fields are those of sim.Timing.
type Timing struct {
	Preset string `yaml:"preset,short"` // instant or kubernetes

	Workload      *Duration `yaml:"workload"`
	JobVisible    *Duration `yaml:"jobVisible"`
	Unsuspend     *Duration `yaml:"unsuspend"`
	PodCreate     *Duration `yaml:"podCreate"`
	PodWave       *Duration `yaml:"podWave"`
	Jitter        *Milli    `yaml:"jitter"`
	Ungate        *Duration `yaml:"ungate"`
	Bind          *Duration `yaml:"bind"`
	ReadyLag      *Duration `yaml:"readyLag"`
	FinishLag     *Duration `yaml:"finishLag"`
	EvictStop     *Duration `yaml:"evictStop"`
	EvictRelease  *Duration `yaml:"evictRelease"`
	Termination   *Duration `yaml:"termination"`
	EndStarting   *bool     `yaml:"endStarting"`
	PodEnd        *Duration `yaml:"podEnd"`
	Flush         *Duration `yaml:"flush"`
	StrictWake    *Duration `yaml:"strictWake"`
	Requeue       *Duration `yaml:"requeue"`
	DeadlineLag   *Duration `yaml:"deadlineLag"`
	Replace       *Duration `yaml:"replace"`
	ReplaceMax    *Duration `yaml:"replaceMax"`
	FrozenStatus  *bool     `yaml:"frozenStatus"`
	NodeDetect    *Duration `yaml:"nodeDetect"`
	NodeTaint     *Duration `yaml:"nodeTaint"`
	Tolerate      *Duration `yaml:"tolerate"`
	Untaint       *Duration `yaml:"untaint"`
	NodeGone      *Duration `yaml:"nodeGone"`
	PodGC         *Duration `yaml:"podGC"`
	SecondPass    *Duration `yaml:"secondPass"`
	WholeSeconds  *bool     `yaml:"wholeSeconds"`
	SecondOffset  *Duration `yaml:"secondOffset"`
	AdmitterCycle *Duration `yaml:"admitterCycle"`
	BinderCycle   *Duration `yaml:"binderCycle"`
	BinderNode    *Duration `yaml:"binderNode"`
	PodBackoff    *Duration `yaml:"podBackoff"`
	PodBackoffMax *Duration `yaml:"podBackoffMax"`
	Clients       *Clients  `yaml:"clients"`
	Start         *StartUp  `yaml:"start"`
	PullBytesSec  *Bytes    `yaml:"pullBytesSec"`
}

// Clients are the rate limits of those who call the API server; see sim.Clients.
type Clients struct {
	JobController *Client `yaml:"jobController"`
	Kueue         *Client `yaml:"kueue"`
	Scheduler     *Client `yaml:"scheduler"`
}

// Client is the rate limit of one.
type Client struct {
	QPS   *int64 `yaml:"qps,required,positive"`
	Burst *int64 `yaml:"burst,required,positive"`
}

// StartUp is the time a pod takes to become ready; see sim.StartUp.
type StartUp struct {
	Median  *Duration `yaml:"median"`
	P99     *Duration `yaml:"p99"`
	InitMin *Duration `yaml:"initMin"`
	InitMax *Duration `yaml:"initMax"`
}
