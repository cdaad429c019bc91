package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lineMark draws a line of a panel.
type lineMark struct {
	*Line
	style draw.LineStyle
}

// extents are the ranges of the numbers of a line.
func (l *Line) extents(x, y *extent) {
	for i, at := range l.Points {
		x.add(at.X)
		y.add(at.Y)
		if l.Band != nil {
			y.add(l.Band[i].Low)
			y.add(l.Band[i].High)
		}
	}
	for _, at := range l.Marks {
		x.add(at.X)
		y.add(at.Y)
	}
}

// bandMarks draws the bands of all lines, which lie below all lines.
type bandMarks struct{ lines []lineMark }

// Plot draws them, the lighter the more there are.
func (m bandMarks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	alpha := uint8(48)
	if len(m.lines) > 3 {
		alpha = 28
	}
	for i := range m.lines {
		if l := &m.lines[i]; l.Band != nil {
			for _, run := range pieces(l.Points) {
				l.drawBand(c, x, y, run, alpha)
			}
		}
	}
}

// Plot draws the line and its marks.
func (m *lineMark) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, run := range pieces(m.Points) {
		path := thin(m.path(x, y, run))
		if len(path) == 1 && c.Contains(path[0]) {
			c.DrawGlyph(draw.GlyphStyle{Color: m.style.Color, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}, path[0])
		}
		c.StrokeLines(m.style, c.ClipLinesXY(path)...)
	}
	for _, at := range m.Marks {
		if number(at.X) && number(at.Y) {
			c.DrawGlyph(draw.GlyphStyle{Color: m.style.Color, Radius: vg.Points(2.8), Shape: ring{}}, vg.Point{X: x(at.X), Y: y(at.Y)})
		}
	}
}

// path is the points [from, to) of a line on the canvas.
func (m *lineMark) path(x, y func(float64) vg.Length, run [2]int) []vg.Point {
	var path []vg.Point
	for _, at := range m.Points[run[0]:run[1]] {
		next := vg.Point{X: x(at.X), Y: y(at.Y)}
		if m.Steps && len(path) > 0 {
			path = append(path, vg.Point{X: next.X, Y: path[len(path)-1].Y})
		}
		path = append(path, next)
	}
	return path
}

func (m *lineMark) drawBand(c draw.Canvas, x, y func(float64) vg.Length, run [2]int, alpha uint8) {
	var high, low []vg.Point
	for i := run[0]; i < run[1]; i++ {
		at := x(m.Points[i].X)
		high = append(high, vg.Point{X: at, Y: edge(c, y, m.Band[i].High)})
		low = append(low, vg.Point{X: at, Y: edge(c, y, m.Band[i].Low)})
	}
	for i := range low {
		high = append(high, low[len(low)-1-i])
	}
	solid := m.style.Color.(color.RGBA)
	c.FillPolygon(color.NRGBA{R: solid.R, G: solid.G, B: solid.B, A: alpha}, c.ClipPolygonXY(high))
}

// edge is an end of a range, which may be infinite.
func edge(c draw.Canvas, y func(float64) vg.Length, v float64) vg.Length {
	switch {
	case math.IsInf(v, 1):
		return c.Max.Y
	case math.IsInf(v, -1):
		return c.Min.Y
	}
	return y(v)
}

// pieces divides points where one is not a number: ranges of positions.
func pieces(points []Point) (out [][2]int) {
	open := false
	for i, at := range points {
		if !number(at.X) || !number(at.Y) {
			open = false
			continue
		}
		if !open {
			out, open = append(out, [2]int{i, i}), true
		}
		out[len(out)-1][1] = i + 1
	}
	return out
}

// thin leaves out points that cannot be seen: where many lie in the same narrow column it
// keeps the first, the highest, the lowest and the last of them, in their order. A picture
// of a million jobs is as large as that of ten thousand.
func thin(path []vg.Point) []vg.Point {
	const enough, column = 1000, vg.Length(0.4)
	if len(path) <= enough {
		return path
	}
	var out []vg.Point
	for from := 0; from < len(path); {
		to := from
		cell := int(path[from].X / column)
		for to < len(path) && int(path[to].X/column) == cell {
			to++
		}
		out = append(out, ends(path[from:to])...)
		from = to
	}
	return out
}

// ends are the first, lowest, highest and last of some points.
func ends(path []vg.Point) []vg.Point {
	if len(path) <= 4 {
		return path
	}
	low, high := 0, 0
	for i := range path {
		if path[i].Y < path[low].Y {
			low = i
		}
		if path[i].Y > path[high].Y {
			high = i
		}
	}
	return []vg.Point{path[0], path[min(low, high)], path[max(low, high)], path[len(path)-1]}
}

// ring is a circle filled with paper, so that rings on a line can be counted.
type ring struct{}

// DrawGlyph draws it.
func (ring) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	p.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
	p.Arc(at, style.Radius, 0, 2*pi)
	p.Close()
	c.SetColor(paper)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: vg.Points(1.4)})
	c.Stroke(p)
}

const pi = 3.14159265358979323846

// markTexts draws the texts beside the marks of all lines of a panel, each where it
// covers neither another text nor a mark, and not at all where there is no such place.
type markTexts struct{ lines []lineMark }

// Plot draws them.
func (m markTexts) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	taken := m.taken(x, y)
	style := textStyle(8, false, ink)
	for i := range m.lines {
		for k, text := range m.lines[i].Texts {
			at := m.lines[i].Marks[k]
			if text == "" || !number(at.X) || !number(at.Y) {
				continue
			}
			if box, ok := place(c, vg.Point{X: x(at.X), Y: y(at.Y)}, style.Width(text), taken); ok {
				taken = append(taken, box)
				style.Color = m.lines[i].style.Color
				write(c, style, vg.Point{X: box.Min.X, Y: box.Min.Y + 1.5}, text)
			}
		}
	}
}

// taken is what the marks and lines cover, the lines as a row of small boxes.
func (m markTexts) taken(x, y func(float64) vg.Length) (boxes []vg.Rectangle) {
	if !slices.ContainsFunc(m.lines, func(l lineMark) bool { return l.Texts != nil }) {
		return nil
	}
	for i := range m.lines {
		for _, at := range m.lines[i].Marks {
			boxes = append(boxes, around(vg.Point{X: x(at.X), Y: y(at.Y)}, 3, 3))
		}
		for _, run := range pieces(m.lines[i].Points) {
			path := m.lines[i].path(x, y, run)
			for k := 1; k < len(path); k++ {
				boxes = append(boxes, along(path[k-1], path[k])...)
			}
		}
	}
	return boxes
}

// along covers a line with boxes.
func along(a, b vg.Point) (boxes []vg.Rectangle) {
	const each, most = 6, 200
	n := min(most, 1+int(max(b.X-a.X, a.X-b.X, b.Y-a.Y, a.Y-b.Y)/each))
	for i := range n + 1 {
		part := vg.Length(i) / vg.Length(n)
		boxes = append(boxes, around(vg.Point{X: a.X + vg.Length((b.X-a.X)*part), Y: a.Y + vg.Length((b.Y-a.Y)*part)}, 1, 1))
	}
	return boxes
}

// place finds room for a text beside a point: right of it above and below, left of it.
func place(c draw.Canvas, at vg.Point, width vg.Length, taken []vg.Rectangle) (vg.Rectangle, bool) {
	const gap, height = 5, 10
	for _, middle := range []vg.Point{
		{X: at.X + gap + width/2, Y: at.Y + gap}, {X: at.X + gap + width/2, Y: at.Y - gap},
		{X: at.X - gap - width/2, Y: at.Y + gap}, {X: at.X - gap - width/2, Y: at.Y - gap},
		{X: at.X, Y: at.Y + gap + height/2}, {X: at.X, Y: at.Y - gap - height/2},
	} {
		box := around(middle, width/2, height/2)
		if box.Min.X >= c.Min.X && box.Max.X <= c.Max.X && box.Min.Y >= c.Min.Y && box.Max.Y <= c.Max.Y && free(box, taken) {
			return box, true
		}
	}
	return vg.Rectangle{}, false
}

func around(at vg.Point, dx, dy vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: at.X - dx, Y: at.Y - dy}, Max: vg.Point{X: at.X + dx, Y: at.Y + dy}}
}

func free(box vg.Rectangle, taken []vg.Rectangle) bool {
	for _, t := range taken {
		if box.Min.X < t.Max.X && t.Min.X < box.Max.X && box.Min.Y < t.Max.Y && t.Min.Y < box.Max.Y {
			return false
		}
	}
	return true
}
