package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/workloads"
)

// identity is all that decides a run beside its policy and its seed. Jobs of a trace are
// represented by the file's hash and what is done with them, synthetic ones by their
// parameters.
type identity struct {
	Levels []string
	Nodes  []topology.Node

	Fabric  *fabric.Profile
	Uplinks map[string]Uplink
	Sharing sim.Sharing

	Jobs                []workloads.Job
	Trace               *Trace
	Gang                *Gang
	Models              *Models
	Synthetic           *SyntheticJobs
	JobGPUs, NodeGPUs   int64 // of the cluster the jobs are made for
	Load                float64
	Queues              []quota.Queue
	Cohorts             []quota.Cohort
	Flavors             []topology.Flavor
	Locals              []quota.LocalQueue
	Usage               sim.UsageFairness
	Check               sim.QuotaCheck
	Actions             []sim.Action
	Timing              sim.Timing
	Budgets             []workloads.Budget `json:",omitzero"`
	PodsReady           sim.PodsReady
	Notice              sim.Notice
	Creation            sim.Creation
	Starvation, Horizon int64
}

// demand is the part of it that says what there is to be scheduled, and where. In which
// queues the listed jobs wait is no part of it.
func (id *identity) demand() *identity {
	jobs := slices.Clone(id.Jobs)
	for i := range jobs {
		jobs[i].Queue = ""
	}
	return &identity{Levels: id.Levels, Nodes: id.Nodes, Jobs: jobs, Trace: id.Trace, Gang: id.Gang, Models: id.Models,
		Synthetic: id.Synthetic, JobGPUs: id.JobGPUs, NodeGPUs: id.NodeGPUs, Load: id.Load}
}

// hash returns the hash of an identity.
func (id *identity) hash() string {
	sum := sha256.Sum256(canonical(*id))
	return hex.EncodeToString(sum[:])
}

// identify describes the scenario.
func (r *resolver) identify() *identity {
	c := r.out.Config
	id := &identity{
		Levels: c.Cluster.Levels, Nodes: c.Cluster.Nodes, Queues: c.Queues, Cohorts: c.Cohorts, Flavors: c.Flavors, Locals: c.Locals, Usage: c.Usage, Check: c.Check, Actions: c.Actions, Timing: c.Timing,
		Budgets: c.Budgets, PodsReady: c.PodsReady, Notice: c.Notice, Creation: c.Creation, Starvation: c.StarvationAfter, Horizon: c.Until,
		JobGPUs: r.jobNodes.Capacity()[topology.GPU], NodeGPUs: r.nodeGPUs(),
		Load: max(r.Scale.Load, r.File.Workload.Scale.Load),
	}
	if c.Fabric != nil {
		profile := c.Fabric.Profile()
		id.Fabric, id.Uplinks, id.Sharing = &profile, map[string]Uplink{}, c.Sharing
		for name, up := range r.Fabric.Levels {
			id.Uplinks[name] = up.filled()
		}
	}
	r.identifyJobs(id)
	return id
}

// identifyJobs fills in what is said of the jobs, in one form for each meaning.
func (r *resolver) identifyJobs(id *identity) {
	w := &r.File.Workload
	id.Gang, id.Models, id.Synthetic = w.Gang, w.Models, w.Synthetic
	if id.Load == 1 {
		id.Load = 0
	}
	switch {
	case w.Jobs != nil:
		id.Jobs = r.out.Config.Jobs
	case w.Trace != nil:
		t := *w.Trace
		t.File, t.SHA256 = r.out.Inputs[len(r.out.Inputs)-1].SHA256, ""
		if t.Format == "auto" {
			t.Format = ""
		}
		if t.Window != nil {
			window := *t.Window
			if window.Carry == "none" {
				window.Carry = ""
			}
			if t.Window = &window; window == (Window{}) {
				t.Window = nil
			}
		}
		id.Trace = &t
	}
}
