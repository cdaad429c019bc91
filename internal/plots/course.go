package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
	"github.com/gangplan/gangplan/sim/ledger"
)

// course is how something went: amounts within intervals of time that follow each other.
type course[A any] struct {
	edges  []float64 // s; one more than there are intervals
	values []A
}

// mostIntervals is how many can be told apart on paper.
const mostIntervals = 240

// widened joins neighbours, as many as make them few enough: all the same number, so that
// the intervals stay equal.
func (c *course[A]) widened(add func(to *A, more *A)) {
	each := (len(c.values) + mostIntervals - 1) / mostIntervals
	if each < 2 {
		return
	}
	var values []A
	edges := c.edges[:1:1]
	for i := range c.values {
		if i%each == 0 {
			values = append(values, c.values[i])
			edges = append(edges, c.edges[i+1])
			continue
		}
		add(&values[len(values)-1], &c.values[i])
		edges[len(edges)-1] = c.edges[i+1]
	}
	c.edges, c.values = edges, values
}

// seconds is the length of an interval.
func (c *course[A]) seconds(i int) float64 { return c.edges[i+1] - c.edges[i] }

// next returns the values of the interval from one time to another in ns, which is the
// last one or begins where that ends.
func (c *course[A]) next(from, to int64) *A {
	if n := len(c.edges); n == 0 || c.edges[n-1] != float64(to)/1e9 {
		if n == 0 {
			c.edges = append(c.edges, float64(from)/1e9)
		}
		var none A
		c.edges, c.values = append(c.edges, float64(to)/1e9), append(c.values, none)
	}
	return &c.values[len(c.values)-1]
}

// readBooks reads the GPU-hours of a run over time, over all GPU models.
func readBooks(r *Run) (*course[amounts], error) {
	t, err := r.Tables.Ledger("time_ns", "end_ns", "account", "gpu_hours")
	if err != nil {
		return nil, err
	}
	c := &course[amounts]{}
	for i := range t.Rows() {
		from, to := t.Int64s(0)[i], t.Int64s(1)[i]
		if a := accountNamed(t.Strings(2)[i]); a >= 0 && to > from {
			c.next(from, to)[a] += t.Float64s(3)[i]
		}
	}
	c.widened(func(to, more *amounts) {
		for a := range to {
			to[a] += more[a]
		}
	})
	return c, nil
}

// queued is what waits, over all queues, on average over an interval and times its length.
type queued struct{ jobs, gpus float64 }

// readQueues reads what waited in a run over time.
func readQueues(r *Run) (*course[queued], error) {
	t, err := r.Tables.Queues("time_ns", "end_ns", "pending_jobs", "admitted_jobs", "running_jobs", "wanted_gpus")
	if err != nil {
		return nil, err
	}
	c := &course[queued]{}
	for i := range t.Rows() {
		from, to := t.Int64s(0)[i], t.Int64s(1)[i]
		if to == from {
			continue
		}
		q, length := c.next(from, to), float64(to-from)/1e9
		q.jobs += float64((t.Float64s(2)[i] + t.Float64s(3)[i] - t.Float64s(4)[i]) * length)
		q.gpus += float64(t.Float64s(5)[i] * length)
	}
	c.widened(func(to, more *queued) { to.jobs, to.gpus = to.jobs+more.jobs, to.gpus+more.gpus })
	return c, nil
}

// steps is a line that stands over each interval.
func (c *course[A]) steps(name string, of func(i int, values *A) float64) figure.Line {
	l := figure.Line{Name: name, Steps: true}
	for i := range c.values {
		l.Points = append(l.Points, figure.Point{X: c.edges[i], Y: of(i, &c.values[i])})
	}
	if n := len(l.Points); n > 0 {
		l.Points = append(l.Points, figure.Point{X: c.edges[n], Y: l.Points[n-1].Y})
	}
	return l
}

func timeAxis(end float64) figure.Axis {
	return figure.Axis{Label: "time from the start", Scale: figure.Seconds, Format: span, Max: end}
}

// averaged says what a step of a line is. Runs of another length may have others.
func averaged(courses []*course[amounts]) string {
	least, most := math.Inf(1), 0.0
	for _, c := range courses {
		if len(c.values) > 0 {
			least, most = min(least, c.seconds(0)), max(most, c.seconds(0))
		}
	}
	switch {
	case most == 0:
		return ""
	case least == most:
		return "Averages over intervals of " + report.Span(most) + "."
	}
	return "Averages over intervals of " + report.Span(least) + " to " + report.Span(most) + "."
}

// ledgerTime draws a stack per run.
func ledgerTime(in *Input, _ *Options) (*figure.Chart, error) {
	end := latest(in.Runs)
	courses := make([]*course[amounts], len(in.Runs))
	totals := make([]amounts, len(in.Runs))
	for i := range in.Runs {
		var err error
		if courses[i], err = readBooks(&in.Runs[i]); err != nil {
			return nil, err
		}
		for _, v := range courses[i].values {
			for a := range totals[i] {
				totals[i][a] += v[a]
			}
		}
	}
	c := &figure.Chart{Title: peakTitle(in.Runs, courses), Columns: grid(len(in.Runs)), Caption: averaged(courses) + " Every GPU is in one account at any time."}
	bands := bandsOf(totals)
	for i := range courses {
		p := figure.Panel{X: timeAxis(end), Y: figure.Axis{Label: "GPUs", Format: number}, Stack: stackOf(courses[i], bands)}
		if len(courses) > 1 {
			p.Title = in.Runs[i].Label
		}
		c.Panels = append(c.Panels, p)
	}
	return labelBelow(c), nil
}

// stackOf is the GPUs in each band.
func stackOf(c *course[amounts], bands []band) *figure.Stack {
	s := &figure.Stack{Edges: c.edges}
	for _, b := range bands {
		layer := figure.Layer{Name: b.name, Color: b.color}
		for i := range c.values {
			layer.Values = append(layer.Values, b.of(&c.values[i])*3600/c.seconds(i))
		}
		s.Layers = append(s.Layers, layer)
	}
	return s
}

// peakTitle tells how many GPUs were held at most by jobs that do not run.
func peakTitle(runs []Run, courses []*course[amounts]) string {
	told := make([]said, len(runs))
	for i, c := range courses {
		peak := 0.0
		for k := range c.values {
			peak = max(peak, heldIdle(&c.values[k])*3600/c.seconds(k))
		}
		told[i] = said{runs[i].Label, number(math.Round(peak)), peak}
	}
	return "Most GPUs held at once by jobs that do not run: " + telling(told)
}

// utilisation draws how much of the cluster does useful work, and what waits meanwhile.
func utilisation(in *Input, _ *Options) (*figure.Chart, error) {
	end := latest(in.Runs)
	panels := []figure.Panel{
		{Title: "useful GPU-time", X: timeAxis(end), Y: figure.Axis{Label: "% of capacity", Max: 100}},
		{Title: "jobs that wait: not admitted, or without all their pods", X: timeAxis(end), Y: figure.Axis{Label: "jobs", Format: number}},
		{Title: "GPUs of pods without a node", X: timeAxis(end), Y: figure.Axis{Label: "GPUs", Format: number}},
	}
	var told, waiting []said
	var courses []*course[amounts]
	for i := range in.Runs {
		name := in.Runs[i].Label
		books, err := readBooks(&in.Runs[i])
		if err != nil {
			return nil, err
		}
		queues, err := readQueues(&in.Runs[i])
		if err != nil {
			return nil, err
		}
		courses = append(courses, books)
		lines := []figure.Line{
			books.steps(name, func(_ int, a *amounts) float64 { return 100 * a[ledger.Useful] / max(a.sum(), 1e-300) }),
			queues.steps(name, func(k int, q *queued) float64 { return q.jobs / queues.seconds(k) }),
			queues.steps(name, func(k int, q *queued) float64 { return q.gpus / queues.seconds(k) }),
		}
		for k := range panels {
			panels[k].Lines = append(panels[k].Lines, lines[k])
		}
		if u, ok := in.Runs[i].Summary.Metrics.Get("utilisation"); ok {
			told = append(told, said{name, percent(u), -u})
		}
		longest := peak(lines[1])
		waiting = append(waiting, said{name, number(longest), longest})
	}
	c := &figure.Chart{Panels: panels, Caption: averaged(courses), Title: fmt.Sprintf("Utilisation: %s. Most jobs waiting: %s", telling(told), telling(waiting))}
	return labelBelow(c), nil
}

// peak is the highest point of a line, rounded up.
func peak(l figure.Line) float64 {
	if len(l.Points) == 0 {
		return 0
	}
	top := slices.MaxFunc(l.Points, func(a, b figure.Point) int { return cmp.Compare(a.Y, b.Y) })
	return math.Ceil(top.Y)
}
