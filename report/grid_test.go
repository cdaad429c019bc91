package report

import (
	"strings"
	"testing"
)

func gridOfTwo() *Grid {
	return &Grid{Title: "a study", Header: []string{"workload", "scorer", "used"},
		Rows: [][]string{{"default", "first|fit", "90.62"}, {"default", "fgd", "95.2"}, {"cpu100", "fgd", ""}}}
}

func TestGrid(t *testing.T) {
	for format, want := range map[string]string{
		"table": `a study

workload  scorer      used
──────────────────────────
default   first|fit  90.62
          fgd         95.2
cpu100    fgd
`,
		"csv": `workload,scorer,used
default,first|fit,90.62
default,fgd,95.2
cpu100,fgd,
`,
		"markdown": `| workload | scorer | used |
|:--|:--|--:|
| default | first\|fit | 90.62 |
|  | fgd | 95.2 |
| cpu100 | fgd |  |
`,
	} {
		var b strings.Builder
		if err := gridOfTwo().Write(&b, format); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, b.String(), want)
		}
	}
	if err := gridOfTwo().Write(&strings.Builder{}, "xml"); err == nil || !strings.Contains(err.Error(), "table, csv, markdown") {
		t.Errorf("xml: %v", err)
	}
}

// Under the numbers there may be sentences and lists.
func TestGridWithSentences(t *testing.T) {
	g := &Grid{Title: "a question", Header: []string{"nodes", "", "wait"}, Rows: [][]string{{"5", "yes", "30m"}},
		Sentences:   []string{"5 is the smallest.", strings.Repeat("word ", 25)},
		Assumptions: []string{"pods of 8"}}
	for format, want := range map[string]string{
		"table": `a question

nodes       wait
────────────────
5      yes   30m

5 is the smallest.
word word word word word word word word word word word word word word word word word word word word
word word word word word

assumed
  - pods of 8
`,
		"csv": "nodes,,wait\n5,yes,30m\n",
		"markdown": `| nodes |  | wait |
|:--|:--|--:|
| 5 | yes | 30m |

5 is the smallest.

` + strings.Repeat("word ", 25) + `

Assumed:

- pods of 8
`,
	} {
		var b strings.Builder
		if err := g.Write(&b, format); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, b.String(), want)
		}
	}
}

// A grid that is wider than a terminal is cut into several; words that repeat those above
// are shown once, as far as all before them do.
func TestWideGrid(t *testing.T) {
	g := &Grid{Title: "wide", Header: []string{"a", "b", "c"}, Words: 3, Rows: [][]string{{"x", "1", "p"}, {"x", "1", "q"}, {"x", "2", "q"}, {"y", "2", "q"}},
		Verdicts: []string{"one"}, Assumptions: []string{"two"}, Warnings: []string{"three"}}
	for _, metric := range []string{"first", "second", "third"} {
		g.Header = append(g.Header, strings.Repeat(metric+" ", 5))
		for i := range g.Rows {
			g.Rows[i] = append(g.Rows[i], metric)
		}
	}
	var b strings.Builder
	if err := g.Write(&b, "table"); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(b.String(), "\n\n")
	if len(parts) != 6 || !strings.Contains(parts[1], "second") || strings.Contains(parts[1], "third") || strings.Contains(parts[2], "second") {
		t.Fatalf("expected a title, two parts and three notes:\n%s", b.String())
	}
	for _, part := range parts[1:3] {
		lines := strings.Split(part, "\n")
		for i, words := range []string{"x  1  p", "      q", "   2  q", "y  2  q"} {
			if !strings.HasPrefix(lines[2+i], words) {
				t.Errorf("row %d is %q, expected %q", i, lines[2+i], words)
			}
		}
	}
	if want := "verdicts\n  - one|assumed\n  - two|warnings\n  - three\n"; strings.Join(parts[3:], "|") != want {
		t.Errorf("the notes are %q", parts[3:])
	}
}

func TestMetricText(t *testing.T) {
	for _, c := range []struct {
		name  string
		value float64
		ok    bool
		want  string
	}{
		{"wait.p95_seconds", 5400, true, "1h30m"},
		{"wait.p95_seconds", 0, false, "never"},
		{"wait.mean_seconds", 0, false, "–"},
		{"gpu_hours.idle", 1234.56, true, "1,234.6"},
		{"utilisation", 0.61234, true, "0.612"},
		{"utilisation", 0, false, "–"},
		{"requeues", 1234, true, "1,234"},
	} {
		m, ok := LookupMetric(c.name)
		if !ok {
			t.Fatal(c.name)
		}
		if got := m.Text(c.value, c.ok); got != c.want {
			t.Errorf("%s of %v, %v is shown as %s, expected %s", c.name, c.value, c.ok, got, c.want)
		}
	}
}
