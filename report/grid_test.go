package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		"markdown": `**a study**

| workload | scorer | used |
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
		"markdown": `**a question**

| nodes |  | wait |
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

// What does not fit beside the widest column of numbers is broken behind the signs that
// names are put together with; nothing is lost, and an id stays whole.
func TestGridOfLongWords(t *testing.T) {
	long := "gang-with-the-strict-order-of-the-research-department"
	value := "{timeout: 1m, requeuingStrategy: {backoffBaseSeconds: 1, backoffMaxSeconds: 1}}"
	id := strings.Repeat("0123456789abcdef", 2)
	g := &Grid{Title: strings.Repeat("a title ", 10) + "· " + strings.Repeat("of parts ", 15), Words: 4,
		Header: []string{"policy", "waitForPodsReady", "seed", "cell", "wait.p95_seconds ↓"},
		Rows:   [][]string{{long, "none", "1", id, "11h12m"}, {long, value, "1", id, "12h"}}}
	var b strings.Builder
	if err := g.Write(&b, "table"); err != nil {
		t.Fatal(err)
	}
	const want = `policy            waitForPodsReady      seed  cell                              wait.p95_seconds ↓
──────────────────────────────────────────────────────────────────────────────────────────────────
gang-with-the-    none                  1     0123456789abcdef0123456789abcdef              11h12m
strict-order-of-
the-research-
department
                  {timeout: 1m,         1     0123456789abcdef0123456789abcdef                 12h
                  requeuingStrategy:
                  {backoffBaseSeconds:
                  1,
                  backoffMaxSeconds:
                  1}}
`
	if _, table, _ := strings.Cut(b.String(), "\n\n"); table != want {
		t.Errorf("the table is\n%s\nexpected\n%s", table, want)
	}
	keepsTo(t, b.String())
}

// A label that leaves little room for what hangs behind it has lines of its own.
func TestHangingBehindALongLabel(t *testing.T) {
	long := "✗ a-scenario-with-a-name-that-is-rather-long · gang-with-the-strict-order-of-the-research-department:"
	var b strings.Builder
	out := &printer{w: &b}
	out.hanging("✗ short:", "fine")
	out.hanging(long[:len("✗ a-scenario-with-a-name-that-is-rather-long")]+":", "equal to the baseline")
	out.hanging(long, "1 of 114 metrics failed, "+strings.Repeat("another digest, ", 6)+"and so on")
	const want = `✗ short: fine
✗ a-scenario-with-a-name-that-is-rather-long: equal to the baseline
✗ a-scenario-with-a-name-that-is-rather-long · gang-with-the-strict-order-of-the-research-
    department:
    1 of 114 metrics failed, another digest, another digest, another digest, another digest, another
    digest, another digest, and so on
`
	if b.String() != want {
		t.Errorf("written is\n%s\nexpected\n%s", b.String(), want)
	}
	keepsTo(t, b.String())
}

// However long words are, all of their letters are there.
func TestBroken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé·_,/=-]{0,9}( [a-zé·_,/=-]{1,30}){0,5}`).Draw(t, "text")
		width := rapid.IntRange(1, 30).Draw(t, "width")
		cell := broken(text, width)
		if strings.ReplaceAll(strings.ReplaceAll(cell, "\n", ""), " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Fatalf("%q is broken into %q", text, cell)
		}
		if cellWidth(cell) > width {
			t.Fatalf("%q is %d wide, wanted %d", cell, cellWidth(cell), width)
		}
		if seen(text) <= width && cell != strings.TrimRight(text, " ") {
			t.Fatalf("%q has room, and is broken into %q", text, cell)
		}
	})
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
