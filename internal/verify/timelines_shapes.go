package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/record"
)

// Where kube-scheduler draws among equal nodes, repetitions differ in their placements. What
// is compared then is the shape: on how many nodes how many pods were bound, per job and of
// all jobs together.

// shapes are those that seeds give, per subject: how many of the seeds gave which.
type shapes struct {
	seeds int
	of    map[string]map[string]int
}

// A shape that all repetitions had must be one that at least a part of the seeds give.
const (
	shapeSeeds = 50
	shapePart  = 5 // a fifth
)

// sameShape reports whether placements have recorded shapes. Where the draws decide the
// shape too, in the recordings and with the seeds, the number of pods is compared.
func (c *timelineCase) sameShape(values []any, got any) bool {
	jobs, _ := got.(map[string]any)
	names := slices.Sorted(maps.Keys(jobs))
	for _, name := range names {
		if !c.alikeIn(values, jobs, name) {
			return false
		}
	}
	return c.alikeIn(values, jobs, names...)
}

// alikeIn compares the shape of what some jobs had together.
func (c *timelineCase) alikeIn(values []any, got map[string]any, names ...string) bool {
	shape, sum := shapeOf(got, names)
	wanted := map[string]bool{}
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		of, _ := v.(map[string]any)
		want, n := shapeOf(of, names)
		wanted[want] = true
		least, most = min(least, n), max(most, n)
	}
	given := c.given(names)
	switch {
	case len(given) == 1:
		return wanted[shape]
	case len(wanted) == 1:
		for want := range wanted {
			return given[want]*shapePart >= c.shapes.seeds
		}
	}
	return least <= sum && sum <= most
}

// given returns the shapes that seeds give of what some jobs had together.
func (c *timelineCase) given(names []string) map[string]int {
	if c.shapes.of == nil {
		c.shapes.of = map[string]map[string]int{}
		p, err := c.scenario.prepare(c.phases[0])
		for seed := uint64(1); err == nil && seed <= shapeSeeds; seed++ {
			var r *record.Record
			if r, err = p.run(seed); err == nil {
				c.shapes.add(fieldsOf(r.Outcome())[placementNodes])
			}
		}
	}
	return c.shapes.of[strings.Join(names, " ")]
}

func (s *shapes) add(placements any) {
	s.seeds++
	jobs, _ := placements.(map[string]any)
	names := slices.Sorted(maps.Keys(jobs))
	subjects := [][]string{names}
	if len(names) > 1 {
		for i := range names {
			subjects = append(subjects, names[i:i+1])
		}
	}
	for _, names := range subjects {
		key := strings.Join(names, " ")
		if s.of[key] == nil {
			s.of[key] = map[string]int{}
		}
		shape, _ := shapeOf(jobs, names)
		s.of[key][shape]++
	}
}

// shapeOf returns the numbers of pods per node, sorted, and their sum.
func shapeOf(jobs map[string]any, names []string) (shape string, sum float64) {
	on := map[string]float64{}
	for _, name := range names {
		list, _ := jobs[name].([]any)
		for _, pair := range list {
			if p, _ := pair.([]any); len(p) == 2 {
				on[text(p[0])] += number(p[1])
				sum += number(p[1])
			}
		}
	}
	return fmt.Sprint(slices.Sorted(maps.Values(on))), sum
}
