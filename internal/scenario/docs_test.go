package scenario

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const docs = "../../docs/scenario.md"

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// examples returns the examples of the documentation, each made a whole scenario, by the
// line at which it begins.
func examples(t *testing.T) map[string]string {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range yamlBlock.FindAllSubmatchIndex(text, -1) {
		line := 1 + strings.Count(string(text[:m[2]]), "\n")
		example := string(text[m[2]:m[3]])
		if !strings.Contains(example, "cluster:") || strings.Contains(example, "scale: {load: 1.5, cluster: 2}") {
			example += "cluster: {synthetic: {racks: 4, hosts: 4, gpus: 8}}\n"
		}
		found[fmt.Sprintf("line %d", line)] = withHeader(example)
	}
	return found
}

// The examples of the documentation are scenarios.
func TestDocsExamples(t *testing.T) {
	found := examples(t)
	if len(found) < 15 {
		t.Fatalf("only %d examples", len(found))
	}
	for line, text := range found {
		t.Run(line, func(t *testing.T) {
			f, err := Parse("example", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Resolve("testdata/files"); err != nil {
				t.Error(err)
			}
		})
	}
}

// Every field stands in a table or a list of the documentation, and in an example if it is
// not one of the timing's many.
func TestDocsComplete(t *testing.T) {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, example := range examples(t) {
		all.WriteString(example)
	}
	prose := yamlBlock.ReplaceAllString(string(text), "")
	d := &decoder{shapes: map[reflect.Type]*shape{}}
	var check func(typ reflect.Type)
	check = func(typ reflect.Type) {
		for _, f := range d.shapeOf(typ).fields {
			if !regexp.MustCompile("`[{]?([a-zA-Z]+[.])*" + f.name + "[`.:]").MatchString(prose) {
				t.Errorf("%s is not documented", f.name)
			}
			if typ != reflect.TypeFor[Timing]() && !regexp.MustCompile(`\b`+f.name+`:`).MatchString(all.String()) {
				t.Errorf("%s has no example", f.name)
			}
			if f.under != nil {
				check(f.under)
			}
		}
	}
	check(reflect.TypeFor[File]())
}
