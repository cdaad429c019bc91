package scenario

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/workloads"
)

// Duration is a time in ns. It is written as Go writes it (1h30m, 500ms), also with days
// and weeks (7d, 2w), or as a number of seconds (90, 0.5).
type Duration int64

// Milli counts thousandths of a GPU or core. It is written as a Kubernetes quantity: 8,
// 0.5 or 500m.
type Milli int64

// Bytes is an amount of memory. It is written as a Kubernetes quantity: 96Gi or 1T.
type Bytes int64

// NeverReady is how many pods of a set, the last ones, never become ready.
type NeverReady int32

// AllPods is written as true.
const AllPods NeverReady = -1

// Share is a number of pods, or, below zero, a percentage of them. It is written as 2 or 50%.
type Share int32

// textual is what is written as one text or number.
type textual interface {
	what() string // with an article and an example
	fromText(s string) error
}

func (*Duration) what() string   { return "a duration such as 90, 5m, 1h30m or 7d" }
func (*Milli) what() string      { return "a quantity such as 8, 0.5 or 500m" }
func (*Bytes) what() string      { return "an amount of memory such as 96Gi" }
func (*NeverReady) what() string { return "true or a number of pods" }
func (*Share) what() string      { return "a number of pods or a percentage such as 50%" }

func (s *Share) fromText(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	most := int64(workloads.MaxPods)
	if percent {
		most = 100
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > most || !isDecimal(number) {
		return fmt.Errorf("%s: expected %s", quote(text), s.what())
	}
	if *s = Share(n); percent {
		*s = -*s
	}
	return nil
}

// suffix is a unit: num/den of the smallest one.
type suffix struct {
	name     string
	num, den int64
}

var timeUnits = []suffix{
	{"ns", 1, 1}, {"us", 1e3, 1}, {"µs", 1e3, 1}, {"ms", 1e6, 1}, {"s", 1e9, 1}, {"m", 60e9, 1},
	{"h", 3600e9, 1}, {"d", 24 * 3600e9, 1}, {"w", 7 * 24 * 3600e9, 1},
}

var quantityUnits = []suffix{
	{"m", 1, 1000}, {"", 1, 1}, {"k", 1e3, 1}, {"M", 1e6, 1}, {"G", 1e9, 1}, {"T", 1e12, 1}, {"P", 1e15, 1}, {"E", 1e18, 1},
	{"Ki", 1 << 10, 1}, {"Mi", 1 << 20, 1}, {"Gi", 1 << 30, 1}, {"Ti", 1 << 40, 1}, {"Pi", 1 << 50, 1}, {"Ei", 1 << 60, 1},
}

// maxText bounds the length of a number: longer ones say nothing that fits.
const maxText = 64

func (d *Duration) fromText(s string) error {
	var sum int64
	for rest := s; rest != "" || s == ""; {
		number, unit, tail := split(rest)
		if unit == "" && tail == "" && len(rest) == len(s) {
			unit = "s"
		}
		n, err := scaled(number, unit, timeUnits, 1, workloads.MaxTime)
		if err == nil && n > workloads.MaxTime-sum {
			err = errTooLarge
		}
		if err != nil {
			return d.explain(s, unit, err)
		}
		sum, rest = sum+n, tail
	}
	*d = Duration(sum)
	return nil
}

// ParseDuration reads a duration as a scenario has it.
func ParseDuration(s string) (Duration, error) {
	var d Duration
	err := d.fromText(s)
	return d, err
}

func (d *Duration) explain(s, unit string, err error) error {
	switch err {
	case errTooLarge:
		return fmt.Errorf("%s is too long: expected at most 100 years", quote(s))
	case errTooFine:
		return fmt.Errorf("%s is no whole number of nanoseconds", quote(s))
	case errNegative:
		return fmt.Errorf("%s is negative: expected 0 or more", quote(s))
	}
	return fmt.Errorf("%s: expected %s%s", quote(s), d.what(), unitHint(unit, timeUnits))
}

// String writes the duration in its largest units.
func (d Duration) String() string {
	if d < 0 {
		return "-" + Duration(-max(d, -math.MaxInt64)).String()
	}
	var b strings.Builder
	for _, u := range []suffix{timeUnits[7], timeUnits[6], timeUnits[5], timeUnits[4], timeUnits[3], timeUnits[0]} {
		if n := int64(d) / u.num; n > 0 {
			b.WriteString(strconv.FormatInt(n, 10) + u.name)
			d -= Duration(n * u.num)
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}

func (m *Milli) fromText(s string) error {
	n, err := quantity(s, 1000, m.what(), "a thousandth")
	*m = Milli(n)
	return err
}

// fromText refuses bytes without a unit where they are surely meant to be something else.
func (b *Bytes) fromText(s string) error {
	const mebi = 1 << 20
	n, err := quantity(s, 1, b.what(), "a byte")
	if err == nil && n > 0 && n < mebi {
		err = fmt.Errorf("%s is no more than %d B: expected a unit, as in 96Gi", quote(s), n)
	}
	*b = Bytes(n)
	return err
}

func (n *NeverReady) fromText(s string) error {
	switch s {
	case "true":
		*n = AllPods
		return nil
	case "false":
		*n = 0
		return nil
	}
	v, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return fmt.Errorf("%s: expected %s", quote(s), n.what())
	}
	*n = NeverReady(v)
	return nil
}

// quantity reads a Kubernetes quantity in units of 1/base, exactly.
func quantity(s string, base int64, what, step string) (int64, error) {
	number, unit, tail := split(s)
	if tail != "" {
		number, unit = "", ""
	}
	n, err := scaled(number, unit, quantityUnits, base, workloads.MaxQuantity)
	switch err {
	case nil:
		return n, nil
	case errTooLarge:
		return 0, fmt.Errorf("%s is too large", quote(s))
	case errTooFine:
		return 0, fmt.Errorf("%s is finer than %s", quote(s), step)
	case errNegative:
		return 0, fmt.Errorf("%s is negative: expected 0 or more", quote(s))
	}
	return 0, fmt.Errorf("%s: expected %s%s", quote(s), what, unitHint(unit, quantityUnits))
}

// split cuts a text into a number, the letters that follow it, and the rest.
func split(s string) (number, unit, rest string) {
	number = s[:len(s)-len(strings.TrimLeft(s, "0123456789.-"))]
	s = s[len(number):]
	end := strings.IndexAny(s, "0123456789.-")
	if end < 0 {
		end = len(s)
	}
	return number, s[:end], s[end:]
}

type unitError string

func (e unitError) Error() string { return string(e) }

const (
	errSyntax   unitError = "not a number with a unit"
	errNegative unitError = "negative"
	errTooFine  unitError = "too fine"
	errTooLarge unitError = "too large"
)

// scaled returns number x unit x base, from 0 to most. Nothing is rounded. The error is
// one of the unitErrors.
func scaled(number, unit string, units []suffix, base, most int64) (int64, error) {
	i := slices.IndexFunc(units, func(u suffix) bool { return u.name == unit })
	digits, negative := strings.CutPrefix(number, "-")
	if i < 0 || !isDecimal(digits) {
		return 0, errSyntax
	}
	if negative {
		return 0, errNegative
	}
	value, ok := new(big.Rat).SetString(digits)
	if !ok {
		return 0, errSyntax
	}
	factor := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(units[i].num), big.NewInt(base)), big.NewInt(units[i].den))
	value.Mul(value, factor)
	switch {
	case value.Cmp(new(big.Rat).SetInt64(most)) > 0:
		return 0, errTooLarge
	case !value.IsInt():
		return 0, errTooFine
	}
	return value.Num().Int64(), nil
}

// isDecimal reports whether s is digits, or digits, a point and digits, and not too long.
func isDecimal(s string) bool {
	whole, fraction, point := strings.Cut(s, ".")
	isDigits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return len(s) <= maxText && isDigits(whole) && (!point || isDigits(fraction))
}

// unitHint suggests a unit for one that is not known. Any letter is one typo away from any
// other: of single letters only the case can be wrong.
func unitHint(unit string, units []suffix) string {
	var names []string
	for _, u := range units {
		if u.name == unit || unit == "" {
			return ""
		}
		if len([]rune(unit)) > 1 || strings.EqualFold(u.name, unit) {
			names = append(names, u.name)
		}
	}
	return suggest.Hint(unit, names)
}
