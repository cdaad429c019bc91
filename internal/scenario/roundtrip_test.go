package scenario

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// What a program puts into a File and what it gets back from the file that says the same
// are equal, whatever it is: no field is lost, mixed up or changed on the way.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		g := &writer{rand: rand.New(rand.NewPCG(seed, 0)), d: &decoder{shapes: map[reflect.Type]*shape{}}}
		want := &File{}
		g.fill(reflect.ValueOf(want).Elem(), &field{})
		want.APIVersion, want.Kind = APIVersion, Kind
		text := g.text(reflect.ValueOf(want).Elem())
		got, err := Parse("s.yaml", []byte(text))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		got.name, got.root = "", nil
		written, err := got.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("s.yaml", written)
		if err != nil {
			t.Fatalf("seed %d: what was written is not read: %v\n%s", seed, err, written)
		}
		again.name, again.root = "", nil
		if !reflect.DeepEqual(again, got) {
			t.Fatalf("seed %d: read again it is\n%+v\nnot\n%+v\nof\n%s", seed, again, got, written)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got\n%+v\nwant\n%+v\nof\n%s", seed, got, want, text)
		}
	}
}

// writer fills values at random and writes them as YAML.
type writer struct {
	rand *rand.Rand
	d    *decoder
}

// fill sets v to something that the field f can hold and that is written.
func (g *writer) fill(v reflect.Value, f *field) {
	switch {
	case isTextual(v):
		v.SetInt(g.textual(v))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		g.fill(v.Elem(), f)
	case v.Kind() == reflect.Struct:
		g.fillStruct(v)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), g.rand.IntN(3), 3))
		for i := range v.Len() {
			g.fill(v.Index(i), &field{})
		}
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + g.rand.IntN(2) {
			e := reflect.New(v.Type().Elem()).Elem()
			g.fill(e, f)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("level-", g.rand.IntN(9))), e)
		}
	default:
		g.fillScalar(v, f)
	}
}

func (g *writer) fillStruct(v reflect.Value) {
	s := g.d.shapeOf(v.Type())
	for i := range s.fields {
		if f := &s.fields[i]; f.required || g.rand.IntN(2) == 0 {
			g.fill(v.FieldByIndex(f.index), f)
		}
	}
	if s.rest != nil && g.rand.IntN(2) == 0 {
		g.fill(v.FieldByIndex(s.rest.index), s.rest)
	}
}

// textual draws a time or quantity of any magnitude.
func (g *writer) textual(v reflect.Value) int64 {
	n := 1 + g.rand.Int64N(1<<g.rand.IntN(60)+1)
	switch v.Type() {
	case reflect.TypeFor[NeverReady]():
		return []int64{-1, 7, 100_000}[g.rand.IntN(3)]
	case reflect.TypeFor[Share]():
		return []int64{-50, -100, 7}[g.rand.IntN(3)]
	case reflect.TypeFor[Bytes]():
		return max(n, 1<<20)
	}
	return n
}

func (g *writer) fillScalar(v reflect.Value, f *field) {
	switch {
	case v.Kind() == reflect.String:
		words := []string{"a", "007", "no", "null", "~", "x: y", "# z", "- 1", "ü", `"`, "'", "1e3", " a ", "<<", "*a", "{", "true"}
		v.SetString(words[g.rand.IntN(len(words))])
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.Float64:
		v.SetFloat(math.Round(1+g.rand.Float64()*1e6) / 1000)
	case v.CanUint():
		v.SetUint(g.rand.Uint64())
	default:
		v.SetInt(1 + g.rand.Int64N(1<<31-1))
		if f.signed && g.rand.IntN(2) == 0 {
			v.SetInt(-v.Int())
		}
	}
}

// text writes a value in YAML's flow style.
func (g *writer) text(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Pointer:
		return g.text(v.Elem())
	case isTextual(v):
		return g.textOf(v)
	case v.Kind() == reflect.Struct:
		return "{" + strings.Join(g.fieldTexts(v), ", ") + "}"
	case v.Kind() == reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, g.text(v.Index(i)))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case v.Kind() == reflect.Map:
		return "{" + strings.Join(g.entryTexts(v), ", ") + "}"
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String())
	case v.Kind() == reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

// textOf writes what is written as one text, in different ways.
func (g *writer) textOf(v reflect.Value) string {
	switch x := v.Addr().Interface().(type) {
	case *Duration:
		if g.rand.IntN(2) == 0 {
			return fmt.Sprintf("%d.%09d", int64(*x)/1e9, int64(*x)%1e9)
		}
		return x.String()
	case *Milli:
		if g.rand.IntN(2) == 0 {
			return fmt.Sprintf("%dm", int64(*x))
		}
		return fmt.Sprintf("%d.%03d", int64(*x)/1000, int64(*x)%1000)
	case *NeverReady:
		if *x == AllPods {
			return "true"
		}
	case *Share:
		if *x < 0 {
			return fmt.Sprint(-*x, "%")
		}
	}
	return fmt.Sprint(v.Int())
}

// fieldTexts writes the fields of a struct that are set, in any order.
func (g *writer) fieldTexts(v reflect.Value) []string {
	s := g.d.shapeOf(v.Type())
	var texts []string
	for _, f := range s.fields {
		value := v.FieldByIndex(f.index)
		if value.IsZero() && !f.required {
			continue
		}
		name := f.name
		if f.other != "" && g.rand.IntN(2) == 0 {
			name = f.other
		}
		texts = append(texts, name+": "+g.text(value))
	}
	if s.rest != nil {
		texts = append(texts, g.entryTexts(v.FieldByIndex(s.rest.index))...)
	}
	g.rand.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts
}

func (g *writer) entryTexts(m reflect.Value) []string {
	var texts []string
	for _, k := range m.MapKeys() {
		v := reflect.New(m.Type().Elem()).Elem() // entries of maps have no address
		v.Set(m.MapIndex(k))
		texts = append(texts, k.String()+": "+g.text(v))
	}
	slices.Sort(texts)
	return texts
}

// A mistake anywhere is reported at its place: every value of the documentation's examples
// in turn is replaced by one that cannot be.
func TestPlaces(t *testing.T) {
	replaced := 0
	for _, example := range slices.Sorted(maps.Values(examples(t))) {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(example), &doc); err != nil {
			t.Fatal(err)
		}
		for _, n := range values(doc.Content[0], nil) {
			replaced++
			wrong := replaceAt(example, n)
			_, err := Parse("s.yaml", []byte(wrong))
			errs, ok := err.(Errors)
			if !ok || errs[0].Line != n.Line || errs[0].Column != n.Column || errs[0].Field == "" {
				t.Errorf("%q in line %d, column %d: got %v", n.Value, n.Line, n.Column, err)
			}
		}
	}
	if replaced < 200 {
		t.Errorf("only %d values were replaced", replaced)
	}
}

// values returns the single values below a node.
func values(n *yaml.Node, found []*yaml.Node) []*yaml.Node {
	for i, c := range n.Content {
		switch {
		case c.Kind != yaml.ScalarNode:
			found = values(c, found)
		case n.Kind == yaml.SequenceNode || i%2 == 1:
			found = append(found, c)
		}
	}
	return found
}

// replaceAt replaces a value in a text by a list of lists, which nothing accepts.
func replaceAt(text string, n *yaml.Node) string {
	lines := strings.Split(text, "\n")
	line := lines[n.Line-1]
	lines[n.Line-1] = line[:n.Column-1] + "[[]]" + strings.TrimPrefix(line[n.Column-1:], n.Value)
	return strings.Join(lines, "\n")
}

// The place of a value is that of the value itself, or of what is nearest above it.
func TestFind(t *testing.T) {
	f, err := Parse("s.yaml", []byte(withHeader("queues:\n- {name: a, quota: {gpu: 8}}\n- &b\n  name: b\n  quota: {gpu: 8}\npolicies: [gang]")))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path         path
		line, column int
	}{
		{at("queues"), 2, 1},
		{at("queues", 0, "name"), 2, 10},
		{at("queues", 0, "quota", "gpu"), 2, 26},
		{at("queues", 0, "quota", "cpu"), 2, 20},
		{at("queues", 1, "name"), 4, 9},
		{at("queues", 7, "name"), 2, 1},
		{at("policies", 0, "name"), 6, 12},
		{at("nowhere", 3), 1, 1},
		{nil, 1, 1},
	}
	for _, tt := range tests {
		if n := f.find(tt.path); n.Line != tt.line || n.Column != tt.column {
			t.Errorf("%s is at %d:%d, want %d:%d", tt.path, n.Line, n.Column, tt.line, tt.column)
		}
	}
}

func TestPathString(t *testing.T) {
	tests := []struct {
		path path
		want string
	}{
		{nil, ""},
		{at("a"), "a"},
		{at("a", 3, "b"), "a[3].b"},
		{at("a", 3, 4), "a[3][4]"},
		{at("a").to("b").to(0), "a.b[0]"},
	}
	for _, tt := range tests {
		if got := tt.path.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	above := at("a")
	one, two := above.to("b"), above.to("c")
	if one.String() != "a.b" || two.String() != "a.c" {
		t.Errorf("paths from one place share their steps: %s, %s", one, two)
	}
}
