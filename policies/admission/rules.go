package admission

// Strategy is a rule by which fair sharing lets a workload be preempted.
type Strategy uint8

// FinalShare lets the preemptor's share reach the victim's remaining one, InitialShare stay
// below what the victim's was.
const (
	FinalShare Strategy = iota
	InitialShare
)

// Rules are the switches of the scheduler: configuration, and what changed between
// versions.
type Rules struct {
	FairSharing bool
	AgeFirst    bool       // entries of a cycle by age, whatever their priority
	Strategies  []Strategy // of fair sharing; empty: both, in that order

	PreemptWithinNominal bool // fair sharing: below nominal quota shares are not asked
	NonBorrowingFirst    bool // fair sharing: entries that borrow nothing they ask for come first
	CandidatesRequired   bool // a flavor without candidates loses to every other one
	Sticky               bool // a preemptor stays at the head of its queue
	Hashing              bool // a parked workload parks its equals
	BlockUndeclared      bool // a workload may not ask for what its queue does not list

	// What the topology has to do with it. With ContestAll victims are sought in everything a
	// workload asks for once it has quota but no places: places may lack what quota has. With
	// PlaceAgain an entry whose places an earlier one took is nominated again.
	ContestAll, PlaceAgain bool
}

// Version returns the rules of a version of Kueue, and whether it is one of those known:
// v0.13.4, v0.17.0 and v0.19.2.
func Version(name string) (Rules, bool) {
	switch name {
	case "v0.13.4":
		return Rules{}, true
	case "v0.17.0":
		return Rules{PreemptWithinNominal: true, NonBorrowingFirst: true, Sticky: true, ContestAll: true}, true
	case "v0.19.2", "":
		return Rules{PreemptWithinNominal: true, NonBorrowingFirst: true, Sticky: true,
			CandidatesRequired: true, Hashing: true, ContestAll: true, PlaceAgain: true}, true
	}
	return Rules{}, false
}

func (r *Rules) strategies() []Strategy {
	if len(r.Strategies) == 0 {
		return bothStrategies
	}
	return r.Strategies
}

var bothStrategies = []Strategy{FinalShare, InitialShare}
