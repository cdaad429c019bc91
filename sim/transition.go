package sim

// TransitionKind numbers what the digest is made of.
type TransitionKind uint8

// The kinds and numbers of the contract.
const (
	Submit     TransitionKind = 1
	Admit      TransitionKind = 2
	Bind       TransitionKind = 3
	Ready      TransitionKind = 4
	Barrier    TransitionKind = 5
	Evict      TransitionKind = 6
	Requeue    TransitionKind = 7
	Deactivate TransitionKind = 8
	Finish     TransitionKind = 9
	Fail       TransitionKind = 10
	Verdict    TransitionKind = 11
)

var transitionNames = [...]string{"", "submit", "admit", "bind", "ready", "barrier", "evict",
	"requeue", "deactivate", "finish", "fail", "verdict"}

// String returns the transition's name.
func (k TransitionKind) String() string {
	if int(k) < len(transitionNames) {
		return transitionNames[k]
	}
	return "unknown"
}

// Transition is one change of state. Job is the position in the sorted trace; Rank the
// pod's rank or -1; Place the node of a pod, the queue of a job, or -1; Count the pods,
// or the kind of a verdict. Why is for explanations and no part of the digest.
type Transition struct {
	Time  int64
	Kind  TransitionKind
	Job   int32
	Rank  int32
	Place int32
	Count int32
	Why   Why
}

// Same reports whether two transitions are the same to the digest.
func (t Transition) Same(o Transition) bool {
	t.Why, o.Why = 0, 0
	return t == o
}

// Why says why a transition came, where that is known: of Evict, Fail and Deactivate the
// cause, of Admit and Bind the reason for which the job, or its pods, waited when it last
// claimed free GPUs. 0 is that it did not wait, or that nothing was free that it could claim.
type Why uint8

// firstCause is where the causes begin; the reasons stand below.
const firstCause Why = 32

func (c Cause) why() Why { return firstCause + Why(c) }

// WhyNamed is the inverse of String; 0 for a name that there is not.
func WhyNamed(name string) Why {
	for w := range firstCause + Why(NumCauses) {
		if w.String() == name {
			return w
		}
	}
	return 0
}

// String returns the name of the reason or the cause, "" if there is none.
func (w Why) String() string {
	switch {
	case w >= firstCause && w < firstCause+Why(NumCauses):
		return causeNames[w-firstCause]
	case int(w) < len(reasonNames):
		return reasonNames[w]
	}
	return ""
}

// Recorder gets every transition as it happens.
type Recorder interface {
	Record(t Transition)
}

// Transitions is a Recorder that keeps everything.
type Transitions []Transition

// Record appends t.
func (ts *Transitions) Record(t Transition) { *ts = append(*ts, t) }

// Digest is 64-bit FNV-1a over transitions, each six little-endian int64.
type Digest uint64

// NewDigest is the digest of no transition: FNV's offset basis.
const NewDigest Digest = 14695981039346656037

// fnvPrimes are the powers of FNV's prime: a zero byte only multiplies, so the zeroes at
// the end of a small word are one multiplication.
var fnvPrimes = func() (p [9]Digest) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 1099511628211
	}
	return p
}()

// Add returns the digest with one transition more.
func (d Digest) Add(t Transition) Digest {
	words := [6]int64{t.Time, int64(t.Kind), int64(t.Job), int64(t.Rank), int64(t.Place), int64(t.Count)}
	for _, w := range words {
		rest, left := uint64(w), 8
		for ; rest != 0; rest >>= 8 {
			d = (d ^ Digest(rest&0xff)) * fnvPrimes[1]
			left--
		}
		d *= fnvPrimes[left]
	}
	return d
}

// VerdictKind says how a run, or a job in it, went wrong.
type VerdictKind uint8

// The verdicts, with the numbers that stand in the digest.
const (
	Deadlock   VerdictKind = 1
	Livelock   VerdictKind = 2
	Starvation VerdictKind = 3
	NeverFits  VerdictKind = 4
)

var verdictNames = [...]string{"", "deadlock", "livelock", "starvation", "never_fits"}

// String returns the verdict's name in summary.json.
func (k VerdictKind) String() string { return verdictNames[k] }

// Finding is one verdict: what, when, and which jobs, by position in the sorted trace.
type Finding struct {
	Kind   VerdictKind
	Time   int64
	Jobs   []int32
	Detail string
}

// Cause says why a job was evicted.
type Cause uint8

// The causes of the contract, in the order of the metrics evictions.<cause>.
const (
	CausePodsReady Cause = iota
	CausePreempted
	CauseNode
	CauseFailure
	CauseDeadline
	CauseNotice
	CauseDeactivated
	NumCauses
)

var causeNames = [NumCauses]string{"pods_ready", "preempted", "node", "failure", "deadline", "notice", "deactivated"}

// String returns the cause's name in the metrics.
func (c Cause) String() string { return causeNames[c] }
