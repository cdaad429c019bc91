package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func chart() *Chart {
	c := &Chart{Title: "cpu100: <GPUs> used & free", X: Axis{Label: "asked for (% of GPUs)"}, Y: Axis{Label: "used (%)"}}
	for i, name := range []string{"first-fit", "best-fit", "fgd"} {
		l := Line{Name: name}
		for x := range 14 {
			l.Points = append(l.Points, Point{float64(10 * x), math.Min(float64(10*x), float64(90+2*i))})
		}
		l.Marks = []Point{{50, 50}, {100, float64(90 + 2*i)}}
		c.Lines = append(c.Lines, l)
	}
	return c
}

func drawn(t testing.TB, c *Chart, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
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
		other.Lines[1].Points[3].Y++
		if bytes.Equal(drawn(t, other, format), want) {
			t.Errorf("%s: another chart gives the same bytes", format)
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
	got := texts(t, drawn(t, chart(), "svg"))
	for _, want := range []string{"cpu100: <GPUs> used & free", "asked for (% of GPUs)", "used (%)", "first-fit", "best-fit", "fgd", "0|", "100"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestPNGHasItsSizeAndColours(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(drawn(t, chart(), "png")))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	if b.Dx() != 7*dpi || b.Dy() != 4*dpi {
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

func TestPieces(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		points []Point
		want   string
	}{
		{nil, "[]"},
		{[]Point{{1, 2}, {3, 4}}, "[[{1 2} {3 4}]]"},
		{[]Point{{nan, 1}, {1, 2}, {2, nan}, {3, 4}, {4, inf}}, "[[{1 2}] [{3 4}]]"},
		{[]Point{{1, nan}}, "[]"},
	} {
		if got := fmt.Sprint(pieces(c.points)); got != c.want {
			t.Errorf("%v: %s, want %s", c.points, got, c.want)
		}
	}
}

func TestBound(t *testing.T) {
	for _, c := range []struct {
		min, max float64
		want     Axis
		a, b     float64
	}{
		{3, 8, Axis{}, 0, 8},
		{6, 8, Axis{}, 6, 8},
		{-1, 8, Axis{}, -1, 8},
		{3, 8, Axis{Max: 130}, 0, 130},
		{3, 8, Axis{Min: 5, Max: 6}, 5, 6},
		{math.Inf(1), math.Inf(-1), Axis{}, 0, 1},
	} {
		a := plot.Axis{Min: c.min, Max: c.max}
		if bound(&a, c.want); a.Min != c.a || a.Max != c.b {
			t.Errorf("%v to %v, wanted %v: %v to %v", c.min, c.max, c.want, a.Min, a.Max)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     string
	}{
		{0, 130, "0 20 40 60 80 100 120"},
		{0, 100, "0 20 40 60 80 100"},
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-3, 4, "-3 -2 -1 0 1 2 3 4"},
		{0, 25000, "0 5000 10000 15000 20000 25000"},
		{0.02, 0.075, "0.02 0.03 0.04 0.05 0.06 0.07"},
	} {
		var labels []string
		for _, tick := range ticks(c.from, c.to) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// Nothing, a gap, and more lines than colours are drawn too.
func TestOddCharts(t *testing.T) {
	many := &Chart{Title: "many"}
	for i := range 20 {
		many.Lines = append(many.Lines, Line{Name: fmt.Sprint("line ", i), Points: []Point{{0, float64(i)}, {1, 2}}})
	}
	gap := &Chart{Lines: []Line{{Name: "x", Points: []Point{{0, 1}, {1, math.NaN()}, {2, 1}}}, {Name: "nothing"}}}
	for _, c := range []*Chart{{}, gap, many} {
		for _, format := range Formats() {
			if len(drawn(t, c, format)) == 0 {
				t.Errorf("%q as %s is empty", c.Title, format)
			}
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestErrors(t *testing.T) {
	if err := chart().Write(io.Discard, "gif"); err == nil || !strings.Contains(err.Error(), `"gif"`) || !strings.Contains(err.Error(), "svg, png") {
		t.Errorf("gif: %v", err)
	}
	for _, format := range Formats() {
		if err := chart().Write(full{}, format); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s onto a full disk: %v", format, err)
		}
	}
}

func ExampleChart_Write() {
	c := Chart{Title: "waits", X: Axis{Label: "load"}, Y: Axis{Label: "wait (s)"},
		Lines: []Line{{Name: "FIFO", Points: []Point{{0.1, 3}, {0.5, 20}, {0.9, 300}}}}}
	var b bytes.Buffer
	if err := c.Write(&b, "svg"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(b.String(), "wait (s)"))
	// Output: true
}
