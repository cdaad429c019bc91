package scenario

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Steps lists the values of the field at a path from one to another, both written as in a
// scenario, every step: down if from is the greater. An empty step is 1 for whole numbers.
// A path of no field stands for a number. There are at most `most` values.
func Steps(path, from, to, step string, most int) ([]string, error) {
	of := typeAt(path)
	if of == nil {
		of = reflect.TypeFor[float64]()
	}
	if !isNumber(of) {
		return nil, fmt.Errorf("%s is no number: expected values with commas between them", path)
	}
	s := newScale(of, []string{from, to, step})
	if step == "" && (s.decimals > 0 || unitOf(of) != "") {
		return nil, fmt.Errorf("expected a step, as in %s..%s:STEP", from, to)
	}
	var amounts [3]int64
	for i, text := range []string{from, to, cmp.Or(step, "1")} {
		var err error
		if amounts[i], err = s.parse(text); err != nil {
			return nil, err
		}
	}
	lo, hi, by := min(amounts[0], amounts[1]), max(amounts[0], amounts[1]), amounts[2]
	switch {
	case by <= 0:
		return nil, fmt.Errorf("a step of %s: expected more than 0", step)
	case lo < 0 && hi > math.MaxInt64+lo || (hi-lo)/by >= int64(most):
		return nil, fmt.Errorf("more than %d values: expected a larger step", most)
	}
	var values []string
	for k := range (hi-lo)/by + 1 {
		x := lo + k*by
		if amounts[0] > amounts[1] {
			x = hi - k*by
		}
		values = append(values, s.write(x))
	}
	return slices.Clip(values), nil
}

// NumberOf returns what number a value of the field at a path is, in seconds or bytes where
// it has such a unit; false if it is none.
func NumberOf(path, value string) (float64, bool) { return numberOf(typeAt(path), value) }
