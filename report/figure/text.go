package figure

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// face is the font of all text. The library brings it along, so that PNGs and PDFs have
// it everywhere; an SVG names it.
func face(size vg.Length, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = 3 // font.WeightBold of golang.org/x/image
	}
	return f
}

// textStyle is text from its lower left corner on.
func textStyle(size vg.Length, bold bool, c color.Color) text.Style {
	return text.Style{Color: c, Font: face(size, bold), Handler: plot.DefaultTextHandler}
}

// write writes a line of text at a point. Alignment is that of what is seen of capital
// letters and digits: the library's leaves room for what hangs below.
func write(c draw.Canvas, style text.Style, at vg.Point, line string) {
	if style.YAlign == draw.YCenter {
		at.Y += style.FontExtents().Descent
	}
	c.FillText(style, at, line)
}

// wrapped breaks a text into lines that are no wider than so much; a word that is wider
// is broken too.
func wrapped(words string, style text.Style, width vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(words) {
		if line != "" && style.Width(line+" "+word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for style.Width(word) > width && len(word) > 1 {
			n := fitting(word, style, width)
			lines = append(lines, word[:n])
			word = word[n:]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// cut shortens a text to so much room.
func cut(s string, style text.Style, room vg.Length) string {
	if style.Width(s) <= room {
		return s
	}
	return s[:fitting(s, style, room-style.Width("…"))] + "…"
}

// fitting is how many bytes of a text have room, at least one character. It prefers to
// end behind a sign that names are put together with.
func fitting(s string, style text.Style, width vg.Length) int {
	first, last, sign := 0, 0, 0
	for i := range s {
		if i == 0 {
			continue
		}
		if first == 0 {
			first = i
		}
		if style.Width(s[:i]) > width {
			break
		}
		last = i
		if strings.ContainsRune("-/,=_", rune(s[i-1])) {
			sign = i
		}
	}
	switch {
	case sign > last/2:
		return sign
	case last > 0:
		return last
	case first > 0:
		return first
	}
	return len(s)
}

// block is wrapped text of one line per element, and its height.
type block struct {
	lines []string
	style text.Style
	step  vg.Length
}

func newBlock(words string, style text.Style, width vg.Length) block {
	return block{wrapped(words, style, width), style, style.Font.Size * 1.25}
}

func (b *block) height() vg.Length { return vg.Length(len(b.lines)) * b.step }

// limit leaves out lines that are below so much height, and says so.
func (b *block) limit(height vg.Length) {
	if most := max(1, int(height/b.step)); len(b.lines) > most {
		b.lines = b.lines[:most]
		b.lines[most-1] += " …"
	}
}
