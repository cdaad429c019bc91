package kube

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// treeOf writes a tree with the places of its values. Columns are the YAML library's: in letters.
func treeOf(n *yaml.Node) string {
	text := fmt.Sprintf("%d:%d %d %s %q", n.Line, n.Column, n.Kind, n.ShortTag(), n.Value)
	for _, c := range n.Content {
		text += "\n" + treeOf(c)
	}
	return text
}

// JSON is YAML: both readers see the same values at the same places.
func TestJSONIsReadAsYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawObject(t, 3)
		if bad := isJSON("t", text); bad != nil {
			t.Fatalf("%v in %s", bad, text)
		}
		var ours, theirs []string
		if err := readJSON("t", text, func(n *yaml.Node) error { ours = append(ours, treeOf(n)); return nil }); err != nil {
			t.Fatal(err)
		}
		if err := readYAML("t", text, func(n *yaml.Node) error { theirs = append(theirs, treeOf(n)); return nil }); err != nil {
			t.Fatal(err)
		}
		if strings.Join(ours, "\n") != strings.Join(theirs, "\n") {
			t.Fatalf("%s\nours\n%s\ntheirs\n%s", text, ours, theirs)
		}
	})
}

// drawObject draws an object of JSON, spread over lines at random.
func drawObject(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\r\n"})
	var b strings.Builder
	b.WriteString("{" + space.Draw(t, "space"))
	for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
		if i > 0 {
			b.WriteString("," + space.Draw(t, "space"))
		}
		fmt.Fprintf(&b, "%q:%s%s%s", fmt.Sprint("k", i), " ", drawValue(t, depth), space.Draw(t, "space"))
	}
	return b.String() + "}"
}

func drawValue(t *rapid.T, depth int) string {
	plain := []string{"1", "-7", "0.5", "1e3", "true", "false", "null", `""`, `"a"`, `"a\nb\"c\\"`, `"caf\u00e9"`, `"1"`, `"# no comment"`}
	if depth == 0 || rapid.Bool().Draw(t, "plain") {
		return rapid.SampledFrom(plain).Draw(t, "value")
	}
	if rapid.Bool().Draw(t, "object") {
		return drawObject(t, depth-1)
	}
	var items []string
	for range rapid.IntRange(0, 3).Draw(t, "items") {
		items = append(items, drawValue(t, depth-1))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// What is no JSON is said with its place.
func TestBadJSON(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a": 1`, `t:1:8: not JSON: expected a comma or }, got the end of the file`},
		{"{\n  \"a\": }", `t:2:8: not JSON: expected a value, got "}"`},
		{"{\"a\" 1}", `t:1:6: not JSON: expected a colon, got "1}"`},
		{"{\"a\": 1,\n\"b\": 01}", `t:2:6: not JSON: "01" is no number`},
		{"{\"a\": \"x\ny\"}", `t:1:7: not JSON: a text in quotes that does not end in its line`},
		{`{"a": "\q"}`, `t:1:7: not JSON: "\"\\q\"" has an escape that there is not`},
		{`{"a": [1 2]}`, `t:1:10: not JSON: expected a comma or ], got "2]}"`},
		{`{"a": 1} {"b": nul}`, `t:1:16: not JSON: expected a value, got "nul}"`},
		{`{"a": 1} 7`, `t:1:10: not JSON: expected an object in braces, got "7"`},
		{strings.Repeat(`{"a":`, 2000), `t:1:5002: not JSON: nested more than 1000 times`},
	} {
		if err := isJSON("t", c.text); err == nil || err.Error() != c.want {
			t.Errorf("%.40s: %v, want %s", c.text, err, c.want)
		}
	}
	for _, text := range []string{"{}", "{}{}", "{}\n---\n{}", "[{}]\n", "", " \n", `{"a":-0.5E+7}`} {
		if err := isJSON("t", text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Items of a list are handed on as they are read, and what nobody reads is skipped.
func TestJSONList(t *testing.T) {
	const text = `{"apiVersion": "v1", "items": [
	{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "managedFields": [{"x": ["]"]}]}},
	{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b", "labels": {"images": "x"}}, "status": {"images": [{"names": ["}"]}]}}
], "kind": "NodeList"}`
	var told []string
	err := read("t", text, func(o *Object) error {
		told = append(told, fmt.Sprint(o, " ", o.Line, ":", o.Column, " ", child(child(o.node, "metadata"), "managedFields") == nil, child(child(o.node, "status"), "images") == nil))
		return nil
	})
	if want := "[Node/a 2:2 true true Node/b 3:2 true true]"; err != nil || fmt.Sprint(told) != want {
		t.Errorf("%v %v, want %s", told, err, want)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"apiVersion":"v1","kind":"List","items":[{"a":[1,2.5e-3,"\u00e9",null,true]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if isJSON("t", text) != nil {
			return
		}
		if err := readJSON("t", text, func(*yaml.Node) error { return nil }); err != nil {
			t.Errorf("%q: JSON at the first look, and not at the second: %v", text, err)
		}
	})
}
