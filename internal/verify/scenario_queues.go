package verify

import (
	"maps"
	"slices"

	"github.com/gangplan/gangplan/internal/scenario"
)

// convertQueues turns quotas into queues; only the resources that are listed are checked.
// A cohort is the name all queues share, or an object with quota of its own.
func (c *scenarioCase) convertQueues(f *scenario.File, policy string) error {
	names := make([]string, 0, len(c.Queues))
	for name := range c.Queues {
		names = append(names, name)
	}
	slices.Sort(names)
	shared := text(c.Queues["cohort"])
	if own, ok := c.Queues["cohort"].(map[string]any); ok {
		shared = "cohort"
		f.Cohorts = append(f.Cohorts, scenario.Cohort{Name: shared, Quota: quotaOf(own)})
	}
	for _, name := range names {
		if name == "cohort" {
			continue
		}
		q, ok := c.Queues[name].(map[string]any)
		if !ok {
			return cannot("the queue %v", c.Queues[name])
		}
		if name == "root" {
			return c.convertTree(f, q)
		}
		q = maps.Clone(q)
		if p, ok := q["preemption"].(map[string]any); ok { // the same words, one level down
			delete(q, "preemption")
			maps.Copy(q, p)
		}
		for _, limit := range []string{"lending_limit", "borrowing_limit"} {
			if v := c.Config[name+"."+limit]; v != nil {
				q[limit] = v
			}
		}
		queue, err := convertQueue(name, shared, q)
		if err != nil {
			return err
		}
		if policy == "kueue-fair-sharing" && queue.Preemption == nil {
			queue.Preemption = &scenario.Preemption{ReclaimWithinCohort: "Any"}
		}
		f.Queues = append(f.Queues, *queue)
	}
	return nil
}

func convertQueue(name, cohort string, q map[string]any) (*scenario.Queue, error) {
	err := onlyKeys("queue", q, "quota_gpus", "quota_slots", "quota_cpus", "cohort", "borrowing_limit", "lending_limit",
		"withinClusterQueue", "reclaimWithinCohort", "borrowWithinCohort")
	if err != nil {
		return nil, err
	}
	out := &scenario.Queue{Name: name, Cohort: cohort, Quota: quotaOf(q)}
	if own := text(q["cohort"]); own != "" {
		out.Cohort = own
	}
	if q["borrowing_limit"] != nil {
		out.BorrowingLimit = &scenario.Quota{GPU: milli(q["borrowing_limit"])}
	}
	if q["lending_limit"] != nil {
		out.LendingLimit = &scenario.Quota{GPU: milli(q["lending_limit"])}
	}
	p := scenario.Preemption{WithinClusterQueue: text(q["withinClusterQueue"]), ReclaimWithinCohort: text(q["reclaimWithinCohort"])}
	if policy := text(q["borrowWithinCohort"]); policy != "" {
		p.BorrowWithinCohort = &scenario.BorrowWithinCohort{Policy: policy}
	}
	if p != (scenario.Preemption{}) {
		out.Preemption = &p
	}
	return out, nil
}

func quotaOf(q map[string]any) *scenario.Quota {
	quota := &scenario.Quota{GPU: milli(q["quota_gpus"]), CPU: milli(q["quota_cpus"])}
	if q["quota_slots"] != nil {
		quota.GPU = milli(q["quota_slots"])
	}
	return quota
}

// convertTree turns a tree of cohorts into queues: a cohort has a weight and queues with
// theirs, a queue a quota. Queues may reclaim from each other.
func (c *scenarioCase) convertTree(f *scenario.File, tree map[string]any) error {
	reclaim := &scenario.Preemption{ReclaimWithinCohort: "Any"}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		node, _ := tree[name].(map[string]any)
		queues, isCohort := node["queues"].(map[string]any)
		if !isCohort {
			f.Queues = append(f.Queues, scenario.Queue{Name: name, Cohort: "root", Quota: quotaOf(node), Preemption: reclaim})
			continue
		}
		f.Cohorts = append(f.Cohorts, scenario.Cohort{Name: name, Parent: "root", FairWeight: new(number(node["weight"]))})
		for _, q := range slices.Sorted(maps.Keys(queues)) {
			f.Queues = append(f.Queues, scenario.Queue{Name: q, Cohort: name, Quota: &scenario.Quota{GPU: new(scenario.Milli)},
				FairWeight: new(number(queues[q])), Preemption: reclaim})
		}
	}
	return nil
}
