package plots

import (
	"cmp"
	"slices"

	"github.com/gangplan/gangplan/report/figure"
)

// extend leads all lines to the right end, which all panels share.
func extend(p *figure.Panel, end float64) {
	p.X.Min, p.X.Max = 1, end
	some := false
	for i := range p.Lines {
		if points := p.Lines[i].Points; len(points) > 0 {
			some = true
			p.Lines[i].Points = append(points, figure.Point{X: end, Y: points[len(points)-1].Y})
		}
	}
	if !some {
		p.Empty = "no job with an all-reduce ran"
	}
}

// factor is one way to look at how much slower jobs communicate.
type factor struct {
	title  string
	metric string
	of     func(*job) float64
}

var factors = []factor{
	{"all-reduce slowdown", "allreduce_slowdown", func(j *job) float64 { return j.allReduce }},
	{"the part of it that placements make", "locality_slowdown", func(j *job) float64 { return j.locality }},
	{"the part of it that neighbours make", "contention_slowdown", func(j *job) float64 { return j.contention }},
}

// slowdownCDF draws the slowdown and, where neighbours have a part in it, both its parts.
func slowdownCDF(in *Input, _ *Options) (*figure.Chart, error) {
	jobs, err := readAllJobs(in)
	if err != nil {
		return nil, err
	}
	c := &figure.Chart{Title: slowdownTitle(in), Caption: "Over jobs that ran and have an all-reduce, weighted by their GPU-time: all-reduce time over that of the job's best placement on an idle fabric."}
	most := 1.0
	for i, f := range factors {
		p := figure.Panel{Title: f.title, X: figure.Axis{Label: "times slower (log scale)", Scale: figure.Log, Format: times}, Y: figure.Axis{Label: "GPU-time (%)", Max: 100}}
		far := 1.0
		for k := range jobs {
			p.Lines = append(p.Lines, weightedLine(in.Runs[k].Label, jobs[k], f.of))
			for _, at := range p.Lines[k].Points {
				far = max(far, at.X)
			}
		}
		if most = max(most, far); far == 1 && i > 0 && most > 1 {
			c.Caption += " " + nothingOf[i]
			continue
		}
		c.Panels = append(c.Panels, p)
	}
	for i := range c.Panels {
		extend(&c.Panels[i], most)
	}
	if len(c.Panels) == 1 {
		c.Panels[0].Title = ""
	}
	return labelBelow(c), nil
}

// nothingOf says of a factor that it is 1 everywhere.
var nothingOf = []string{"", "Placements have no part in it.", "Neighbours have no part in it."}

func times(v float64) string { return number(v) + "×" }

// weightedLine is the share of GPU-time that runs up to so much slower, in percent.
func weightedLine(name string, jobs []job, of func(*job) float64) figure.Line {
	var have []*job
	all := 0.0
	for i := range jobs {
		if of(&jobs[i]) > 0 && jobs[i].run > 0 {
			have = append(have, &jobs[i])
		}
	}
	slices.SortStableFunc(have, func(a, b *job) int { return cmp.Compare(of(a), of(b)) })
	for _, j := range have {
		all += float64(j.gpus * j.run)
	}
	l := figure.Line{Name: name, Steps: true}
	sum := 0.0
	for i, j := range have {
		if i == 0 {
			l.Points = append(l.Points, figure.Point{X: max(1, of(j))})
		}
		if sum += float64(j.gpus * j.run); i+1 == len(have) || of(have[i+1]) > of(j) {
			l.Points = append(l.Points, figure.Point{X: max(1, of(j)), Y: min(100, 100*sum/all)})
		}
	}
	return l
}

func slowdownTitle(in *Input) string {
	var told []said
	for _, r := range in.Runs {
		if v, ok := r.Summary.Metrics.Get("allreduce_slowdown.p95"); ok {
			told = append(told, said{r.Label, times(v), v})
		}
	}
	if len(told) == 0 {
		return "No job with an all-reduce ran"
	}
	return "95% of GPU-time has an all-reduce slowdown of at most " + telling(told)
}
