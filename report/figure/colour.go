package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func rgb(r, g, b uint8) color.RGBA { return color.RGBA{R: r, G: g, B: b, A: 255} }

func (c Color) rgba() color.RGBA { return rgb(c.R, c.G, c.B) }

var (
	ink   = rgb(40, 40, 40)    // text and axes
	soft  = rgb(95, 95, 95)    // captions
	faint = rgb(228, 228, 228) // grid
	paper = rgb(255, 255, 255)
)

// palette is that of Okabe and Ito ("Color Universal Design", 2008), which colour-blind
// people can tell apart. Its yellow is left out: it is too light for lines.
var palette = []color.RGBA{
	rgb(0, 114, 178), rgb(213, 94, 0), rgb(0, 158, 115), rgb(204, 121, 167), rgb(230, 159, 0), rgb(86, 180, 233), rgb(60, 60, 60),
}

// dashes go with the palette, so that lines can be told apart in grey as well.
var dashes = [][]vg.Length{nil, {7, 2.5}, {2, 2}, {8, 2, 2, 2}, {4, 2}, {12, 3}, {1, 1.5}}

// lineStyle is the i-th of n styles. After a round of the palette the dashes shift.
func lineStyle(i, n int, ordered bool) draw.LineStyle {
	if ordered {
		return draw.LineStyle{Color: ramp(0.25+0.75*float64(i)/float64(max(1, n-1)), blues), Width: vg.Points(1.8)}
	}
	round := i / len(palette)
	return draw.LineStyle{Color: palette[i%len(palette)], Width: vg.Points(1.8), Dashes: dashes[(i+round)%len(dashes)]}
}

// Shades returns n colours of one family, from the colour itself to a light tint of it.
func Shades(c Color, n int) []Color {
	out := make([]Color, n)
	for i := range out {
		tint := func(v uint8) uint8 { return v + uint8((255-int(v))*i*7/(10*max(1, n))) }
		out[i] = Color{tint(c.R), tint(c.G), tint(c.B)}
	}
	return out
}

// Style returns the i-th colour that lines get by their position, from 0.
func Style(i int) Color {
	c := palette[i%len(palette)]
	return Color{c.R, c.G, c.B}
}

// Ramps of colour from light to dark, which stay in order in grey and to colour-blind
// people: single hues.
var (
	blues = []color.RGBA{rgb(239, 246, 252), rgb(190, 216, 238), rgb(122, 178, 220), rgb(54, 134, 192), rgb(10, 84, 148), rgb(6, 40, 84)}
)

// ramp is the colour at part t of a ramp, 0 to 1. It is mixed in integers.
func ramp(t float64, colours []color.RGBA) color.RGBA {
	const fine = 1024
	at := int(float64(max(0, min(1, t))*float64(fine*(len(colours)-1))) + 0.25)
	i := min(at/fine, len(colours)-2)
	part := at - i*fine
	mix := func(a, b uint8) uint8 { return uint8((int(a)*(fine-part) + int(b)*part) / fine) }
	a, b := colours[i], colours[i+1]
	return rgb(mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B))
}

// on is the colour of text on a colour.
func on(c color.RGBA) color.RGBA {
	if 299*int(c.R)+587*int(c.G)+114*int(c.B) < 140*1000 {
		return paper
	}
	return ink
}
