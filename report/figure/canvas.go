package figure

import (
	"bytes"
	"image"
	"io"
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi of PNGs: twice what a point is.
const dpi = 144

// writeSVG names fonts that are drawn like the one that was measured where a machine does
// not have it, and gives the picture its title as its name.
func writeSVG(w io.Writer, c *Chart, width, height vg.Length) error {
	canvas := vgsvg.New(width, height)
	c.drawOn(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	svg := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;font-variant:normal;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	head, rest, _ := strings.Cut(svg, "xlink\">\n")
	_, err := io.WriteString(w, head+"xlink\" role=\"img\">\n<title>"+escaped(c.Title)+"</title>\n"+rest)
	return err
}

// dotsOf is the scale on which a picture of a width is drawn, so that lines and letters
// suit it: dpi where it has the usual width.
func dotsOf(width vg.Length) vg.Length {
	return vg.Length(math.Floor(max(0.7, min(2, float64(width)/float64(usualWidth*vg.Inch))) * dpi))
}

// drawOn draws the chart on a scale that suits its width.
func (c *Chart) drawOn(canvas vg.CanvasSizer) {
	s := &steady{canvas}
	width, height := canvas.Size()
	scale := dotsOf(width) / dpi
	if scale != 1 {
		s.Scale(float64(scale), float64(scale))
	}
	c.draw(draw.NewCanvas(s, width/scale, height/scale))
}

// escaped is text as XML writes it.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(printable(text))
}

// printable is text with a sign in the place of what has no sign of its own, and that XML
// has no way to write: control characters, and bytes that are no characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF:
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

func writePNG(w io.Writer, c *Chart, width, height vg.Length) error {
	dots := dotsOf(width)
	canvas := vgimg.NewWith(vgimg.UseWH(width*dpi/dots, height*dpi/dots), vgimg.UseDPI(int(dots)))
	c.draw(draw.New(&steady{newRaster(canvas)})) // larger dots instead of a scale
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

func writePDF(w io.Writer, c *Chart, width, height vg.Length) error {
	canvas := newPDF(width, height)
	c.drawOn(canvas)
	_, err := canvas.WriteTo(w)
	return err
}

// steady rounds everything that is drawn. Processors and compilers disagree about the
// last bits of products, sums and logarithms; they do not about the 32nd of a point.
type steady struct{ vg.CanvasSizer }

// steps per point, and by how much the place where rounding turns is moved, so that it is
// not where coordinates are: those are often simple fractions of a point.
const (
	stepsPerPoint = 32
	turn          = 0.5 + 1.0/1021
)

func rounded(v vg.Length) vg.Length { return roundedTo(v, stepsPerPoint) }

func roundedTo(v, steps vg.Length) vg.Length {
	return vg.Length(math.Floor(float64(v*steps)+turn)) / steps
}

func roundedPoint(at vg.Point) vg.Point { return vg.Point{X: rounded(at.X), Y: rounded(at.Y)} }

// roundedPath also leaves out corners at which a path goes straight on, along an axis.
func roundedPath(path vg.Path) vg.Path {
	out := make(vg.Path, 0, len(path))
	for _, part := range path {
		part.Pos, part.Radius = roundedPoint(part.Pos), rounded(part.Radius)
		n := len(out)
		if part.Type == vg.LineComp && n > 0 && part.Pos == out[n-1].Pos {
			continue
		}
		if part.Type == vg.LineComp && n > 1 && out[n-1].Type == vg.LineComp && straight(out[n-2].Pos, out[n-1].Pos, part.Pos) {
			out = out[:n-1]
		}
		out = append(out, part)
	}
	return out
}

// straight reports whether b lies between a and c on a line along an axis.
func straight(a, b, c vg.Point) bool {
	between := func(a, b, c vg.Length) bool { return a <= b && b <= c || a >= b && b >= c }
	return a.X == b.X && b.X == c.X && between(a.Y, b.Y, c.Y) || a.Y == b.Y && b.Y == c.Y && between(a.X, b.X, c.X)
}

func (s *steady) Stroke(path vg.Path) { s.CanvasSizer.Stroke(roundedPath(path)) }
func (s *steady) Fill(path vg.Path)   { s.CanvasSizer.Fill(roundedPath(path)) }

func (s *steady) Translate(by vg.Point) { s.CanvasSizer.Translate(roundedPoint(by)) }

func (s *steady) FillString(face font.Face, at vg.Point, text string) {
	s.CanvasSizer.FillString(face, roundedPoint(at), printable(text))
}

func (s *steady) DrawImage(vg.Rectangle, image.Image) {
	panic("figure: pictures in pictures would depend on the library's encoder")
}
