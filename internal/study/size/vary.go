package size

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
)

// Nodes is the name of the axis that is no field of its own: the number of nodes, by
// repeating or cutting the list the scenario has (scale.cluster). The jobs stay as they are.
const Nodes = "nodes"

// maxValues bounds an axis. It is far more than anybody looks at.
const maxValues = 1_000_000

// Vary is what is varied: one field of a scenario, or several that move together.
type Vary struct{ axes []axis }

// axis is a field with its values, as they are written in a scenario.
type axis struct {
	path   string
	values []string
}

// ParseVary reads what is varied, each as FIELD=LO..HI[:STEP] or FIELD=A,B,C. FIELD is the
// path of a field, as errors name it, or nodes. LO may be greater than HI: then the values
// go down. Several fields must have as many values as each other.
func ParseVary(specs []string) (*Vary, error) {
	v := &Vary{}
	for _, spec := range specs {
		a, err := parseAxis(spec)
		if err != nil {
			return nil, fmt.Errorf("--vary %s: %w", spec, err)
		}
		if first := v.axes; first != nil && len(first[0].values) != len(a.values) {
			return nil, fmt.Errorf("--vary %s: %d values, but %s has %d: fields that move together need as many as each other",
				spec, len(a.values), first[0].path, len(first[0].values))
		}
		v.axes = append(v.axes, *a)
	}
	if v.axes == nil {
		return nil, fmt.Errorf("nothing is varied: expected --vary FIELD=LO..HI")
	}
	return v, nil
}

func parseAxis(spec string) (*axis, error) {
	path, values, ok := strings.Cut(spec, "=")
	if path = strings.TrimSpace(path); !ok || path == "" {
		return nil, fmt.Errorf("expected FIELD=LO..HI, as in nodes=4..16 or waitForPodsReady.timeout=1m..30m")
	}
	a := &axis{path: path}
	lo, hi, isRange := strings.Cut(values, "..")
	if !isRange {
		for value := range strings.SplitSeq(values, ",") {
			a.values = append(a.values, strings.TrimSpace(value))
			if a.values[len(a.values)-1] == "" {
				return nil, fmt.Errorf("an empty value: expected LO..HI or values with commas between them")
			}
		}
		return a, nil
	}
	hi, step, _ := strings.Cut(hi, ":")
	var err error
	a.values, err = scenario.Steps(path, strings.TrimSpace(lo), strings.TrimSpace(hi), strings.TrimSpace(step), maxValues)
	return a, err
}

// Len returns how many values there are.
func (v *Vary) Len() int { return len(v.axes[0].values) }

// Field names what is varied.
func (v *Vary) Field() string {
	names := make([]string, len(v.axes))
	for i, a := range v.axes {
		names[i] = a.path
	}
	return strings.Join(names, " + ")
}

// number returns what number a value is.
func (a *axis) number(text string) (float64, bool) { return scenario.NumberOf(a.path, text) }

// Values returns the i-th value of each field.
func (v *Vary) Values(i int) []string {
	values := make([]string, len(v.axes))
	for k, a := range v.axes {
		values[k] = a.values[i]
	}
	return values
}

// Extreme says what the first of some values of the first field is: the smallest, the
// largest, or just the first.
func (v *Vary) Extreme() string {
	up, down := true, true
	var before float64
	for i, text := range v.axes[0].values {
		x, ok := v.axes[0].number(text)
		up = up && ok && (i == 0 || x > before)
		down = down && ok && (i == 0 || x < before)
		before = x
	}
	switch {
	case up:
		return "smallest"
	case down:
		return "largest"
	}
	return "first"
}

// ofWorkload reports whether a field changes the jobs on purpose.
func (v *Vary) ofWorkload() bool {
	return slices.ContainsFunc(v.axes, func(a axis) bool { return strings.HasPrefix(a.path, "workload") || a.path == "scale.load" })
}

// builder returns what makes the scenario of the i-th value, out of a file whose own files
// are found from the folder dir. The error is what is wrong with nodes as an axis.
func (v *Vary) builder(f *scenario.File, dir string) (func(i int) (*scenario.Scenario, error), error) {
	base := 0
	for _, a := range v.axes {
		if a.path != Nodes {
			continue
		}
		var err error
		if base, err = nodesOf(f, dir); err != nil {
			return nil, err
		}
	}
	traces := &scenario.Traces{}
	return func(i int) (*scenario.Scenario, error) {
		overrides, err := v.overrides(i, base)
		if err != nil {
			return nil, err
		}
		changed, err := f.With(overrides...)
		if err != nil {
			return nil, err
		}
		return changed.ResolveSharing(dir, traces)
	}, nil
}

// nodesOf counts the nodes that the scenario has before scaling.
func nodesOf(f *scenario.File, dir string) (int, error) {
	unscaled, err := scenario.Set("--vary", "scale.cluster", "1")
	if err != nil {
		return 0, err
	}
	file, err := f.With(unscaled)
	if err != nil {
		return 0, err
	}
	s, err := file.Resolve(dir)
	if err != nil {
		return 0, err
	}
	return len(s.Config.Cluster.Nodes), nil
}

// overrides lays the i-th values over their fields.
func (v *Vary) overrides(i, base int) ([]scenario.Override, error) {
	out := make([]scenario.Override, len(v.axes))
	for k, a := range v.axes {
		path, value := a.path, a.values[i]
		if path == Nodes {
			n, err := strconv.ParseUint(value, 10, 31)
			if err != nil || n == 0 {
				return nil, fmt.Errorf("--vary: nodes: %q: expected a whole number above 0", value)
			}
			path, value = "scale.cluster", strconv.FormatFloat(float64(n)/float64(base), 'g', -1, 64)
		}
		var err error
		if out[k], err = scenario.Set("--vary", path, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}
