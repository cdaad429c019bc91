package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// checkJobs checks every job by itself and against the cluster and the queues.
func (r *resolver) checkJobs(list jobList) {
	c := &jobChecker{r: r, nodes: nodeIndex(r.cluster), queues: map[string]bool{}, ignored: map[string]bool{}, models: map[string]bool{}}
	for _, q := range r.out.Config.Queues {
		c.queues[q.Name] = true
	}
	for _, q := range r.out.Config.Locals {
		c.queues[q.Name] = true
	}
	for _, m := range r.cluster.Models {
		c.models[m] = true
	}
	var pods int64
	for i := range list.jobs {
		j := &list.jobs[i]
		if field, problem := c.check(j); problem != "" {
			list.blame(i, field, problem)
		} else if pods += int64(j.Pods()); pods > MaxPods {
			r.fail(at("workload"), "the jobs have more than %d pods", MaxPods)
			return
		}
		if r.errs.full() {
			return
		}
	}
	c.warn()
}

// jobChecker holds what jobs are checked against.
type jobChecker struct {
	r       *resolver
	nodes   map[string]int32
	queues  map[string]bool
	models  map[string]bool
	ignored map[string]bool // queues that are not there, and models that no node has
	strange []string        // of those models, in the order of the jobs
	unnamed []string        // of those queues
}

// check checks one job and puts it into its queue. An empty problem means that there is
// none.
func (c *jobChecker) check(j *workloads.Job) (field, problem string) {
	c.nameLevels(j)
	if err := workloads.Validate(j); err != nil {
		if e, ok := err.(*workloads.FieldError); ok {
			return e.Field, e.Problem
		}
		return "", err.Error()
	}
	for k := range j.PodSets {
		if field, problem = c.checkSet(&j.PodSets[k]); problem != "" {
			return fmt.Sprintf("podsets[%d].%s", k, field), problem
		}
	}
	if problem = c.checkTerms(j); problem != "" {
		return "", problem
	}
	return c.assignQueue(j)
}

// nameLevels puts the names of levels in the place of topology keys, as objects of Kubernetes
// have them. Constraints that kube-scheduler adds by itself fall away where there is no level.
func (c *jobChecker) nameLevels(j *workloads.Job) {
	cluster := c.r.cluster
	name := func(level *string) bool {
		if cluster.Level(*level) < 0 {
			*level = cmp.Or(levelOfKey(cluster, *level), *level)
		}
		return cluster.Level(*level) >= 0
	}
	j.Affinity, j.AntiAffinity, j.Spread = slices.Clone(j.Affinity), slices.Clone(j.AntiAffinity), slices.Clone(j.Spread) // jobs may share them
	for i := range j.Affinity {
		name(&j.Affinity[i].Level)
	}
	for i := range j.AntiAffinity {
		name(&j.AntiAffinity[i].Level)
	}
	for i := range j.PodSets {
		t := &j.PodSets[i].Topology
		for _, level := range []*string{&t.Level, &t.Slices[0].Level, &t.Slices[1].Level, &t.Slices[2].Level} {
			if *level != "" {
				name(level)
			}
		}
	}
	j.Spread = slices.DeleteFunc(j.Spread, func(s workloads.SpreadConstraint) bool { return !name(&s.Level) && s.Default })
	for i := range j.Spread {
		name(&j.Spread[i].Level)
	}
}

// levelOfKey returns the level that a label of nodes tells, or an empty text: the host for the
// host's name, else the one whose name is the end of the key, as that of
// topology.kubernetes.io/zone or cloud.provider.com/topology-rack.
func levelOfKey(c *topology.Cluster, key string) string {
	if key == "kubernetes.io/hostname" {
		return c.Levels[c.HostLevel()]
	}
	at := strings.LastIndexByte(key, '/')
	if name := strings.TrimPrefix(key[at+1:], "topology-"); at >= 0 && slices.Contains(c.Levels, name) {
		return name
	}
	return ""
}

// checkTerms looks the levels up that pods name when they ask something of each other.
func (c *jobChecker) checkTerms(j *workloads.Job) (problem string) {
	check := func(level string) {
		if c.r.cluster.Level(level) < 0 && problem == "" {
			problem = noLevel(level, c.r.cluster)
		}
	}
	for _, t := range j.Affinity {
		check(t.Level)
	}
	for _, t := range j.AntiAffinity {
		check(t.Level)
	}
	for _, s := range j.Spread {
		check(s.Level)
	}
	return problem
}

func (c *jobChecker) checkSet(s *workloads.PodSet) (field, problem string) {
	if _, ok := c.nodes[s.Node]; !ok && s.Node != "" {
		return "node", noNode(s.Node, c.r.cluster)
	}
	if problem := checkTopology(&s.Topology, c.r.cluster); problem != "" {
		return "topology", problem
	}
	for _, m := range s.Models {
		if !c.models[m] && !c.ignored["model "+m] {
			c.ignored["model "+m] = true
			c.strange = append(c.strange, m)
		}
	}
	return "", ""
}

// assignQueue puts a job into its queue: without queues there is only the default one.
func (c *jobChecker) assignQueue(j *workloads.Job) (field, problem string) {
	switch {
	case c.r.Queues == nil:
		if j.Queue != "" && j.Queue != defaultQueue && !c.ignored["queue "+j.Queue] {
			c.ignored["queue "+j.Queue] = true
			c.unnamed = append(c.unnamed, j.Queue)
		}
		j.Queue = defaultQueue
	case len(c.queues) == 0: // which is a mistake of its own
	case j.Queue == "":
		j.Queue = c.r.out.Config.Queues[0].Name
	case !c.queues[j.Queue]:
		var known []string
		for _, q := range c.r.out.Config.Queues {
			known = append(known, q.Name)
		}
		for _, q := range c.r.out.Config.Locals {
			known = append(known, q.Name)
		}
		return "queue", fmt.Sprintf("unknown queue %s: expected one of %s%s", quote(j.Queue), strings.Join(known, ", "), suggest.Hint(j.Queue, known))
	}
	return "", ""
}

// warn tells of what is no mistake but may not be meant.
func (c *jobChecker) warn() {
	if len(c.unnamed) > 0 {
		c.r.warn("jobs name queues (%s), but the scenario has none: all go to the queue %s", few(c.unnamed), defaultQueue)
	}
	if len(c.strange) > 0 {
		c.r.warn("jobs ask for GPU models that no node has: %s", few(c.strange))
	}
}

// few lists the first of many names.
func few(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
