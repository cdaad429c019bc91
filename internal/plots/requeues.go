package plots

import (
	"strings"

	"github.com/gangplan/gangplan/report/figure"
	"github.com/gangplan/gangplan/sim"
)

// bins of how often a job was requeued; each begins where the one before ends.
var bins = []struct {
	name string
	most int64
}{{"1", 1}, {"2", 2}, {"3 to 4", 4}, {"5 to 8", 8}, {"9 to 16", 16}, {"17 to 64", 64}, {"more", 1 << 62}}

// requeues draws how often jobs were requeued beside what evicted them.
func requeues(in *Input, _ *Options) (*figure.Chart, error) {
	jobs, err := readAllJobs(in)
	if err != nil {
		return nil, err
	}
	how, why := jobsByRequeues(in, jobs), evictionsByCause(in, jobs)
	c := &figure.Chart{Columns: 2, Title: requeueTitle(in, jobs), Caption: "Left: jobs by how often they were requeued; those that never were are left out. Right: evictions by cause."}
	left := figure.Panel{Title: "how often", X: figure.Axis{Label: "jobs", Whole: true}, Y: figure.Axis{Label: "requeues of a job"}, Bars: how}
	right := figure.Panel{Title: "why", X: figure.Axis{Label: "evictions", Whole: true}, Bars: why}
	if len(how.Categories) == 0 {
		left = figure.Panel{Title: "how often", Empty: "no job was requeued"}
	}
	if len(why.Categories) == 0 {
		right = figure.Panel{Title: "why", Empty: "no job was evicted"}
	}
	c.Panels = []figure.Panel{left, right}
	return c, nil
}

// byRun makes bars with a layer per run from a number per category and run; categories in
// which all are 0 are left out if trim says so, and at the end in any case.
func byRun(in *Input, names []string, of func(category, run int) int64, trim bool) *figure.Bars {
	b := &figure.Bars{Grouped: true}
	any := func(k int) bool {
		for i := range in.Runs {
			if of(k, i) > 0 {
				return true
			}
		}
		return false
	}
	last := len(names) - 1
	for last >= 0 && !any(last) {
		last--
	}
	b.Layers = make([]figure.Layer, len(in.Runs))
	for i := range in.Runs {
		b.Layers[i] = figure.Layer{Name: in.Runs[i].Label, Color: figure.Style(i), Texts: []string{}}
	}
	for k := 0; k <= last; k++ {
		if trim && !any(k) {
			continue
		}
		b.Categories = append(b.Categories, names[k])
		for i := range in.Runs {
			n := of(k, i)
			b.Layers[i].Values = append(b.Layers[i].Values, float64(n))
			text := ""
			if n > 0 {
				text = number(float64(n))
			}
			b.Layers[i].Texts = append(b.Layers[i].Texts, text)
		}
	}
	return b
}

func jobsByRequeues(in *Input, jobs [][]job) *figure.Bars {
	counts := make([][]int64, len(jobs))
	names := make([]string, len(bins))
	for i := range jobs {
		counts[i] = make([]int64, len(bins))
		for k := range jobs[i] {
			if n := jobs[i][k].requeues; n > 0 {
				bin := 0
				for n > bins[bin].most {
					bin++
				}
				counts[i][bin]++
			}
		}
	}
	for k := range bins {
		names[k] = bins[k].name
	}
	return byRun(in, names, func(k, i int) int64 { return counts[i][k] }, false)
}

func evictionsByCause(in *Input, jobs [][]job) *figure.Bars {
	counts := make([][sim.NumCauses]int64, len(jobs))
	for i := range jobs {
		for k := range jobs[i] {
			for c, n := range jobs[i][k].evictions {
				counts[i][c] += n
			}
		}
	}
	names := make([]string, sim.NumCauses)
	for c := range sim.NumCauses {
		names[c] = strings.ReplaceAll(c.String(), "_", " ")
	}
	names[sim.CausePodsReady] = "pods not ready in time"
	names[sim.CauseNotice] = "noticed to hang"
	return byRun(in, names, func(k, i int) int64 { return counts[i][k] }, true)
}

func requeueTitle(in *Input, jobs [][]job) string {
	told := make([]said, len(jobs))
	all := int64(0)
	for i := range jobs {
		sum := int64(0)
		for k := range jobs[i] {
			sum += jobs[i][k].requeues
		}
		all += sum
		told[i] = said{in.Runs[i].Label, number(float64(sum)), float64(sum)}
	}
	if all == 0 {
		return "No job was requeued"
	}
	return "Requeues: " + telling(told)
}
