package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/sim"
)

// Trade is what jobs give and get under a policy against another, job by job: they may wait
// less and run longer. A job is better off if it waits less by more than it runs longer, so
// what it runs longer is its break-even wait.
type Trade struct {
	Base    string       `json:"base"`
	Policy  string       `json:"policy"`
	Classes []TradeClass `json:"classes"` // by size, those that have jobs; the last is all of them
}

// TradeClass is the jobs of a size that finished under both policies; the others are counted
// as unfinished. Times are in seconds; those of the last three are of the policy against the
// base, and Sooner is WaitsLess - BreakEven, job by job.
type TradeClass struct {
	GPUs       string `json:"gpus"`
	Jobs       int    `json:"jobs"`
	Unfinished int    `json:"unfinished"`
	BetterOff  int    `json:"better_off"` // finish sooner
	WorseOff   int    `json:"worse_off"`  // finish later
	WaitsLess  Spread `json:"waits_less_seconds"`
	BreakEven  Spread `json:"break_even_seconds"` // how much longer they run
	Sooner     Spread `json:"finishes_sooner_seconds"`
}

// Spread is a few nearest-rank quantiles and the mean of a sample; 0 if that is empty.
type Spread struct {
	Mean float64 `json:"mean"`
	P5   float64 `json:"p5"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
}

func spreadOf(s *stats.Sample) Spread {
	seconds := func(p int) float64 { v, _ := s.Quantile(p); return float64(v) / 1e9 }
	mean, _ := s.Mean()
	return Spread{mean / 1e9, seconds(5), seconds(50), seconds(95)}
}

// sizeClasses are the upper ends of the classes by GPUs; above the last is one more.
var sizeClasses = []int64{1, 8, 32, 128, 512}

// classOf is the class of a number of GPUs, and className what it is called.
func classOf(milli int64) int {
	gpus := (milli + 999) / 1000
	i, _ := slices.BinarySearch(sizeClasses, gpus)
	return i
}

func className(i int) string {
	switch {
	case i == 0:
		return "1 GPU"
	case i == len(sizeClasses):
		return fmt.Sprintf("more than %d", sizeClasses[i-1])
	}
	return fmt.Sprintf("%d to %d", sizeClasses[i-1]+1, sizeClasses[i])
}

// tradeSample is a class while it is filled.
type tradeSample struct {
	out                     TradeClass
	waits, longer, finishes stats.Sample
}

// NewTrade compares two runs of the same jobs. Jobs carried into the window are left out.
func NewTrade(baseLabel string, base *sim.Result, label string, r *sim.Result) Trade {
	classes := make([]tradeSample, len(sizeClasses)+2)
	all := len(classes) - 1
	for j := range r.Jobs {
		a, b := &base.Jobs[j], &r.Jobs[j]
		if b.Carried || b.State == sim.Future && a.State == sim.Future {
			continue
		}
		classes[classOf(b.GPUs)].add(a, b)
		classes[all].add(a, b)
	}
	t := Trade{Base: baseLabel, Policy: label}
	for i := range classes {
		c := &classes[i]
		if c.out.GPUs = "all"; i != all {
			c.out.GPUs = className(i)
		}
		if i == all || c.out.Jobs+c.out.Unfinished > 0 {
			c.out.WaitsLess, c.out.BreakEven, c.out.Sooner = spreadOf(&c.waits), spreadOf(&c.longer), spreadOf(&c.finishes)
			t.Classes = append(t.Classes, c.out)
		}
	}
	return t
}

func (c *tradeSample) add(base, row *sim.JobRow) {
	if base.Finish < 0 || row.Finish < 0 {
		c.out.Unfinished++
		return
	}
	c.out.Jobs++
	sooner := base.Finish - row.Finish
	switch {
	case sooner > 0:
		c.out.BetterOff++
	case sooner < 0:
		c.out.WorseOff++
	}
	waits := base.FirstStart - row.FirstStart
	c.waits.Add(waits)
	c.longer.Add(waits - sooner)
	c.finishes.Add(sooner)
}

// tradeRows are the rows of a trade's table, a class to a column.
var tradeRows = []struct {
	label string
	cell  func(c *TradeClass) string
}{
	{"jobs that finish under both", func(c *TradeClass) string { return grouped(float64(c.Jobs), 0) }},
	{"jobs that do not", func(c *TradeClass) string { return grouped(float64(c.Unfinished), 0) }},
	{"waits less, mean", func(c *TradeClass) string { return Span(c.WaitsLess.Mean) }},
	{"  p50", func(c *TradeClass) string { return Span(c.WaitsLess.P50) }},
	{"  p95", func(c *TradeClass) string { return Span(c.WaitsLess.P95) }},
	{"break-even wait: runs longer, mean", func(c *TradeClass) string { return Span(c.BreakEven.Mean) }},
	{"  p50", func(c *TradeClass) string { return Span(c.BreakEven.P50) }},
	{"  p95", func(c *TradeClass) string { return Span(c.BreakEven.P95) }},
	{"finishes sooner, mean", func(c *TradeClass) string { return Span(c.Sooner.Mean) }},
	{"  p5", func(c *TradeClass) string { return Span(c.Sooner.P5) }},
	{"  p50", func(c *TradeClass) string { return Span(c.Sooner.P50) }},
	{"  p95", func(c *TradeClass) string { return Span(c.Sooner.P95) }},
	{"better off", func(c *TradeClass) string { return grouped(float64(c.BetterOff), 0) }},
	{"worse off", func(c *TradeClass) string { return grouped(float64(c.WorseOff), 0) }},
}

func (t *Trade) title() string {
	return fmt.Sprintf("wait or run slower: %s against %s, job by job, by GPUs", t.Policy, t.Base)
}

func (t *Trade) header() []string {
	header := []string{""}
	for i := range t.Classes {
		header = append(header, t.Classes[i].GPUs)
	}
	return header
}

func (t *Trade) rows() [][]string {
	var rows [][]string
	for _, r := range tradeRows {
		row := []string{r.label}
		for i := range t.Classes {
			row = append(row, r.cell(&t.Classes[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// trades writes what jobs trade as tables.
func (p *printer) trades(trades []Trade) {
	for i := range trades {
		p.heading(trades[i].title())
		p.cells(trades[i].header(), trades[i].rows(), 1)
		p.printf("\n")
	}
}

func (p *printer) markdownTrades(trades []Trade) {
	for i := range trades {
		header := trades[i].header()
		p.printf("\n%s:\n\n", markdownText(trades[i].title()))
		p.markdownRow(header)
		p.printf("|:--|%s\n", strings.Repeat("--:|", len(header)-1))
		for _, row := range trades[i].rows() {
			p.markdownRow(row)
		}
	}
}
