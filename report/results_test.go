package report

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const resultsDoc = "../docs/results.md"

// docs/results.md lists every column of every file and every metric, as the code declares
// them. GANGPLAN_UPDATE=1 writes the lists anew.
func TestResultsDoc(t *testing.T) {
	b, err := os.ReadFile(resultsDoc)
	if err != nil {
		t.Fatal(err)
	}
	got := replaceBetween(t, string(b), "columns", columnsMarkdown())
	got = replaceBetween(t, got, "metrics", metricsMarkdown())
	if os.Getenv("GANGPLAN_UPDATE") != "" {
		if err := os.WriteFile(resultsDoc, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(b) {
		t.Errorf("%s differs from the declarations (GANGPLAN_UPDATE=1 writes it anew):\n%s", resultsDoc, firstDifference(got, string(b)))
	}
}

// replaceBetween puts text between the marks of a name.
func replaceBetween(t *testing.T, doc, name, text string) string {
	t.Helper()
	before, rest, found := strings.Cut(doc, "<!-- "+name+" -->\n")
	_, after, closed := strings.Cut(rest, "<!-- end -->")
	if !found || !closed {
		t.Fatalf("%s has no marks for %s", resultsDoc, name)
	}
	return before + "<!-- " + name + " -->\n" + text + "<!-- end -->" + after
}

func columnsMarkdown() string {
	var b strings.Builder
	for _, table := range Tables() {
		fmt.Fprintf(&b, "### %s\n\nA row is %s.", table.File, table.Row)
		if table.When != "" {
			fmt.Fprintf(&b, " The file is there if %s.", table.When)
		}
		b.WriteString("\n\n| column | type | unit | |\n|---|---|---|---|\n")
		for _, c := range table.Columns {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, c.Kind, c.Unit, c.Doc)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func metricsMarkdown() string {
	var b strings.Builder
	b.WriteString("| metric | unit | better | exact | |\n|---|---|---|---|---|\n")
	for _, m := range Metrics() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Unit, m.Better, map[bool]string{true: "exact", false: ""}[m.Exact], m.Doc)
	}
	return b.String()
}

// Every column says its unit and what it means, and no doc breaks a table of the docs.
func TestColumnsAreDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range Tables() {
		if table.File == "" || table.Row == "" || seen[table.File] || len(table.Columns) == 0 {
			t.Errorf("table %q: %q", table.File, table.Row)
		}
		seen[table.File] = true
		for _, c := range table.Columns {
			if c.Unit == "" || c.Doc == "" || strings.ContainsAny(c.Doc, "|\n") {
				t.Errorf("%s: column %s has unit %q and doc %q", table.File, c.Name, c.Unit, c.Doc)
			}
		}
	}
}
