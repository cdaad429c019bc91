package size

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/report"
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
// go down. HI is the last value, however large the step. Several fields must have as many
// values as each other. The file is what they are fields of.
func ParseVary(specs []string, f *scenario.File) (*Vary, error) {
	v := &Vary{}
	for _, spec := range specs {
		a, err := parseAxis(spec, f)
		if err == nil {
			err = v.refuse(a.path)
		}
		if err != nil {
			return nil, fmt.Errorf("--vary %s: %w", spec, err)
		}
		if first := v.axes; first != nil && len(first[0].values) != len(a.values) {
			return nil, fmt.Errorf("--vary %s: %s, but %s has %d: fields that move together need as many as each other",
				spec, report.Count(len(a.values), "value"), first[0].path, len(first[0].values))
		}
		v.axes = append(v.axes, *a)
	}
	if v.axes == nil {
		return nil, fmt.Errorf("nothing is varied: expected --vary FIELD=LO..HI")
	}
	return v, v.distinct()
}

// refuse says what is wrong with varying a field too.
func (v *Vary) refuse(path string) error {
	if path == "policy" || path == "policies" {
		return fmt.Errorf("every policy has an answer of its own: ask for some with --policy")
	}
	if slices.ContainsFunc(v.axes, func(a axis) bool { return a.path == path }) {
		return fmt.Errorf("%s is varied already", path)
	}
	return nil
}

// distinct wants no value, or values that move together, twice.
func (v *Vary) distinct() error {
	seen := map[string]bool{}
	for i := range v.Len() {
		text := label(v.Values(i))
		if seen[text] {
			return fmt.Errorf("--vary: %s: %s is listed twice", v.Field(), text)
		}
		seen[text] = true
	}
	return nil
}

func parseAxis(spec string, f *scenario.File) (*axis, error) {
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
	lo = strings.TrimSpace(lo)
	err := a.span(lo, strings.TrimSpace(hi), strings.TrimSpace(step))
	if err != nil && path != Nodes {
		// Where there is no such field, that says more than what is wrong with its values.
		set, wrong := scenario.Set("", path, lo)
		if wrong == nil {
			_, wrong = f.With(set)
		}
		err = cmp.Or(wrong, err)
	}
	return a, err
}

// span makes the values from one to another, both of which are among them.
func (a *axis) span(lo, hi, step string) error {
	values, err := scenario.Steps(a.path, lo, hi, step, maxValues)
	if err != nil {
		return err
	}
	last, err := scenario.Steps(a.path, hi, hi, step, 1)
	if err != nil {
		return err
	}
	if a.values = values; values[len(values)-1] != last[0] {
		a.values = append(values, last[0])
	}
	return nil
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
// are found from the folder dir. The error is what is wrong with nodes as an axis, or with
// fields that are in each other's way.
func (v *Vary) builder(f *scenario.File, dir string) (func(i int) (*scenario.Scenario, error), error) {
	base := 0
	if v.varies(Nodes) {
		var err error
		if base, err = nodesOf(f, dir); err != nil {
			return nil, err
		}
	}
	for _, i := range []int{0, v.Len() - 1} {
		if err := v.contradicts(f, i, base); err != nil {
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
		s, err := changed.ResolveSharing(dir, traces)
		if err != nil {
			return nil, err
		}
		return s, v.checkNodes(i, s)
	}, nil
}

// varies reports whether a field is varied.
func (v *Vary) varies(path string) bool {
	return slices.ContainsFunc(v.axes, func(a axis) bool { return a.path == path })
}

// contradicts looks for two fields of which one undoes the other: laid over the file in
// either order, they make different scenarios.
func (v *Vary) contradicts(f *scenario.File, i, base int) error {
	if len(v.axes) == 1 {
		return nil
	}
	overrides, err := v.overrides(i, base)
	if err != nil {
		return err
	}
	for b := range overrides {
		for a := range b {
			one, err := f.With(overrides[a], overrides[b])
			if err != nil {
				return err
			}
			other, err := f.With(overrides[b], overrides[a])
			if err != nil {
				return err
			}
			if one.Fingerprint() != other.Fingerprint() {
				return fmt.Errorf("--vary: %s and %s set the same field: vary one of them", v.axes[a].path, v.axes[b].path)
			}
		}
	}
	return nil
}

// checkNodes wants a scenario to have as many nodes as its value says: what else moves may
// change how many there are to be repeated or cut.
func (v *Vary) checkNodes(i int, s *scenario.Scenario) error {
	for _, a := range v.axes {
		if got := strconv.Itoa(len(s.Config.Cluster.Nodes)); a.path == Nodes && got != a.values[i] {
			return fmt.Errorf("--vary: %s: with %s there are %s nodes: vary %s, or the cluster, not both", v.Field(), label(v.Values(i)), got, Nodes)
		}
	}
	return nil
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
