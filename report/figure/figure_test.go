package figure

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// chart is one of lines, with marks and a title that has to be escaped.
func chart() *Chart {
	p := Panel{X: Axis{Label: "asked for (% of GPUs)"}, Y: Axis{Label: "used (%)"}}
	for i, name := range []string{"first-fit", "best-fit", "fgd"} {
		l := Line{Name: name}
		for x := range 14 {
			l.Points = append(l.Points, Point{float64(10 * x), math.Min(float64(10*x), float64(90+2*i))})
		}
		l.Marks = []Point{{50, 50}, {100, float64(90 + 2*i)}}
		p.Lines = append(p.Lines, l)
	}
	return &Chart{Title: "cpu100: <GPUs> used & free", Panels: []Panel{p}}
}

// gallery has one of everything.
func gallery() map[string]*Chart {
	blue, orange, grey := Style(0), Style(4), Color{220, 220, 220}
	layers := []Layer{{"useful", blue, []float64{5, 7, 6}, []string{"50%", "70%", "60%"}}, {"held", orange, []float64{0, 2, 0.1}, []string{"", "20%", "1%"}}, {"free", grey, []float64{5, 1, 3.9}, nil}}
	stack := &Stack{Edges: []float64{0, 3600, 7200, 14400}, Layers: layers}
	bars := &Bars{Categories: []string{"per-pod", "gang", "gang-topology,level=rack,mode=preferred"}, Layers: layers}
	grouped := &Bars{Categories: []string{"0", "1", "2 to 3"}, Layers: layers[:2], Grouped: true}
	heat := &Heat{Columns: []string{"1m", "5m"}, Rows: []string{"30s", "60s"}, Values: [][]float64{{0, 40}, {math.NaN(), 90}},
		Texts: [][]string{{"0", "40"}, {"never", "90"}}, Label: "wait, p95 (s)"}
	cdf := Line{Name: "gang", Steps: true, Points: []Point{{0, 0}, {0, 20}, {30, 55}, {4000, 80}, {90000, 95}}}
	band := Line{Name: "gang", Points: []Point{{1, 100}, {2, 10}, {3, 0}}, Band: []Range{{50, 200}, {5, 30}, {0, 0}}, Texts: []string{"one", "two", "three"}}
	band.Marks = band.Points
	return map[string]*Chart{
		"lines": chart(),
		"log": {Title: "half of all jobs start within 30s", Caption: "over 20 jobs", Panels: []Panel{
			{X: Axis{Label: "wait", Scale: LogSeconds}, Y: Axis{Label: "jobs (%)", Max: 100}, Guides: []Guide{{95, "95 %"}}, Lines: []Line{cdf, {Name: "per-pod", Points: []Point{{1, 3}}}}}}},
		"stacks": {Title: "two stacks", Panels: []Panel{{Title: "a", Y: Axis{Label: "GPUs"}, Stack: stack}, {Title: "b", X: Axis{Label: "time", Scale: Seconds}, Y: Axis{Label: "GPUs"}, Stack: stack}}},
		"bars":   {Title: "bars", Columns: 2, Panels: []Panel{{X: Axis{Label: "GPU-hours"}, Bars: bars}, {X: Axis{Label: "jobs"}, Y: Axis{Label: "requeues"}, Bars: grouped}}},
		"heat":   {Title: "heat", Panels: []Panel{{X: Axis{Label: "timeout"}, Y: Axis{Label: "backoff"}, Heat: heat}}},
		"band":   {Title: "band", Panels: []Panel{{X: Axis{Label: "racks"}, Y: Axis{Label: "wait", Scale: LogSeconds}, Lines: []Line{band}}}},
		"ordered": {Title: "sizes", Panels: []Panel{{Ordered: true, Lines: []Line{{Name: "1 GPU", Points: []Point{{0, 1}, {1, 2}}}, {Name: "8 GPUs", Points: []Point{{0, 2}, {1, 3}}}}},
			{Empty: "no job has an all-reduce"}}},
	}
}

func drawn(t testing.TB, c *Chart, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The pictures are committed as SVG, which says what moved, and as a hash of their dots. On
// another architecture they are the same: this test runs there as well.
func TestDeterminismOfTheGallery(t *testing.T) {
	dots := ""
	for _, name := range slices.Sorted(maps.Keys(gallery())) {
		c := gallery()[name]
		kept(t, name+".svg", drawn(t, c, "svg"))
		dots += fmt.Sprintf("%s %s\n", name, hashOfDots(t, drawn(t, c, "png")))
	}
	kept(t, "dots.txt", []byte(dots))
}

// kept compares with a file of testdata, or writes it.
func kept(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("GANGPLAN_UPDATE") != "" {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: another picture, %v (GANGPLAN_UPDATE=1 writes it; look at it)", path, err)
	}
}

// hashOfDots is of the colours of a picture: how they are compressed is up to Go's version.
func hashOfDots(t *testing.T, data []byte) string {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	dots := image.NewRGBA(img.Bounds())
	draw.Draw(dots, dots.Rect, img, dots.Rect.Min, draw.Src)
	sum := sha256.Sum256(dots.Pix)
	return hex.EncodeToString(sum[:8])
}

func TestEqualChartsGiveEqualBytes(t *testing.T) {
	for _, format := range Formats() {
		want := drawn(t, chart(), format)
		for range 3 {
			if !bytes.Equal(drawn(t, chart(), format), want) {
				t.Errorf("%s: the same chart gives other bytes", format)
			}
		}
		other := chart()
		other.Panels[0].Lines[1].Points[3].Y++
		if bytes.Equal(drawn(t, other, format), want) {
			t.Errorf("%s: another chart gives the same bytes", format)
		}
	}
}

// A change in the last bits of the numbers, as another processor makes, changes no byte.
func TestLastBitsAreNotSeen(t *testing.T) {
	for name, c := range gallery() {
		want := drawn(t, c, "svg")
		for i := range c.Panels {
			for k := range c.Panels[i].Lines {
				for j := range c.Panels[i].Lines[k].Points {
					at := &c.Panels[i].Lines[k].Points[j]
					at.X, at.Y = math.Nextafter(at.X, math.Inf(1)), math.Nextafter(at.Y, math.Inf(-1))
				}
			}
		}
		if name == "log" || name == "band" { // where 0 is not the same as almost 0
			continue
		}
		if !bytes.Equal(drawn(t, c, "svg"), want) {
			t.Errorf("%s: the last bit of the numbers is seen", name)
		}
	}
}

// texts are the words of an SVG, which must be well-formed.
func texts(t *testing.T, svg []byte) string {
	t.Helper()
	var words []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return strings.Join(words, "|")
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && len(bytes.TrimSpace(text)) > 0 {
			words = append(words, string(bytes.TrimSpace(text)))
		}
	}
}

func TestSVGSaysWhatItShows(t *testing.T) {
	for name, want := range map[string]string{
		"lines":   "cpu100: <GPUs> used & free|cpu100: <GPUs> used & free|first-fit|best-fit|fgd|0|20|40|60|80|100|120|0|20|40|60|80|asked for (% of GPUs)|used (%)",
		"log":     "half of all jobs start within 30s|over 20 jobs|gang|per-pod|0|1|10|60|600|3,600|21,600|86,400|0|20",
		"stacks":  "two stacks|free|held|useful|0|2,000", // as they lie
		"bars":    "bars|useful|held|free|0|2|4|6|8|10|per-pod|gang|gang-topology,level=rack,|mode=preferred|50%|70%|20%|60%|GPU-hours",
		"heat":    "wait, p95 (s)|0|20|40|60|80|1m|5m|30s|60s|0|40|never|90|timeout|backoff",
		"band":    "racks",
		"ordered": "no job has an all-reduce",
	} {
		if got := texts(t, drawn(t, gallery()[name], "svg")); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in %q", name, want, got)
		}
	}
}

// Whatever is in a text, an SVG is well-formed, and the other formats can be drawn.
func TestTextsWithControlCharacters(t *testing.T) {
	const odd = "a\x00\x1b[31mb\n\tc\x7f \xff\xfe \uFFFE\uFFFF ]]> &<x>"
	c := chart()
	c.Title, c.Caption = odd, odd
	c.Panels[0].Title, c.Panels[0].X.Label, c.Panels[0].Y.Label, c.Panels[0].Lines[0].Name = odd, odd, odd, odd
	const want = "a��[31mb  c� �� �� ]]> &<x>|"
	if got := texts(t, drawn(t, c, "svg")); !strings.HasPrefix(got, want) || strings.Count(got, "��[31mb") != 7 {
		t.Errorf("the texts are %q", got)
	}
	for _, format := range Formats() {
		drawn(t, c, format)
	}
}

// A machine without the font draws an SVG in one that is as wide.
func TestSVGNamesFontsToFallBackTo(t *testing.T) {
	svg := string(drawn(t, chart(), "svg"))
	if n := strings.Count(svg, "font-family:"); n == 0 || strings.Count(svg, "font-family:Liberation Sans,Arial,Helvetica,sans-serif;") != n {
		t.Errorf("%d texts, not all with other fonts", n)
	}
	if strings.Contains(svg, "-0,") || strings.Contains(svg, "NaN") || !strings.Contains(svg, `role="img"`) {
		t.Error("odd numbers, or no role")
	}
}

func TestPNGHasItsSizeAndColours(t *testing.T) {
	c := chart()
	c.Width, c.Height = 6, 3
	img, err := png.Decode(bytes.NewReader(drawn(t, c, "png")))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	if b.Dx() != 6*dpi || b.Dy() != 3*dpi {
		t.Errorf("%d x %d pixels", b.Dx(), b.Dy())
	}
	seen := map[string]bool{}
	for x := b.Min.X; x < b.Max.X; x++ {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			seen[fmt.Sprint(r>>8, g>>8, bl>>8)] = true
		}
	}
	for _, c := range append(palette[:3:3], ink) {
		if !seen[fmt.Sprint(c.R, c.G, c.B)] {
			t.Errorf("no pixel has the colour %v", c)
		}
	}
	if r, g, bl, a := img.At(b.Min.X, b.Min.Y).RGBA(); r+g+bl+a != 4*0xffff {
		t.Error("the corner is not white")
	}
}

func TestPDFHasFontsAndNoDate(t *testing.T) {
	pdf := drawn(t, gallery()["heat"], "pdf")
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || bytes.Contains(pdf, []byte("Date")) {
		t.Error("no PDF, or one with a date")
	}
	if n := bytes.Count(pdf, []byte("/FontFile2")); n != 2 || len(pdf) > 60_000 {
		t.Errorf("%d fonts are embedded in %d bytes, expected the letters of the regular and of the bold one", n, len(pdf))
	}
	if n := bytes.Count(drawn(t, &Chart{Panels: []Panel{{Empty: "a"}}}, "pdf"), []byte("/FontFile2")); n != 1 {
		t.Errorf("%d fonts for text that needs one", n)
	}
}

// A name in any script, or in none, is drawn as far as the font goes.
func TestAnyText(t *testing.T) {
	for _, text := range []string{"p95 – 3×", "é…€", "日本", "🚀 to the moon", "half \xf0\x9f", "\xff", "a\tb\x00c"} {
		c := chart()
		c.Title, c.Panels[0].Lines[0].Name = text, text
		for _, format := range Formats() {
			if len(drawn(t, c, format)) == 0 {
				t.Errorf("%q as %s", text, format)
			}
		}
	}
}

// Rows add to the height, columns do not.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		panels, columns int
		width, high     float64
		wantW, wantHigh float64
	}{
		{0, 0, 0, 0, 8, 4.5},
		{3, 0, 0, 0, 8, 8.1},
		{3, 2, 0, 0, 8, 6.3},
		{2, 5, 0, 0, 8, 4.5},
		{3, 1, 5, 0, 5, 8.1},
		{3, 1, 5, 3, 5, 3},
	} {
		chart := Chart{Panels: make([]Panel, c.panels), Columns: c.columns, Width: c.width, Height: c.high}
		if w, h := chart.size(); math.Abs(w.Points()/72-c.wantW) > 1e-9 || math.Abs(h.Points()/72-c.wantHigh) > 1e-9 {
			t.Errorf("%+v: %v x %v inches", c, w.Points()/72, h.Points()/72)
		}
	}
}

// Nothing, a gap, a point, more lines than colours, names wider than the picture and a
// small picture are drawn too.
func TestOddCharts(t *testing.T) {
	many := Panel{}
	for i := range 20 {
		many.Lines = append(many.Lines, Line{Name: fmt.Sprint("line ", i), Points: []Point{{0, float64(i)}, {1, 2}}})
	}
	long := chart()
	for i := range long.Panels[0].Lines {
		long.Panels[0].Lines[i].Name = fmt.Sprint(i, strings.Repeat("-a-very-long-name", 12))
	}
	long.Title, long.Width, long.Height = strings.Repeat("title", 200), 2, 1.5
	gap := []Line{{Name: "x", Points: []Point{{0, 1}, {1, math.NaN()}, {2, 1}}}, {Name: "nothing"}}
	for name, c := range map[string]*Chart{
		"none": {}, "empty": {Panels: []Panel{{}}}, "gap": {Panels: []Panel{{Lines: gap}}}, "many": {Panels: []Panel{many}}, "long": long,
		"point":      {Panels: []Panel{{Lines: []Line{{Points: []Point{{3, 3}}}}}}},
		"zeros":      {Panels: []Panel{{X: Axis{Scale: LogSeconds}, Y: Axis{Scale: Log}, Lines: []Line{{Points: []Point{{0, 0}, {0, 0}}}}}}},
		"negative":   {Panels: []Panel{{X: Axis{Scale: Log}, Lines: []Line{{Points: []Point{{-1, -3}, {5, 2}}}}}}},
		"no bars":    {Panels: []Panel{{Bars: &Bars{}}, {Bars: &Bars{Grouped: true}}}},
		"no stack":   {Panels: []Panel{{Stack: &Stack{}}, {Stack: &Stack{Edges: []float64{0, 1}}}}},
		"no heat":    {Panels: []Panel{{Heat: &Heat{}}}},
		"flat heat":  {Panels: []Panel{{Heat: &Heat{Columns: []string{"a"}, Rows: []string{"b"}, Values: [][]float64{{7}}, Scale: Log}}}},
		"heat never": {Panels: []Panel{{Heat: &Heat{Columns: []string{"a"}, Rows: []string{"b"}, Values: [][]float64{{math.NaN()}}}}}},
	} {
		for _, format := range Formats() {
			b := drawn(t, c, format)
			if len(b) == 0 || format == "svg" && bytes.Contains(b, []byte("NaN")) {
				t.Errorf("%s as %s is empty or has numbers that are none", name, format)
			}
		}
	}
}

// A million points are drawn as the few that can be seen.
func TestManyPoints(t *testing.T) {
	l := Line{Name: "x", Steps: true}
	for i := range 200_000 {
		l.Points = append(l.Points, Point{float64(i), float64(i % 977)})
	}
	c := Chart{Panels: []Panel{{Lines: []Line{l, l}}}}
	if svg := drawn(t, &c, "svg"); len(svg) > 250_000 {
		t.Errorf("%d bytes", len(svg))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestErrors(t *testing.T) {
	if err := chart().Write(io.Discard, "gif"); err == nil || !strings.Contains(err.Error(), `"gif"`) || !strings.Contains(err.Error(), "svg, png, pdf") {
		t.Errorf("gif: %v", err)
	}
	for _, format := range Formats() {
		if err := chart().Write(full{}, format); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s onto a full disk: %v", format, err)
		}
	}
	two := []float64{1, 2}
	for want, c := range map[string]*Chart{
		"expected 2 x 1.5 to 100 x 100": {Width: 1},
		"a size of 8 x NaN inches":      {Width: 8, Height: math.NaN()},
		"1 ranges for 0 points":         {Panels: []Panel{{Lines: []Line{{Band: []Range{{}}}}}}},
		"2 texts for 1 marks":           {Panels: []Panel{{Lines: []Line{{Marks: []Point{{}}, Texts: []string{"", ""}}}}}},
		`panel 2 "b": layer "x"`:        {Panels: []Panel{{}, {Title: "b", Stack: &Stack{Edges: two, Layers: []Layer{{Name: "x", Values: two}}}}}},
		"values and 1 texts, expected":  {Panels: []Panel{{Bars: &Bars{Categories: []string{"a", "b"}, Layers: []Layer{{Values: two, Texts: []string{""}}}}}}},
		"not 1 rows of 2":               {Panels: []Panel{{Heat: &Heat{Columns: []string{"a", "b"}, Rows: []string{"c"}, Values: [][]float64{{1}}}}}},
	} {
		if err := c.Write(io.Discard, "svg"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func ExampleChart_Write() {
	c := Chart{Title: "waits grow with the load", Panels: []Panel{{X: Axis{Label: "load"}, Y: Axis{Label: "wait (s)"},
		Lines: []Line{{Name: "FIFO", Points: []Point{{0.1, 3}, {0.5, 20}, {0.9, 300}}}}}}}
	var b bytes.Buffer
	if err := c.Write(&b, "svg"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(b.String(), "wait (s)"))
	// Output: true
}
