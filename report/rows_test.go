package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// tableOf renders results, each under its position as label.
func tableOf(t *testing.T, results ...*sim.Result) string {
	t.Helper()
	d := &Document{}
	for i, r := range results {
		d.Runs = append(d.Runs, NewRun("run-"+string(rune('0'+i)), r, nil))
	}
	return render(t, "table", d)
}

// lineOf returns the cells of the row with a label, and false if it is not shown.
func lineOf(table, label string) (string, bool) {
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), label); ok {
			return strings.Join(strings.Fields(rest), " "), true
		}
	}
	return "", false
}

func wantLine(t *testing.T, table, label, want string) {
	t.Helper()
	if got, _ := lineOf(table, label); got != want {
		t.Errorf("%s: %q, want %q in\n%s", label, got, want, table)
	}
}

// A run in which nothing starts says never; a run without jobs has nothing to say.
func TestTableOfNothing(t *testing.T) {
	table := tableOf(t, handmade(3, 8), handmade(0, 8))
	wantLine(t, table, "jobs finished", "↑ 0 of 3 0 of 0")
	wantLine(t, table, "jobs never started", "↓ 3 0")
	wantLine(t, table, "makespan", "↓ – –")
	wantLine(t, table, "wait, p50", "↓ never –")
	wantLine(t, table, "bounded slowdown, p95", "↓ never –")
	wantLine(t, table, "capacity", "0.00 0.00")
}

// Nothing has started, so there is no slowdown of running jobs that could be "never".
func TestTableOfSlowdownsWithoutAllReduce(t *testing.T) {
	r := handmade(2, 8)
	finished(&r.Jobs[0], 1, 2)
	finished(&r.Jobs[1], 1, 2)
	wantLine(t, tableOf(t, r), "all-reduce slowdown, mean", "↓ –")
}

// Causes that nobody met are not shown; one that a single policy met is shown for all.
func TestRareRows(t *testing.T) {
	quiet, disturbed := handmade(1, 8), handmade(1, 8)
	labels := []string{"jobs deactivated", "evictions: node", "evictions: pods not ready in time", "stall, contention", "lost", "backoff", "topology", "down", "quota taken"}
	for _, label := range labels {
		if got, shown := lineOf(tableOf(t, quiet), label); shown {
			t.Errorf("%s %s: shown without need", label, got)
		}
	}
	disturbed.Jobs[0].State = sim.Deactivated
	disturbed.Jobs[0].Evictions[sim.CauseNode], disturbed.Jobs[0].Evictions[sim.CausePodsReady] = 1, 2
	for _, a := range []ledger.Account{ledger.BlockedBackoff, ledger.BlockedTopology, ledger.Down} {
		disturbed.Books.Move(0, ledger.NoDemand, a, 1000)
	}
	disturbed.Books.Advance(hour)
	disturbed.Books.Lose(0, &ledger.Stretch{Milli: 1000, Wall: hour})
	disturbed.Books.Settle(0, &ledger.Stretch{Milli: 1000, Useful: 0, Unshared: hour, Wall: hour})
	disturbed.Reserved.AddProduct(1000, uint64(hour))
	table := tableOf(t, quiet, disturbed)
	for _, label := range labels {
		if _, shown := lineOf(table, label); !shown {
			t.Errorf("%s: not shown", label)
		}
	}
	wantLine(t, table, "evictions: pods not ready in time", "↓ 0 2")
	wantLine(t, table, "topology", "0 1.00 10.0%")
}

// The four parts, the losses of running time and what is down are all of the capacity.
func TestTableAccountsForEverything(t *testing.T) {
	r := handmade(1, 64)
	for i := range int(ledger.NoDemand) {
		if a := ledger.Account(i); a > ledger.StallContention && a != ledger.Lost {
			r.Books.Move(0, ledger.NoDemand, a, int64(i)*100)
		}
	}
	r.Books.Advance(10 * hour)
	vs := Measure(r, nil)
	sum := 0.0
	for _, g := range comparison {
		for i := range g.rows {
			row := &g.rows[i]
			if g.title != "GPU-hours" || strings.HasPrefix(row.label, "  ") || row.label == "capacity" ||
				strings.HasPrefix(row.label, "idle") || strings.HasPrefix(row.label, "quota") {
				continue
			}
			v, _ := row.amount(vs)
			sum += v
		}
	}
	if capacity := get(t, vs, "gpu_hours.capacity"); sum < capacity-1e-9 || sum > capacity+1e-9 {
		t.Errorf("the rows sum to %v of %v GPU-hours", sum, capacity)
	}
}

// Parts and their causes agree.
func TestCausesSumToTheirPart(t *testing.T) {
	r := handmade(1, 64)
	r.Books.Move(0, ledger.NoDemand, ledger.Held, 2000)
	r.Books.Move(0, ledger.NoDemand, ledger.Starting, 3000)
	r.Books.Move(0, ledger.NoDemand, ledger.Terminating, 5000)
	r.Books.Move(0, ledger.NoDemand, ledger.BlockedGate, 7000)
	r.Books.Move(0, ledger.NoDemand, ledger.BlockedShape, 11_000)
	r.Books.Advance(10 * hour)
	table := tableOf(t, r)
	wantLine(t, table, "held, idle", "↓ 100.0 15.6%")
	wantLine(t, table, "gang incomplete", "20.0 3.1%")
	wantLine(t, table, "free, unusable for who waits", "↓ 180.0 28.1%")
	wantLine(t, table, "free, nobody waits", "360.0 56.2%")
	wantLine(t, table, "idle in all: held or free", "↓ 640.0 100.0%")
}

// Every row of the table reads metrics that there are.
func TestRowsReadTheRegistry(t *testing.T) {
	all := Values{}
	for _, m := range Metrics() {
		v := Value{Name: m.Name, Number: 1}
		if m.Name == "jobs.submitted" {
			v.Number = 2 // of classes of jobs, none is all
		}
		all = append(all, v)
	}
	for _, g := range comparison {
		for i := range g.rows {
			if v, ok := g.rows[i].amount(all); !ok || v < 1 {
				t.Errorf("%s reads %v, %v", g.rows[i].label, v, ok)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a row of a metric that there is not")
		}
	}()
	plain("oops", "no.such.metric")
}

// A run whose policy has a name wider than the terminal still gets its column, with the name
// in several lines, and the title keeps to the terminal.
func TestOneWidePolicy(t *testing.T) {
	r := NewRun(strings.Repeat("long", 40), handmade(1, 1), nil)
	d := &Document{Scenario: strings.Repeat("what it is about ", 7), Version: "v1.0.0", Runs: []Run{r, r}}
	table := render(t, "table", d)
	if shown := strings.Join(strings.Fields(table), ""); strings.Count(shown, r.Policy) != 2 {
		t.Errorf("not both runs are shown:\n%s", table)
	}
	keepsTo(t, table)
	if table := render(t, "wide", d); strings.Count(table, r.Policy) != 2 {
		t.Errorf("a wide table breaks names:\n%s", table)
	}
}

// keepsTo wants no line to be wider than the terminal.
func keepsTo(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > terminal {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestTableWithoutHeaderFields(t *testing.T) {
	if table := render(t, "table", &Document{}); strings.Contains(table, "·") {
		t.Errorf("a title of nothing:\n%s", table)
	}
}

// Tables are the same in every locale: ambiguous characters are one column wide.
func TestTableIgnoresTheLocale(t *testing.T) {
	want := render(t, "table", story())
	t.Setenv("LC_ALL", "ja_JP.UTF-8")
	t.Setenv("RUNEWIDTH_EASTASIAN", "1")
	if got := render(t, "table", story()); got != want {
		t.Errorf("another table in Japan:\n%s", got)
	}
}
