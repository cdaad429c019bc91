// Package figure draws results: lines over an axis, with a legend beside them, as SVG and
// PNG. It is the only package that knows the plotting library.
//
// A picture is a function of the chart alone: no clock, no font of the machine and no
// random number gets into it, so that equal charts give equal bytes.
package figure

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a picture of series of numbers. Labels of axes name the unit.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line
}

// Axis is one direction of a chart. If Min and Max are equal the numbers decide, and an
// axis that is not far from 0 then begins there.
type Axis struct {
	Label    string
	Min, Max float64
}

// Line is a series of numbers. Points are joined in their order; Marks are drawn as
// circles in the same colour, for another source of the same numbers.
type Line struct {
	Name          string
	Points, Marks []Point
}

// Point is a pair of numbers. A point that is not a number is left out, and a line has a
// gap there.
type Point struct{ X, Y float64 }

// Formats are the names that Write knows, which are the endings of their files.
func Formats() []string { return []string{"svg", "png"} }

// The size of a picture, and of the strip on the right that the legend gets.
const (
	width, height = 7 * vg.Inch, 4 * vg.Inch
	strip         = 1.45 * vg.Inch
	dpi           = 144
)

// Write draws the chart.
func (c *Chart) Write(w io.Writer, format string) error {
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("unknown format %q of figures, expected one of %s", format, strings.Join(Formats(), ", "))
	}
	if format == "svg" {
		canvas := vgsvg.New(width, height)
		if err := c.draw(draw.New(canvas)); err != nil {
			return err
		}
		_, err := canvas.WriteTo(w)
		return err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	if err := c.draw(draw.New(canvas)); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

func (c *Chart) draw(canvas draw.Canvas) error {
	p, legend := plot.New(), plot.NewLegend()
	c.style(p, &legend)
	p.Add(grid())
	for i := range c.Lines {
		if err := c.Lines[i].add(p, &legend, i); err != nil {
			return fmt.Errorf("figure %q, line %q: %w", c.Title, c.Lines[i].Name, err)
		}
	}
	bound(&p.X, c.X)
	bound(&p.Y, c.Y)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	const margin = vg.Length(8)
	canvas = draw.Crop(canvas, margin, -margin, margin, -margin)
	p.Draw(draw.Crop(canvas, 0, -strip, 0, 0))
	right := draw.Crop(canvas, canvas.Size().X-strip+margin, 0, 0, -vg.Points(24))
	legend.Draw(right)
	return nil
}

// sans is the font of all text. The library brings it along, so that PNGs have it
// everywhere; an SVG names it.
func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

var ink = color.RGBA{R: 50, G: 50, B: 50, A: 255}

func (c *Chart) style(p *plot.Plot, legend *plot.Legend) {
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X.Label, c.Y.Label
	p.Title.Padding = vg.Points(8)
	for at, size := range map[*text.Style]vg.Length{
		&p.Title.TextStyle: 12, &p.X.Label.TextStyle: 10, &p.Y.Label.TextStyle: 10,
		&p.X.Tick.Label: 9, &p.Y.Tick.Label: 9, &legend.TextStyle: 9.5,
	} {
		at.Font, at.Color = sans(size), ink
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding, a.Label.Padding = 0, vg.Points(4)
		a.Color, a.Tick.Color, a.Tick.Length, a.Tick.Marker = ink, ink, vg.Points(4), plot.TickerFunc(ticks)
	}
	legend.Top, legend.Left = true, true
	legend.Padding, legend.ThumbnailWidth = vg.Points(4), vg.Points(22)
	legend.YPosition = draw.PosCenter
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	light := draw.LineStyle{Color: color.RGBA{R: 225, G: 225, B: 225, A: 255}, Width: vg.Points(0.5)}
	g.Vertical, g.Horizontal = light, light
	return g
}

// bound sets the range of an axis.
func bound(a *plot.Axis, want Axis) {
	switch {
	case want.Min != want.Max:
		a.Min, a.Max = want.Min, want.Max
	case !(a.Min <= a.Max): // there are no numbers
		a.Min, a.Max = 0, 1
	case a.Min > 0 && a.Min < a.Max/2:
		a.Min = 0
	}
}

// ticks are at the multiples of 1, 2 or 5 times a power of ten that give five to twelve.
func ticks(from, to float64) (out []plot.Tick) {
	const fewest = 5
	step := math.Pow(10, math.Floor(math.Log10(to-from)))
	for _, part := range []float64{1, 2, 5, 10} {
		if (to-from)*part/step >= fewest {
			step /= part
			break
		}
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for k := math.Ceil(from/step - 1e-9); k-1e-9 <= to/step; k++ {
		at := k * step
		if k == 0 {
			at = 0 // not -0, which is shown
		}
		out = append(out, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'f', decimals, 64)})
	}
	return out
}

// palette is that of Okabe and Ito, which colour-blind people can tell apart; after a
// round the lines are dashed.
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {60, 60, 60, 255},
}

// add draws the i-th line and its entry in the legend.
func (l *Line) add(p *plot.Plot, legend *plot.Legend, i int) error {
	style := draw.LineStyle{Color: palette[i%len(palette)], Width: vg.Points(1.6)}
	if i >= len(palette) {
		style.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	thumbs := []plot.Thumbnailer{&plotter.Line{LineStyle: style}}
	for _, piece := range pieces(l.Points) {
		line, err := plotter.NewLine(piece)
		if err != nil {
			return err
		}
		line.LineStyle = style
		p.Add(line)
	}
	if marks := slices.Concat(pieces(l.Marks)...); len(marks) > 0 {
		scatter, err := plotter.NewScatter(marks)
		if err != nil {
			return err
		}
		scatter.GlyphStyle = draw.GlyphStyle{Color: style.Color, Radius: vg.Points(2.6), Shape: draw.RingGlyph{}}
		p.Add(scatter)
		thumbs = append(thumbs, scatter)
	}
	legend.Add(l.Name, thumbs...)
	return nil
}

// pieces divides points where one is not a number.
func pieces(points []Point) (out []plotter.XYs) {
	open := false
	for _, at := range points {
		if math.IsNaN(at.X+at.Y) || math.IsInf(at.X, 0) || math.IsInf(at.Y, 0) {
			open = false
			continue
		}
		if !open {
			out, open = append(out, nil), true
		}
		out[len(out)-1] = append(out[len(out)-1], plotter.XY{X: at.X, Y: at.Y})
	}
	return out
}
