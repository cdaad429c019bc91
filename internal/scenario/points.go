package scenario

import (
	"math"
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// axisValues makes the points of an axis that sets one field.
type axisValues struct {
	*studyReader
	key *yaml.Node
	of  reflect.Type // of the field; nil if it is not known
}

// point sets the field to a value.
func (v *axisValues) point(n *yaml.Node) Point {
	null := target(n).ShortTag() == "!!null" // leaves the field out
	if v.of != nil && (!null || v.key.Value == seedPath) {
		v.decode(n, reflect.New(v.of).Elem())
	}
	p := pointOf(labelOf(n), v.of)
	p.Set = []Override{{Value{v.file.name, v.key}, Value{v.file.name, n}}}
	return p
}

func pointOf(label string, t reflect.Type) Point {
	number, ok := numberOf(t, label)
	return Point{Label: label, Number: number, Numeric: ok}
}

// labelOf returns the name of a value: for a mapping its own if it has one.
func labelOf(n *yaml.Node) string {
	switch n = target(n); {
	case n.ShortTag() == "!!null":
		return "none"
	case n.Kind == yaml.MappingNode && entryName(n) != "":
		return entryName(n)
	}
	return Value{node: n}.String()
}

// points returns the point of a value, or the points of a range such as 1..10.
func (v *axisValues) points(n *yaml.Node) []Point {
	from, to, found := strings.Cut(target(n).Value, "..")
	if target(n).Kind != yaml.ScalarNode || !found || unitOf(v.of) != "" || !isNumber(v.of) {
		return []Point{v.point(n)}
	}
	return v.between(n, [3]string{from, to, "1"}, [3]*yaml.Node{n, n, n})
}

// span is a range as it is written out.
type span struct {
	From string `yaml:"from,required"`
	To   string `yaml:"to,required"`
	Step string `yaml:"step,required"`
}

// stepped returns the points of a range that is written out.
func (v *axisValues) stepped(n *yaml.Node) []Point {
	if !isNumber(v.of) {
		v.fail(n, "expected a list of values: ranges are for numbers, durations and amounts")
		return nil
	}
	var s span
	before := len(v.errs.list)
	if v.decode(n, reflect.ValueOf(&s).Elem()); len(v.errs.list) > before {
		return nil
	}
	return v.between(n, [3]string{s.From, s.To, s.Step}, [3]*yaml.Node{child(n, "from"), child(n, "to"), child(n, "step")})
}

// between returns the points from, from+step and so on, to `to`, which has to be one of them: a
// range that ended before would be taken for one that does not.
func (v *axisValues) between(n *yaml.Node, texts [3]string, nodes [3]*yaml.Node) []Point {
	s := newScale(v.of, texts[:])
	var amounts [3]int64
	for i := range texts {
		var err error
		if amounts[i], err = s.parse(texts[i]); err != nil {
			v.fail(target(nodes[i]), "%v", err)
			return nil
		}
	}
	from, to, step := amounts[0], amounts[1], amounts[2]
	switch {
	case step <= 0:
		v.fail(target(nodes[2]), "%s: expected more than 0", quote(texts[2]))
		return nil
	case from > to:
		v.fail(target(nodes[1]), "%s: expected at least %s, where the range begins", quote(texts[1]), texts[0])
		return nil
	}
	if count := uint64(to-from)/uint64(step) + 1; from < 0 && to > math.MaxInt64+from || count > maxPoints {
		v.fail(n, "more than %d values", maxPoints)
		return nil
	}
	if last := to - (to-from)%step; last < to {
		v.fail(target(nodes[1]), "%s: steps of %s from %s do not lead there: expected %s, the last before it, or %s",
			quote(texts[1]), texts[2], texts[0], s.write(last), s.write(last+step))
		return nil
	}
	var points []Point
	for x := from; x <= to && x >= from; x += step {
		c := *n
		c.Kind, c.Tag, c.Style, c.Content, c.Value = yaml.ScalarNode, "", 0, nil, s.write(x)
		points = append(points, v.point(&c))
	}
	return points
}

// typeAt returns the type of the field at a path, or nil.
func typeAt(p string) reflect.Type {
	steps, ok := cutPath(p)
	if !ok {
		return nil
	}
	d := newDecoder(nil)
	t := reflect.TypeFor[File]()
	for _, s := range steps {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch v := reflect.New(t).Elem(); {
		case isTextual(v) || !isCompound(v):
			return nil
		case t.Kind() != reflect.Struct:
			t = t.Elem()
		default:
			shape := d.shapeOf(t)
			if i := shape.lookup(s.name); i >= 0 {
				t = t.FieldByIndex(shape.fields[i].index).Type
			} else if shape.rest != nil {
				t = t.FieldByIndex(shape.rest.index).Type.Elem()
			} else {
				return nil
			}
		}
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isNumber reports whether values of a type are numbers, with or without a unit.
func isNumber(t reflect.Type) bool {
	if t == nil {
		return false
	}
	v := reflect.New(t).Elem()
	return v.CanInt() || v.CanUint() || v.CanFloat()
}

func unitOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "s"
	case reflect.TypeFor[Bytes]():
		return "B"
	}
	return ""
}

// numberOf returns what number a text is: in seconds, bytes, GPUs or cores for what is
// written with units.
func numberOf(t reflect.Type, text string) (float64, bool) {
	if !isNumber(t) {
		x, err := strconv.ParseFloat(text, 64)
		return x, err == nil && isDecimal(strings.TrimPrefix(text, "-"))
	}
	s := newScale(t, []string{text})
	n, err := s.parse(text)
	return float64(n) / s.perUnit, err == nil
}

// scale turns the texts of a type into whole numbers and back, exactly.
type scale struct {
	of       reflect.Type
	decimals int     // of plain numbers
	perUnit  float64 // what 1 is
}

// newScale makes a scale on which some texts are whole.
func newScale(t reflect.Type, texts []string) scale {
	s := scale{of: t, perUnit: 1}
	switch t {
	case reflect.TypeFor[Duration]():
		s.perUnit = 1e9
	case reflect.TypeFor[Milli]():
		s.perUnit = 1000
	}
	if t.Kind() == reflect.Float64 {
		for _, text := range texts {
			_, fraction, _ := strings.Cut(text, ".")
			s.decimals = max(s.decimals, len(fraction))
		}
		for range s.decimals {
			s.perUnit *= 10
		}
	}
	return s
}

func (s scale) parse(text string) (int64, error) {
	v := reflect.New(s.of)
	if t, ok := v.Interface().(textual); ok {
		err := t.fromText(text)
		return v.Elem().Int(), err
	}
	d := newDecoder(nil)
	unscaled := text
	if s.of.Kind() == reflect.Float64 {
		whole, fraction, _ := strings.Cut(text, ".")
		unscaled = whole + fraction + strings.Repeat("0", max(0, s.decimals-len(fraction)))
	}
	n, err := strconv.ParseInt(unscaled, 10, 64)
	if err != nil || !setScalar(v.Elem(), text) {
		return 0, unitError(quote(text) + ": expected " + d.expected(v.Elem()))
	}
	return n, nil
}

func (s scale) write(n int64) string {
	switch s.of {
	case reflect.TypeFor[Duration]():
		return Duration(n).String()
	case reflect.TypeFor[Milli]():
		return decimal(n, 3)
	case reflect.TypeFor[Bytes]():
		return Bytes(n).String()
	}
	return decimal(n, s.decimals)
}

// decimal writes n / 10^decimals without zeros at the end.
func decimal(n int64, decimals int) string {
	s := strconv.FormatInt(n, 10)
	if decimals == 0 {
		return s
	}
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	s = strings.Repeat("0", max(0, decimals+1-len(s))) + s
	cut := len(s) - decimals
	return sign + strings.TrimSuffix(strings.TrimRight(s[:cut]+"."+s[cut:], "0"), ".")
}

// String writes an amount of memory in the largest unit that leaves it whole.
func (b Bytes) String() string {
	units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	i := 0
	if b != 0 {
		i = min(bits.TrailingZeros64(uint64(b))/10, len(units)-1)
	}
	return strconv.FormatInt(int64(b)>>(10*i), 10) + units[i]
}
