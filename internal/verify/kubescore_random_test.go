package verify

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// plainKube answers a case from the words of kube-scheduler's documentation, node by node and
// plugin by plugin, without a line of the code that is tested.
func plainKube(c *kubeCase) kubeAnswer {
	out := kubeAnswer{Feasible: []string{}}
	counts := map[string]int{}
	var feasible []kubeNode
	for _, n := range c.Nodes {
		if why := plainReasons(n, c.Pod); len(why) > 0 {
			if out.Infeasible == nil {
				out.Infeasible = map[string][]string{}
			}
			out.Infeasible[n.Name] = why
			for _, w := range why {
				counts[w]++
			}
			continue
		}
		feasible = append(feasible, n)
		out.Feasible = append(out.Feasible, n.Name)
	}
	slices.Sort(out.Feasible)
	if len(feasible) > 0 {
		plainScores(c, feasible, &out)
		return out
	}
	var parts []string
	for _, w := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprint(counts[w], " ", w))
	}
	slices.Sort(parts)
	out.Err = fmt.Sprintf("0/%d nodes are available: %s.", len(c.Nodes), strings.Join(parts, ", "))
	return out
}

func plainReasons(n kubeNode, pod kubePod) (why []string) {
	if n.Unschedulable {
		return []string{"node(s) were unschedulable"}
	}
	if n.Taint == "NoSchedule" || n.Taint == "NoExecute" {
		return []string{"node(s) had untolerated taint(s)"}
	}
	var used kubePod
	for _, e := range n.Existing {
		used.CPU, used.Memory, used.GPU = used.CPU+e.CPU, used.Memory+e.Memory, used.GPU+e.GPU
	}
	if int64(len(n.Existing))+1 > n.PodsCap {
		why = append(why, "Too many pods")
	}
	for _, r := range []struct {
		name              string
		want, used, alloc int64
	}{{"cpu", pod.CPU, used.CPU, n.Alloc.CPU}, {"memory", pod.Memory, used.Memory, n.Alloc.Memory}, {"nvidia.com/gpu", pod.GPU, used.GPU, n.Alloc.GPU}} {
		if r.want > 0 && r.want+r.used > r.alloc {
			why = append(why, "Insufficient "+r.name)
		}
	}
	return why
}

func plainScores(c *kubeCase, nodes []kubeNode, out *kubeAnswer) {
	out.Scores = map[string]kubeRated{}
	soft := 0
	for _, n := range nodes {
		if n.Taint == "PreferNoSchedule" {
			soft = 1
		}
	}
	best := int64(-1)
	for _, n := range nodes {
		plugins := map[string]int64{"ImageLocality": 0, "TaintToleration": 300, "NodeResourcesFit": plainFit(c, n)}
		if soft == 1 && n.Taint == "PreferNoSchedule" {
			plugins["TaintToleration"] = 0
		}
		if c.Pod.CPU > 0 || c.Pod.Memory > 0 {
			plugins["NodeResourcesBalancedAllocation"] = plainBalance(c, n)
		}
		total := int64(0)
		for _, s := range plugins {
			total += s
		}
		out.Scores[n.Name] = kubeRated{total, plugins}
		if total > best {
			best, out.Best = total, nil
		}
		if total == best {
			out.Best = append(out.Best, n.Name)
		}
	}
	slices.Sort(out.Best)
}

// plainFit is LeastAllocated over CPU and memory, or MostAllocated over GPU (5), CPU and memory.
func plainFit(c *kubeCase, n kubeNode) int64 {
	var cpu, memory, gpu int64
	for _, p := range append(slices.Clone(n.Existing), c.Pod) {
		if p.CPU == 0 {
			p.CPU = 100
		}
		if p.Memory == 0 {
			p.Memory = 200
		}
		cpu, memory, gpu = cpu+p.CPU, memory+p.Memory, gpu+p.GPU
	}
	var sum, weights int64
	add := func(used, alloc, weight int64) {
		if alloc == 0 {
			return
		}
		weights += weight
		switch {
		case c.Profile == "default" && used > alloc:
		case c.Profile == "default":
			sum += weight * ((alloc - used) * 100 / alloc)
		default:
			sum += weight * (min(used, alloc) * 100 / alloc)
		}
	}
	if c.Profile != "default" && c.Pod.GPU > 0 {
		add(gpu, n.Alloc.GPU, 5)
	}
	add(cpu, n.Alloc.CPU, 1)
	add(memory, n.Alloc.Memory, 1)
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// plainBalance is 100 less half the distance of the two fractions that are requested.
func plainBalance(c *kubeCase, n kubeNode) int64 {
	cpu, memory := c.Pod.CPU, c.Pod.Memory
	for _, p := range n.Existing {
		cpu, memory = cpu+p.CPU, memory+p.Memory
	}
	var f []float64
	for _, r := range [][2]int64{{cpu, n.Alloc.CPU}, {memory << 20, n.Alloc.Memory << 20}} {
		if r[1] > 0 {
			f = append(f, min(1, float64(r[0])/float64(r[1])))
		}
	}
	if len(f) < 2 {
		return 100
	}
	return int64((1 - math.Abs((f[0]-f[1])/2)) * 100)
}

// randomCase draws what the recorded cases have, and more of the odd: nodes without CPU or
// memory, pods that ask for nothing, nodes full to the last pod.
func randomCase(r *rand.Rand, id int) kubeCase {
	one := func(list ...int64) int64 { return list[r.IntN(len(list))] }
	pod := func() kubePod {
		return kubePod{one(0, 0, 100, 250, 1000, 1500, 4000, 12000, 7999), one(0, 0, 1, 200, 512, 1024, 8192, 65537), one(0, 0, 0, 1, 1, 2, 4, 8)}
	}
	c := kubeCase{ID: fmt.Sprint(id), Profile: []string{"default", "most-allocated-gpu"}[r.IntN(2)], Pod: pod()}
	for i := range 1 + r.IntN(40) {
		n := kubeNode{Name: fmt.Sprintf("n%03d", i), PodsCap: one(0, 1, 3, 16, 110, 250), Unschedulable: r.IntN(15) == 0,
			Alloc: kubePod{one(0, 1000, 4000, 15890, 64000, 128000), one(0, 1024, 57344, 262144, 1<<20), one(0, 1, 2, 4, 8)}}
		if r.IntN(5) == 0 {
			n.Taint = []string{"NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"}[r.IntN(4)]
		}
		for range r.IntN(8) {
			n.Existing = append(n.Existing, pod())
		}
		c.Nodes = append(c.Nodes, n)
	}
	return c
}

func TestKubeScoreRandomCases(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	nobody, several := 0, 0
	for i := range 700 {
		c := randomCase(r, i)
		c.Expected = plainKube(&c)
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		o, err := checkKubeScore(line)
		if err != nil || o.Verdict != Equal {
			t.Fatalf("%s\n%s %s, %v", line, o.Verdict, o.Reason, err)
		}
		if c.Expected.Err != "" {
			nobody++
		} else if len(c.Expected.Best) > 1 {
			several++
		}
	}
	if nobody < 20 || several < 20 {
		t.Errorf("%d cases without a feasible node, %d with several best: the test is too easy", nobody, several)
	}
}
