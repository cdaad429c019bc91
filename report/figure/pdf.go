package figure

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// pdfCanvas draws a PDF of one page with the letters of its fonts that it uses. The plotting
// library has such a canvas, which embeds one font only, as a whole, and takes text for
// Windows-1252.
type pdfCanvas struct {
	doc           *fpdf.Fpdf
	width, height vg.Length
	fonts         map[bool]bool // by weight: which are in the document
}

func newPDF(width, height vg.Length) *pdfCanvas {
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width.Points(), Ht: height.Points()}})
	doc.SetCatalogSort(true) // else fonts come in the order of a map
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetMargins(0, 0, 0)
	doc.AddPage()
	c := &pdfCanvas{doc, width, height, map[bool]bool{}}
	c.Push()
	vg.Initialize(c)
	return c
}

// pdfDate is a date that the library writes and nobody needs.
var pdfDate = regexp.MustCompile(`(?m)^/(CreationDate|ModDate) \(D:\d+\)$`)

// WriteTo ends the document.
func (c *pdfCanvas) WriteTo(w io.Writer) (int64, error) {
	c.Pop()
	var b bytes.Buffer
	if err := c.doc.Output(&b); err != nil {
		return 0, err
	}
	blank := func(date []byte) []byte { return bytes.Repeat([]byte{' '}, len(date)) } // offsets stand in the file
	n, err := w.Write(pdfDate.ReplaceAllFunc(b.Bytes(), blank))
	return int64(n), err
}

func (c *pdfCanvas) Size() (w, h vg.Length)   { return c.width, c.height }
func (c *pdfCanvas) SetLineWidth(w vg.Length) { c.doc.SetLineWidth(w.Points()) }
func (c *pdfCanvas) Push()                    { c.doc.TransformBegin() }
func (c *pdfCanvas) Pop()                     { c.doc.TransformEnd() }

func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	points := make([]float64, len(pattern))
	for i, p := range pattern {
		points[i] = p.Points()
	}
	c.doc.SetDashPattern(points, offset.Points())
}

func (c *pdfCanvas) SetColor(of color.Color) {
	if of == nil {
		of = color.Black
	}
	n := color.NRGBAModel.Convert(of).(color.NRGBA)
	r, g, b := int(n.R), int(n.G), int(n.B)
	c.doc.SetFillColor(r, g, b)
	c.doc.SetDrawColor(r, g, b)
	c.doc.SetTextColor(r, g, b)
	c.doc.SetAlpha(float64(n.A)/255, "Normal")
}

func (c *pdfCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	c.doc.Transform(fpdf.TransformMatrix{A: cos, B: sin, C: -sin, D: cos})
}

func (c *pdfCanvas) Translate(by vg.Point) {
	c.doc.Transform(fpdf.TransformMatrix{A: 1, D: 1, E: by.X.Points(), F: by.Y.Points()})
}

func (c *pdfCanvas) Scale(x, y float64) {
	c.doc.Transform(fpdf.TransformMatrix{A: x, D: y})
}

func (c *pdfCanvas) Stroke(path vg.Path) { c.draw(path, "D") }
func (c *pdfCanvas) Fill(path vg.Path)   { c.draw(path, "F") }

// at is a point as the library wants it, which counts from the top.
func (c *pdfCanvas) at(p vg.Point) (x, y float64) {
	return p.X.Points(), (c.height - p.Y).Points()
}

// draw draws a path of lines, or a circle.
func (c *pdfCanvas) draw(path vg.Path, how string) {
	for _, part := range path {
		x, y := c.at(part.Pos)
		switch part.Type {
		case vg.MoveComp:
			c.doc.MoveTo(x, y)
		case vg.LineComp:
			c.doc.LineTo(x, y)
		case vg.CloseComp:
			c.doc.ClosePath()
		case vg.ArcComp:
			if math.Abs(part.Angle) < 2*math.Pi {
				panic("figure: an arc that is no circle")
			}
			c.doc.Circle(x, y, part.Radius.Points(), how)
			return
		default:
			panic(fmt.Sprintf("figure: a path with a part of kind %d", part.Type))
		}
	}
	c.doc.DrawPath(how)
}

func (c *pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	bold, style := face.Font.Weight != 0, ""
	if bold {
		style = "B"
	}
	if !c.fonts[bold] {
		c.fonts[bold] = true
		var b bytes.Buffer
		if _, err := face.Face.WriteSourceTo(nil, &b); err != nil {
			c.doc.SetError(err)
			return
		}
		c.doc.AddUTF8FontFromBytes("sans", style, b.Bytes())
	}
	c.doc.SetFont("sans", style, face.Font.Size.Points())
	x, y := c.at(at)
	c.doc.Text(x, y, basic(text))
}

// basic replaces characters that the library does not know how to write: those beyond the
// Basic Multilingual Plane, for which the font has no letters anyway.
func basic(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xffff || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text)
}

func (c *pdfCanvas) DrawImage(vg.Rectangle, image.Image) { panic("figure: a picture in a picture") }
