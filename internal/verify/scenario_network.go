package verify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
)

// A network scenario has racks instead of a list of nodes, and jobs in steps. Each of its
// expectations is a run of its own that says where the pods stand or which jobs there are.
// The pods are pinned, the network has no latency, NVLink is so fast that it does not
// matter, and ranks reduce inside their host first.

func (c *scenarioCase) isNetwork() bool { return c.Cluster["nic_GBps"] != nil }

// answerNetwork runs every variant and answers it in the form it is asked.
func (c *scenarioCase) answerNetwork(policy string) (map[string]any, error) {
	got := map[string]any{}
	for variant, want := range c.Expect {
		asked, ok := want.(map[string]any)
		if !ok {
			return nil, cannot("the expectation %s of a network", variant)
		}
		answer, err := c.runNetwork(policy, variant, asked)
		if err != nil {
			return nil, err
		}
		got[variant] = answer
	}
	return got, nil
}

func (c *scenarioCase) runNetwork(policy, variant string, asked map[string]any) (map[string]any, error) {
	f := &scenario.File{APIVersion: scenario.APIVersion, Kind: scenario.Kind, Name: c.ID}
	if err := convertPolicy(f, policy); err != nil {
		return nil, err
	}
	n, err := c.convertNetwork(f)
	if err != nil {
		return nil, err
	}
	jobs := c.Jobs
	if variant == "alone" {
		jobs = jobs[:1]
	}
	for i, job := range jobs {
		converted, err := n.job(job, n.hostsOf(job, variant, i))
		if err != nil {
			return nil, err
		}
		f.Workload.Jobs = append(f.Workload.Jobs, *converted)
	}
	r, err := c.runFile(f)
	if err != nil {
		return nil, err
	}
	return measureNetwork(r, jobs[0], asked)
}

// network is the cluster of such a scenario.
type network struct{ racks, nodes int }

func (c *scenarioCase) convertNetwork(f *scenario.File) (network, error) {
	err := onlyKeys("cluster", c.Cluster, "racks", "nodes_per_rack", "nic_GBps", "uplink", "uplink_GBps_total")
	if err != nil {
		return network{}, err
	}
	n := network{int(number(c.Cluster["racks"])), 4}
	if given := number(c.Cluster["nodes_per_rack"]); given > 0 {
		n.nodes = int(given)
	}
	nic := number(c.Cluster["nic_GBps"])
	var up scenario.Uplink
	if total := number(c.Cluster["uplink_GBps_total"]); total > 0 {
		up.Oversubscription = nic * float64(n.nodes) / total
	}
	if text := text(c.Cluster["uplink"]); text != "" {
		read, err := fmt.Sscanf(text, "%g:1 oversubscribed, %g GB/s per node across racks", &up.Oversubscription, &up.HostGBps)
		if read != 2 || err != nil {
			return n, cannot("an uplink of %q", text)
		}
	}
	f.Cluster.Synthetic = &scenario.Synthetic{Counts: map[string]int{"racks": n.racks, "hosts": n.nodes}, GPUs: 8}
	f.Cluster.Levels = []string{"rack", "host"}
	f.Fabric = &scenario.Fabric{Profile: "custom", DomainBusGBps: 400, NICs: 1, NICGBps: nic, Algorithm: "hierarchical",
		Levels: map[string]scenario.Uplink{"rack": up}}
	if c.Config["phases_aligned"] == true {
		f.Fabric.Contention = "flow"
	}
	return n, nil
}

// hostsOf lists the hosts of a job's pods in rank order, by the words of the variant or of
// the job: all in its first racks, or evenly over all racks; each job has hosts of its own.
func (n network) hostsOf(job map[string]any, variant string, index int) []int {
	pods := int(number(job["pods"]))
	perRack := pods
	if variant == "across racks" || strings.HasSuffix(text(job["placement"]), "nodes in each rack") {
		perRack = pods / n.racks
	}
	var hosts []int
	for i := range pods {
		hosts = append(hosts, i/perRack*n.nodes+index*perRack+i%perRack)
	}
	return hosts
}

func (n network) job(job map[string]any, hosts []int) (*scenario.Job, error) {
	err := onlyKeys("job", job, "id", "submit", "pods", "gpus_per_pod", "steps", "compute_per_step", "allreduce_GB", "overlap", "placement")
	if err != nil {
		return nil, err
	}
	overlap := number(job["overlap"])
	out := &scenario.Job{ID: text(job["id"]), Submit: seconds(job["submit"]), Steps: int64(number(job["steps"])),
		Model: &scenario.Model{GradientGB: number(job["allreduce_GB"]), Compute: seconds(job["compute_per_step"]), Overlap: &overlap}}
	width := len(strconv.Itoa(n.racks*n.nodes - 1))
	for i, h := range hosts {
		if h >= n.racks*n.nodes {
			return nil, cannot("the hosts of %s", out.ID)
		}
		out.PodSets = append(out.PodSets, scenario.PodSet{Name: "p" + strconv.Itoa(i),
			Pods: scenario.Pods{Pods: 1, GPUsPerPod: milli(job["gpus_per_pod"]), Node: fmt.Sprintf("host-%0*d", width, h)}})
	}
	return out, nil
}

// measureNetwork measures the first job; the ideal is what its work says.
func measureNetwork(r *ran, job map[string]any, asked map[string]any) (map[string]any, error) {
	row := &r.result.Jobs[0]
	for i := range r.result.Jobs {
		if r.result.Jobs[i].Finish != row.Finish {
			return nil, cannot("jobs that end at different times")
		}
	}
	duration, ideal := float64(row.Finish-row.FirstStart)/1e9, float64(row.Work)/1e9
	step := duration / number(job["steps"])
	values := map[string]float64{
		"duration": duration, "step_s": step, "allreduce_s": step - number(job["compute_per_step"]),
		"slowdown": duration / ideal, "extra_gpu_hours": (duration - ideal) * float64(row.GPUs) / 1000 / 3600,
	}
	got := map[string]any{}
	for key, want := range asked {
		v, ok := values[key]
		if !ok {
			return nil, cannot("the expectation %s is not measured", key)
		}
		got[key] = roundedLike(v, number(want))
	}
	return got, nil
}

// roundedLike rounds to as many decimals as the expectation is written with, but times to
// the nanosecond at the least.
func roundedLike(v, want float64) float64 {
	_, decimals, _ := strings.Cut(strconv.FormatFloat(want, 'f', -1, 64), ".")
	digits := len(decimals)
	if !slices.Contains([]int{2, 4}, digits) {
		digits = 9
	}
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}
