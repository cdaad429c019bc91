package sim

// Witness is a Recorder that also sees what is no transition: it changes nothing that is
// counted, but shows in an API server. Nothing of it is in the digest.
type Witness interface {
	Recorder
	See(s Sight)
}

// Sight is one such thing. Rank is -1 where it is of a whole job, Node -1 without one.
type Sight struct {
	Time int64
	Kind SightKind
	Job  int32
	Rank int32
	Node int32
}

// SightKind says what was seen.
type SightKind uint8

// The kinds. A pod that is Gone is terminal: its containers have ended, and somebody said
// so. One whose node is lost is not: nobody is there who could.
const (
	SawCreated     SightKind = iota // a pod came into being
	SawAttempt                      // a scheduler tried to place a pod
	SawAssigned                     // a pod was assigned a node by its topology assignment
	SawGone                         // a pod that was bound has ended
	SawReleased                     // a job's quota is back
	SawQueued                       // a job's Workload exists; told when that is known, of a time ahead
	SawUnsuspended                  // a Job is unsuspended; told in the same way
	SawFinished                     // a job whose work is done is complete; told in the same way
)

// see shows a witness something about a pod.
func (e *Engine) see(kind SightKind, p, node int32) {
	if e.witness != nil && !(e.sinking && kind == SawGone) {
		j := e.pods[p].job
		e.witness.See(Sight{Time: e.now, Kind: kind, Job: j, Rank: p - e.jobs[j].podBase, Node: node})
	}
}

// seeJob shows a witness something about a job, at a time that may lie ahead.
func (e *Engine) seeJob(kind SightKind, j int32, at int64) {
	if e.witness != nil {
		e.witness.See(Sight{Time: at, Kind: kind, Job: j, Rank: -1, Node: -1})
	}
}

// Watched reports whether a witness is there.
func (v View) Watched() bool { return v.e.witness != nil }

// Tried tells the witness, if one is there, that a scheduler tried to place a pod. It may be
// told later than it happened.
func (v View) Tried(pod int32, at int64) {
	if v.e.witness != nil {
		j := v.e.pods[pod].job
		v.e.witness.See(Sight{Time: at, Kind: SawAttempt, Job: j, Rank: pod - v.e.jobs[j].podBase, Node: -1})
	}
}

// Settler is a controller that does things in arrears: those whose outcome is known. Settle
// makes it do, for who counts them, what it would have done before a time.
type Settler interface{ Settle(to int64) }
