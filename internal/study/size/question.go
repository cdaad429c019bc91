package size

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/stats"
	"github.com/gangplan/gangplan/report"
)

// Question is what is asked: with which value do the targets hold?
type Question struct {
	Field    string                                  // what is varied, for the answer
	Values   [][]string                              // what is tried, in order; one per field that moves
	Extreme  string                                  // what the first of some values is, such as smallest
	Build    func(i int) (*scenario.Scenario, error) // makes the scenario of the i-th value
	Targets  []Target                                // all of which must hold
	Labels   []string                                // policies, by label or name; nil: all of the scenario
	Seeds    []uint64                                // nil: the scenario's own
	All      bool                                    // look at every value
	Parallel int                                     // runs at a time; 0, or more than that, is GOMAXPROCS
	JobsVary bool                                    // that the jobs change with the values is meant

	SeedVaries bool // it is what is varied

	Progress func(done, begun int) // if not nil, it hears of every finished run, one call at a time

	// With several seeds a value meets the targets if enough of them do: so many that, with
	// this confidence, more than this share of all seeds would.
	Confidence, Share float64
}

// Of makes a question about a scenario file whose own files are found from the folder dir.
func Of(v *Vary, f *scenario.File, dir string, targets []Target) (*Question, error) {
	build, err := v.builder(f, dir)
	if err != nil {
		return nil, err
	}
	q := &Question{Field: v.Field(), Extreme: v.Extreme(), Build: build, JobsVary: v.ofWorkload(), SeedVaries: v.varies("seed"), Targets: targets, Confidence: 0.95, Share: 0.5}
	for i := range v.Len() {
		q.Values = append(q.Values, v.Values(i))
	}
	return q, nil
}

// ParseSeeds reads seeds, as 1..10 or 3,5,8; none of nothing.
func ParseSeeds(s string) ([]uint64, error) {
	if s == "" {
		return nil, nil
	}
	texts := strings.Split(s, ",")
	lo, hi, isRange := strings.Cut(s, "..")
	if isRange {
		var err error
		if texts, err = scenario.Steps("seed", lo, hi, "", maxSeeds); err != nil {
			return nil, fmt.Errorf("--seeds %s: %w", s, err)
		}
	}
	var seeds []uint64
	for _, text := range texts {
		seed, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("--seeds %s: %q: expected a whole number, 0 or more", s, text)
		}
		if slices.Contains(seeds, seed) {
			return nil, fmt.Errorf("--seeds %s: %d is given twice", s, seed)
		}
		seeds = append(seeds, seed)
	}
	if isRange && seeds[0] > seeds[len(seeds)-1] {
		return nil, fmt.Errorf("--seeds %s: expected the smaller one first: %s..%s", s, hi, lo)
	}
	return seeds, nil
}

const maxSeeds = 10_000

// check refuses what cannot be answered, and returns how many seeds must meet the targets.
func (q *Question) check() (need int, err error) {
	switch n := len(q.Seeds); {
	case len(q.Targets) == 0:
		return 0, fmt.Errorf("no target: expected one such as 'wait.p95_seconds<=30m'")
	case len(q.Values) == 0:
		return 0, fmt.Errorf("no values to try")
	case !(q.Confidence > 0 && q.Confidence < 1):
		return 0, fmt.Errorf("a confidence of %v: expected more than 0 and less than 1", q.Confidence)
	case !(q.Share > 0 && q.Share < 1):
		return 0, fmt.Errorf("a share of %v: expected more than 0 and less than 1", q.Share)
	case n > 0 && q.SeedVaries:
		return 0, fmt.Errorf("the seed is varied, and there are other seeds to run it with: expected one of them")
	case n <= 1:
		return 1, nil
	default:
		if need = needed(n, q.Share, q.Confidence); need > n {
			return 0, fmt.Errorf("%d seeds cannot say with confidence %v that more than %v of all seeds meet the targets: expected at least %d",
				n, q.Confidence, q.Share, fewest(q.Share, q.Confidence))
		}
		return need, nil
	}
}

// needed returns how many of n seeds must meet the targets, n + 1 if n are too few: if no
// more than the share did among all, so many would with probability 1 - confidence at most
// (the lower bound of Clopper and Pearson).
func needed(n int, share, confidence float64) int {
	return sort.Search(n+1, func(k int) bool { return stats.BinomialTail(n, k, share) <= 1-confidence })
}

// fewest returns the smallest number of seeds that can be enough, when all of them meet the
// targets.
func fewest(share, confidence float64) int {
	n := 1
	for p := share; p > 1-confidence; p *= share {
		n++
	}
	return n
}

// Find answers the question for every policy. The error is what is wrong with the question
// or with the scenario of a value, or that of a run.
func Find(ctx context.Context, q *Question) (*Answer, error) {
	need, err := q.check()
	if err != nil {
		return nil, err
	}
	first, err := q.Build(0)
	if err != nil {
		return nil, err
	}
	if q.Labels != nil {
		if err := first.Select(q.Labels); err != nil {
			return nil, err
		}
	}
	a := newAnswer(q, first, need)
	done := 0
	for _, p := range first.Policies {
		s := &search{ctx: ctx, q: q, label: p.Label, need: need, points: make([]*Point, len(q.Values)), done: done, begun: done}
		found, err := s.run()
		done = s.done
		if err != nil {
			return nil, err
		}
		a.Policies = append(a.Policies, *found)
		a.Warnings = union(a.Warnings, s.warnings)
	}
	return a, nil
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// Shown are the metrics of every point, beside those that the targets are about.
var Shown = []string{"wait.p50_seconds", "wait.p90_seconds", "wait.p95_seconds", "wait.max_seconds", "utilisation", "jobs.unfinished"}

// asked lists the metrics that the targets are about, each once.
func (q *Question) asked() []string {
	var names []string
	for _, t := range q.Targets {
		names = union(names, []string{t.Metric})
	}
	return names
}

// metrics lists what is told of a run: those of the targets, then what is always shown.
func (q *Question) metrics() []string { return union(q.asked(), Shown) }

// pick keeps the named metrics.
func pick(vs report.Values, names []string) report.Values {
	out := make(report.Values, len(names))
	for i, name := range names {
		v, ok := vs.Get(name)
		out[i] = report.Value{Name: name, Number: v, Null: !ok}
	}
	return out
}
