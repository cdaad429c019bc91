package verify

import (
	"slices"
	"strconv"

	"github.com/gangplan/gangplan/internal/fragmentation"
)

// PublishedFGD returns the published curves of a study, in its order, as means over its
// seeds. A workload under a policy for which a seed is not known, or that was published
// with another load, has a curve without points.
func PublishedFGD(s *fragmentation.Study) ([]fragmentation.Curve, error) {
	cases, err := fgdCases("")
	if err != nil {
		return nil, err
	}
	runs := map[[2]string][][]fragmentation.Point{}
	for i := range cases {
		if c := &cases[i]; c.Ratio == s.Ratio && slices.Contains(s.Seeds, c.Seed) {
			key := [2]string{c.Workload, c.Policy}
			runs[key] = append(runs[key], c.points())
		}
	}
	var curves []fragmentation.Curve
	for _, w := range s.Workloads {
		for _, p := range s.Policies {
			c := fragmentation.Curve{Workload: w, Policy: p}
			if known := runs[[2]string{fragmentation.PodList(w), p}]; len(known) == len(s.Seeds) {
				c.Points = fragmentation.Means(known)
			}
			curves = append(curves, c)
		}
	}
	return curves, nil
}

// points are the published columns by percentage.
func (c *fgdCase) points() []fragmentation.Point {
	var out []fragmentation.Point
	for key := range c.Alloc {
		if q, err := strconv.Atoi(key); err == nil && q >= 0 && q < fragmentation.Arrived {
			out = append(out, fragmentation.Point{Arrived: q, Allocated: c.Alloc[key], FragmentAmount: c.Amount[key], FragmentRatio: c.FragPct[key]})
		}
	}
	return out
}
