package report

import (
	"slices"
	"testing"
)

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{
		{0, "0s"}, {0.0001, "0s"}, {0.012, "12ms"}, {0.9996, "1s"}, {1.5, "1.5s"}, {1.04, "1s"}, {9.94, "9.9s"},
		{9.9999, "10s"}, {10, "10s"}, {42.4, "42s"}, {59.6, "1m"}, {60, "1m"}, {320, "5m20s"}, {3599.6, "1h"},
		{3600, "1h"}, {8000, "2h13m"}, {7 * 3600, "7h"}, {86_399, "1d"}, {100_000, "1d4h"}, {86_400 * 30, "30d"}, {-90, "-1m30s"},
	} {
		if got := Span(c.seconds); got != c.want {
			t.Errorf("%v s is %s, want %s", c.seconds, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 0, "0"}, {999, 0, "999"}, {1000, 0, "1,000"}, {-1234567.891, 2, "-1,234,567.89"}, {99_999.96, 1, "100,000.0"}, {-12, 1, "-12.0"},
	} {
		if got := grouped(c.v, c.decimals); got != c.want {
			t.Errorf("%v is %s, want %s", c.v, got, c.want)
		}
	}
}

func TestRaw(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1234.5: "1,234.5", 0.00004: "0", 100: "100", 2.0 / 3: "0.6667"} {
		if got := raw(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	if got := share(1, 3); got != "33.3%" {
		t.Errorf("a third is %s", got)
	}
	if got := share(1, 0); got != nothing {
		t.Errorf("a share of nothing is %s", got)
	}
}

func TestWrap(t *testing.T) {
	got := wrap("  gangs – or pods – hold a-very-long-name ", 10)
	if want := []string{"gangs – or", "pods –", "hold", "a-very-long-name"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := wrap("", 10); got != nil {
		t.Errorf("nothing wraps to %q", got)
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 pods", 1: "1 pod", 1200: "1,200 pods"} {
		if got := Count(n, "pod"); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestNameSome(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a"}, "a"}, {[]string{"a", "b", "c"}, "a, b, c"}, {[]string{"a", "b", "c", "d"}, "a, b, c and 1 more"},
	} {
		if got := nameSome(c.names); got != c.want {
			t.Errorf("%v is %q, want %q", c.names, got, c.want)
		}
	}
}
