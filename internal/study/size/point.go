package size

import (
	"math"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/report"
)

// Point is one value that was looked at. Of several seeds its numbers are medians, a metric
// that is null counting as infinite; Low and High are the smallest and the largest.
type Point struct {
	Values      []string      `json:"values"` // one per field that moves
	Met         bool          `json:"met"`    // enough seeds meet all targets
	SeedsMet    int           `json:"seeds_met"`
	OfferedLoad *float64      `json:"offered_load"`
	Split       Split         `json:"share_of_capacity"`
	Metrics     report.Values `json:"metrics"`
	Low         report.Values `json:"low,omitempty"`
	High        report.Values `json:"high,omitempty"`
	Seeds       []Seed        `json:"seeds"`

	each []bool // whether enough seeds meet each target
}

// sum makes the point's numbers out of those of its seeds.
func (p *Point) sum(need int) {
	for i := range p.Seeds {
		if p.Seeds[i].Met {
			p.SeedsMet++
		}
	}
	p.Met = p.SeedsMet >= need
	for t := range p.Seeds[0].each {
		p.each = append(p.each, p.meeting(t) >= need)
	}
	p.Split = Split{
		Useful:   p.median(func(s *Seed) float64 { return s.Split.Useful }),
		HeldIdle: p.median(func(s *Seed) float64 { return s.Split.HeldIdle }),
		Unusable: p.median(func(s *Seed) float64 { return s.Split.Unusable }),
		Free:     p.median(func(s *Seed) float64 { return s.Split.Free }),
	}
	load := p.median(func(s *Seed) float64 {
		if s.OfferedLoad == nil {
			return math.Inf(1)
		}
		return *s.OfferedLoad
	})
	if !math.IsInf(load, 1) {
		p.OfferedLoad = &load
	}
	for k, v := range p.Seeds[0].Metrics {
		of := func(s *Seed) float64 { return number(s.Metrics[k]) }
		p.Metrics = append(p.Metrics, valueOf(v.Name, p.median(of)))
		if len(p.Seeds) > 1 {
			low, high := p.extremes(of)
			p.Low = append(p.Low, valueOf(v.Name, low))
			p.High = append(p.High, valueOf(v.Name, high))
		}
	}
}

// meeting counts the seeds that meet one target.
func (p *Point) meeting(target int) int {
	n := 0
	for i := range p.Seeds {
		if p.Seeds[i].each[target] {
			n++
		}
	}
	return n
}

func (p *Point) median(of func(s *Seed) float64) float64 {
	values := make([]float64, len(p.Seeds))
	for i := range p.Seeds {
		values[i] = of(&p.Seeds[i])
	}
	return stats.Median(values)
}

func (p *Point) extremes(of func(s *Seed) float64) (low, high float64) {
	low, high = of(&p.Seeds[0]), of(&p.Seeds[0])
	for i := range p.Seeds {
		low, high = min(low, of(&p.Seeds[i])), max(high, of(&p.Seeds[i]))
	}
	return low, high
}

// number returns a metric as a number: infinity if it is null.
func number(v report.Value) float64 {
	if v.Null {
		return math.Inf(1)
	}
	return v.Number
}

// valueOf is the reverse.
func valueOf(name string, x float64) report.Value {
	if math.IsInf(x, 1) {
		return report.Value{Name: name, Null: true}
	}
	return report.Value{Name: name, Number: x}
}

// same reports whether a metric of two points differs by no more than 1 % of the first's.
func same(metric string, a, b *Point) bool {
	x, okX := a.Metrics.Get(metric)
	y, okY := b.Metrics.Get(metric)
	return okX == okY && math.Abs(x-y) <= math.Abs(x)/100
}
