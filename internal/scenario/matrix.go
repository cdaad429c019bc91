package scenario

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/policies"
	"gopkg.in/yaml.v3"
)

// StudyKind is the kind of a file with a study: one scenario and a matrix of what is
// varied in it.
const StudyKind = "Study"

// Bounds of a study, so that a typo does not run for a week.
const (
	maxPoints = 10_000
	maxCells  = 100_000
)

// Study is a study as it is written, its ranges written out. docs/sweeps.md has the
// format.
type Study struct {
	APIVersion string   `yaml:"apiVersion,required"`
	Kind       string   `yaml:"kind,required"`
	Name       string   `yaml:"name"`
	Scenario   Value    `yaml:"scenario,required"` // the name of a file, or a scenario
	Matrix     Value    `yaml:"matrix,required"`
	Exclude    []Value  `yaml:"exclude"`
	Metrics    []string `yaml:"metrics"` // to be shown
	Keep       string   `yaml:"keep"`    // one of Keeps

	Base  *File  `yaml:"-"` // the scenario
	Dir   string `yaml:"-"` // where the files are that it names
	Axes  []Axis `yaml:"-"`
	holes [][][]int
}

// Keeps are what is kept of every cell: the summary; its tables too, the default; or also
// every decision.
var Keeps = []string{"tables", "summary", "decisions"}

// Axis is one axis of a study. Its name is unique among the axes: the last part of the
// path if that is enough. There is always one of policies: if no axis sets them, the first
// has those of the scenario.
type Axis struct {
	Name   string
	Paths  []string // the fields it sets
	Unit   string   // of the numbers: "s", "B" or none
	Points []Point
}

// Point is one value of an axis: what it sets, the name it goes by, and what number it is
// if it is one.
type Point struct {
	Label   string
	Number  float64
	Numeric bool
	Set     []Override
}

// LoadStudy reads a study and the scenario it names, which is found from the study's
// folder. metrics are the names it may use. The error is an Errors.
func LoadStudy(name string, metrics []string) (*Study, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, Errors{{File: name, Msg: "cannot be read: " + reason(err)}}
	}
	return ParseStudy(name, data, folder(name), metrics)
}

const studyIs = "a study with apiVersion, kind, scenario and matrix"

// ParseStudy is LoadStudy of a text. name stands in errors, and dir is where the scenario
// is found.
func ParseStudy(name string, data []byte, dir string, metrics []string) (*Study, error) {
	root, err := document(name, data, studyIs)
	if err != nil {
		return nil, err
	}
	s := &Study{Dir: dir}
	r := &studyReader{decoder: newDecoder(&File{name: name, root: root}), Study: s}
	if r.checkHeader(root, StudyKind, studyIs); len(r.errs.list) == 0 {
		r.decode(root, reflect.ValueOf(s).Elem())
	}
	if len(r.errs.list) == 0 {
		r.read(metrics)
	}
	if err := r.errs.err(name); err != nil {
		return nil, err
	}
	return s, nil
}

// studyReader gives a decoded study its meaning.
type studyReader struct {
	*decoder
	*Study
}

func (r *studyReader) read(metrics []string) {
	for i, m := range r.Metrics {
		if !slices.Contains(metrics, m) {
			r.failAtPath(at("metrics", i), "unknown metric %s%s", quote(m), suggest.Hint(m, metrics))
		}
	}
	if r.Keep = cmp.Or(r.Keep, Keeps[0]); !slices.Contains(Keeps, r.Keep) {
		r.failAtPath(at("keep"), "%s: expected one of %s%s", quote(r.Keep), strings.Join(Keeps, ", "), suggest.Hint(r.Keep, Keeps))
	}
	r.step("scenario", r.readScenario)
	r.step("matrix", r.readMatrix)
	if len(r.errs.list) > 0 {
		return
	}
	r.addPolicies()
	r.nameAxes()
	for i := range r.Exclude {
		r.step("exclude", func() { r.step(i, func() { r.readHole(target(r.Exclude[i].node)) }) })
	}
	if len(r.errs.list) == 0 && r.count() > maxCells {
		r.fail(r.Matrix.node, "more than %d cells", maxCells)
	} else if len(r.errs.list) == 0 && len(r.Cells()) == 0 {
		r.failAtPath(at("exclude"), "no cell is left")
	}
}

// failAtPath adds a mistake at the value of a path.
func (r *studyReader) failAtPath(p path, format string, args ...any) {
	n := r.file.find(p)
	r.errs.add(&Error{r.file.name, n.Line, n.Column, p.String(), fmt.Sprintf(format, args...)})
}

// readScenario parses the scenario. One that is written out in the study needs no header.
func (r *studyReader) readScenario() {
	n := target(r.Scenario.node)
	var err error
	switch {
	case n.Kind == yaml.MappingNode:
		r.Base, err = r.inline(n)
	case n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" && n.Value != "":
		name := n.Value
		if !filepath.IsAbs(name) {
			name = filepath.Join(r.Dir, name)
		}
		data, unreadable := readFile(name)
		if unreadable != nil {
			r.fail(n, "%s cannot be read: %s", quote(n.Value), reason(unreadable))
			return
		}
		r.Dir = folder(name)
		r.Base, err = Parse(name, data)
	default:
		r.fail(n, "expected the name of a scenario file, or a scenario, got %s", kindOf(n))
	}
	if err != nil {
		r.errs.list = append(r.errs.list, err.(Errors)...)
	}
}

func (r *studyReader) inline(n *yaml.Node) (*File, error) {
	whole := *n
	for _, h := range [][2]string{{"apiVersion", APIVersion}, {"kind", Kind}} {
		if child(n, h[0]) == nil {
			key, value := *n, *n
			key.Kind, key.Tag, key.Style, key.Content, key.Value = yaml.ScalarNode, "!!str", 0, nil, h[0]
			value = key
			value.Value = h[1]
			whole.Content = append(slices.Clip(whole.Content), &key, &value)
		}
	}
	f := &File{name: r.file.name, root: &whole}
	if err := f.decodeWith(newDecoder(f)); err != nil {
		return nil, err
	}
	return f, nil
}

// readMatrix reads the axes in the order in which they are written.
func (r *studyReader) readMatrix() {
	n := target(r.Matrix.node)
	switch {
	case n.Kind != yaml.MappingNode:
		r.fail(n, "expected a mapping of fields and their values, got %s", kindOf(n))
		return
	case len(n.Content) == 0:
		r.fail(n, "the mapping is empty: expected at least one field and its values, as in seed: 1..3")
		return
	}
	setBy := map[string]string{}
	r.eachField(n, func(key, value *yaml.Node) {
		a := r.axis(key, value)
		for _, p := range a.Paths {
			if other, ok := setBy[p]; ok {
				r.fail(key, "%s is set by the axis %s already", p, other)
			}
			setBy[p] = key.Value
		}
		r.Axes = append(r.Axes, a)
	})
}

// addPolicies puts an axis of the scenario's policies before the others, unless one of them
// sets the policies.
func (r *studyReader) addPolicies() {
	for i := range r.Axes {
		if slices.Contains(r.Axes[i].Paths, policyPath) {
			return
		}
	}
	r.refusePolicies()
	labels := policies.Names()
	if r.Base.Policies != nil {
		labels = nil
	}
	for _, p := range r.Base.Policies {
		labels = append(labels, cmp.Or(p.As, p.Name))
	}
	at := r.Scenario.node
	word := func(s string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: at.Line, Column: at.Column}
	}
	v := axisValues{r, word(policyPath), nil}
	a := Axis{Name: policyPath, Paths: []string{policyPath}}
	for _, label := range labels {
		a.Points = append(a.Points, v.point(word(label)))
	}
	r.Axes = slices.Insert(r.Axes, 0, a)
}

// refusePolicies wants an axis that sets the list of policies to stand beside one that says which
// of them plays: a cell is a run of one, and that would be one of the scenario's own list.
func (r *studyReader) refusePolicies() {
	for i := range r.Axes {
		for _, p := range r.Axes[i].Points {
			for _, o := range p.Set {
				if o.Path.String() == "policies" {
					r.step("matrix", func() {
						r.step(r.Axes[i].Name, func() {
							r.fail(o.Path.node, "the list of policies does not say which of them plays in a cell: expected an axis policy, as in policy: [gang, per-pod]")
						})
					})
					return
				}
			}
		}
	}
}

// axis reads the values of one axis: a list, a range, one value, or names for groups of
// fields that move together.
func (r *studyReader) axis(key, n *yaml.Node) Axis {
	a := Axis{Name: key.Value, Paths: []string{key.Value}}
	n = target(n)
	before := len(r.errs.list)
	switch v := (axisValues{r, key, typeAt(key.Value)}); {
	case n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			r.step(i, func() { a.Points = append(a.Points, v.points(c)...) })
		}
	case n.Kind == yaml.MappingNode && key.Value != policyPath && isGroups(n):
		a.Points, a.Paths = r.groups(n)
	case n.Kind == yaml.MappingNode && key.Value != policyPath:
		a.Points = v.stepped(n)
	default:
		a.Points = v.points(n)
	}
	if len(r.errs.list) == before {
		r.checkAxis(n, &a)
	}
	return a
}

// checkAxis wants an axis to have some values, each once, and finds out what unit they
// have.
func (r *studyReader) checkAxis(n *yaml.Node, a *Axis) {
	switch {
	case len(a.Points) == 0:
		r.fail(n, "expected at least one value")
	case len(a.Points) > maxPoints:
		r.fail(n, "%d values: expected at most %d", len(a.Points), maxPoints)
		return
	}
	seen := map[string]bool{}
	for _, p := range a.Points {
		if seen[p.Label] {
			r.fail(n, "%s is listed twice%s", quote(p.Label), ownName(a, p.Label))
		}
		seen[p.Label] = true
	}
	if len(a.Paths) == 1 {
		a.Unit = unitOf(typeAt(a.Paths[0]))
	}
}

// ownName says how two policies are told apart.
func ownName(a *Axis, label string) string {
	if a.Name != policyPath {
		return ""
	}
	return fmt.Sprintf(": give one of them a name of its own, as in {name: %s, as: my-name}", label)
}

// isGroups tells names for groups of fields from a range: they lead to mappings.
func isGroups(n *yaml.Node) bool {
	for i := 1; i < len(n.Content); i += 2 {
		if target(n.Content[i]).Kind == yaml.MappingNode {
			return true
		}
	}
	return false
}

// groups reads points that set any number of fields, and returns the fields.
func (r *studyReader) groups(n *yaml.Node) (points []Point, paths []string) {
	r.eachField(n, func(label, group *yaml.Node) {
		p := pointOf(label.Value, nil)
		if group = target(group); group.Kind != yaml.MappingNode {
			r.fail(group, "expected a mapping of fields and their values, got %s", kindOf(group))
			return
		}
		r.eachField(group, func(key, value *yaml.Node) {
			p.Set = append(p.Set, Override{Value{r.file.name, key}, Value{r.file.name, value}})
			if !slices.Contains(paths, key.Value) {
				paths = append(paths, key.Value)
			}
		})
		points = append(points, p)
	})
	return points, paths
}

// nameAxes shortens the paths to what tells the axes apart.
func (r *studyReader) nameAxes() {
	short := make([]string, len(r.Axes))
	for i := range r.Axes {
		short[i] = r.Axes[i].Name
		if cut := strings.LastIndex(short[i], "."); cut >= 0 && !strings.HasSuffix(short[i], "]") {
			short[i] = short[i][cut+1:]
		}
	}
	for i := range r.Axes {
		same := func(s string) bool { return s == short[i] }
		if first := slices.IndexFunc(short, same); !slices.ContainsFunc(short[first+1:], same) {
			r.Axes[i].Name = short[i]
		}
	}
}

// readHole reads which cells are left out: those that have all of some values.
func (r *studyReader) readHole(n *yaml.Node) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		r.fail(n, "expected a mapping of axes and their values: a cell that has all of them is left out")
		return
	}
	hole := make([][]int, len(r.Axes)) // nil: every value
	r.eachField(n, func(key, value *yaml.Node) {
		i := slices.IndexFunc(r.Axes, func(a Axis) bool { return a.Name == key.Value || slices.Equal(a.Paths, []string{key.Value}) })
		if i < 0 {
			names := r.axisNames()
			r.fail(key, "there is no such axis: expected one of %s%s", strings.Join(names, ", "), suggest.Hint(key.Value, names))
			return
		}
		list := []*yaml.Node{value}
		if value = target(value); value.Kind == yaml.SequenceNode {
			list = value.Content
		}
		for _, v := range list {
			hole[i] = append(hole[i], r.pointNamed(&r.Axes[i], v))
		}
	})
	r.holes = append(r.holes, hole)
}

func (r *studyReader) axisNames() []string {
	names := make([]string, len(r.Axes))
	for i := range names {
		names[i] = r.Axes[i].Name
	}
	return names
}

func (r *studyReader) pointNamed(a *Axis, n *yaml.Node) int {
	label := labelOf(n)
	labels := make([]string, len(a.Points))
	for i := range labels {
		labels[i] = a.Points[i].Label
	}
	i := slices.Index(labels, label)
	if i < 0 {
		hint := suggest.Hint(label, labels)
		if isDecimal(label) {
			hint = "" // every digit is one typo away
		}
		r.fail(n, "%s is no value of the axis: expected one of %s%s", quote(label), strings.Join(labels, ", "), hint)
	}
	return i
}

// count returns how many cells there are, or something above maxCells.
func (s *Study) count() int {
	n := 1
	for i := range s.Axes {
		if n *= len(s.Axes[i].Points); n > maxCells {
			break
		}
	}
	return n
}

// Cells returns the cells: for each the positions of its values on the axes. The last
// axis changes fastest.
func (s *Study) Cells() [][]int {
	var cells [][]int
	at := make([]int, len(s.Axes))
	for range s.count() {
		if !s.excluded(at) {
			cells = append(cells, slices.Clone(at))
		}
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < len(s.Axes[i].Points) {
				break
			}
			at[i] = 0
		}
	}
	return cells
}

func (s *Study) excluded(at []int) bool {
	return slices.ContainsFunc(s.holes, func(hole [][]int) bool {
		for i, values := range hole {
			if values != nil && !slices.Contains(values, at[i]) {
				return false
			}
		}
		return true
	})
}
