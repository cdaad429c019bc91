package figure

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// extent is the range of some numbers: all, and those above 0, which is what a
// logarithmic axis can show.
type extent struct{ min, max, positive float64 }

func nothingYet() extent { return extent{math.Inf(1), math.Inf(-1), math.Inf(1)} }

func (e *extent) add(v float64) {
	if !number(v) {
		return
	}
	e.min, e.max = min(e.min, v), max(e.max, v)
	if v > 0 {
		e.positive = min(e.positive, v)
	}
}

func (e extent) empty() bool { return e.min > e.max }

// bound sets the range and the scale of an axis.
func bound(a *plot.Axis, want Axis, e extent) {
	switch {
	case want.Scale.log():
		boundLog(a, want, e)
	case want.Min != want.Max:
		a.Min, a.Max = want.Min, want.Max
	case e.empty():
		a.Min, a.Max = 0, 1
	default:
		a.Min, a.Max = roomy(e)
	}
}

// roomy leaves some room above numbers, so that no line lies on the edge.
func roomy(e extent) (from, to float64) {
	from, to = e.min, e.max
	if from > 0 && (from < to/2 || from == to) {
		from = 0
	}
	if from == to {
		return from, to + 1
	}
	return from, to + float64((to-from)*0.04)
}

// boundLog begins at a round number below the least above 0. With a 0 among the numbers
// the axis begins there.
func boundLog(a *plot.Axis, want Axis, e extent) {
	if want.Min != want.Max {
		e.add(want.Min)
		e.add(want.Max)
	}
	if math.IsInf(e.positive, 0) { // nothing, or only zeros
		e.positive, e.max = 1, 10
	}
	if want.Min != want.Max {
		e.max /= logRoom
	} else {
		e.positive /= logRoom // no line lies on the edge
	}
	s := logScale{floor: below(e.positive, want.Scale.time())}
	if e.min <= 0 {
		s.slot = zeroSlot
	} else {
		a.Min = s.floor
	}
	if e.min <= 0 {
		a.Min = 0
	}
	a.Max, a.Scale = max(e.max*logRoom, s.floor*2), s
}

// logRoom is the factor between numbers and the ends of a logarithmic axis.
const logRoom = 1.15

// zeroSlot is the part of a logarithmic axis that 0 gets.
const zeroSlot = 0.07

// logScale is logarithmic from floor on; below, down to 0, it is linear in its slot.
type logScale struct{ floor, slot float64 }

// Normalize returns where x lies between the ends of the axis, as 0 to 1.
func (s logScale) Normalize(_, to, x float64) float64 {
	if x < s.floor {
		if s.slot == 0 {
			return 0
		}
		return s.slot * max(0, x) / s.floor
	}
	return s.slot + float64((1-s.slot)*(math.Log(x/s.floor)/math.Log(to/s.floor)))
}

// Times that are round, in seconds.
const (
	minute, hour, day = 60, 3600, 86400
)

// timeSteps are between ticks of a linear axis of time, and where a logarithmic one has
// them at the closest.
var timeSteps = []float64{1e-6, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
	minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour,
	day, 2 * day, 4 * day, 7 * day, 14 * day, 30 * day, 60 * day, 90 * day, 180 * day, 365 * day, 730 * day, 1825 * day, 3650 * day}

// timeDecades are ticks of a logarithmic axis of time, closer and closer.
var timeDecades = [][]float64{
	{1e-3, 1, minute, hour, day, 30 * day, 365 * day},
	{1e-6, 1e-3, 0.01, 0.1, 1, 10, minute, 10 * minute, hour, 6 * hour, day, 7 * day, 30 * day, 365 * day, 3650 * day},
	timeSteps,
}

// below is the largest round number that is not above v.
func below(v float64, time bool) float64 {
	if time && v >= timeSteps[0] {
		i, exact := slices.BinarySearch(timeSteps, v)
		if exact {
			return v
		}
		return timeSteps[i-1]
	}
	round := math.Pow10(decade(v))
	for _, part := range []float64{5, 2} {
		if part*round <= v {
			return part * round
		}
	}
	return round
}

// decade is the exponent of the power of ten at or below v > 0. It is read from the
// digits: logarithms of round numbers fall on one side or the other, by processor.
func decade(v float64) int {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	for i := range text {
		if text[i] == 'e' {
			n, _ := strconv.Atoi(text[i+1:])
			return n
		}
	}
	return 0
}

// scaleBreak is where an axis with a place for 0 is interrupted, and whether it is.
func scaleBreak(a *plot.Axis) (at float64, ok bool) {
	s, ok := a.Scale.(logScale)
	return s.slot / 2, ok && s.slot > 0
}

// ticker picks ticks that have room along an axis.
type ticker struct {
	axis   Axis
	scale  plot.Normalizer
	length vg.Length                    // of the axis, roughly
	room   func(label string) vg.Length // that a label takes along it
}

// Ticks returns the ticks, those without room for their label left out.
func (t *ticker) Ticks(from, to float64) []plot.Tick {
	if t.axis.Ticks != nil {
		return t.given(from, to)
	}
	if t.axis.Scale.log() {
		return t.logTicks(from, to)
	}
	var last []plot.Tick
	for i := 0; ; i++ {
		step, ok := t.step(from, to, i)
		if !ok {
			return last
		}
		last = t.every(from, to, step)
		if len(last) <= mostTicks && t.fits(last, from, to) {
			return last
		}
	}
}

// given are the ticks that the axis asks for, as many as have room.
func (t *ticker) given(from, to float64) []plot.Tick {
	ticks := make([]plot.Tick, 0, len(t.axis.Ticks))
	for _, at := range t.axis.Ticks {
		if at >= from && at <= to {
			ticks = append(ticks, plot.Tick{Value: at, Label: t.label(at, at)})
		}
	}
	return t.thinned(ticks, from, to)
}

// step is the i-th step to try, from close to wide, until there is one tick or none.
func (t *ticker) step(from, to float64, i int) (float64, bool) {
	if t.axis.Scale.time() {
		for _, s := range timeSteps {
			if (to-from)/s <= 100 {
				if i == 0 {
					return s, true
				}
				i--
			}
		}
		return 0, false
	}
	first := decade(to-from) - 1
	if t.axis.Whole {
		first = max(0, first)
	}
	step := math.Pow10(first) * []float64{1, 2, 5}[i%3] * math.Pow10(i/3)
	return step, i == 0 || (to-from)/step >= 0.5
}

func (t *ticker) every(from, to, step float64) (out []plot.Tick) {
	for k := math.Ceil(from/step - 1e-9); k-1e-9 <= to/step; k++ {
		at := k * step
		if k == 0 {
			at = 0 // not -0, which is shown
		}
		out = append(out, plot.Tick{Value: at, Label: t.label(at, step)})
	}
	return out
}

// label is the number at a tick, with the digits that tell it from its neighbours.
func (t *ticker) label(at, step float64) string {
	if t.axis.Format != nil {
		return t.axis.Format(at)
	}
	if t.axis.Scale.log() && at > 0 {
		text := strconv.FormatFloat(at, 'f', max(0, 1-decade(at)), 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return grouped(text)
	}
	return grouped(strconv.FormatFloat(at, 'f', max(0, -decade(step*1.0000001)), 64))
}

// grouped puts separators between thousands.
func grouped(digits string) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > len(whole)-len(strings.TrimPrefix(whole, "-")); i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// fits reports whether no two labels touch.
func (t *ticker) fits(ticks []plot.Tick, from, to float64) bool {
	for i := 1; i < len(ticks); i++ {
		if !t.apart(ticks[i-1], ticks[i], from, to) {
			return false
		}
	}
	return true
}

func (t *ticker) apart(a, b plot.Tick, from, to float64) bool {
	between := t.scale.Normalize(from, to, b.Value) - t.scale.Normalize(from, to, a.Value)
	return vg.Length(between)*t.length >= (t.room(a.Label)+t.room(b.Label))/2
}

// mostTicks are enough to read numbers by.
const mostTicks = 9

// logTicks are at the closest set of round numbers that has room; 0 is always one of them where it has a place.
func (t *ticker) logTicks(from, to float64) []plot.Tick {
	floor := t.scale.(logScale).floor
	sets := timeDecades
	if !t.axis.Scale.time() {
		sets = decades(floor, to)
	}
	var best []plot.Tick
	for _, set := range sets {
		var ticks []plot.Tick
		if from == 0 {
			ticks = append(ticks, plot.Tick{Value: 0, Label: t.label(0, 1)})
		}
		for _, at := range set {
			if at >= floor && at <= to {
				ticks = append(ticks, plot.Tick{Value: at, Label: t.label(at, at)})
			}
		}
		if best == nil || len(ticks) <= mostTicks && t.fits(ticks, from, to) {
			best = ticks
		}
	}
	return t.thinned(best, from, to)
}

// thinned leaves out ticks that touch the one before.
func (t *ticker) thinned(ticks []plot.Tick, from, to float64) []plot.Tick {
	var out []plot.Tick
	for _, tick := range ticks {
		if len(out) == 0 || t.apart(out[len(out)-1], tick, from, to) {
			out = append(out, tick)
		}
	}
	return out
}

// decades are powers of ten, then more and more of what lies between.
func decades(from, to float64) [][]float64 {
	parts := [][]float64{{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 8}}
	sets := make([][]float64, len(parts))
	for n := decade(from); n <= decade(to); n++ {
		for i := range parts {
			for _, part := range parts[i] {
				sets[i] = append(sets[i], part*math.Pow10(n))
			}
		}
	}
	return sets
}

// places are the ticks of categories, which are numbered from 0.
func places(names []string) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, len(names))
	for i, name := range names {
		ticks[i] = plot.Tick{Value: float64(i), Label: name}
	}
	return ticks
}
