package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
)

// policyName is the dimension of the policies' labels, and the name sweeps give theirs.
const policyName = "policy"

// seedPath is the field that an axis of seeds sets.
const seedPath = "seed"

// Side is one of the two sets of runs.
type Side struct {
	Path string
	runs []run
}

// run is one run of a side, and where it stands among the others beside its seed.
type run struct {
	*report.StoredRun
	at []Dimension
}

// Dimension is one of the things by which the runs of a side differ: the policy, or an axis
// of a sweep.
type Dimension struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// value returns where a run stands in a dimension.
func (r *run) value(name string) string {
	for _, d := range r.at {
		if d.Name == name {
			return d.Value
		}
	}
	return ""
}

// Load reads what a path stands for: a run directory, a folder of runs or of such folders,
// or a finished sweep. What follows a sweep or a folder as NAME=VALUE, with slashes between,
// keeps only the runs that have this value, as in results/policy=gang/load=0.9.
func Load(path string) (*Side, error) {
	base, wanted := cutSelectors(path)
	var runs []run
	var err error
	if sweep.Is(base) {
		runs, err = cellsOf(base)
	} else {
		runs, err = runsOf(base)
	}
	if err != nil {
		return nil, err
	}
	for _, d := range wanted {
		if runs, err = keep(path, runs, d); err != nil {
			return nil, err
		}
	}
	s := &Side{Path: path, runs: runs}
	return s, s.distinct()
}

// cutSelectors takes the parts NAME=VALUE off the end of a path that is not there as it is.
func cutSelectors(path string) (base string, wanted []Dimension) {
	for {
		if _, err := os.Stat(path); err == nil {
			return path, wanted
		}
		dir, last := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
		name, value, ok := strings.Cut(last, "=")
		if dir = filepath.Clean(dir); !ok || name == "" {
			return path, wanted
		}
		path, wanted = dir, append(wanted, Dimension{name, value})
	}
}

// cellsOf opens the cells of a sweep.
func cellsOf(dir string) ([]run, error) {
	s, err := sweep.Read(dir)
	if err != nil {
		return nil, err
	}
	var runs []run
	for i := range s.Cells {
		c := &s.Cells[i]
		stored, err := report.OpenRun(c.Dir)
		if err != nil {
			return nil, err
		}
		r := run{StoredRun: stored}
		for k := range s.Axes {
			if !s.Axes[k].Sets(seedPath) {
				r.at = append(r.at, Dimension{s.Axes[k].Name, c.Values[k]})
			}
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// runsOf opens the runs in a folder, or in the folders of a folder.
func runsOf(path string) ([]run, error) {
	stored, err := report.OpenRuns(path)
	if err != nil {
		deeper, found := foldersOf(path)
		if !found {
			return nil, err
		}
		stored = deeper
	}
	runs := make([]run, len(stored))
	for i, r := range stored {
		runs[i] = run{r, []Dimension{{policyName, r.Manifest.Label}}}
	}
	return runs, nil
}

// foldersOf opens the runs in the folders of a folder that holds none itself.
func foldersOf(path string) (runs []*report.StoredRun, found bool) {
	if _, err := report.ReadManifest(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, false // it is a run, and damaged
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, false
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if some, err := report.OpenRuns(filepath.Join(path, e.Name())); err == nil {
			runs = append(runs, some...)
		}
	}
	return runs, len(runs) > 0
}

// keep leaves the runs that have a value in a dimension.
func keep(path string, runs []run, d Dimension) ([]run, error) {
	var kept []run
	var names, values []string
	for i := range runs {
		for _, at := range runs[i].at {
			names = union(names, at.Name)
		}
		if d.Name == seedPath {
			values = union(values, fmt.Sprint(runs[i].Manifest.Seed))
		} else if slices.ContainsFunc(runs[i].at, func(at Dimension) bool { return at.Name == d.Name }) {
			values = union(values, runs[i].value(d.Name))
		}
		if d.Name == seedPath && fmt.Sprint(runs[i].Manifest.Seed) == d.Value || d.Name != seedPath && runs[i].value(d.Name) == d.Value {
			kept = append(kept, runs[i])
		}
	}
	names = union(names, seedPath)
	switch {
	case len(values) == 0:
		return nil, fmt.Errorf("%s: the runs do not differ by %q: expected one of %s%s", path, d.Name, strings.Join(names, ", "), suggest.Hint(d.Name, names))
	case len(kept) == 0:
		return nil, fmt.Errorf("%s: no run has %s=%s: expected one of %s%s", path, d.Name, d.Value, strings.Join(values, ", "), suggest.Hint(d.Value, values))
	}
	return kept, nil
}

func union(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// distinct puts the runs in order and refuses two that stand at the same place.
func (s *Side) distinct() error {
	order := func(a, b run) int {
		return cmp.Or(slices.CompareFunc(a.at, b.at, func(x, y Dimension) int { return cmp.Or(strings.Compare(x.Name, y.Name), naturally(x.Value, y.Value)) }),
			cmp.Compare(a.Manifest.Seed, b.Manifest.Seed))
	}
	slices.SortStableFunc(s.runs, order)
	for i := 1; i < len(s.runs); i++ {
		if order(s.runs[i-1], s.runs[i]) == 0 {
			return fmt.Errorf("%s: %s and %s are both of %s, seed %d: expected one run of each", s.Path, s.runs[i-1].Dir, s.runs[i].Dir,
				placeOf(s.runs[i].at), s.runs[i].Manifest.Seed)
		}
	}
	return nil
}

// naturally compares values, numbers by their size.
func naturally(a, b string) int {
	var x, y float64
	n, _ := fmt.Sscan(a, &x)
	m, _ := fmt.Sscan(b, &y)
	if n == 1 && m == 1 && x != y {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// placeOf writes dimensions out.
func placeOf(at []Dimension) string {
	parts := make([]string, len(at))
	for i, d := range at {
		parts[i] = d.Name + "=" + d.Value
	}
	return strings.Join(parts, ", ")
}
