// Package quota keeps what each ClusterQueue may use and uses. It is a pure leaf:
// integers in, integers out.
package quota

// Amounts is a quantity of every resource, in the units and the order of
// topology.Resources.
type Amounts = [4]int64

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

// Queue describes a ClusterQueue. Only the resources it covers are checked.
type Queue struct {
	Name     string
	Strategy Strategy
	Nominal  Amounts
	Covers   [4]bool
}

// Tree holds the usage of every queue. Queues are dense indexes into the spec.
type Tree struct {
	queues []Queue
	used   []Amounts
}

// New makes a tree in which nothing is used.
func New(queues []Queue) *Tree {
	return &Tree{queues: queues, used: make([]Amounts, len(queues))}
}

// Queue returns the description of a queue.
func (t *Tree) Queue(q int32) *Queue { return &t.queues[q] }

// Len returns the number of queues.
func (t *Tree) Len() int { return len(t.queues) }

// Used returns what a queue's admitted jobs are charged.
func (t *Tree) Used(q int32) Amounts { return t.used[q] }

// Fits reports whether a request is within the queue's unused quota.
func (t *Tree) Fits(q int32, req Amounts) bool {
	return t.within(q, add(t.used[q], req, 1))
}

// EverFits reports whether a request is within the queue's quota when nothing uses it.
func (t *Tree) EverFits(q int32, req Amounts) bool {
	return t.within(q, req)
}

func (t *Tree) within(q int32, total Amounts) bool {
	spec := &t.queues[q]
	for r := range total {
		if spec.Covers[r] && total[r] > spec.Nominal[r] {
			return false
		}
	}
	return true
}

// Add charges a request to a queue.
func (t *Tree) Add(q int32, req Amounts) { t.used[q] = add(t.used[q], req, 1) }

// Remove gives a request back.
func (t *Tree) Remove(q int32, req Amounts) { t.used[q] = add(t.used[q], req, -1) }

// add returns a + sign x b.
func add(a, b Amounts, sign int64) Amounts {
	for r := range a {
		a[r] += sign * b[r]
	}
	return a
}
