package traces

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/workloads"
	"pgregory.net/rapid"
)

func TestParseIsExact(t *testing.T) {
	for _, c := range []struct {
		unit unit
		text string
		want int64
	}{
		{seconds, "0", 0},
		{seconds, "1", 1e9},
		{seconds, "66.0", 66e9},
		{seconds, "0.1", 1e8}, // no binary fraction says this
		{seconds, "0.000000001", 1},
		{seconds, "1800.000000001", 1_800_000_000_001},
		{seconds, "007.50", 7_500_000_000},
		{seconds, "1.000000000000000000000000", 1e9},
		{seconds, "-0", 0},
		{seconds, "-0.00", 0},
		{seconds, "3153600000", workloads.MaxTime},
		{devices, "0.5", 500},
		{devices, "8", 8000},
		{gpus, "8", 8},
		{gpus, "8.0", 8},
		{gpus, "1000000", workloads.MaxGPUs},
		{rows, "9223372036854775807", math.MaxInt64},
	} {
		got, err := c.unit.parse(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q %s = %d, %v, want %d", c.text, c.unit.name, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		unit       unit
		text, want string
	}{
		{seconds, "", `"" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "NaN", `"NaN" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "inf", `"inf" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "None", `"None" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "1e3", `"1e3" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "1,5", `"1,5" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "1_000", `"1_000" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, ".5", `".5" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "5.", `"5." is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "+5", `"+5" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "--5", `"--5" is not a number: expected seconds as digits, such as 0.5`},
		{seconds, "-", `"-" is not a number: expected seconds as digits, such as 0.5`},
		{gpus, "٣", `"٣" is not a number: expected GPUs as digits, such as 8`},
		{seconds, "-1.5", `-1.5 is negative: expected 0 or more seconds`},
		{seconds, "0.0000000001", `"0.0000000001" is finer than a nanosecond`},
		{seconds, "0.0000000000000000000000001", `"0.0000000000000000000000001" is finer than a nanosecond`},
		{gpus, "1.5", `"1.5" is finer than one GPU`},
		{devices, "0.0001", `"0.0001" is finer than a thousandth of a GPU`},
		{seconds, "3153600000.000000001", `"3153600000.000000001" is too large: expected at most 3153600000 seconds`},
		{seconds, "9223372037", `"9223372037" is too large: expected at most 3153600000 seconds`},
		{seconds, "18446744074", `"18446744074" is too large: expected at most 3153600000 seconds`},
		{seconds, "99999999999999999999999999999999999999999999", `"9999999999999999999999999999999999999999"... is too large: expected at most 3153600000 seconds`},
		{rows, "9223372036854775808", `"9223372036854775808" is too large: expected at most 9223372036854775807 rows`},
	} {
		got, err := c.unit.parse(c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q = %d, error %v\n want %s", c.text, got, err, c.want)
		}
	}
}

func TestParseAgainstRationals(t *testing.T) {
	units := []unit{seconds, devices, cores, gpus, rows}
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(units).Draw(t, "unit")
		text := rapid.StringMatching(`[0-9]{1,22}(\.[0-9]{1,20})?`).Draw(t, "text")
		want, _ := new(big.Rat).SetString(text)
		want.Mul(want, big.NewRat(u.size, 1))
		fits := want.IsInt() && want.Num().Cmp(big.NewInt(u.max)) <= 0
		got, err := u.parse(text)
		if fits != (err == nil) || fits && want.Num().Cmp(big.NewInt(got)) != 0 {
			t.Errorf("%s %s = %d, %v, want %s", text, u.name, got, err, want)
		}
	})
}

func TestFormatIsReadBack(t *testing.T) {
	units := []unit{seconds, devices, cores, gpus, rows}
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(units).Draw(t, "unit")
		v := rapid.Int64Range(0, u.max).Draw(t, "value")
		text := u.format(v)
		if got, err := u.parse(text); err != nil || got != v {
			t.Errorf("%d was written %s and read %d, %v", v, text, got, err)
		}
		if strings.HasSuffix(text, ".") || strings.Contains(text, ".") && strings.HasSuffix(text, "0") {
			t.Errorf("%d was written %s: want no zeros at the end", v, text)
		}
	})
}

func TestMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1024": 1024, "1KiB": 1 << 10, "512MiB": 512 << 20, "96GiB": 96 << 30, "2 TiB": 2 << 40,
		"1.5GiB": 3 << 29, "0.0009765625KiB": 1, "1152921504606846976": 1 << 60,
	} {
		if got, err := parseMemory(text); err != nil || got != want {
			t.Errorf("%q = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestMemoryRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"96Gi":       `"96Gi" is no amount of memory: expected KiB, MiB, GiB, TiB or bytes without a unit (did you mean GiB?)`,
		"96 apples":  `"96 apples" is no amount of memory: expected KiB, MiB, GiB, TiB or bytes without a unit`,
		"-1GiB":      `-1 is negative: expected 0 or more GiB`,
		"0.3KiB":     `"0.3" is finer than a byte`,
		"1048577TiB": `"1048577" is too large: expected at most 1048576 TiB`,
		"GiB":        `"" is not a number: expected GiB as digits, such as 0.5`,
		"1.5":        `"1.5" is finer than a byte`,
	} {
		if got, err := parseMemory(text); err == nil || err.Error() != want {
			t.Errorf("%q = %d, error %v\n want %s", text, got, err, want)
		}
	}
}

func TestMemoryIsWrittenInTheLargestUnit(t *testing.T) {
	for v, want := range map[int64]string{1: "1", 1 << 10: "1KiB", 96 << 30: "96GiB", 3 << 29: "1536MiB", 1<<30 + 1: "1073741825"} {
		got := formatMemory(v)
		if back, err := parseMemory(got); got != want || err != nil || back != v {
			t.Errorf("%d was written %s and read %d, %v, want %s", v, got, back, err, want)
		}
	}
}
