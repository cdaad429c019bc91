package quota

// Amounts is a quantity of every resource, in the units and the order of
// topology.Resources.
type Amounts = [Resources]int64

// Resources is how many resources a flavor has.
const Resources = 4

// FR is one resource of one flavor, the unit quota is given in.
type FR int32

// Of returns the flavor-resource.
func Of(flavor int32, resource int) FR { return FR(flavor*Resources + int32(resource)) }

// Flavor and Resource take a flavor-resource apart.
func (f FR) Flavor() int32 { return int32(f) / Resources }
func (f FR) Resource() int { return int(f) % Resources }

// Item is an amount of one flavor-resource: a part of what a workload uses.
type Item struct {
	FR     FR
	Amount int64
}

// Strategy is a ClusterQueue's queueing strategy.
type Strategy uint8

// Kueue's queueing strategies: a blocked head lets later jobs pass, or nobody.
const (
	BestEffortFIFO Strategy = iota
	StrictFIFO
)

// String returns Kueue's name of the strategy.
func (s Strategy) String() string {
	if s == StrictFIFO {
		return "StrictFIFO"
	}
	return "BestEffortFIFO"
}

// Limit is a number that may be left out; the zero value is left out.
type Limit struct {
	N   int64
	Set bool
}

// Max returns a limit that is set.
func Max(n int64) Limit { return Limit{n, true} }

// Quota is what a ClusterQueue or cohort has of one flavor-resource.
type Quota struct {
	Nominal            int64
	Borrowing, Lending Limit
}

// FlavorQuota is the quota of one flavor for the resources of its group.
type FlavorQuota struct {
	Flavor int32
	Quota  [Resources]Quota
}

// Group is a resource group: its resources are all taken from one flavor, the first in
// order that will do.
type Group struct {
	Covers  [Resources]bool
	Flavors []FlavorQuota
}

// Policy says which workloads preemption may take.
type Policy uint8

// Kueue's preemption policies.
const (
	Never Policy = iota
	LowerPriority
	LowerOrNewerEqual
	Any
)

// Preemption holds a ClusterQueue's preemption policies.
type Preemption struct {
	Within      Policy // of its own queue
	Reclaim     Policy // of those who borrow its cohort's quota
	WhileBorrow bool   // borrowWithinCohort: LowerPriority
	Threshold   Limit  // borrowWithinCohort.maxPriorityThreshold
}

// Fungibility says when the search for a flavor goes on behind one that would do. The
// zero value is Kueue's default.
type Fungibility struct {
	BorrowTriesNext bool // whenCanBorrow: TryNextFlavor
	PreemptStops    bool // whenCanPreempt: MayStopSearch
	LevelFirst      bool // preference: PreemptionOverBorrowing
}

// Queue describes a ClusterQueue. Nominal and Covers are the short form of one group with
// the first flavor and no limits; Groups overrides them. Resources that no group covers
// are not checked.
type Queue struct {
	Name     string
	Strategy Strategy
	Nominal  Amounts
	Covers   [Resources]bool

	// The tags keep these out of a scenario's identity when they are not used.
	Groups      []Group     `json:",omitzero"`
	Cohort      string      `json:",omitzero"` // "" for none
	Weight      Limit       `json:",omitzero"` // fair-sharing weight in thousandths, 1000 if not set
	Preemption  Preemption  `json:",omitzero"`
	Fungibility Fungibility `json:",omitzero"`
	UsageBased  bool        `json:",omitzero"` // admissionScope: its LocalQueues take turns by what they used
}

// LocalQueue is a name under which jobs are sent to a ClusterQueue, as a team has one.
type LocalQueue struct {
	Name, ClusterQueue string
	Weight             Limit // fair-sharing weight in thousandths, 1000 if not set
}

// Resolved returns the queue's groups, those of the short form included.
func (q *Queue) Resolved() []Group {
	if q.Groups != nil {
		return q.Groups
	}
	g := Group{Covers: q.Covers, Flavors: []FlavorQuota{{}}}
	for r := range q.Nominal {
		g.Flavors[0].Quota[r].Nominal = q.Nominal[r]
	}
	return []Group{g}
}

// Cohort describes a cohort: a node of the tree that shares its children's quota, and may
// have some of its own.
type Cohort struct {
	Name   string
	Parent string // "" for a root
	Weight Limit
	Groups []Group
}
