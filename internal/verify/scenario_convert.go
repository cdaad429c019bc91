package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
)

// convert writes a case as a scenario file for one of its policies.
func (c *scenarioCase) convert(policy string) (*scenario.File, error) {
	f := &scenario.File{APIVersion: scenario.APIVersion, Kind: scenario.Kind, Name: c.ID}
	for _, step := range []func(*scenario.File) error{
		func(f *scenario.File) error { return convertPolicy(f, policy) },
		c.convertCluster, func(f *scenario.File) error { return c.convertQueues(f, policy) }, func(f *scenario.File) error { return c.convertJobs(f, policy) }, c.convertConfig,
	} {
		if err := step(f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// convertPolicy reads the names under which the file knows policies.
func convertPolicy(f *scenario.File, name string) error {
	base, variant, _ := strings.Cut(name, "/")
	p := scenario.Policy{Params: map[string]string{}}
	placement := func(algo string) {
		p.Name, p.Params["mode"], p.Params["placement"] = "gang-topology", "unconstrained", algo
	}
	base, _, _ = strings.Cut(base, " (min ")
	switch base = strings.TrimSuffix(strings.TrimSuffix(base, " (no timeout)"), "+waitForPodsReady"); base {
	case "pod-default":
		p.Name = "per-pod"
		if variant != "" {
			p.Params["profile"] = variant
		}
	case "gang-quota":
		p.Name = "gang"
		setStrategy(&p, variant)
	case "gang-placement":
		placement("BestFit")
		setStrategy(&p, variant)
	case "kueue-classic", "kueue-fair-sharing", "rigid", "partial admission":
		p.Name = "gang"
		setStrategy(&p, variant)
		if base == "kueue-fair-sharing" {
			p.Params["fairSharing"] = "on"
		}
	case "any", "gang (any)", "StrictFIFO", "FIFO":
		placement("BestFit")
		setStrategy(&p, "StrictFIFO")
	case "BestEffortFIFO":
		placement("BestFit")
		setStrategy(&p, "BestEffortFIFO")
	default:
		base = strings.TrimSuffix(base, "+preemption") // which the queue says
		if base != "gang-topology" && !strings.HasPrefix(base, "TAS ") {
			return cannot("policy %q", name)
		}
		if err := topologyPolicy(&p, base, variant); err != nil {
			return err
		}
	}
	f.Policies = []scenario.Policy{p}
	return nil
}

func setStrategy(p *scenario.Policy, strategy string) {
	if strategy != "" {
		p.Params["strategy"] = strategy
	}
}

func (c *scenarioCase) convertCluster(f *scenario.File) error {
	switch {
	case c.Cluster["racks"] != nil && onlyKeys("cluster", c.Cluster, "racks") == nil:
		return convertRacks(f, c.Cluster["racks"])
	case c.Cluster["leaf_groups"] != nil && onlyKeys("cluster", c.Cluster, "leaf_groups", "superpods", "gpus_per_host") == nil:
		return c.convertGroups(f)
	}
	if err := onlyKeys("cluster", c.Cluster, "nodes"); err != nil {
		return err
	}
	if n, ok := c.Cluster["nodes"].(float64); ok {
		f.Cluster.Nodes = []scenario.Node{{Name: "n", Count: int(n), GPUs: 1}}
		return nil
	}
	list, ok := c.Cluster["nodes"].([]any)
	if !ok {
		return cannot("a cluster without a list of nodes")
	}
	for i, raw := range list {
		n, err := convertNode(raw, i)
		if err != nil {
			return err
		}
		f.Cluster.Nodes = append(f.Cluster.Nodes, n)
	}
	return nil
}

// convertNode reads a node; one without a name is called by its position.
func convertNode(raw any, i int) (scenario.Node, error) {
	node, ok := raw.(map[string]any)
	if !ok {
		return scenario.Node{}, cannot("a node that is no object")
	}
	if err := onlyKeys("node", node, "name", "gpus", "slots", "count", "cpus", "max_pods"); err != nil {
		return scenario.Node{}, err
	}
	name := text(node["name"])
	if name == "" {
		name = "n" + strconv.Itoa(i+1)
	}
	n := scenario.Node{Name: name, GPUs: int(number(node["gpus"]) + number(node["slots"])),
		Count: int(number(node["count"])), Pods: int64(number(node["max_pods"]))}
	if cpus := milli(node["cpus"]); cpus != nil {
		n.CPU = *cpus
	}
	return n, nil
}

func (c *scenarioCase) convertJobs(f *scenario.File, policy string) error {
	for _, raw := range c.Jobs {
		jobs, err := expand(raw)
		if err != nil {
			return err
		}
		c.deal(f, jobs)
		for _, job := range jobs {
			if policy == "rigid" {
				job = maps.Clone(job)
				delete(job, "min_pods")
				delete(job, "scales")
			}
			converted, err := convertJob(job)
			if err != nil {
				return err
			}
			f.Workload.Jobs = append(f.Workload.Jobs, *converted)
		}
	}
	if len(f.Workload.Jobs) == 0 {
		return cannot("no jobs to run")
	}
	return nil
}

// deal pins jobs to nodes where the file says "7 on each": the first seven to the first
// node, and so on.
func (c *scenarioCase) deal(f *scenario.File, jobs []map[string]any) {
	var each int
	for k, job := range jobs {
		if n, err := fmt.Sscanf(text(job["node"]), "%d on each", &each); n == 1 && err == nil && k/max(1, each) < len(f.Cluster.Nodes) {
			job["node"] = f.Cluster.Nodes[k/max(1, each)].Name
		}
	}
}

// expand turns a template with a range of k into its jobs.
func expand(raw map[string]any) ([]map[string]any, error) {
	template, ok := raw["template"].(string)
	if !ok {
		return []map[string]any{raw}, nil
	}
	if raw["k"] == nil {
		if jobs, err := sentenceJobs(template); jobs != nil || err != nil {
			return jobs, err
		}
	}
	var from, to int
	text, _ := raw["k"].(string)
	if n, err := fmt.Sscanf(text, "%d..%d", &from, &to); n != 2 || err != nil || to-from > 100_000 {
		return nil, cannot("a template over k = %v", raw["k"])
	}
	var out []map[string]any
	for k := from; k <= to; k++ {
		job := map[string]any{}
		for key, value := range raw {
			job[key] = value
		}
		delete(job, "template")
		delete(job, "k")
		job["id"] = strings.ReplaceAll(template, "{k}", strconv.Itoa(k))
		if formula, ok := raw["submit"].(string); ok {
			var factor float64
			if n, err := fmt.Sscanf(formula, "%g*k", &factor); n != 1 || err != nil {
				return nil, cannot("a submit time of %q", formula)
			}
			job["submit"] = factor * float64(k)
		}
		out = append(out, job)
	}
	return out, nil
}

func convertJob(job map[string]any) (*scenario.Job, error) {
	err := onlyKeys("job", job, "id", "submit", "pods", "gpus_per_pod", "cpus_per_pod", "duration", "queue", "user",
		"priority", "node", "never_ready", "checkpoint_interval", "checkpoint_cost", "topology", "min_pods", "scales", "pod_failure")
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"submit", "pods", "gpus_per_pod", "duration"} {
		if _, ok := job[key].(float64); !ok && (job[key] != nil || key != "submit") {
			return nil, cannot("a job whose %s is %v", key, job[key])
		}
	}
	if node, _ := job["node"].(string); strings.Contains(node, " ") {
		return nil, cannot("a job whose node is %q", node)
	}
	out := &scenario.Job{ID: text(job["id"]), Submit: seconds(job["submit"]), Duration: seconds(job["duration"]),
		Queue: text(job["queue"]), Tenant: text(job["user"]), Priority: int32(number(job["priority"])),
		Pods: scenario.Pods{Pods: int32(number(job["pods"])), GPUsPerPod: milli(job["gpus_per_pod"]),
			CPUPerPod: milli(job["cpus_per_pod"]), Node: text(job["node"])}}
	if out.Pods.Topology, err = convertTopology(job["topology"]); err != nil {
		return nil, err
	}
	if job["never_ready"] == true {
		out.Pods.NeverReady = scenario.AllPods
	}
	if err := convertElastic(job, out); err != nil {
		return nil, err
	}
	if job["checkpoint_interval"] != nil {
		out.Checkpoint = &scenario.Checkpoint{Interval: seconds(job["checkpoint_interval"]), Cost: seconds(job["checkpoint_cost"])}
	}
	return out, nil
}

func (c *scenarioCase) convertConfig(f *scenario.File) error {
	err := onlyKeys("config", c.Config, "horizon", "wait_for_pods_ready", "waitForPodsReady", "pod_creation_order",
		"tie_break", "list_order_is_queue_order", "timestamp", "timeout", "backoffBaseSeconds", "binding", "blockAdmission",
		"priority_sorting_within_cohort", "B.lending_limit", "A.borrowing_limit", "none", "steady_state", "preemptionStrategies", "one_at_a_time", "repeat", "permute_input_order", "runs", "machines", "threads", "constraint", "resource", "note", "quantile", "seed", "recoveryTimeout", "requeue_blocked_for_S")
	if err != nil {
		return err
	}
	if constraint := c.Config["constraint"]; constraint != nil && constraint != "unconstrained" {
		return cannot("the constraint %v", constraint)
	}
	if quantile := c.Config["quantile"]; quantile != nil && quantile != "nearest rank" {
		return cannot("quantiles by %v", quantile)
	}
	if horizon, ok := c.Config["horizon"].(float64); ok {
		f.Until = seconds(horizon)
	}
	for _, block := range c.Expect {
		if of, _ := block.(map[string]any); of[idleFirstHour] != nil {
			f.Until = 3600e9
		}
	}
	if c.Config["priority_sorting_within_cohort"] == false {
		f.Policies[0].Params["sorting"] = "age"
	}
	order := cmp.Or(text(c.Config["pod_creation_order"]), text(c.Config["binding"]))
	if strings.HasPrefix(order, "interleaved") || strings.HasPrefix(order, "round-robin") {
		f.PodCreation = "interleaved"
	} else if order != "" && order != "job-by-job" {
		return cannot("the pod creation order %q", order)
	}
	return c.convertReadiness(f)
}

// kueueTimeout is the readiness timeout, in seconds, where a case says only what follows it.
const kueueTimeout = 300.0

func (c *scenarioCase) convertReadiness(f *scenario.File) error {
	given, ok := c.Config["waitForPodsReady"].(map[string]any)
	if !ok && c.Config["timeout"] == nil && c.Config["recoveryTimeout"] == nil {
		return nil
	}
	if !ok {
		given = map[string]any{"timeout": cmp.Or(c.Config["timeout"], any(kueueTimeout)), "recoveryTimeout": c.Config["recoveryTimeout"], "requeuing": map[string]any{
			"timestamp": c.Config["timestamp"], "backoffBaseSeconds": c.Config["backoffBaseSeconds"]}}
	}
	if err := onlyKeys("waitForPodsReady", given, "timeout", "recoveryTimeout", "requeuing", "jitter"); err != nil {
		return err
	}
	requeuing, _ := given["requeuing"].(map[string]any)
	err := onlyKeys("requeuing", requeuing, "timestamp", "backoffBaseSeconds", "backoffMaxSeconds", "backoffLimitCount")
	if err != nil {
		return err
	}
	f.WaitForPodsReady = &scenario.WaitForPodsReady{Timeout: seconds(given["timeout"]),
		RequeuingStrategy: scenario.RequeuingStrategy{Timestamp: text(requeuing["timestamp"]),
			BackoffBaseSeconds: whole[int64](requeuing["backoffBaseSeconds"]),
			BackoffMaxSeconds:  whole[int64](requeuing["backoffMaxSeconds"]),
			BackoffLimitCount:  whole[int32](requeuing["backoffLimitCount"])}}
	if given["recoveryTimeout"] != nil {
		f.WaitForPodsReady.RecoveryTimeout = new(seconds(given["recoveryTimeout"]))
	}
	f.WaitForPodsReady.BlockAdmission = new(c.Config["blockAdmission"] == true)
	return nil
}

// onlyKeys refuses what the converter does not know, by name.
func onlyKeys(what string, given map[string]any, known ...string) error {
	var strange []string
	for key := range given {
		if !slices.Contains(known, key) {
			strange = append(strange, key)
		}
	}
	if len(strange) > 0 {
		slices.Sort(strange)
		return cannot("%s: %s", what, strings.Join(strange, ", "))
	}
	return nil
}

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func seconds(v any) scenario.Duration { return scenario.Duration(math.Round(number(v) * 1e9)) }

func milli(v any) *scenario.Milli {
	f, ok := v.(float64)
	if !ok {
		return nil
	}
	return new(scenario.Milli(math.Round(f * 1000)))
}

func whole[T int32 | int64](v any) *T {
	f, ok := v.(float64)
	if !ok {
		return nil
	}
	return new(T(f))
}
