package figure

import (
	"image"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// raster draws a picture of dots out of filled areas alone, whose corners it has rounded: the
// plotting library fills areas in whole numbers, but it draws letters, lines and dashes in
// floating-point ones, of which processors differ in the last bit, and then in a shade.
type raster struct {
	vg.CanvasSizer
	pen
	saved []pen
}

// pen is the state that Push saves.
type pen struct {
	width    vg.Length
	dashes   []vg.Length
	cos, sin float64 // of how far what is drawn is turned; 1 and 0: not at all
}

func newRaster(canvas vg.CanvasSizer) *raster {
	r := &raster{CanvasSizer: canvas, pen: pen{cos: 1}}
	vg.Initialize(r)
	return r
}

func (r *raster) SetLineWidth(w vg.Length)                      { r.width = w }
func (r *raster) SetLineDash(d []vg.Length, _ vg.Length)        { r.dashes = d }
func (r *raster) DrawImage(vg.Rectangle, image.Image)           { panic("figure: a picture in a picture") }
func (r *raster) Translate(vg.Point)                            { panic("figure: nothing is moved") }
func (r *raster) Scale(float64, float64)                        { panic("figure: nothing is scaled") }
func (r *raster) Fill(path vg.Path)                             { r.fill(flattened(path)) }
func (r *raster) Stroke(path vg.Path)                           { r.fill(r.outlines(flattened(path))) }
func (r *raster) FillString(f font.Face, at vg.Point, s string) { r.fillPath(letters(f, at, s)) }

func (r *raster) Push() {
	r.saved = append(r.saved, r.pen)
	r.CanvasSizer.Push()
}

func (r *raster) Pop() {
	r.pen = r.saved[len(r.saved)-1]
	r.saved = r.saved[:len(r.saved)-1]
	r.CanvasSizer.Pop()
}

func (r *raster) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	r.cos, r.sin = float64(r.cos*cos)-float64(r.sin*sin), float64(r.sin*cos)+float64(r.cos*sin)
}

// fill fills the area within some polygons.
func (r *raster) fill(polygons [][]vg.Point) {
	var path vg.Path
	for _, p := range polygons {
		for i, at := range p {
			if i == 0 {
				path.Move(at)
			} else {
				path.Line(at)
			}
		}
		path.Close()
	}
	r.fillPath(path)
}

// finer is a fraction of a point that is at most that of a dot which the library fills by.
const finer = 128

// fillPath turns and rounds a path.
func (r *raster) fillPath(path vg.Path) {
	turned := func(p vg.Point) vg.Point {
		x, y := float64(p.X), float64(p.Y)
		return vg.Point{X: roundedTo(vg.Length(float64(x*r.cos)-float64(y*r.sin)), finer), Y: roundedTo(vg.Length(float64(x*r.sin)+float64(y*r.cos)), finer)}
	}
	for i := range path {
		path[i].Pos = turned(path[i].Pos)
		for k := range path[i].Control {
			path[i].Control[k] = turned(path[i].Control[k])
		}
	}
	if len(path) > 0 {
		r.CanvasSizer.Fill(path)
	}
}

// flattened is a path as polygons; one that is closed ends where it begins.
func flattened(path vg.Path) (polygons [][]vg.Point) {
	for _, part := range path {
		last := len(polygons) - 1
		switch part.Type {
		case vg.MoveComp:
			polygons = append(polygons, []vg.Point{part.Pos})
		case vg.LineComp:
			polygons[last] = append(polygons[last], part.Pos)
		case vg.CloseComp:
			polygons[last] = append(polygons[last], polygons[last][0])
		case vg.ArcComp: // a circle, see ring
			polygons[last] = append(polygons[last], circle(part.Pos, part.Radius, 48)...)
		default:
			panic("figure: a path with a curve")
		}
	}
	return polygons
}

// circle is a polygon of n corners, clockwise, which begins on the right.
func circle(at vg.Point, radius vg.Length, n int) []vg.Point {
	corners := make([]vg.Point, n)
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		corners[i] = vg.Point{X: at.X + vg.Length(float64(radius)*cos), Y: at.Y - vg.Length(float64(radius)*sin)}
	}
	return corners
}

// outlines are the areas that lines of the pen's width and dashes cover: an oblong for each
// piece and, where pieces meet, a circle, all clockwise, so that what overlaps is filled.
func (r *raster) outlines(lines [][]vg.Point) (areas [][]vg.Point) {
	if r.width <= 0 {
		return nil
	}
	half := r.width / 2
	for _, line := range lines {
		for _, dash := range dashed(line, r.dashes) {
			for i := 1; i < len(dash); i++ {
				areas = append(areas, oblong(dash[i-1], dash[i], half))
				if i > 1 && r.width > 0.6 {
					areas = append(areas, circle(dash[i-1], half, 12))
				}
			}
		}
	}
	return areas
}

// oblong is the area within half a width of a line.
func oblong(a, b vg.Point, half vg.Length) []vg.Point {
	d := b.Sub(a)
	length := distance(a, b)
	side := vg.Point{X: -d.Y / length * half, Y: d.X / length * half}
	return []vg.Point{a.Add(side), b.Add(side), b.Sub(side), a.Sub(side)}
}

func distance(a, b vg.Point) vg.Length {
	x, y := float64(b.X-a.X), float64(b.Y-a.Y)
	return vg.Length(math.Sqrt(float64(x*x) + float64(y*y)))
}

// tooShort is the length of a piece that is left out.
const tooShort = vg.Length(1e-6)

// dashed cuts a line into the dashes of a pattern of dashes and gaps.
func dashed(line []vg.Point, pattern []vg.Length) (dashes [][]vg.Point) {
	if len(line) == 0 {
		return nil
	}
	if len(pattern) == 0 {
		pattern = []vg.Length{vg.Length(math.Inf(1))}
	}
	nth, left := 0, pattern[0]
	dash := []vg.Point{line[0]}
	for i := 1; i < len(line); i++ {
		from, to := line[i-1], line[i]
		for whole := distance(from, to); whole > tooShort; whole = distance(from, to) {
			step := min(left, whole)
			from = vg.Point{X: from.X + vg.Length((to.X-from.X)*step/whole), Y: from.Y + vg.Length((to.Y-from.Y)*step/whole)}
			if step == whole {
				from = to
			}
			dash = append(dash, from)
			if left -= step; left <= tooShort {
				if nth%2 == 0 {
					dashes = append(dashes, dash)
				}
				nth++
				left, dash = pattern[nth%len(pattern)], []vg.Point{from}
			}
		}
	}
	if nth%2 == 0 && len(dash) > 1 {
		dashes = append(dashes, dash)
	}
	return dashes
}

// letters are the outlines of a text that begins at a point.
func letters(f font.Face, at vg.Point, text string) (path vg.Path) {
	units := fixed.Int26_6(f.Face.UnitsPerEm()) // at this size a 64th of a dot is a unit of the font
	scale := float64(f.Font.Size) / float64(units)
	place := func(x int, p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + vg.Length(float64(x+int(p.X))*scale), Y: at.Y - vg.Length(float64(p.Y)*scale)}
	}
	var buffer sfnt.Buffer
	x, last := 0, sfnt.GlyphIndex(0)
	for i, r := range text {
		glyph, err := f.Face.GlyphIndex(&buffer, r)
		if err != nil {
			continue
		}
		if kern, err := f.Face.Kern(&buffer, last, glyph, units, 0); err == nil && i > 0 {
			x += int(kern)
		}
		segments, err := f.Face.LoadGlyph(&buffer, glyph, units, nil)
		if err != nil {
			continue
		}
		letter(&path, segments, func(p fixed.Point26_6) vg.Point { return place(x, p) })
		if advance, err := f.Face.GlyphAdvance(&buffer, glyph, units, 0); err == nil {
			x += int(advance)
		}
		last = glyph
	}
	return path
}

// letter appends the outline of one letter to a path.
func letter(path *vg.Path, segments sfnt.Segments, at func(fixed.Point26_6) vg.Point) {
	for _, s := range segments {
		switch a, b, c := at(s.Args[0]), at(s.Args[1]), at(s.Args[2]); s.Op {
		case sfnt.SegmentOpMoveTo:
			path.Move(a)
		case sfnt.SegmentOpLineTo:
			path.Line(a)
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(a, b)
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(a, b, c)
		}
	}
}
