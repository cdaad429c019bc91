package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	over := seeds{}
	offers, err := t.offers(o.Cost, &over)
	if err != nil {
		return nil, err
	}
	p := figure.Panel{X: figure.Axis{Label: "GPUs", Format: number}}
	if o.Cost > 0 {
		p.X.Label = fmt.Sprintf("cost of 30 days, at %s per GPU-hour", number(o.Cost))
	}
	var never []string
	p.Lines, never = offerLines(offers)
	if err := tooMany(len(p.Lines), "lines"); err != nil {
		return nil, err
	}
	var values []float64
	for _, of := range offers {
		values = append(values, of.y)
	}
	p.Y = metricAxis(t.metric, values)
	caption := "Rings: nothing else is both no dearer and better. " + doc(t.metric) + over.say(false) + notDrawn(never)
	return &figure.Chart{Title: t.frontierTitle(offers), Panels: []figure.Panel{p}, Caption: caption}, nil
}

// offerLines are a line per policy, with rings where it is on the frontier; never names the
// offers under which some jobs wait for ever.
func offerLines(offers []offer) (lines []figure.Line, never []string) {
	for i, of := range offers {
		if i == 0 || of.whom != offers[i-1].whom {
			lines = append(lines, figure.Line{Name: of.whom})
		}
		l := &lines[len(lines)-1]
		l.Points = append(l.Points, figure.Point{X: of.cost, Y: of.y})
		if math.IsInf(of.y, 1) {
			never = append(never, under(gpus(of.gpus), of.whom))
		}
		if !dominated(of, offers) {
			l.Marks = append(l.Marks, figure.Point{X: of.cost, Y: of.y})
			l.Texts = append(l.Texts, gpus(of.gpus))
		}
	}
	return lines, never
}

// offers are the clusters of a sweep by policy and by what they cost. Two of the same size
// under the same policy differ in their seeds, or the sweep says too little.
func (t *table) offers(price float64, over *seeds) (offers []offer, err error) {
	if t.metric.Better != report.Lower {
		return nil, fmt.Errorf("%s is not better where it is lower", t.metric.Name)
	}
	sizes := map[*sweep.Cell]float64{}
	for _, c := range t.cells {
		if sizes[c], err = sized(c); err != nil {
			return nil, err
		}
	}
	axes := t.sizeAxes(sizes)
	if len(axes) == 0 {
		return nil, fmt.Errorf("expected a sweep in which the number of GPUs varies")
	}
	names, groups := alike(t.cells, func(c *sweep.Cell) string { return t.rest(c, axes) })
	for _, name := range names {
		some := t.offersOf(name, groups[name], func(c *sweep.Cell) float64 { return sizes[c] }, axes, over)
		for i := range some {
			if some[i].cost = some[i].gpus; price > 0 {
				some[i].cost = some[i].gpus * price * month
			}
		}
		slices.SortStableFunc(some, func(a, b offer) int { return cmp.Compare(a.cost, b.cost) })
		offers = append(offers, some...)
	}
	return offers, nil
}

// offersOf are those of one policy, their costs still missing.
func (t *table) offersOf(name string, cells []*sweep.Cell, size func(*sweep.Cell) float64, axes []int, over *seeds) (some []offer) {
	places, groups := alike(cells, func(c *sweep.Cell) string { return fmt.Sprint(t.valuesOn(c, axes)) })
	for _, place := range places {
		over.see(groups[place])
		if median, _, ok := t.middle(groups[place]); ok {
			some = append(some, offer{whom: name, gpus: size(groups[place][0]), y: median})
		}
	}
	return some
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
