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
	SawCreated  SightKind = iota // a pod came into being
	SawAttempt                   // a scheduler tried to place a pod
	SawAssigned                  // a pod was assigned a node by its topology assignment
	SawGone                      // a pod that was bound has ended
	SawReleased                  // a job's quota is back
)

// see shows a witness something about a pod.
func (e *Engine) see(kind SightKind, p, node int32) {
	if e.witness != nil && !(e.sinking && kind == SawGone) {
		j := e.pods[p].job
		e.witness.See(Sight{Time: e.now, Kind: kind, Job: j, Rank: p - e.jobs[j].podBase, Node: node})
	}
}

// Tried tells that a scheduler tried to place a pod.
func (tx *Tx) Tried(pod int32) { tx.e.see(SawAttempt, pod, -1) }
