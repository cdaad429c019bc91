package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// group is a part of the comparison table under one title.
type group struct {
	title string
	rows  []row
}

// row is one line of the comparison table. A rare row is shown only where some run has a
// value other than zero in it.
type row struct {
	label  string
	better Direction
	rare   bool
	amount func(vs Values) (float64, bool)
	write  func(c *context, v float64, ok bool, vs Values) string
}

// context is what a cell needs to know of the whole table.
type context struct {
	decimals int      // of GPU-hours
	tiers    []string // names of the levels above the host, lowest first
}

// comparison is the table, from what happened to why.
var comparison = []group{
	{"outcome", outcomeRows()},
	{"waits", waitRows()},
	{"GPU-hours", gpuHourRows()},
	{"speed of running jobs", []row{
		times("all-reduce slowdown, mean", "allreduce_slowdown.mean"),
		times("all-reduce slowdown, p95", "allreduce_slowdown.p95"),
		neutral(times("  by placement, mean", "locality_slowdown.mean")),
		neutral(times("  by neighbours, mean", "contention_slowdown.mean")),
		named("step slowdown, mean", "step_slowdown.mean", writeFineTimes),
		named("step slowdown, p95", "step_slowdown.p95", writeFineTimes),
	}},
}

// neutral takes the arrow off a part: the sum above has it.
func neutral(r row) row {
	r.better = Neutral
	return r
}

func outcomeRows() []row {
	rows := []row{
		{"jobs finished", Higher, false, metric("jobs.finished"), writeFinished},
		plain("jobs never started", "jobs.unstarted").onlyIfAny(),
		plain("jobs failed", "jobs.failed").onlyIfAny(),
		plain("jobs deactivated", "jobs.deactivated").onlyIfAny(),
		{"makespan", Lower, false, metric("makespan_seconds"), writeSpan},
		plain("requeues", "requeues"),
	}
	for c := range sim.NumCauses {
		label := "evictions: " + strings.ReplaceAll(c.String(), "_", " ")
		if c == sim.CausePodsReady {
			label = "evictions: pods not ready in time"
		}
		rows = append(rows, plain(label, "evictions."+c.String()).onlyIfAny())
	}
	return rows
}

func waitRows() []row {
	return slices.Concat([]row{
		duration("wait, mean of started", "wait.mean_seconds"),
		duration("wait, p50", "wait.p50_seconds"),
		duration("wait, p95", "wait.p95_seconds"),
	}, sizeRows(), []row{
		duration("wait, max", "wait.max_seconds"),
		duration("admission wait, p95", "admission_wait.p95_seconds"),
		duration("completion time, p50", "jct.p50_seconds"),
		duration("completion time, p95", "jct.p95_seconds"),
		{"bounded slowdown, p95", Lower, false, metric("bounded_slowdown.p95"), writeSlowdown},
	})
}

// gpuHourRows is the four-way split (useful, held idle, free but unusable, free), each
// part with its causes under it, and what running time and capacity it leaves out.
func gpuHourRows() []row {
	heldIdle := []ledger.Account{ledger.Held, ledger.Starting, ledger.Terminating}
	var blocked []ledger.Account
	for a := ledger.BlockedReserved; a < ledger.NoDemand; a++ {
		blocked = append(blocked, a)
	}
	rows := []row{account("useful", ledger.Useful)}
	for _, a := range []ledger.Account{ledger.StallLocality, ledger.StallContention, ledger.Lost, ledger.Checkpoint} {
		rows = append(rows, account(strings.ReplaceAll(a.String(), "_", ", "), a).onlyIfAny())
		if slices.Contains(stallAccounts, a) {
			rows = append(rows, placeRows(a)...)
		}
	}
	rows = append(rows, accountsRow("held, idle", heldIdle))
	rows = append(rows, causes(heldIdle)...)
	rows = append(rows, accountsRow("free, unusable for who waits", blocked))
	rows = append(rows, causes(blocked)...)
	return append(rows,
		account("free, nobody waits", ledger.NoDemand),
		account("down", ledger.Down).onlyIfAny(),
		row{"capacity", Neutral, false, metric("gpu_hours.capacity"), writeAmount},
		row{"idle in all: held or free", Lower, false, metric("gpu_hours.idle"), writeHours},
		row{"quota taken, not bound", Lower, true, metric("quota_reserved_unused"), writeHours},
	)
}

// causes are the rows under a sum of accounts, indented.
func causes(accounts []ledger.Account) []row {
	rows := make([]row, len(accounts))
	for i, a := range accounts {
		label := strings.TrimPrefix(a.String(), "blocked_")
		if a == ledger.Held {
			label = "gang incomplete"
		}
		rows[i] = account("  "+label, a).onlyIfAny()
		rows[i].better = Neutral // the sum above has the arrow
	}
	return rows
}

func (r row) onlyIfAny() row { r.rare = true; return r }

// metric reads one metric.
func metric(name string) func(vs Values) (float64, bool) {
	return func(vs Values) (float64, bool) { return vs.Get(name) }
}

func named(label, name string, write func(*context, float64, bool, Values) string) row {
	m, ok := LookupMetric(name)
	if !ok {
		panic("report: no metric " + name)
	}
	return row{label, m.Better, false, metric(name), write}
}

func plain(label, name string) row    { return named(label, name, writeCount) }
func duration(label, name string) row { return named(label, name, writeWait) }
func times(label, name string) row    { return named(label, name, writeTimes) }

func account(label string, a ledger.Account) row {
	return named(label, "gpu_hours."+a.String(), writeHours)
}

// accountsRow sums some accounts.
func accountsRow(label string, accounts []ledger.Account) row {
	return row{label, Lower, false, func(vs Values) (float64, bool) {
		var sum float64
		for _, a := range accounts {
			v, _ := vs.Get("gpu_hours." + a.String())
			sum += v
		}
		return sum, true
	}, writeHours}
}

const nothing = "–"

func writeCount(_ *context, v float64, ok bool, _ Values) string {
	if !ok {
		return nothing
	}
	return grouped(v, 0)
}

func writeFinished(_ *context, v float64, _ bool, vs Values) string {
	all, _ := vs.Get("jobs.submitted")
	return grouped(v, 0) + " of " + grouped(all, 0)
}

func writeSpan(_ *context, v float64, ok bool, _ Values) string {
	if !ok {
		return nothing
	}
	return Span(v)
}

// writeWait writes a quantile that lands on a job that never got there as never.
func writeWait(c *context, v float64, ok bool, vs Values) string {
	if jobs, _ := vs.Get("jobs.submitted"); !ok && jobs > 0 {
		return "never"
	}
	return writeSpan(c, v, ok, vs)
}

func writeTimes(_ *context, v float64, ok bool, _ Values) string {
	if !ok {
		return nothing
	}
	return grouped(v, 2) + "×"
}

// writeFineTimes is for factors close to one: a step hides most of its communication.
func writeFineTimes(_ *context, v float64, ok bool, _ Values) string {
	if !ok {
		return nothing
	}
	return grouped(v, 3) + "×"
}

// writeSlowdown writes a factor over all jobs, in which a job can be missing.
func writeSlowdown(c *context, v float64, ok bool, vs Values) string {
	if !ok {
		return writeWait(c, v, ok, vs)
	}
	return writeTimes(c, v, ok, vs)
}

// writeHours writes GPU-hours and their share of capacity, both in columns of their own
// width so that they stand under each other.
func writeHours(c *context, v float64, _ bool, vs Values) string {
	if v == 0 {
		return "0" + strings.Repeat(" ", shareWidth)
	}
	capacity, _ := vs.Get("gpu_hours.capacity")
	return grouped(v, c.decimals) + padLeft(share(v, capacity), shareWidth)
}

// writeAmount writes GPU-hours without a share.
func writeAmount(c *context, v float64, _ bool, _ Values) string {
	return grouped(v, c.decimals) + strings.Repeat(" ", shareWidth)
}

const shareWidth = len(" 100.0%")

// visible reports whether a row has anything to say.
func (r *row) visible(runs []Run) bool {
	if !r.rare {
		return true
	}
	for i := range runs {
		if v, ok := r.amount(runs[i].Metrics); ok && v != 0 {
			return true
		}
	}
	return false
}

// newContext picks the decimals of GPU-hours by the size of the cluster.
func newContext(runs []Run) *context {
	c := &context{decimals: 2}
	largest := 0.0
	for i := range runs {
		v, _ := runs[i].Metrics.Get("gpu_hours.capacity")
		largest = max(largest, v)
		if len(runs[i].Tiers) > len(c.tiers) {
			c.tiers = runs[i].Tiers
		}
	}
	switch {
	case largest >= 100_000:
		c.decimals = 0
	case largest >= 100:
		c.decimals = 1
	}
	return c
}

// line is a row of a table as text: label, arrow, and a cell per run. A title has no cells.
type line struct {
	label, arrow string
	cells        []string
}

// comparisonLines writes the comparison of some runs out.
func comparisonLines(runs []Run) []line {
	c := newContext(runs)
	var lines []line
	for _, g := range comparison {
		lines = append(lines, line{label: g.title})
		for i := range g.rows {
			if r := &g.rows[i]; r.visible(runs) {
				l := line{label: "  " + c.withTiers(r.label), arrow: r.better.Arrow()}
				for k := range runs {
					v, ok := r.amount(runs[k].Metrics)
					l.cells = append(l.cells, r.write(c, v, ok, runs[k].Metrics))
				}
				lines = append(lines, l)
			}
		}
	}
	return append(lines, identityLines(runs)...)
}

// identityLines name what makes each run the run it is.
func identityLines(runs []Run) []line {
	digest, seed := line{label: "digest"}, line{label: "seed"}
	oneSeed := true
	for i := range runs {
		digest.cells = append(digest.cells, runs[i].Digest)
		seed.cells = append(seed.cells, grouped(float64(runs[i].Seed), 0))
		oneSeed = oneSeed && runs[i].Seed == runs[0].Seed
	}
	if oneSeed {
		return []line{digest}
	}
	return []line{seed, digest}
}

// metricLines writes every metric out by its name.
func metricLines(runs []Run) []line {
	var lines []line
	for i := range registry {
		m := &registry[i]
		l := line{label: m.Name + " (" + m.Unit + ")", arrow: m.Better.Arrow()}
		for k := range runs {
			v, ok := runs[k].Metrics.Get(m.Name)
			if ok {
				l.cells = append(l.cells, raw(v))
			} else {
				l.cells = append(l.cells, "null")
			}
		}
		lines = append(lines, l)
	}
	return append(lines, identityLines(runs)...)
}

// width is how many columns a table of the lines takes.
func width(header []string, lines []line) int {
	sum := 0
	for column := range header {
		w := utf8.RuneCountInString(header[column])
		for i := range lines {
			w = max(w, utf8.RuneCountInString(lines[i].row(len(header))[column]))
		}
		sum += w + gap
	}
	return sum - gap
}

// row returns the line as n cells.
func (l *line) row(n int) []string {
	return append(append([]string{l.label, l.arrow}, l.cells...), make([]string, n-2-len(l.cells))...)
}
