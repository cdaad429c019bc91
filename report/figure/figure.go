// Package figure draws results as pictures: panels of lines, stacked areas, bars and heat
// maps, with what is seen as the title, a legend that covers no data and a caption below.
// It writes SVG, PNG and PDF, and is the only package that knows the plotting library.
//
// A picture is a function of the chart alone: no clock, no font of the machine and no
// random number gets into it, and every coordinate is rounded to a fraction of a point
// before it is drawn, so that equal charts give equal bytes on every architecture.
package figure

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Chart is a picture of one or more panels under one title and with one legend.
type Chart struct {
	Title   string // what is seen; wrapped
	Caption string // small, below: how it was measured and what is left out; wrapped
	Panels  []Panel
	Columns int // of panels, filled row by row; 0 is one

	Width, Height float64 // inches; 0: 8, and as high as its rows of panels want
}

// Panel is one pair of axes and what is drawn over it. Everything with a name gets an
// entry in the legend of the chart; the same name in several panels gets one, and should
// have the same colour in all of them.
type Panel struct {
	Title  string
	X, Y   Axis
	Guides []Guide
	Stack  *Stack
	Bars   *Bars
	Heat   *Heat
	Lines  []Line

	// Ordered says that the lines are steps of one quantity, such as sizes: their colours
	// run from light to dark instead of being as different as can be.
	Ordered bool

	Empty string // drawn instead of data where there are none: why
}

// Axis is one direction of a panel. If Min and Max are equal the numbers decide, and an
// axis that is not far from 0 then begins there. The label names the unit.
type Axis struct {
	Label    string
	Min, Max float64
	Scale    Scale
	Whole    bool                   // the numbers are counts: no ticks between them
	Format   func(v float64) string // of the numbers at the ticks; nil: as few digits as tell them apart
	Names    []string               // at 0, 1, 2 and so on, instead of numbers
	Ticks    []float64              // where ticks are, if there is room; nil: at round numbers
}

// Scale says how numbers lie along an axis.
type Scale uint8

// The scales. On a logarithmic one 0 has a place of its own, left of a break, if any
// number is 0; negative numbers are not drawn.
const (
	Linear  Scale = iota
	Seconds       // ticks at round times
	Log
	LogSeconds // logarithmic, with ticks at round times
)

func (s Scale) log() bool  { return s == Log || s == LogSeconds }
func (s Scale) time() bool { return s == Seconds || s == LogSeconds }

// Line is a series of numbers. Points are joined in their order; Marks are drawn as rings
// in the same colour, for another source of the same numbers or where each point counts.
type Line struct {
	Name          string
	Points, Marks []Point
	Texts         []string // beside the marks, where there is room; nil: none
	Band          []Range  // around the points, as long as them; nil: none
	Steps         bool     // a point holds until the next one
	Style         int      // colour and dashes, from 1; 0: by the position in the panel
}

// Point is a pair of numbers. A point that is not a number is left out, and a line has a
// gap there.
type Point struct{ X, Y float64 }

// Range is an interval of Y, whose ends may be infinite.
type Range struct{ Low, High float64 }

// Guide is a thin line across the panel at a value of Y, with a text above its left end.
type Guide struct {
	Y    float64
	Text string
}

// Color is opaque.
type Color struct{ R, G, B uint8 }

// Stack is amounts on top of each other over intervals of X, the first layer lowest.
type Stack struct {
	Edges  []float64 // of the intervals, ascending; one more than there are intervals
	Layers []Layer
}

// Layer is one amount of a stack or of bars. Negative amounts are drawn as 0.
type Layer struct {
	Name   string
	Color  Color
	Values []float64 // per interval or category
	Texts  []string  // in or beside bars, where there is room; nil: none
}

// Bars are amounts per category: lying bars with the first category on top, each category a
// stack or a group of bars below each other.
type Bars struct {
	Categories []string
	Layers     []Layer
	Grouped    bool
}

// Heat is a number per pair of categories, drawn as a colour that gets darker with it. A
// number that there is not (NaN) leaves its cell white and crossed.
type Heat struct {
	Columns, Rows []string // the first row is on top
	Values        [][]float64
	Texts         [][]string // in the cells; nil: none
	Label         string     // of the scale of colours, with the unit
	Scale         Scale      // of the colours
	Format        func(v float64) string
}

// Formats are the names that Write knows, which are the endings of their files.
func Formats() []string { return []string{"svg", "png", "pdf"} }

// Write draws the chart.
func (c *Chart) Write(w io.Writer, format string) error {
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("unknown format %q of figures, expected one of %s", format, strings.Join(Formats(), ", "))
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("figure %q: %w", c.Title, err)
	}
	width, height := c.size()
	switch format {
	case "png":
		return writePNG(w, c, width, height)
	case "pdf":
		return writePDF(w, c, width, height)
	}
	return writeSVG(w, c, width, height)
}

// The size of a picture, and how much its second and further rows of panels add.
const (
	usualWidth, usualHeight, moreHeight = 8, 4.5, 1.8
	leastWidth, leastHeight, mostSize   = 2, 1.5, 100
)

// size returns the size in points.
func (c *Chart) size() (width, height vg.Length) {
	w, h := c.Width, c.Height
	if w == 0 {
		w = usualWidth
	}
	if h == 0 {
		h = usualHeight + float64(moreHeight*float64(c.rows()-1))
	}
	return vg.Length(w) * vg.Inch, vg.Length(h) * vg.Inch
}

func (c *Chart) columns() int { return max(1, min(c.Columns, len(c.Panels))) }

func (c *Chart) rows() int { return max(1, (len(c.Panels)+c.columns()-1)/c.columns()) }

// check finds what cannot be drawn.
func (c *Chart) check() error {
	for _, size := range []struct{ is, least float64 }{{c.Width, leastWidth}, {c.Height, leastHeight}} {
		if size.is != 0 && !(size.is >= size.least && size.is <= mostSize) {
			return fmt.Errorf("a size of %g x %g inches: expected %g x %g to %d x %d", c.Width, c.Height, float64(leastWidth), leastHeight, mostSize, mostSize)
		}
	}
	for i := range c.Panels {
		if err := c.Panels[i].check(); err != nil {
			return fmt.Errorf("panel %d %q: %w", i+1, c.Panels[i].Title, err)
		}
	}
	return nil
}

func (p *Panel) check() error {
	for _, l := range p.Lines {
		for _, r := range l.Band {
			if math.IsNaN(r.Low) || math.IsNaN(r.High) {
				return fmt.Errorf("line %q: a range without an end", l.Name)
			}
		}
		if l.Band != nil && len(l.Band) != len(l.Points) || l.Texts != nil && len(l.Texts) != len(l.Marks) {
			return fmt.Errorf("line %q: %d ranges for %d points, %d texts for %d marks", l.Name, len(l.Band), len(l.Points), len(l.Texts), len(l.Marks))
		}
	}
	if s := p.Stack; s != nil {
		return checkLayers(s.Layers, len(s.Edges)-1)
	}
	if b := p.Bars; b != nil {
		return checkLayers(b.Layers, len(b.Categories))
	}
	if h := p.Heat; h != nil {
		return h.check()
	}
	return nil
}

func checkLayers(layers []Layer, n int) error {
	for _, l := range layers {
		if len(l.Values) != n || l.Texts != nil && len(l.Texts) != n {
			return fmt.Errorf("layer %q: %d values and %d texts, expected %d", l.Name, len(l.Values), len(l.Texts), n)
		}
	}
	return nil
}

func (h *Heat) check() error {
	fits := len(h.Values) == len(h.Rows) && (h.Texts == nil || len(h.Texts) == len(h.Rows))
	for i := range h.Values {
		fits = fits && len(h.Values[i]) == len(h.Columns) && (h.Texts == nil || len(h.Texts[i]) == len(h.Columns))
	}
	if !fits {
		return fmt.Errorf("heat map: values or texts are not %d rows of %d", len(h.Rows), len(h.Columns))
	}
	return nil
}

// number reports whether v can be drawn.
func number(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
