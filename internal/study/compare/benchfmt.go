package compare

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/report"
)

// writeBenchmarks writes every run as a line of the Go benchmark format, which benchstat
// reads: its dimensions are keys of the name, its metrics values with the metric's name as
// their unit. Seeds are not in the name, so that runs of different seeds are samples of one
// benchmark.
//
// source: the Go benchmark data format, golang.org/design/14313-benchmark-format, and
// package golang.org/x/perf/benchfmt.
func (c *Comparison) writeBenchmarks(w io.Writer) error {
	var b strings.Builder
	runs := c.benchmarks()
	for _, m := range c.metrics {
		if m.Better != report.Neutral {
			fmt.Fprintf(&b, "Unit %s better=%s\n", m.Name, m.Better)
		}
		if m.Exact && constant(runs, m.Name) {
			fmt.Fprintf(&b, "Unit %s assume=exact\n", m.Name)
		}
	}
	for _, r := range runs {
		fmt.Fprintf(&b, "Benchmark%s 1", r.name)
		for _, m := range c.metrics {
			if v, ok := r.values.Get(m.Name); ok {
				fmt.Fprintf(&b, " %s %s", strconv.FormatFloat(v, 'g', -1, 64), m.Name)
			}
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// benchmark is one run under its name.
type benchmark struct {
	name   string
	values report.Values
}

// benchmarks lists the runs of all groups, those of A before those of B.
func (c *Comparison) benchmarks() []benchmark {
	var all []benchmark
	for i := range c.Groups {
		g := &c.Groups[i]
		a, b := c.name(g.runs.a[0], "A"), c.name(g.runs.b[0], "B")
		for _, vs := range g.values.a {
			all = append(all, benchmark{a, vs})
		}
		for _, vs := range g.values.b {
			all = append(all, benchmark{b, vs})
		}
	}
	return all
}

// name is Run and the dimensions of a run; and its side, unless a dimension says it.
func (c *Comparison) name(r *run, side string) string {
	name := "Run"
	for _, d := range r.at {
		name += "/" + benchmarkWord(d.Name) + "=" + benchmarkWord(d.Value)
	}
	if len(c.pairing.differ) == 0 {
		name += "/side=" + side
	}
	if processors.MatchString(name) {
		name += "-1" // or the number would be taken for that of processors
	}
	return name
}

var processors = regexp.MustCompile(`-\d+$`)

// benchmarkWord replaces what would end a key, a value or the name.
func benchmarkWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == '=' {
			return '_'
		}
		return r
	}, s)
}

// constant reports whether a metric is the same in all runs of one name, so that one sample
// says all.
func constant(runs []benchmark, metric string) bool {
	first := map[string]report.Value{}
	for _, r := range runs {
		v, ok := r.values.Get(metric)
		now := report.Value{Number: v, Null: !ok}
		if before, seen := first[r.name]; seen && before != now {
			return false
		}
		first[r.name] = now
	}
	return true
}
