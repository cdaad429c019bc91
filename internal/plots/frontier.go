package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
)

// month is what costs are told for, in hours.
const month = 30 * 24

// offer is a cluster under a policy: what it has, what it costs and how long jobs wait.
type offer struct {
	whom          string
	gpus, cost, y float64
}

// frontier draws what waiting a larger cluster saves, under each policy.
func frontier(in *Input, o *Options) (*figure.Chart, error) {
	if o.Metric == "" {
		o.Metric = usualMetric
	}
	t, err := newTable(in, o)
	if err != nil {
		return nil, err
	}
	offers, fewest, most, err := t.offers(o.Cost)
	if err != nil {
		return nil, err
	}
	p := figure.Panel{X: figure.Axis{Label: "GPUs", Format: number}}
	if o.Cost > 0 {
		p.X.Label = fmt.Sprintf("cost of 30 days, at %s per GPU-hour", number(o.Cost))
	}
	var values []float64
	var never []string
	for i, of := range offers {
		if i == 0 || of.whom != offers[i-1].whom {
			p.Lines = append(p.Lines, figure.Line{Name: of.whom})
		}
		l := &p.Lines[len(p.Lines)-1]
		l.Points = append(l.Points, figure.Point{X: of.cost, Y: of.y})
		values = append(values, of.y)
		if math.IsInf(of.y, 1) {
			never = append(never, under(gpus(of.gpus), of.whom))
		}
		if !dominated(of, offers) {
			l.Marks = append(l.Marks, figure.Point{X: of.cost, Y: of.y})
			l.Texts = append(l.Texts, gpus(of.gpus))
		}
	}
	if len(p.Lines) > mostLines {
		return nil, fmt.Errorf("would draw %d lines; at most %d can be told apart: choose with --where axis=value", len(p.Lines), mostLines)
	}
	p.Y = metricAxis(t.metric, values)
	c := &figure.Chart{Title: t.frontierTitle(offers), Panels: []figure.Panel{p}, Caption: strings.TrimSpace("Rings: nothing else is both no dearer and better. " + doc(t.metric) + overSeeds(fewest, most, false))}
	if len(never) > 0 {
		c.Caption += " Never, and so not drawn: " + strings.Join(never, "; ") + "."
	}
	return c, nil
}

// offers are the clusters of a sweep by policy and by what they cost. Two of the same size
// under the same policy differ in their seeds, or the sweep says too little.
func (t *table) offers(price float64) (offers []offer, fewest, most int, err error) {
	if t.metric.Better != report.Lower {
		return nil, 0, 0, fmt.Errorf("%s is not better where it is lower", t.metric.Name)
	}
	sizes := map[*sweep.Cell]float64{}
	for _, c := range t.cells {
		if sizes[c], err = sized(c); err != nil {
			return nil, 0, 0, err
		}
	}
	sized := t.sizeAxes(sizes)
	if len(sized) == 0 {
		return nil, 0, 0, fmt.Errorf("expected a sweep in which the number of GPUs varies")
	}
	names, groups := alike(t.cells, func(c *sweep.Cell) string { return t.rest(c, sized) })
	fewest = math.MaxInt
	for _, name := range names {
		var some []offer
		places, bySize := alike(groups[name], func(c *sweep.Cell) string { return fmt.Sprint(t.valuesOn(c, sized)) })
		for _, place := range places {
			cells := bySize[place]
			a, b := seedsOf(cells)
			fewest, most = min(fewest, a), max(most, b)
			if median, _, ok := t.middle(cells); ok {
				n := sizes[cells[0]]
				cost := n
				if price > 0 {
					cost = n * price * month
				}
				some = append(some, offer{name, n, cost, median})
			}
		}
		slices.SortStableFunc(some, func(a, b offer) int { return cmp.Compare(a.cost, b.cost) })
		offers = append(offers, some...)
	}
	return offers, fewest, most, nil
}

// sized is sizeOf; tests put another in its place.
var sized = sizeOf

// sizeOf is how many GPUs a cell's cluster has, on average over the run if that changes.
func sizeOf(c *sweep.Cell) (float64, error) {
	r, err := report.OpenRun(c.Dir)
	if err != nil {
		return 0, err
	}
	capacity, _ := r.Summary.Metrics.Get("gpu_hours.capacity")
	if r.Summary.EndSeconds == 0 {
		return 0, fmt.Errorf("%s: a run of no time has no size", c.Dir)
	}
	return math.Round(1000*capacity/(r.Summary.EndSeconds/3600)) / 1000, nil
}

// sizeAxes are the axes along which the number of GPUs varies while the others stand.
func (t *table) sizeAxes(sizes map[*sweep.Cell]float64) (axes []int) {
	for i := range t.Axes {
		if !t.varies(i) || t.isSeed(i) || t.isPolicy(i) {
			continue
		}
		_, groups := alike(t.cells, func(c *sweep.Cell) string { return fmt.Sprint(t.othersOf(c, i)) })
		for _, cells := range groups {
			if slices.ContainsFunc(cells, func(c *sweep.Cell) bool { return sizes[c] != sizes[cells[0]] }) {
				axes = append(axes, i)
				break
			}
		}
	}
	return axes
}

// othersOf are the positions of a cell on all axes but one.
func (t *table) othersOf(c *sweep.Cell, axis int) []int {
	return slices.Delete(slices.Clone(c.At), axis, axis+1)
}

func (t *table) valuesOn(c *sweep.Cell, axes []int) (values []int) {
	for _, i := range axes {
		values = append(values, c.At[i])
	}
	return values
}

// dominated reports whether some offer is at least as good in both ways and better in one.
func dominated(o offer, all []offer) bool {
	return slices.ContainsFunc(all, func(a offer) bool {
		return a.cost <= o.cost && a.y <= o.y && (a.cost < o.cost || a.y < o.y)
	}) || math.IsInf(o.y, 1)
}

// frontierTitle tells where the frontier begins and where it ends.
func (t *table) frontierTitle(offers []offer) string {
	var on []offer
	for _, o := range offers {
		if !dominated(o, offers) {
			on = append(on, o)
		}
	}
	slices.SortStableFunc(on, func(a, b offer) int { return cmp.Compare(a.cost, b.cost) })
	if len(on) == 0 {
		return upper(title(t.metric)) + ": never, at every size"
	}
	first, last := on[0], on[len(on)-1]
	tell := func(o offer) string { return write(t.metric, o.y) + " with " + under(gpus(o.gpus), o.whom) }
	if first == last {
		return upper(title(t.metric)) + ": " + tell(first) + ", and no cluster is better"
	}
	return upper(title(t.metric)) + ": from " + tell(first) + " to " + tell(last)
}
