package traces

import (
	"cmp"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// unit says how a decimal number in a trace is stored as an integer, exactly.
type unit struct {
	name string // in the plural
	size int64  // one unit in stored units
	step string // the stored unit, in words
	max  int64  // the largest number, in stored units
}

// The units of traces.
var (
	seconds = unit{"seconds", 1e9, "a nanosecond", workloads.MaxTime}
	devices = unit{"GPUs", topology.Milli, "a thousandth of a GPU", workloads.MaxGPUs * topology.Milli}
	cores   = unit{"cores", topology.Milli, "a thousandth of a core", workloads.MaxQuantity}
	gpus    = unit{"GPUs", 1, "one GPU", workloads.MaxGPUs}
	pods    = unit{"pods", 1, "one pod", workloads.MaxPods}
	rows    = unit{"rows", 1, "one row", 1<<63 - 1}
)

// parse reads digits, a point and digits. No float is involved: what the text says is
// what is stored, or an error.
func (u unit) parse(s string) (int64, error) {
	whole, fraction, ok := decimal(strings.TrimPrefix(s, "-"))
	switch {
	case !ok:
		return 0, fmt.Errorf("%s is not a number: expected %s as digits, such as %s", quote(s), u.name, u.example())
	case s[0] == '-' && whole+fraction != "":
		return 0, fmt.Errorf("%s is negative: expected 0 or more %s", s, u.name)
	}
	value, ok := u.whole(whole)
	if !ok {
		return 0, u.tooLarge(s)
	}
	part, ok := u.fraction(fraction)
	if !ok {
		return 0, fmt.Errorf("%s is finer than %s", quote(s), u.step)
	}
	if value > u.max-part {
		return 0, u.tooLarge(s)
	}
	return value + part, nil
}

// decimal splits a number into its digits before and after the point, without the zeros
// that mean nothing.
func decimal(s string) (whole, fraction string, ok bool) {
	whole, fraction, point := strings.Cut(s, ".")
	if !digits(whole) || point && !digits(fraction) {
		return "", "", false
	}
	return strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0"), true
}

// digits reports whether s is one or more decimal digits.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// whole returns a number of whole units, in stored units.
func (u unit) whole(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, false
	}
	hi, lo := bits.Mul64(n, uint64(u.size))
	return int64(lo), hi == 0 && lo <= uint64(u.max)
}

// maxFraction is the number of digits after the point for which fraction is exact: 10^18
// fits a word. No unit needs more.
const maxFraction = 18

// fraction returns the digits after the point in stored units, or false if they are no
// whole number of them.
func (u unit) fraction(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	if len(s) > maxFraction {
		return 0, false
	}
	n, _ := strconv.ParseUint(s, 10, 64) // digits, and few enough
	hi, lo := bits.Mul64(n, uint64(u.size))
	quotient, rest := bits.Div64(hi, lo, power10(len(s)))
	return int64(quotient), rest == 0
}

func power10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

func (u unit) tooLarge(s string) error {
	return fmt.Errorf("%s is too large: expected at most %s %s", quote(s), u.format(u.max), u.name)
}

// example is a number as it may stand in a trace.
func (u unit) example() string {
	if u.size == 1 {
		return "8"
	}
	return "0.5"
}

// format writes a number that is not negative so that parse returns it. The size of a
// unit that has fractions is a power of ten.
func (u unit) format(v int64) string {
	whole, part := strconv.FormatInt(v/u.size, 10), v%u.size
	if part == 0 {
		return whole
	}
	width := len(strconv.FormatInt(u.size, 10)) - 1
	return whole + "." + strings.TrimRight(fmt.Sprintf("%0*d", width, part), "0")
}

// memoryUnits are the suffixes of amounts of memory, the smallest first.
var memoryUnits = []struct {
	suffix string
	bytes  int64
}{{"", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

// parseMemory reads "96GiB", "1.5 TiB" or a number of bytes.
func parseMemory(s string) (int64, error) {
	number := strings.TrimRight(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	suffix := s[len(number):]
	var known []string
	for _, m := range memoryUnits {
		if m.suffix == suffix {
			u := unit{cmp.Or(suffix, "bytes"), m.bytes, "a byte", workloads.MaxQuantity}
			return u.parse(strings.TrimRight(number, " "))
		}
		known = append(known, m.suffix)
	}
	known = known[1:]
	return 0, fmt.Errorf("%s is no amount of memory: expected %s or bytes without a unit%s",
		quote(s), strings.Join(known, ", "), suggest.Hint(suffix, known))
}

// formatMemory writes an amount in the largest unit that gives a whole number.
func formatMemory(v int64) string {
	best := memoryUnits[0]
	for _, m := range memoryUnits {
		if v%m.bytes == 0 {
			best = m
		}
	}
	return strconv.FormatInt(v/best.bytes, 10) + best.suffix
}

// quote is %q of at most the first 40 bytes: input can be anything.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return strconv.Quote(s)
}
