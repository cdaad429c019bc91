package scenario

import (
	"testing"
)

// A type that got fields since, further up, longer arrays, and another order of fields.
type (
	oldShape struct {
		Name    string
		Request [2]int64
		Inner   []oldInner
		Weight  *float64
		Labels  map[string]string
	}
	oldInner struct {
		A int32
		B bool
	}
	newShape struct {
		Added   uint8
		Request [4]int64
		Labels  map[string]string
		Inner   []newInner
		Extra   []string
		Weight  *float64
		Name    string
		hidden  int
	}
	newInner struct {
		Flavor *string
		B      bool
		A      int32
	}
)

func form(v any) string { return string(canonical(v)) }

// What a later version adds to a type, and nobody sets, does not show.
func TestCanonicalOfLaterTypes(t *testing.T) {
	zero := 0.0
	was := oldShape{Name: "a\"b", Request: [2]int64{1, 2}, Inner: []oldInner{{1, true}, {}}, Weight: &zero, Labels: map[string]string{"y": "1", "x": ""}}
	is := newShape{Name: "a\"b", Request: [4]int64{1, 2}, Inner: []newInner{{A: 1, B: true}, {}}, Weight: &zero, Labels: map[string]string{"x": "", "y": "1"}, Extra: []string{}, hidden: 7}
	want := `{Inner:[{A:1,B:true,},{},],Labels:{"x":"","y":"1",},Name:"a\"b",Request:[1,2,],Weight:&0,}`
	if form(was) != want || form(is) != want {
		t.Errorf("%s and %s, want %s", form(was), form(is), want)
	}
}

// What can be told apart is.
func TestCanonicalTellsApart(t *testing.T) {
	zero, one := 0.0, 1.0
	seen := map[string]int{}
	for i, v := range []newShape{{}, {Weight: &zero}, {Weight: &one}, {Added: 1}, {Request: [4]int64{0, 1}}, {Request: [4]int64{1}}, {Extra: []string{""}},
		{Extra: []string{"", ""}}, {Extra: []string{"a,b"}}, {Extra: []string{"a", "b"}}, {Name: "{}"}, {Inner: []newInner{{}}}, {Labels: map[string]string{"a": ""}}} {
		if other, ok := seen[form(v)]; ok {
			t.Errorf("%d and %d are both %s", other, i, form(v))
		}
		seen[form(v)] = i
	}
}

func TestCanonicalOfNoValue(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a function has a form")
		}
	}()
	form(func() {})
}
