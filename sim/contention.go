package sim

import (
	"slices"

	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/topology/fabric/flow"
	"github.com/gangplan/gangplan/workloads"
)

// sharing is what the jobs on the fabric do to each other. It is worked out once per
// instant, after the last cycle, and only if a job came, went or moved.
type sharing struct {
	fluid   *fabric.Contention // nil unless links are shared on average
	talkers []int32            // jobs on the fabric in flow mode, in the order they came
	moved   bool
	resized []int32 // running jobs that got or lost pods in this instant
}

func newSharing(cfg *Config) sharing {
	if cfg.Sharing == Fluid {
		return sharing{fluid: fabric.NewContention(cfg.Fabric, len(cfg.Jobs))}
	}
	return sharing{}
}

// joinFabric puts a job that begins to run on the fabric, with the load at hand.
func (e *Engine) joinFabric(j int32) {
	switch e.cfg.Sharing {
	case Fluid:
		e.sharing.fluid.Add(j, &e.load, e.stepOf(j))
	case Flow:
		e.sharing.talkers = append(e.sharing.talkers, j)
	}
	e.sharing.moved = true
}

// leaveFabric takes a job off that stops running. Time that passes for a checkpoint is not
// taken out: placements alone change what is shared.
func (e *Engine) leaveFabric(j int32) {
	s := &e.sharing
	if s.fluid != nil && s.fluid.Has(j) {
		s.fluid.Remove(j)
		s.moved = true
	}
	if i := slices.Index(s.talkers, j); i >= 0 {
		s.talkers = slices.Delete(s.talkers, i, i+1)
		s.moved = true
	}
}

// TrafficOf is what a step of training a model exchanges.
func TrafficOf(m *workloads.ModelProfile) fabric.Traffic {
	t := fabric.Traffic{Bytes: m.GradientBytes, Tensor: m.Tensor, Pipeline: m.Pipeline}
	if m.FullyShard {
		t.Collective = fabric.FullyShard
	}
	return t
}

func (e *Engine) stepOf(j int32) fabric.Step {
	m := e.cfg.Jobs[j].Model
	return fabric.Step{Compute: m.Compute, Hidden: m.Hidden()}
}

// shareLinks brings every rate up to who is on the fabric now.
func (e *Engine) shareLinks() {
	s := &e.sharing
	for _, j := range s.resized {
		e.reshape(j)
	}
	s.resized = s.resized[:0]
	if !s.moved {
		return
	}
	s.moved = false
	if s.fluid != nil {
		for _, j := range s.fluid.Solve() {
			cost := s.fluid.AllReduce(j)
			e.rerate(j, cost.Nanos, cost.Level)
		}
		return
	}
	if len(s.talkers) > 0 {
		e.flowRates()
	}
}

// resizes notes that a running job's gang is about to change, which changes its ring.
func (e *Engine) resizes(j int32) {
	if e.cfg.Fabric != nil && e.cfg.Jobs[j].Model != nil && !slices.Contains(e.sharing.resized, j) {
		e.sharing.resized = append(e.sharing.resized, j)
	}
}

// reshape puts a job that runs on with other pods on the fabric anew. Its ideal is that of
// the gang it is now.
func (e *Engine) reshape(j int32) {
	jb := &e.jobs[j]
	if !jb.running {
		return
	}
	jb.advance(e.now)
	e.leaveFabric(j)
	jb.idealAllReduce = 0
	e.setRates(j)
	if !jb.checkpointing {
		e.scheduleFinish(j)
	}
}

// rerate changes the speed of a running job. Its finish is planned anew only if it comes
// closer; else the event that is planned finds work left.
func (e *Engine) rerate(j int32, allReduce int64, level int8) {
	jb := &e.jobs[j]
	allReduce = max(jb.idleAllReduce, allReduce)
	if allReduce == jb.allReduce {
		return
	}
	faster := allReduce < jb.allReduce
	jb.advance(e.now)
	e.setRate(j, allReduce, level)
	if faster && !jb.checkpointing {
		e.scheduleFinish(j)
	}
}

// flowSteps is how many idle steps of the slowest job are simulated to know the speed of
// all of them.
const flowSteps = 64

// flowRates simulates every message of every job on the fabric, all beginning a step now,
// and takes the mean step of each.
func (e *Engine) flowRates() {
	links := e.cfg.Fabric.Links()
	jobs := make([]flow.Job, len(e.sharing.talkers))
	loads := make([]fabric.Load, len(jobs))
	horizon := int64(0)
	for i, j := range e.sharing.talkers {
		step := e.stepOf(j)
		var edges []flow.Edge
		gang := e.gangOf(j)
		traffic := TrafficOf(e.cfg.Jobs[j].Model)
		e.cfg.Fabric.Load(e.scratch, gang, traffic, &loads[i])
		edges, links = e.cfg.Fabric.Edges(e.scratch, gang, traffic, &loads[i], links)
		jobs[i] = loads[i].FlowJob(step, edges)
		horizon = max(horizon, step.Nanos(loads[i].Idle.Nanos))
	}
	horizon = min(horizon, Never/flow.Nano/flowSteps) * flowSteps * flow.Nano
	for i, ends := range flow.Iterations(links, jobs, horizon) {
		j := e.sharing.talkers[i]
		mean := horizon / flow.Nano
		if n := int64(len(ends)); n > 0 {
			mean = flow.CeilNanos(ends[n-1]) / n
		}
		step, jb := e.stepOf(j), &e.jobs[j]
		if mean > step.Compute {
			e.rerate(j, mean-step.Compute+step.Hidden, jb.idleLevel)
		} else {
			e.rerate(j, jb.idleAllReduce, jb.idleLevel)
		}
	}
}
