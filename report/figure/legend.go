package figure

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is a name in the legend and how it looks.
type entry struct {
	name   string
	line   *draw.LineStyle // nil: an area
	marked bool
	joined bool // the points are joined
	area   Color
}

// entries are the names of a chart, each once: lines in their order, the layers of a
// stack as they lie, the highest first.
func (c *Chart) entries() []entry {
	var out []entry
	seen := map[string]bool{}
	add := func(e entry) {
		if e.name != "" && !seen[e.name] {
			seen[e.name] = true
			out = append(out, e)
		}
	}
	for i := range c.Panels {
		p := &c.Panels[i]
		if p.Stack != nil {
			for k := len(p.Stack.Layers) - 1; k >= 0; k-- {
				add(entry{name: p.Stack.Layers[k].Name, area: p.Stack.Layers[k].Color})
			}
		}
		if p.Bars != nil {
			for _, l := range p.Bars.Layers {
				add(entry{name: l.Name, area: l.Color})
			}
		}
		for _, m := range p.lineMarks() {
			add(entry{name: m.Name, line: &m.style, marked: len(m.Marks) > 0, joined: len(m.Points) > 0 || len(m.Marks) == 0})
		}
	}
	return out
}

const (
	swatch    = vg.Length(24) // the width of a sample of a line
	entryStep = vg.Length(14) // the height of an entry
	labelGap  = vg.Length(5)
)

var entryStyle = textStyle(9.5, false, ink)

// drawLegend draws the legend and the scale of colours, and returns what is left.
func (c *Chart) drawLegend(canvas draw.Canvas) draw.Canvas {
	if s := shadeOf(c); s != nil {
		return drawShade(canvas, s)
	}
	entries := c.entries()
	if len(entries) == 0 || len(entries) == 1 && entries[0].line != nil {
		return canvas // the title names the only line
	}
	widest := vg.Length(0)
	for _, e := range entries {
		widest = max(widest, swatch+labelGap+entryStyle.Width(e.name))
	}
	if widest <= canvas.Size().X*0.3 && vg.Length(len(entries))*entryStep <= canvas.Size().Y {
		return drawBeside(canvas, entries, widest)
	}
	return drawBelow(canvas, entries, widest)
}

// drawBeside draws the entries in a strip on the right.
func drawBeside(c draw.Canvas, entries []entry, widest vg.Length) draw.Canvas {
	x := c.Max.X - widest
	y := c.Max.Y - 14
	for _, e := range entries {
		e.draw(c, x, y, widest)
		y -= entryStep
	}
	c.Max.X = x - gutter
	return c
}

// drawBelow draws the entries in columns under the panels.
func drawBelow(c draw.Canvas, entries []entry, widest vg.Length) draw.Canvas {
	widest = min(widest, c.Size().X)
	columns := max(1, int((c.Size().X+gutter)/(widest+gutter)))
	rows := (len(entries) + columns - 1) / columns
	if most := max(1, int(c.Size().Y*0.4/entryStep)); rows > most {
		rows = most
		entries = append(entries[:rows*columns-1:rows*columns-1], entry{name: "…", line: &draw.LineStyle{Color: paper}})
	}
	top := c.Min.Y + vg.Length(rows)*entryStep
	for i, e := range entries {
		e.draw(c, c.Min.X+vg.Length(i/rows)*(widest+gutter), top-entryStep/2-vg.Length(i%rows)*entryStep, widest)
	}
	c.Min.Y = top + 6
	return c
}

// draw draws an entry whose middle is at y.
func (e *entry) draw(c draw.Canvas, x, y, room vg.Length) {
	switch {
	case e.line == nil:
		fill(c, vg.Rectangle{Min: vg.Point{X: x + 8, Y: y - 4.5}, Max: vg.Point{X: x + swatch, Y: y + 4.5}}, e.area.rgba())
	case e.joined:
		c.StrokeLine2(*e.line, x, y, x+swatch, y)
	}
	if e.marked {
		c.DrawGlyph(draw.GlyphStyle{Color: e.line.Color, Radius: vg.Points(2.8), Shape: ring{}}, vg.Point{X: x + swatch/2, Y: y})
	}
	style := entryStyle
	style.YAlign = draw.YCenter
	write(c, style, vg.Point{X: x + swatch + labelGap, Y: y}, cut(e.name, style, room-swatch-labelGap))
}

// drawShade draws the scale of colours in a strip on the right.
func drawShade(canvas draw.Canvas, s *shade) draw.Canvas {
	const strip = 82
	right := draw.Crop(canvas, canvas.Size().X-strip, 0, 36, -16)
	s.drawScale(right)
	canvas.Max.X -= strip + gutter
	return canvas
}
