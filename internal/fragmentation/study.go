package fragmentation

import (
	"context"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/gangplan/gangplan/traces"
)

// NodeList is the file of the nodes in a folder with the openb lists.
const NodeList = "openb_node_list_gpu_node.csv"

// PodList is the file of a workload's pods.
func PodList(workload string) string { return "openb_pod_list_" + workload + ".csv" }

// Open reads the list of nodes and a list of pods of a folder.
func Open(folder, pods string) (*Workload, error) {
	nodes, err := traces.OpenOpenbNodes(filepath.Join(folder, NodeList))
	if err != nil {
		return nil, err
	}
	list, err := traces.OpenOpenbPods(filepath.Join(folder, pods))
	if err != nil {
		return nil, err
	}
	return NewWorkload(nodes, list)
}

// Study is every workload under every policy from every seed.
type Study struct {
	Workloads []string
	Policies  []string
	Seeds     []int64
	Ratio     float64
}

// Curve is the mean of a workload's runs under a policy.
type Curve struct {
	Workload, Policy string
	Points           []Point
}

// Play plays a study on the lists of a folder, on all processors. Curves are in the order
// of the workloads, then the policies.
func (s *Study) Play(ctx context.Context, folder string) ([]Curve, error) {
	workloads := make([]*Workload, len(s.Workloads))
	for i, name := range s.Workloads {
		var err error
		if workloads[i], err = Open(folder, PodList(name)); err != nil {
			return nil, err
		}
	}
	seeds, policies := len(s.Seeds), len(s.Policies)
	runs := make([][]Point, len(workloads)*policies*seeds)
	Parallel(len(runs), func(i int) {
		if ctx.Err() == nil {
			curve, seed := i/seeds, s.Seeds[i%seeds]
			runs[i] = workloads[curve/policies].Run(s.Policies[curve%policies], seed, s.Ratio).Points()
		}
	})
	var curves []Curve
	for c := range len(workloads) * policies {
		curves = append(curves, Curve{s.Workloads[c/policies], s.Policies[c%policies], Means(runs[c*seeds : (c+1)*seeds])})
	}
	return curves, ctx.Err()
}

// Means is the mean of some runs at every percentage at which a run has numbers.
func Means(runs [][]Point) []Point {
	var sums [Arrived]Point
	var counts [Arrived]int
	for _, run := range runs {
		for _, p := range run {
			sum := &sums[p.Arrived]
			sum.Allocated += p.Allocated
			sum.FragmentAmount += p.FragmentAmount
			sum.FragmentRatio += p.FragmentRatio
			counts[p.Arrived]++
		}
	}
	var out []Point
	for q, n := range counts {
		if n > 0 {
			k := float64(n)
			out = append(out, Point{q, sums[q].Allocated / k, sums[q].FragmentAmount / k, sums[q].FragmentRatio / k})
		}
	}
	return out
}

// At returns the point at a percentage, if there is one.
func (c *Curve) At(arrived int) (Point, bool) {
	for _, p := range c.Points {
		if p.Arrived == arrived {
			return p, true
		}
	}
	return Point{}, false
}

// Parallel calls f for 0 to n-1 on all processors.
func Parallel(n int, f func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}
