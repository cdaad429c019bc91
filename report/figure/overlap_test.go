package figure

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// recorder notes where texts are written.
type recorder struct {
	width, height vg.Length
	turned        []bool
	texts         []written
}

type written struct {
	text string
	box  vg.Rectangle
}

func (r *recorder) Size() (w, h vg.Length)              { return r.width, r.height }
func (r *recorder) SetLineWidth(vg.Length)              {}
func (r *recorder) SetLineDash([]vg.Length, vg.Length)  {}
func (r *recorder) SetColor(color.Color)                {}
func (r *recorder) Translate(vg.Point)                  {}
func (r *recorder) Scale(float64, float64)              {}
func (r *recorder) Stroke(vg.Path)                      {}
func (r *recorder) Fill(vg.Path)                        {}
func (r *recorder) DrawImage(vg.Rectangle, image.Image) {}
func (r *recorder) Push()                               { r.turned = append(r.turned, r.turned[len(r.turned)-1]) }
func (r *recorder) Pop()                                { r.turned = r.turned[:len(r.turned)-1] }
func (r *recorder) Rotate(rad float64)                  { r.turned[len(r.turned)-1] = math.Abs(rad) > 1 }

// FillString notes the box from the foot of the letters to the top of capitals.
func (r *recorder) FillString(f font.Face, at vg.Point, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	w, h := f.Width(text), f.Font.Size*0.72
	box := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + w, Y: at.Y + h}}
	if r.turned[len(r.turned)-1] { // by a right angle, to the left: x is up, y is to the left
		box = vg.Rectangle{Min: vg.Point{X: -at.Y - h, Y: at.X}, Max: vg.Point{X: -at.Y, Y: at.X + w}}
	}
	r.texts = append(r.texts, written{text, box})
}

// record draws a chart of a size in inches, on the scale that it would have.
func record(c *Chart) *recorder {
	width, height := c.size()
	scale := dotsOf(width) / dpi
	r := &recorder{width: width / scale, height: height / scale, turned: []bool{false}}
	c.draw(draw.New(r))
	return r
}

// clashes are texts that overlap or leave the page.
func (r *recorder) clashes() (found []string) {
	for i, a := range r.texts {
		if a.box.Min.X < 0 || a.box.Min.Y < 0 || a.box.Max.X > r.width || a.box.Max.Y > r.height {
			found = append(found, fmt.Sprintf("%q leaves the page: %v", a.text, a.box))
		}
		for _, b := range r.texts[:i] {
			if a.box.Min.X < b.box.Max.X && b.box.Min.X < a.box.Max.X && a.box.Min.Y < b.box.Max.Y && b.box.Min.Y < a.box.Max.Y {
				found = append(found, fmt.Sprintf("%q and %q overlap: %v %v", a.text, b.text, a.box, b.box))
			}
		}
	}
	return found
}

// shapes are charts as there are kinds of plots, of n runs with names that are made longer.
func shapes(n int, longer string) map[string]*Chart {
	var lines, marked []Line
	bars := &Bars{Categories: []string{"1", "2", "3 to 4", "5 to 8", "9 to 16"}, Grouped: true}
	lying := &Bars{}
	useful, held := Layer{Name: "useful"}, Layer{Name: "held, gang incomplete", Color: Style(4)}
	var panels []Panel
	for i := range n {
		name := fmt.Sprint("policy-", i, longer)
		l := Line{Name: name, Steps: true}
		m := Line{Name: name}
		for k := range 12 {
			l.Points = append(l.Points, Point{math.Pow(4, float64(k)) - 1, float64(k*9 - i)})
			m.Points = append(m.Points, Point{float64(k * 32), 5000 / float64(k+i+1)})
			m.Texts = append(m.Texts, fmt.Sprint(k*32, " GPUs"))
		}
		m.Marks = m.Points
		lines, marked = append(lines, l), append(marked, m)
		bars.Layers = append(bars.Layers, Layer{Name: name, Color: Style(i), Values: []float64{20, 3, 200, 1, 0}, Texts: []string{"20", "3", "200", "1", ""}})
		lying.Categories = append(lying.Categories, name)
		useful.Values, useful.Texts = append(useful.Values, 63_804), append(useful.Texts, "52%")
		held.Values, held.Texts = append(held.Values, float64(3000*i)), append(held.Texts, "2.4%")
		panels = append(panels, Panel{Title: name, X: Axis{Label: "time from the start", Scale: Seconds}, Y: Axis{Label: "GPUs"},
			Stack: &Stack{Edges: []float64{0, 43200, 500000}, Layers: []Layer{{Name: "useful", Values: []float64{1000, 800}}, {Name: "free, nobody waits", Values: []float64{24, 224}}}}})
	}
	lying.Layers = []Layer{useful, held}
	title := "95% of jobs start within 3m37s under policy-0" + longer + ", 7h59m under policy-1" + longer
	caption := "Over all 3,000 jobs, from submit until all pods of the job run. Never started, so that the line ends below 100%: 21 under policy-0" + longer + "."
	columns := 1
	if n > 3 {
		columns = 2
	}
	return map[string]*Chart{
		"cdf":    {Title: title, Caption: caption, Panels: []Panel{{X: Axis{Label: "wait from submit to start (log scale)", Scale: LogSeconds}, Y: Axis{Label: "jobs started (%)", Max: 100}, Guides: []Guide{{95, "95%"}}, Lines: lines}}},
		"curve":  {Title: title, Caption: caption, Panels: []Panel{{X: Axis{Label: "GPUs", Ticks: []float64{0, 32, 33, 64, 128, 352}}, Y: Axis{Label: "wait, p95, log scale", Scale: Log}, Lines: marked}}},
		"ledger": {Title: title, Caption: caption, Panels: []Panel{{X: Axis{Label: "GPU-hours"}, Bars: lying}}},
		"bars":   {Title: title, Caption: caption, Columns: 2, Panels: []Panel{{Title: "how often", X: Axis{Label: "jobs"}, Y: Axis{Label: "requeues of a job"}, Bars: bars}, {Title: "why", X: Axis{Label: "evictions"}, Bars: bars}}},
		"stacks": {Title: title, Caption: caption, Columns: columns, Panels: panels},
	}
}

// Whatever runs there are, what they are called and how large the picture is: no text lies
// on another, and none leaves the page.
func TestNoTextsOverlap(t *testing.T) {
	for _, n := range []int{1, 3, 6, 12} {
		for _, longer := range []string{"", "-packed-onto-few-hosts,timeout=5m,kueue 0.17"} {
			for _, size := range [][2]float64{{0, 0}, {4, 3}, {5, 5}, {12, 5}, {16, 9}} {
				for name, c := range shapes(n, longer) {
					c.Width, c.Height = size[0], size[1]
					for _, clash := range record(c).clashes() {
						t.Errorf("%s of %d%s, %v inches: %s", name, n, longer, size, clash)
					}
				}
			}
		}
	}
}
