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
