package figure

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	margin = vg.Length(10)
	gutter = vg.Length(12) // between panels, and between them and what is around
)

// draw draws the chart: the title on top, the caption at the bottom, the legend on the
// right or, where its names are long, under the panels.
func (c *Chart) draw(canvas draw.Canvas) {
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	canvas = draw.Crop(canvas, margin, -margin, margin, -margin)
	canvas = drawTitle(canvas, c.Title)
	canvas = drawCaption(canvas, c.Caption)
	c.drawPanels(c.drawLegend(canvas))
}

// drawTitle returns what is left of the canvas.
func drawTitle(c draw.Canvas, title string) draw.Canvas {
	b := newBlock(title, textStyle(13, true, ink), c.Size().X)
	b.limit(c.Size().Y * 0.4)
	b.draw(c)
	if len(b.lines) > 0 {
		c.Max.Y -= b.height() + 8
	}
	return c
}

// drawCaption returns what is left of the canvas.
func drawCaption(c draw.Canvas, caption string) draw.Canvas {
	b := newBlock(caption, textStyle(8.5, false, soft), c.Size().X)
	b.limit(c.Size().Y * 0.3)
	if len(b.lines) == 0 {
		return c
	}
	c.Max.Y, c.Min.Y = c.Min.Y+b.height(), c.Max.Y // the other way round: what is left
	b.draw(c)
	c.Max.Y, c.Min.Y = c.Min.Y, c.Max.Y+8
	return c
}

// draw draws the lines from the upper left corner down.
func (b *block) draw(c draw.Canvas) {
	b.style.YAlign = draw.YTop
	for i, line := range b.lines {
		write(c, b.style, vg.Point{X: c.Min.X, Y: c.Max.Y - vg.Length(i)*b.step}, line)
	}
}

// leastPanel is the size below which a panel has no room for its axes, and is not drawn.
const leastPanel = 50

// drawPanels draws the panels so that their axes stand under and beside each other.
func (c *Chart) drawPanels(canvas draw.Canvas) {
	columns, rows := c.columns(), c.rows()
	size := vg.Point{X: canvas.Size().X/vg.Length(columns) - 50, Y: canvas.Size().Y/vg.Length(rows) - 40}
	if size.X+50 < leastPanel || size.Y+40 < leastPanel {
		return
	}
	shade := shadeOf(c)
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, columns)
	}
	for i := range c.Panels {
		plots[i/columns][i%columns] = c.Panels[i].plot(size, shade)
	}
	if len(c.Panels) == 0 {
		return
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: gutter, PadY: gutter}
	canvases := plot.Align(plots, tiles, canvas)
	for i := range c.Panels {
		p, at := plots[i/columns][i%columns], canvases[i/columns][i%columns]
		p.Draw(at)
		c.Panels[i].drawTexts(at, p.DataCanvas(at), size)
	}
}

// drawTexts writes the title and the labels of the axes of a panel, for which the plot has
// kept room: the library's own stand in the middle of the numbers, which on a logarithmic
// axis is not the middle.
func (p *Panel) drawTexts(c, data draw.Canvas, size vg.Point) {
	write(c, titleStyle, vg.Point{X: data.Min.X, Y: data.Max.Y + 7}, cut(p.Title, titleStyle, max(size.X, data.Size().X)))
	style := labelStyle
	style.XAlign = draw.XCenter
	at := vg.Point{X: data.Center().X, Y: c.Min.Y + style.FontExtents().Descent}
	for i, line := range p.xLabel(size) {
		write(c, style, at.Add(vg.Point{Y: vg.Length(len(p.xLabel(size))-1-i) * labelStep}), line)
	}
	style.Rotation = pi / 2
	at = vg.Point{X: c.Min.X + style.FontExtents().Ascent, Y: data.Center().Y}
	for i, line := range p.yLabel(size) {
		write(c, style, at.Add(vg.Point{X: vg.Length(i) * labelStep}), line)
	}
}

const labelStep = vg.Length(11.5)

// xLabel and yLabel are the labels of the axes in lines that have room.
func (p *Panel) xLabel(size vg.Point) []string {
	return wrapped(p.X.Label, labelStyle, max(size.X, leastPanel))
}

func (p *Panel) yLabel(size vg.Point) []string {
	return wrapped(p.Y.Label, labelStyle, max(size.Y, leastPanel))
}

// plot makes a plot of a panel, whose axes will be about so long.
func (p *Panel) plot(size vg.Point, shade *shade) *plot.Plot {
	out := plot.New()
	p.style(out)
	lines := p.lineMarks()
	p.bound(out)
	p.setTicks(out, size)
	out.Add(p.grid())
	for _, g := range p.Guides {
		out.Add(guideMark{g})
	}
	if p.Stack != nil {
		out.Add(stackMark{p.Stack})
	}
	if p.Bars != nil {
		out.Add(barsMark{p.Bars})
	}
	if p.Heat != nil {
		out.Add(heatMark{p.Heat, shade})
	}
	out.Add(bandMarks{lines})
	for i := range lines {
		out.Add(&lines[i])
	}
	out.Add(markTexts{lines}, breakMark{})
	if p.Empty != "" {
		out.Add(emptyMark(p.Empty))
	}
	return out
}

func (p *Panel) style(out *plot.Plot) {
	out.BackgroundColor = nil
	if p.Title != "" {
		out.Title.Text, out.Title.TextStyle, out.Title.Padding = " ", titleStyle, 4 // the room; drawTexts writes it
	}
	for _, a := range []*plot.Axis{&out.X, &out.Y} {
		a.Label.TextStyle = labelStyle
		a.Tick.Label.Font, a.Tick.Label.Color = face(9, false), ink
		a.Padding, a.Label.Padding = 0, 4
		a.Color, a.Tick.Color, a.Tick.Length = ink, ink, 3.5
	}
}

// lineMarks are the lines with the styles they are drawn in.
func (p *Panel) lineMarks() []lineMark {
	marks := make([]lineMark, len(p.Lines))
	for i := range p.Lines {
		nth := i
		if p.Lines[i].Style > 0 {
			nth = p.Lines[i].Style - 1
		}
		marks[i] = lineMark{&p.Lines[i], lineStyle(nth, len(p.Lines), p.Ordered)}
	}
	return marks
}

// bound sets the ranges of both axes by everything that is drawn.
func (p *Panel) bound(out *plot.Plot) {
	x, y := nothingYet(), nothingYet()
	for i := range p.Lines {
		p.Lines[i].extents(&x, &y)
	}
	if p.Stack != nil {
		p.Stack.extents(&x, &y)
	}
	if n := len(p.X.Names); n > 0 {
		p.X.Min, p.X.Max = -0.3, float64(n)-0.7
	}
	if p.Stack != nil || p.X.Scale == Seconds {
		p.X = tight(p.X, x)
	}
	if b := p.Bars; b != nil {
		b.extents(&y, &x)
		p.Y = tight(p.Y, y)
	}
	if p.Heat != nil {
		p.Heat.extents(&x, &y)
		p.X, p.Y = tight(p.X, x), tight(p.Y, y)
	}
	for _, g := range p.Guides {
		y.add(g.Y)
	}
	bound(&out.X, p.X, x)
	bound(&out.Y, p.Y, y)
}

// tight is an axis that ends where the numbers do.
func tight(a Axis, e extent) Axis {
	if a.Min == a.Max && e.min < e.max {
		a.Min, a.Max = e.min, e.max
	}
	return a
}

func (p *Panel) setTicks(out *plot.Plot, size vg.Point) {
	wide := func(label string) vg.Length { return out.X.Tick.Label.Width(label) + 18 }
	high := func(string) vg.Length { return 19 }
	out.X.Label.Text, out.Y.Label.Text = blank(p.xLabel(size)), blank(p.yLabel(size))
	out.X.Tick.Marker = &ticker{p.X, out.X.Scale, size.X, wide}
	out.Y.Tick.Marker = &ticker{p.Y, out.Y.Scale, size.Y, high}
	switch {
	case p.X.Names != nil:
		out.X.Tick.Marker = categories(p.X.Names, out, size.X)
	case p.Heat != nil:
		out.X.Tick.Marker, out.Y.Tick.Marker = categories(p.Heat.Columns, out, size.X), rowsOf(p.Heat.Rows, out, size.Y)
	case p.Bars != nil:
		out.Y.Tick.Marker = rowsOf(p.Bars.Categories, out, size.Y)
	}
	if p.Heat != nil || p.Bars != nil {
		out.X.Tick.Color, out.Y.Tick.Color = paper, paper // there is room for them all the same
	}
}

// categories are names under an axis, broken into lines where they are wide; if that does
// not help, some are left out.
func categories(names []string, out *plot.Plot, length vg.Length) plot.Ticker {
	ticks := places(names)
	room := length / vg.Length(max(1, len(names)))
	widest := vg.Length(0)
	for i := range ticks {
		lines := wrapped(names[i], out.X.Tick.Label, max(room-4, 30))
		ticks[i].Label = strings.Join(lines, "\n")
		widest = max(widest, out.X.Tick.Label.Width(ticks[i].Label)+4)
	}
	return everyNth(ticks, int(math.Ceil(float64(widest/room))))
}

// rowsOf are names beside an axis, the first on top, in as many lines as there is room for.
func rowsOf(names []string, out *plot.Plot, length vg.Length) plot.Ticker {
	const widest, step = 110, 10.5
	ticks := places(names)
	room := length / vg.Length(max(1, len(names)))
	for i := range ticks {
		ticks[i].Value = float64(len(names) - 1 - i)
		lines := wrapped(names[i], out.Y.Tick.Label, widest)
		if most := max(1, int(room/step)); len(lines) > most {
			lines = append(lines[:most-1:most-1], cut(strings.Join(lines[most-1:], ""), out.Y.Tick.Label, widest))
		}
		ticks[i].Label = strings.Join(lines, "\n")
	}
	return everyNth(ticks, int(math.Ceil(float64(step/room))))
}

// everyNth leaves out the labels between.
func everyNth(ticks plot.ConstantTicks, n int) plot.Ticker {
	for i := range ticks {
		if n > 1 && i%n != 0 {
			ticks[i].Label = ""
		}
	}
	return ticks
}

func (p *Panel) grid() *plotter.Grid {
	g := plotter.NewGrid()
	light := draw.LineStyle{Color: faint, Width: vg.Points(0.5)}
	g.Vertical, g.Horizontal = light, light
	if p.Heat != nil {
		g.Vertical.Color = nil
	}
	if p.Heat != nil || p.Bars != nil {
		g.Horizontal.Color = nil
	}
	return g
}

var titleStyle, labelStyle = textStyle(10, true, ink), textStyle(10, false, ink)

// blank is a text that takes as much height as some lines, and no width.
func blank(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Repeat(" \n", len(lines)-1) + " "
}

// guideMark draws a guide.
type guideMark struct{ Guide }

// Plot draws it, its text at the left end.
func (m guideMark) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	at := y(m.Y)
	if !c.ContainsY(at) {
		return
	}
	c.StrokeLine2(draw.LineStyle{Color: soft, Width: vg.Points(0.8), Dashes: []vg.Length{3, 3}}, c.Min.X, at, c.Max.X, at)
	style := textStyle(8, false, soft)
	write(c, style, vg.Point{X: c.Min.X + 4, Y: at + 4}, m.Text)
}

// breakMark draws the break of an axis that has a place for 0.
type breakMark struct{}

// Plot draws two strokes across the axis.
func (breakMark) Plot(c draw.Canvas, p *plot.Plot) {
	stroke := draw.LineStyle{Color: ink, Width: vg.Points(0.8)}
	if at, ok := scaleBreak(&p.X); ok {
		x := c.X(at)
		fill(c, vg.Rectangle{Min: vg.Point{X: x - 1, Y: c.Min.Y - 2}, Max: vg.Point{X: x + 1, Y: c.Min.Y + 2}}, paper)
		c.StrokeLine2(stroke, x-2, c.Min.Y-3, x, c.Min.Y+3)
		c.StrokeLine2(stroke, x, c.Min.Y-3, x+2, c.Min.Y+3)
	}
	if at, ok := scaleBreak(&p.Y); ok {
		y := c.Y(at)
		fill(c, vg.Rectangle{Min: vg.Point{X: c.Min.X - 2, Y: y - 1}, Max: vg.Point{X: c.Min.X + 2, Y: y + 1}}, paper)
		c.StrokeLine2(stroke, c.Min.X-3, y-2, c.Min.X+3, y)
		c.StrokeLine2(stroke, c.Min.X-3, y, c.Min.X+3, y+2)
	}
}

// emptyMark says why there is nothing.
type emptyMark string

// Plot writes it in the middle.
func (m emptyMark) Plot(c draw.Canvas, _ *plot.Plot) {
	style := textStyle(10, false, soft)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	lines := wrapped(string(m), style, c.Size().X-20)
	for i, line := range lines {
		up := vg.Length(len(lines)-1)/2 - vg.Length(i)
		write(c, style, vg.Point{X: c.Center().X, Y: c.Center().Y + up*13}, line)
	}
}
