package report

import "github.com/gangplan/gangplan/sim"

// Step is a transition with the names of its subjects.
type Step struct {
	sim.Transition
	ID    string // of the job in its source
	Node  string // of a pod's transition
	Queue string // of a job's
}

// decisionFields hold what the digest is made of (time_ns, kind by name, job, rank, place,
// count) and the names that go with it.
var decisionFields = []field[*Step]{
	number("time_ns", "ns", "from the start of the scenario", always(func(s *Step) int64 { return s.Time })),
	text("kind", "what happened", true, func(s *Step) string { return s.Kind.String() }),
	number("job", "index", "position in the sorted trace, or -1", always(func(s *Step) int64 { return int64(s.Job) })),
	text("id", "id of the job in its source", true, func(s *Step) string { return s.ID }),
	number("rank", "index", "rank of the pod, or -1", always(func(s *Step) int64 { return int64(s.Rank) })),
	number("place", "index", "position of the node in the cluster or of the queue in the configuration, or -1", always(func(s *Step) int64 { return int64(s.Place) })),
	text("node", "name of the node", true, func(s *Step) string { return s.Node }),
	text("queue", "name of the ClusterQueue", true, func(s *Step) string { return s.Queue }),
	number("count", "pods", "pods; of a verdict its kind: 1 deadlock, 2 livelock, 3 starvation, 4 never_fits", always(func(s *Step) int64 { return int64(s.Count) })),
	text("why", "of an eviction, failure or deactivation its cause; of an admission or binding the reason for which it waited when it last claimed free GPUs; null if there is none; no part of the digest",
		true, func(s *Step) string { return s.Why.String() }),
}

var decisionsTable = newTable(decisionsFile, "a transition of the run, in order", "the run kept its decisions (`run --decisions`)", decisionFields,
	func(r *Record) int {
		if r.Transitions == nil {
			return -1
		}
		return len(r.Transitions)
	},
	func(r *Record, i int) *Step {
		s := nameStep(r.Result.Config, r.Transitions[i])
		return &s
	})

// nameStep adds the names to a transition.
func nameStep(cfg *sim.Config, x sim.Transition) Step {
	s := Step{Transition: x}
	if x.Job >= 0 {
		s.ID = cfg.Jobs[x.Job].ID
	}
	switch {
	case x.Place < 0:
	case x.Rank >= 0:
		s.Node = cfg.Cluster.Nodes[x.Place].Name
	default:
		s.Queue = queueName(cfg, x.Place)
	}
	return s
}

func nameSteps(cfg *sim.Config, ts sim.Transitions) []Step {
	steps := make([]Step, len(ts))
	for i := range ts {
		steps[i] = nameStep(cfg, ts[i])
	}
	return steps
}

// queueName returns the name of a queue, "" where the scenario has none.
func queueName(cfg *sim.Config, queue int32) string {
	if int(queue) >= len(cfg.Queues) {
		return ""
	}
	return cfg.Queues[queue].Name
}

// steps reads decisions.parquet back.
func (r *StoredRun) steps() ([]Step, error) {
	t, err := r.Decisions("time_ns", "kind", "job", "id", "rank", "place", "node", "queue", "count", "why")
	if err != nil {
		return nil, err
	}
	steps := make([]Step, t.Rows())
	for i := range steps {
		steps[i] = Step{
			Transition: sim.Transition{Time: t.Int64s(0)[i], Kind: kindNamed(t.Strings(1)[i]), Job: int32(t.Int64s(2)[i]),
				Rank: int32(t.Int64s(4)[i]), Place: int32(t.Int64s(5)[i]), Count: int32(t.Int64s(8)[i]), Why: sim.WhyNamed(t.Strings(9)[i])},
			ID: t.Strings(3)[i], Node: t.Strings(6)[i], Queue: t.Strings(7)[i],
		}
	}
	return steps, nil
}

// kindNamed is the inverse of TransitionKind.String, 0 for a name that there is not.
func kindNamed(name string) sim.TransitionKind {
	for k := sim.Submit; k <= sim.Verdict; k++ {
		if k.String() == name {
			return k
		}
	}
	return 0
}
