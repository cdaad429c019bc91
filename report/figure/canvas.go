package figure

import (
	"bytes"
	"image"
	"io"
	"math"
	"regexp"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi of PNGs: twice what a point is.
const dpi = 144

// writeSVG names fonts that are drawn like the one that was measured where a machine does
// not have it, and gives the picture its title as its name.
func writeSVG(w io.Writer, c *Chart, width, height vg.Length) error {
	canvas := vgsvg.New(width, height)
	c.draw(draw.New(&steady{CanvasSizer: canvas}))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	svg := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;font-variant:normal;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	head, rest, _ := strings.Cut(svg, "xlink\">\n")
	_, err := io.WriteString(w, head+"xlink\" role=\"img\">\n<title>"+escaped(c.Title)+"</title>\n"+rest)
	return err
}

// escaped is text as XML writes it.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

func writePNG(w io.Writer, c *Chart, width, height vg.Length) error {
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	c.draw(draw.New(&steady{CanvasSizer: canvas}))
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

func init() {
	fpdf.SetDefaultCatalogSort(true) // else fonts come in the order of a map
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
}

// pdfDate is a date that the library writes and nobody needs.
var pdfDate = regexp.MustCompile(`(?m)^/(CreationDate|ModDate) \(D:\d+\)$`)

func writePDF(w io.Writer, c *Chart, width, height vg.Length) error {
	canvas := vgpdf.New(width, height)
	c.draw(draw.New(&steady{CanvasSizer: canvas, pdf: true}))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	blank := func(date []byte) []byte { return bytes.Repeat([]byte{' '}, len(date)) } // offsets stand in the file
	_, err := w.Write(pdfDate.ReplaceAllFunc(b.Bytes(), blank))
	return err
}

// high are the characters of Windows-1252 from 0x80 on, up to where it is Latin-1.
var high = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// windows1252 encodes text for the fonts of a PDF; a character that they do not have is
// written as a question mark.
func windows1252(text string) string {
	var b strings.Builder
	for _, r := range text {
		code := byte('?')
		if r < 0x80 || r >= 0xa0 && r <= 0xff {
			code = byte(r)
		}
		for i, h := range high {
			if h == r {
				code = byte(0x80 + i)
			}
		}
		b.WriteByte(code)
	}
	return b.String()
}

// steady rounds everything that is drawn. Processors and compilers disagree about the
// last bits of products, sums and logarithms; they do not about the 32nd of a point.
type steady struct {
	vg.CanvasSizer
	pdf bool
}

// steps per point, and by how much the place where rounding turns is moved, so that it is
// not where coordinates are: those are often simple fractions of a point.
const (
	stepsPerPoint = 32
	turn          = 0.5 + 1.0/1021
)

func rounded(v vg.Length) vg.Length {
	return vg.Length(math.Floor(float64(v*stepsPerPoint)+turn) / stepsPerPoint)
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
	if s.pdf {
		text = windows1252(text)
		if face.Font.Weight != 0 { // the library looks for a bold variant of what it has embedded as a font of its own
			face.Font.Typeface, face.Font.Weight = face.Font.Typeface+"Bold", 0
		}
	}
	s.CanvasSizer.FillString(face, roundedPoint(at), text)
}

func (s *steady) DrawImage(vg.Rectangle, image.Image) {
	panic("figure: pictures in pictures would depend on the library's encoder")
}
