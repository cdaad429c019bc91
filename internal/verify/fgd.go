package verify

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/gangplan/gangplan/internal/fragmentation"
	"github.com/gangplan/gangplan/testdata"
)

var fgd = Suite{
	Name: "fgd",
	Doc:  "the fragmentation study of ATC'23, run by run; --data is the folder of the openb node and pod lists",
	Run:  runFGD,
}

// fgdCase is one published run: percentages by the percentage of GPUs asked for.
type fgdCase struct {
	ID       string             `json:"id"`
	Workload string             `json:"workload"`
	Policy   string             `json:"policy"`
	Seed     int64              `json:"seed"`
	Ratio    float64            `json:"tune_ratio"`
	Exact    bool               `json:"exact"`
	Alloc    map[string]float64 `json:"alloc_pct"`
	Amount   map[string]float64 `json:"frag_amount_pct"`
	FragPct  map[string]float64 `json:"frag_ratio_pct"`
}

// fgdCases reads a file of published runs, or those shipped.
func fgdCases(file string) (cases []fgdCase, err error) {
	err = eachLine(file, testdata.FGD, func(line []byte) error {
		var c fgdCase
		err := readCase(line, &c)
		cases = append(cases, c)
		return err
	})
	return cases, err
}

func runFGD(o Options) ([]Outcome, error) {
	cases, err := fgdCases(o.Cases)
	if err != nil {
		return nil, err
	}
	s := study{data: o.Data, workloads: map[string]*fragmentation.Workload{}, skip: map[string]string{}}
	for _, c := range cases {
		if err := s.load(c.Workload); err != nil {
			return nil, err
		}
	}
	outcomes := make([]Outcome, len(cases))
	fragmentation.Parallel(len(cases), func(i int) { outcomes[i] = s.check(&cases[i]) })
	s.checkMeans(cases, outcomes)
	return outcomes, nil
}

// study holds the workloads of a folder, and why one is skipped.
type study struct {
	data      string
	workloads map[string]*fragmentation.Workload
	skip      map[string]string
	means     sync.Map // case id -> []fragmentation.Point of random runs
}

// load reads a workload once. A file that is not there is a reason to skip; one that
// cannot be read is an error.
func (s *study) load(name string) error {
	if s.workloads[name] != nil || s.skip[name] != "" {
		return nil
	}
	if s.data == "" {
		s.skip[name] = "no data: give the folder that has " + fragmentation.NodeList + " and " + name
		return nil
	}
	for _, file := range []string{fragmentation.NodeList, name} {
		if _, err := os.Stat(filepath.Join(s.data, file)); err != nil {
			s.skip[name] = fmt.Sprintf("no data: %v", err)
			return nil
		}
	}
	var err error
	s.workloads[name], err = fragmentation.Open(s.data, name)
	return err
}

// check plays one run and compares every column.
func (s *study) check(c *fgdCase) Outcome {
	if why := s.skip[c.Workload]; why != "" {
		return Outcome{ID: c.ID, Verdict: Skipped, Reason: why}
	}
	if !slices.Contains(fragmentation.Policies(), c.Policy) {
		return Outcome{ID: c.ID, Verdict: Skipped, Reason: fmt.Sprintf("policy %q is not known", c.Policy)}
	}
	points := s.workloads[c.Workload].Run(c.Policy, c.Seed, c.Ratio).Points()
	if !c.Exact {
		s.means.Store(c.ID, points)
		return c.compare(points, singleRun, Within)
	}
	return c.compare(points, fgdBound{1e-9, 1e-9, 1e-9}, Equal)
}

// fgdBound is how far a run may be from the published one, in points of percent.
type fgdBound struct{ alloc, amount, ratio float64 }

// Bounds of random runs: draws are not reproducible, not even by the original. The single
// run's allocation and the means' are those the study's spread suggests; a ratio moves
// much more where the curve is steep.
var (
	singleRun = fgdBound{alloc: 1.6, amount: math.Inf(1), ratio: math.Inf(1)}
	tenSeeds  = fgdBound{alloc: 0.5, amount: math.Inf(1), ratio: math.Inf(1)}
)

// compare wants every published column within a bound.
func (c *fgdCase) compare(points []fragmentation.Point, b fgdBound, verdict Verdict) Outcome {
	out := Outcome{ID: c.ID, Verdict: verdict}
	for _, column := range []struct {
		name  string
		want  map[string]float64
		bound float64
		got   func(fragmentation.Point) float64
	}{
		{"alloc_pct", c.Alloc, b.alloc, func(p fragmentation.Point) float64 { return p.Allocated }},
		{"frag_amount_pct", c.Amount, b.amount, func(p fragmentation.Point) float64 { return p.FragmentAmount }},
		{"frag_ratio_pct", c.FragPct, b.ratio, func(p fragmentation.Point) float64 { return p.FragmentRatio }},
	} {
		for _, key := range sortedColumns(column.want) {
			got, err := pointAt(points, key, column.got)
			difference := math.Abs(got - column.want[key])
			if err == nil && difference <= column.bound {
				continue
			}
			return Outcome{ID: c.ID, Verdict: Outside, Error: difference, Want: column.want[key], Got: got,
				Reason: fmt.Sprintf("%s at %s%%: want %v, got %v", column.name, key, column.want[key], got)}
		}
	}
	return out
}

func sortedColumns(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// pointAt returns a column at a percentage; NaN and an error if the run has none there.
func pointAt(points []fragmentation.Point, key string, column func(fragmentation.Point) float64) (float64, error) {
	q, err := strconv.Atoi(key)
	if err != nil {
		return math.NaN(), err
	}
	for _, p := range points {
		if p.Arrived == q {
			return column(p), nil
		}
	}
	return math.NaN(), fmt.Errorf("nothing arrived at %d%%", q)
}

// checkMeans holds the random runs of each workload to the tighter bound of a mean of ten
// seeds: a run that is fine by itself is outside if its workload's mean is.
func (s *study) checkMeans(cases []fgdCase, outcomes []Outcome) {
	groups := map[string][]int{}
	for i := range cases {
		if !cases[i].Exact && outcomes[i].Verdict == Within {
			groups[cases[i].Workload+" "+cases[i].Policy] = append(groups[cases[i].Workload+" "+cases[i].Policy], i)
		}
	}
	const few = 10
	for _, members := range groups {
		if len(members) < few {
			continue
		}
		for _, key := range sortedColumns(cases[members[0]].Alloc) {
			if d := s.meanDifference(cases, members, key); !(math.Abs(d) <= tenSeeds.alloc) {
				first := &outcomes[members[0]]
				first.Verdict, first.Error = Outside, d
				first.Reason = fmt.Sprintf("alloc_pct at %s%%: the mean of %d seeds is off by %v", key, len(members), d)
			}
		}
	}
}

// meanDifference is ours minus the published allocation at a percentage, mean over runs.
func (s *study) meanDifference(cases []fgdCase, members []int, key string) float64 {
	sum := 0.0
	for _, i := range members {
		points, _ := s.means.Load(cases[i].ID)
		got, err := pointAt(points.([]fragmentation.Point), key, func(p fragmentation.Point) float64 { return p.Allocated })
		if err != nil {
			return math.NaN()
		}
		sum += got - cases[i].Alloc[key]
	}
	return sum / float64(len(members))
}
