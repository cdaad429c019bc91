package figure

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

func TestPieces(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		points []Point
		want   string
	}{
		{nil, "[]"},
		{[]Point{{1, 2}, {3, 4}}, "[[0 2]]"},
		{[]Point{{nan, 1}, {1, 2}, {2, nan}, {3, 4}, {4, inf}}, "[[1 2] [3 4]]"},
		{[]Point{{1, nan}}, "[]"},
	} {
		if got := fmt.Sprint(pieces(c.points)); got != c.want {
			t.Errorf("%v: %s, want %s", c.points, got, c.want)
		}
	}
}

func TestBound(t *testing.T) {
	none := math.Inf(1)
	for _, c := range []struct {
		min, max float64
		want     Axis
		a, b     float64
	}{
		{3, 8, Axis{}, 0, 8.32},
		{6, 8, Axis{}, 6, 8.08},
		{-1, 9, Axis{}, -1, 9.4},
		{5, 5, Axis{}, 0, 5.2},
		{0, 0, Axis{}, 0, 1},
		{3, 8, Axis{Max: 130}, 0, 130},
		{3, 8, Axis{Min: 5, Max: 6}, 5, 6},
		{none, -none, Axis{}, 0, 1},
		{30, 4000, Axis{Scale: LogSeconds}, 15, 4600},
		{45, 50, Axis{Scale: LogSeconds}, 30, 60},
		{0, 4000, Axis{Scale: Log}, 0, 4600},
		{3, 4000, Axis{Scale: Log}, 2, 4600},
		{1, 3, Axis{Scale: Log, Min: 1, Max: 4}, 1, 4},
		{none, -none, Axis{Scale: Log}, 0.5, 11.5},
		{0, 0, Axis{Scale: Log}, 0, 11.5},
	} {
		var a plot.Axis
		e := nothingYet()
		if c.min != none {
			e.add(c.min)
			e.add(c.max)
		}
		if bound(&a, c.want, e); math.Abs(a.Min-c.a)+math.Abs(a.Max-c.b) > 1e-9 {
			t.Errorf("%v to %v, wanted %v: %v to %v", c.min, c.max, c.want, a.Min, a.Max)
		}
	}
}

// Zero lies at the beginning, the least number above it behind the break, and equal
// factors are equally far from each other.
func TestLogScale(t *testing.T) {
	s := logScale{floor: 10, slot: 0.1}
	for _, c := range []struct{ x, want float64 }{{0, 0}, {-3, 0}, {5, 0.05}, {10, 0.1}, {100, 0.4}, {1000, 0.7}, {10000, 1}} {
		if got := s.Normalize(0, 10000, c.x); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.x, got, c.want)
		}
	}
	if got := (logScale{floor: 1}).Normalize(1, 100, 10); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("without 0, 10 is at %v of 1 to 100", got)
	}
}

// Exponents are exact where logarithms are not.
func TestDecade(t *testing.T) {
	for n := -20; n <= 20; n++ {
		for _, c := range []struct {
			v    float64
			want int
		}{{math.Pow10(n), n}, {math.Nextafter(math.Pow10(n), 0), n - 1}, {9.99 * math.Pow10(n), n}} {
			if got := decade(c.v); got != c.want {
				t.Errorf("%v: %d, want %d", c.v, got, c.want)
			}
		}
	}
}

// In six inches and a half, with labels of the width that digits have.
func TestTicks(t *testing.T) {
	plain := func(v float64) string { return fmt.Sprintf("%gs", v) }
	for _, c := range []struct {
		from, to float64
		axis     Axis
		want     string
	}{
		{0, 130, Axis{}, "0 20 40 60 80 100 120"},
		{0, 100, Axis{}, "0 20 40 60 80 100"},
		{0, 1, Axis{}, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-3, 4, Axis{}, "-3 -2 -1 0 1 2 3 4"},
		{0, 1.04, Axis{Whole: true}, "0 1"},
		{0, 30, Axis{Whole: true}, "0 5 10 15 20 25 30"},
		{0, 2.5e6, Axis{}, "0 500,000 1,000,000 1,500,000 2,000,000 2,500,000"},
		{0.02, 0.075, Axis{}, "0.02 0.03 0.04 0.05 0.06 0.07"},
		{0, 86400, Axis{Scale: Seconds, Format: plain}, "0s 10800s 21600s 32400s 43200s 54000s 64800s 75600s 86400s"},
		{0, 240, Axis{Scale: Seconds, Format: plain}, "0s 30s 60s 90s 120s 150s 180s 210s 240s"},
		{0, 40000, Axis{Scale: LogSeconds, Format: plain}, "0s 1s 10s 60s 600s 3600s 21600s"},
		{0.001, 40, Axis{Scale: LogSeconds, Format: plain}, "0.001s 0.01s 0.1s 1s 10s"},
		{60, 600, Axis{Scale: LogSeconds, Format: plain}, "60s 120s 300s 600s"},
		{1, 1000, Axis{Scale: Log}, "1 10 100 1,000"},
		{1, 40, Axis{Scale: Log}, "1 2 5 10 20"},
	} {
		tick := ticker{c.axis, plot.LinearScale{}, 400, func(label string) vg.Length { return vg.Length(5*len(label) + 9) }}
		if c.axis.Scale.log() {
			tick.scale = logScale{floor: max(c.from, 1)}
			if c.from > 0 {
				tick.scale = logScale{floor: c.from}
			} else {
				tick.scale = logScale{floor: 1, slot: zeroSlot}
			}
		}
		var labels []string
		for _, at := range tick.Ticks(c.from, c.to) {
			labels = append(labels, at.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%v to %v %v: %s, want %s", c.from, c.to, c.axis.Scale, got, c.want)
		}
	}
}

// Labels never touch, however little room there is.
func TestTicksHaveRoom(t *testing.T) {
	for _, scale := range []Scale{Linear, Seconds, Log, LogSeconds} {
		for _, length := range []vg.Length{20, 60, 150, 700} {
			for _, to := range []float64{3, 77, 5400, 86400 * 3, 4e7} {
				tick := ticker{Axis{Scale: scale}, plot.LinearScale{}, length, func(label string) vg.Length { return vg.Length(6*len(label) + 6) }}
				if scale.log() {
					tick.scale = logScale{floor: 1, slot: zeroSlot}
				}
				ticks := tick.Ticks(0, to)
				if !tick.fits(ticks, 0, to) || len(ticks) == 0 {
					t.Errorf("scale %d, %v to %v: %v", scale, length, to, ticks)
				}
			}
		}
	}
}

func TestRounding(t *testing.T) {
	for _, c := range []struct{ v, want vg.Length }{{0, 0}, {-1e-12, 0}, {1.0 / 32, 1.0 / 32}, {1.0 / 64, 1.0 / 32}, {0.999999 / 64, 1.0 / 32}, {1.001 / 64, 1.0 / 32}, {0.95 / 64, 0}} {
		if got := rounded(c.v); got != c.want || math.Signbit(float64(got)) {
			t.Errorf("%v: %v, want %v", c.v, got, c.want)
		}
	}
}

func TestStraightCornersAreLeftOut(t *testing.T) {
	var p vg.Path
	for i, at := range []vg.Point{{X: 0, Y: 0}, {X: 1, Y: 0}, {X: 1, Y: 0}, {X: 2, Y: 0}, {X: 2, Y: 3}, {X: 2, Y: 1}, {X: 4, Y: 2}, {X: 6, Y: 3}} {
		if i == 0 {
			p.Move(at)
		} else {
			p.Line(at)
		}
	}
	var got []vg.Point
	for _, part := range roundedPath(p) {
		got = append(got, part.Pos)
	}
	if want := "[{0 0} {2 0} {2 3} {2 1} {4 2} {6 3}]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestThin(t *testing.T) {
	var path []vg.Point
	for i := range 100_000 {
		path = append(path, vg.Point{X: vg.Length(i) / 250, Y: vg.Length(i * 7919 % 500)})
	}
	got := thin(path)
	low, high := got[0].Y, got[0].Y
	for i, at := range got {
		low, high = min(low, at.Y), max(high, at.Y)
		if i > 0 && at.X < got[i-1].X {
			t.Fatal("out of order")
		}
	}
	if len(got) > 4004 || got[0] != path[0] || got[len(got)-1] != path[len(path)-1] || low != 0 || high != 499 {
		t.Errorf("%d points from %v to %v, %v to %v", len(got), got[0], got[len(got)-1], low, high)
	}
	if short := path[:1000]; len(thin(short)) != 1000 {
		t.Error("a path that is short enough is not kept")
	}
}

func TestWrapped(t *testing.T) {
	style := textStyle(10, false, ink)
	for _, c := range []struct {
		text  string
		width vg.Length
		want  string
	}{
		{"", 100, ""},
		{"one two three", 1000, "one two three"},
		{"one two three", 40, "one two|three"},
		{"gang-topology,mode=preferred", 80, "gang-topology,|mode=preferred"},
		{"éééééééééé", 20, "ééé|ééé|ééé|é"},
		{"ab", 1, "a|b"},
	} {
		if got := strings.Join(wrapped(c.text, style, c.width), "|"); got != c.want {
			t.Errorf("%q in %v: %q, want %q", c.text, c.width, got, c.want)
		}
	}
	if got := cut("gang-topology", style, 40); got != "gang-…" {
		t.Errorf("cut: %q", got)
	}
}

// Names come once, the layers of stacks as they lie.
func TestEntries(t *testing.T) {
	stack := &Stack{Edges: []float64{0, 1}, Layers: []Layer{{Name: "low", Values: []float64{1}}, {Name: "high", Values: []float64{1}}}}
	c := Chart{Panels: []Panel{{Stack: stack}, {Stack: stack, Lines: []Line{{Name: "line"}, {Name: ""}}}}}
	var names []string
	for _, e := range c.entries() {
		names = append(names, e.name)
	}
	if got := strings.Join(names, " "); got != "high low line" {
		t.Error(got)
	}
}

// grey is how light a colour is without its hue.
func grey(c color.RGBA) int { return (299*int(c.R) + 587*int(c.G) + 114*int(c.B)) / 1000 }

func TestColours(t *testing.T) {
	for i := 1; i <= 100; i++ {
		if a, b := grey(ramp(float64(i-1)/100, blues)), grey(ramp(float64(i)/100, blues)); b >= a {
			t.Errorf("the ramp does not get darker at %d: %d, %d", i, a, b)
		}
	}
	shades := Shades(Color{100, 20, 200}, 3)
	for i := 1; i < len(shades); i++ {
		if grey(shades[i].rgba()) <= grey(shades[i-1].rgba())+10 {
			t.Errorf("shades %d and %d are too close: %v", i-1, i, shades)
		}
	}
	if shades[0] != (Color{100, 20, 200}) || on(rgb(0, 0, 0)) != paper || on(paper) != ink {
		t.Error("the first shade is another colour, or text is not seen")
	}
	seen := map[string]bool{}
	for i := range 20 {
		s := lineStyle(i, 20, false)
		seen[fmt.Sprint(s.Color, s.Dashes)] = true
	}
	if len(seen) != 20 {
		t.Errorf("20 lines have %d styles", len(seen))
	}
}

// A text beside a mark covers no mark, line or other text, or is left out.
func TestPlace(t *testing.T) {
	c := canvasOf(100, 100)
	var taken []vg.Rectangle
	n := 0
	for range 8 {
		if box, ok := place(c, vg.Point{X: 50, Y: 50}, 30, taken); ok {
			if !free(box, taken) {
				t.Fatal("covers another")
			}
			taken = append(taken, box)
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d texts around one mark", n)
	}
	if _, ok := place(c, vg.Point{X: 50, Y: 50}, 101, nil); ok {
		t.Error("a text wider than the picture has a place")
	}
	if boxes := along(vg.Point{}, vg.Point{X: 60, Y: 0}); len(boxes) != 12 || boxes[11].Max.X != 61 {
		t.Errorf("%d boxes along a line: %v", len(boxes), boxes)
	}
}

// Dashes are as long as the pattern says, around corners too, and nothing of a line is lost.
func TestDashed(t *testing.T) {
	line := []vg.Point{{X: 0, Y: 0}, {X: 10, Y: 0}, {X: 10, Y: 10}}
	for _, c := range []struct {
		pattern []vg.Length
		want    string
	}{
		{nil, "[[{0 0} {10 0} {10 10}]]"},
		{[]vg.Length{7, 2}, "[[{0 0} {7 0}] [{9 0} {10 0} {10 6}] [{10 8} {10 10}]]"},
		{[]vg.Length{5, 5}, "[[{0 0} {5 0}] [{10 0} {10 5}]]"},
		{[]vg.Length{100, 1}, "[[{0 0} {10 0} {10 10}]]"},
	} {
		if got := fmt.Sprint(dashed(line, c.pattern)); got != c.want {
			t.Errorf("%v: %s, want %s", c.pattern, got, c.want)
		}
	}
	if got := dashed([]vg.Point{{X: 1, Y: 1}, {X: 1, Y: 1}}, nil); len(got) != 0 {
		t.Errorf("a point is drawn as %v", got)
	}
}

// area is that of a polygon, negative if it is clockwise.
func area(p []vg.Point) (sum vg.Length) {
	for i, a := range p {
		b := p[(i+1)%len(p)]
		sum += (a.X*b.Y - b.X*a.Y) / 2
	}
	return sum
}

// Everything that a line covers goes round the same way, so that no hole is where pieces
// overlap.
func TestOutlines(t *testing.T) {
	r := raster{pen: pen{width: 2}}
	for _, to := range []vg.Point{{X: 3, Y: 4}, {X: -3, Y: 4}, {X: -5, Y: 0}, {X: 0, Y: -5}} {
		areas := r.outlines([][]vg.Point{{{}, to, {X: 20, Y: 20}}})
		if len(areas) != 3 {
			t.Fatalf("%d areas", len(areas))
		}
		if got := area(areas[0]); math.Abs(float64(got)+10) > 1e-9 {
			t.Errorf("a line of 5 by 2 to %v covers %v", to, got)
		}
		for _, a := range areas {
			if area(a) >= 0 {
				t.Errorf("%v goes round the other way", a)
			}
		}
	}
	if r.width = 0; r.outlines([][]vg.Point{{{}, {X: 1}}}) != nil {
		t.Error("a line without width is drawn")
	}
}

// A text is as wide as it was measured, also with letters that move closer, and turned.
func TestLetters(t *testing.T) {
	style := textStyle(10, false, ink)
	f := style.Handler.Cache().Lookup(style.Font, 10)
	for _, text := range []string{"H", "HH", "AVAVAV", "95% of jobs"} {
		right := vg.Length(0)
		for _, part := range letters(f, vg.Point{}, text+"|") {
			right = max(right, part.Pos.X)
		}
		if want := style.Width(text); right < want || right > want+style.Width("|") {
			t.Errorf("%q|: ends at %v, measured %v", text, right, want)
		}
	}
	r := raster{pen: pen{cos: 1}}
	r.Rotate(pi / 2)
	if math.Abs(r.cos) > 1e-15 || r.sin != 1 {
		t.Errorf("turned by a right angle: %v, %v", r.cos, r.sin)
	}
}
