package plots

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
)

// numbers is an axis of numbers of a unit, words one of words.
func numbers(name, unit string, values ...float64) sweep.Axis {
	a := sweep.Axis{Name: name, Paths: []string{name}, Unit: unit, Numbers: values}
	for _, v := range values {
		text := number(v)
		if unit == "s" {
			text = report.Span(v)
		}
		a.Values = append(a.Values, text)
	}
	return a
}

func words(name string, values ...string) sweep.Axis {
	return sweep.Axis{Name: name, Paths: []string{name}, Values: values}
}

// swept is a sweep of some axes in which one metric is a function of the values' positions;
// +Inf is null.
func swept(metric string, of func(at []int) float64, axes ...sweep.Axis) *Input {
	s := &sweep.Sweep{Axes: axes, Shown: []string{metric}}
	at := make([]int, len(axes))
	for {
		c := sweep.Cell{ID: fmt.Sprint(at), At: slices.Clone(at), Dir: fmt.Sprint(at)}
		for i := range axes {
			c.Values = append(c.Values, axes[i].Values[at[i]])
		}
		v := report.Value{Name: metric, Number: of(at)}
		if math.IsInf(v.Number, 1) {
			v.Number, v.Null = 0, true
		}
		c.Metrics = report.Values{v}
		s.Cells = append(s.Cells, c)
		i := len(axes) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(axes[i].Values) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return &Input{Sweep: s}
		}
	}
}

func TestViewSweeps(t *testing.T) {
	if os.Getenv("VIEW") == "" {
		t.Skip()
	}
	seeds := numbers("seed", "", 1, 2, 3, 4, 5, 6, 7)
	timeout := numbers("timeout", "s", 30, 60, 120, 300, 600, 1800, 3600)
	policy := words("policy", "gang", "gang-topology", "per-pod")
	f := func(at []int) float64 {
		v := 300 + 4000/float64(1+at[0]) + 90*float64(at[0]*at[0]) + 300*float64(at[1]) + 57*float64((at[2]*7+at[0]*3)%11)
		if at[1] == 2 && at[0] == 0 {
			return math.Inf(1)
		}
		return v
	}
	in := swept("wait.p95_seconds", f, timeout, policy, seeds)
	show(t, "s-curve", "sweep-curve", in, Options{})
	base := numbers("backoff base", "s", 10, 60, 300, 900)
	in = swept("wait.p95_seconds", func(at []int) float64 { return f([]int{at[0], at[1], at[3]}) * float64(at[2]*at[2]+1) }, timeout, policy, base, seeds)
	show(t, "s-heat", "sweep-heat", in, Options{})
	show(t, "s-heat1", "sweep-heat", in, Options{Where: []string{"policy=gang"}})
	racks := numbers("racks", "", 2, 3, 4, 5, 6, 8, 10)
	in = swept("wait.p95_seconds", func(at []int) float64 {
		if at[0] == 0 && at[1] == 2 {
			return math.Inf(1)
		}
		return 40000 / math.Pow(3, float64(at[0])) * float64(3+at[1]) / 3 * float64(20+(at[2]*7+at[0]*3)%11) / 20
	}, racks, policy, seeds)
	sized = func(c *sweep.Cell) (float64, error) { return 64 * racks.Numbers[c.At[0]], nil }
	show(t, "s-frontier", "frontier", in, Options{Cost: 2.5})
	in = swept("requeues", func(at []int) float64 { return float64(at[0] * at[1] * 100) }, words("mode", "required", "preferred", "unconstrained"), policy, seeds)
	show(t, "s-words", "sweep-curve", in, Options{})
}

func show(t *testing.T, name, kind string, in *Input, o Options) {
	t.Helper()
	k, err := Find(kind)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.Draw(in, o)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := os.Create("/tmp/fig/" + name + ".png")
	defer f.Close()
	if err := c.Write(f, "png"); err != nil {
		t.Fatal(err)
	}
	_ = figure.Formats
	_ = strings.Cut
}
