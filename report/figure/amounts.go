package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// amount is a value of a layer as it is drawn.
func amount(v float64) float64 {
	if !number(v) {
		return 0
	}
	return max(0, v)
}

// tops are the sums of the layers up to each.
func tops(layers []Layer, n int) [][]float64 {
	out := make([][]float64, len(layers))
	for k := range layers {
		out[k] = make([]float64, n)
		for i := range n {
			out[k][i] = amount(layers[k].Values[i])
			if k > 0 {
				out[k][i] += out[k-1][i]
			}
		}
	}
	return out
}

func (s *Stack) extents(x, y *extent) {
	for _, e := range s.Edges {
		x.add(e)
	}
	y.add(0)
	if len(s.Layers) > 0 && len(s.Edges) > 1 {
		for _, v := range tops(s.Layers, len(s.Edges)-1)[len(s.Layers)-1] {
			y.add(v)
		}
	}
}

// stackMark draws a stack: every layer down to the ground where it has anything, the highest
// first, so that no paper shines through between two of them.
type stackMark struct{ *Stack }

// Plot draws it.
func (m stackMark) Plot(c draw.Canvas, p *plot.Plot) {
	n := len(m.Edges) - 1
	if n < 1 {
		return
	}
	sums := tops(m.Layers, n)
	for k := len(m.Layers) - 1; k >= 0; k-- {
		for from := 0; from < n; from++ {
			to := from
			for to < n && amount(m.Layers[k].Values[to]) > 0 {
				to++
			}
			if to > from {
				m.span(c, p, k, sums[k], from, to)
				from = to
			}
		}
	}
}

// span draws a layer over the intervals [from, to), with a line on top unless it is the
// highest layer.
func (m stackMark) span(c draw.Canvas, p *plot.Plot, k int, sums []float64, from, to int) {
	x, y := p.Transforms(&c)
	var top []vg.Point
	for i := from; i < to; i++ {
		top = append(top, vg.Point{X: x(m.Edges[i]), Y: y(sums[i])}, vg.Point{X: x(m.Edges[i+1]), Y: y(sums[i])})
	}
	area := append([]vg.Point{{X: top[0].X, Y: y(0)}}, top...)
	area = append(area, vg.Point{X: top[len(top)-1].X, Y: y(0)})
	c.FillPolygon(m.Layers[k].Color.rgba(), c.ClipPolygonXY(area))
	if k < len(m.Layers)-1 {
		c.StrokeLines(draw.LineStyle{Color: paper, Width: m.hairline()}, c.ClipLinesXY(top)...)
	}
}

// hairline is the width of the line between two layers, thinner where there are many corners.
func (s *Stack) hairline() vg.Length {
	if len(s.Edges) > 100 {
		return 0.25
	}
	return 0.5
}

// Bars lie between whole numbers of the axis of categories; together they take so much of
// the room of one.
const barRoom = 0.74

// span is from where to where bar k of category i lies along both axes.
func (b *Bars) span(i, k int, sums [][]float64) (at0, at1, from, to float64) {
	middle := float64(len(b.Categories) - 1 - i)
	at0, at1 = middle-barRoom/2, middle+barRoom/2
	if b.Grouped {
		each := barRoom / float64(len(b.Layers))
		nth := float64(len(b.Layers) - 1 - k)
		at0 = middle - barRoom/2 + float64(nth*each)
		return at0, at0 + each, 0, amount(b.Layers[k].Values[i])
	}
	if k > 0 {
		from = sums[k-1][i]
	}
	return at0, at1, from, sums[k][i]
}

func (b *Bars) extents(along, values *extent) {
	n := float64(len(b.Categories))
	more := max(0, 3-n) / 2 // one bar is not as thick as the picture
	along.add(-0.5 - more)
	along.add(n - 0.5 + more)
	values.add(0)
	sums := tops(b.Layers, len(b.Categories))
	for i := range b.Categories {
		for k := range b.Layers {
			_, _, _, to := b.span(i, k, sums)
			if b.Grouped && b.Layers[k].Texts != nil {
				to *= 1.1 // room for the text
			}
			values.add(to)
		}
	}
}

type barsMark struct{ *Bars }

// Plot draws the bars.
func (m barsMark) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	sums := tops(m.Layers, len(m.Categories))
	for i := range m.Categories {
		for k := range m.Layers {
			at0, at1, from, to := m.span(i, k, sums)
			box := vg.Rectangle{Min: vg.Point{X: x(from), Y: y(at0)}, Max: vg.Point{X: x(to), Y: y(at1)}}
			m.bar(c, box, i, k)
		}
	}
}

// bar draws one bar and its text: inside if it is part of a stack, else beyond its end.
func (m barsMark) bar(c draw.Canvas, box vg.Rectangle, i, k int) {
	layer := &m.Layers[k]
	if amount(layer.Values[i]) > 0 {
		fill(c, box, layer.Color.rgba())
		c.StrokeLines(draw.LineStyle{Color: paper, Width: vg.Points(0.5)}, outline(box))
	}
	if layer.Texts == nil || layer.Texts[i] == "" {
		return
	}
	style, at := textStyle(8.5, false, ink), vg.Point{X: box.Max.X + 3, Y: (box.Min.Y + box.Max.Y) / 2}
	style.YAlign = draw.YCenter
	room := vg.Point{X: math.MaxInt32, Y: box.Size().Y + 3}
	if !m.Grouped {
		style.Color, style.XAlign = on(layer.Color.rgba()), draw.XCenter
		at.X, room = (box.Min.X+box.Max.X)/2, box.Size()
	}
	if style.Width(layer.Texts[i])+3 <= room.X && 9 <= room.Y {
		write(c, style, at, layer.Texts[i])
	}
}

func fill(c draw.Canvas, box vg.Rectangle, with color.Color) {
	c.SetColor(with)
	c.Fill(box.Path())
}

func outline(box vg.Rectangle) []vg.Point {
	return []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}, box.Min}
}
