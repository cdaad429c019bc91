package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shade is the scale of colours that all heat maps of a chart share.
type shade struct {
	axis plot.Axis
	heat *Heat // the first: its label and format are everybody's
}

// shadeOf is nil if the chart has no heat map.
func shadeOf(c *Chart) *shade {
	var first *Heat
	e := nothingYet()
	for i := range c.Panels {
		if h := c.Panels[i].Heat; h != nil {
			if first == nil {
				first = h
			}
			e.addAll(h.Values)
		}
	}
	if first == nil {
		return nil
	}
	s := &shade{heat: first}
	s.axis.Scale = plot.LinearScale{}
	bound(&s.axis, Axis{Scale: first.Scale}, e)
	if !first.Scale.log() {
		s.axis.Min, s.axis.Max = min(e.min, e.max), max(e.max, e.min)
	}
	if !(s.axis.Min < s.axis.Max) {
		s.axis.Min, s.axis.Max = e.min, e.min+1
	}
	if e.empty() {
		s.axis.Min, s.axis.Max = 0, 1
	}
	return s
}

func (e *extent) addAll(rows [][]float64) {
	for _, row := range rows {
		for _, v := range row {
			e.add(v)
		}
	}
}

// heatMark draws a heat map.
type heatMark struct {
	*Heat
	shade *shade
}

func (h *Heat) extents(x, y *extent) {
	x.add(-0.5)
	x.add(float64(len(h.Columns)) - 0.5)
	y.add(-0.5)
	y.add(float64(len(h.Rows)) - 0.5)
}

// Plot draws it, with its texts if all of them have room.
func (m heatMark) Plot(c draw.Canvas, p *plot.Plot) {
	if len(m.Rows) == 0 || len(m.Columns) == 0 {
		return
	}
	x, y := p.Transforms(&c)
	style := textStyle(8.5, false, ink)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	texts := m.Texts != nil && m.room(style.Width, x(1)-x(0), y(1)-y(0))
	for i := range m.Rows {
		low := float64(len(m.Rows)-1-i) - 0.5
		for k := range m.Columns {
			box := vg.Rectangle{Min: vg.Point{X: x(float64(k) - 0.5), Y: y(low)}, Max: vg.Point{X: x(float64(k) + 0.5), Y: y(low + 1)}}
			colour := m.cell(c, box, m.Values[i][k])
			if texts {
				style.Color = on(colour)
				write(c, style, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}, m.Texts[i][k])
			}
		}
	}
}

// room reports whether the widest text has room in a cell.
func (m heatMark) room(width func(string) vg.Length, w, h vg.Length) bool {
	for _, row := range m.Texts {
		for _, text := range row {
			if width(text)+4 > w {
				return false
			}
		}
	}
	return h >= 11
}

func (m heatMark) cell(c draw.Canvas, box vg.Rectangle, v float64) (colour color.RGBA) {
	if !number(v) {
		c.StrokeLines(draw.LineStyle{Color: faint, Width: vg.Points(0.8)},
			outline(box), []vg.Point{box.Min, box.Max}, []vg.Point{{X: box.Min.X, Y: box.Max.Y}, {X: box.Max.X, Y: box.Min.Y}})
		return paper
	}
	colour = ramp(m.shade.axis.Norm(v), blues)
	fill(c, box, colour)
	c.StrokeLines(draw.LineStyle{Color: paper, Width: vg.Points(0.8)}, outline(box))
	return colour
}

// barWidth is that of the scale of colours.
const barWidth = vg.Length(14)

// drawScale draws the scale of colours, the numbers beside it.
func (s *shade) drawScale(c draw.Canvas) {
	const steps = 48
	style := textStyle(9, false, ink)
	b := newBlock(s.heat.Label, style, c.Size().X)
	b.draw(c)
	c.Max.Y -= b.height() + 10
	each := c.Size().Y / steps
	for i := range steps {
		low := c.Min.Y + vg.Length(i)*each
		box := vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: low}, Max: vg.Point{X: c.Min.X + barWidth, Y: low + each + 0.25}}
		fill(c, box, ramp(float64(i)/(steps-1), blues))
	}
	style.YAlign = draw.YCenter
	room := func(string) vg.Length { return 16 }
	ticks := ticker{Axis{Scale: s.heat.Scale, Format: s.heat.Format}, s.axis.Scale, c.Size().Y, room}
	for _, tick := range ticks.Ticks(s.axis.Min, s.axis.Max) {
		at := c.Min.Y + vg.Length(s.axis.Norm(tick.Value))*c.Size().Y
		write(c, style, vg.Point{X: c.Min.X + barWidth + 5, Y: at}, tick.Label)
	}
}
