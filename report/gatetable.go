package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// GateOptions say how much of a gate is written.
type GateOptions struct {
	Verbose bool // every metric, not only those that changed
}

// gateRows is how many metrics of a policy are shown unless all are asked for.
const gateRows = 12

// GateFormats are the names that Write knows, the default first.
func GateFormats() []string { return []string{"table", "json", "markdown"} }

// Write writes the gate in a format. An unknown format is an error before anything is
// written; other errors are the writer's.
func (g *Gate) Write(w io.Writer, format string, o GateOptions) error {
	switch format {
	case "table":
		out := &printer{w: w}
		g.writeTable(out, o)
		return out.err
	case "json":
		return WriteJSON(w, g)
	case "markdown":
		_, err := io.WriteString(w, g.markdown(math.MaxInt, o))
		return err
	}
	return fmt.Errorf("unknown format %q, expected one of %s", format, strings.Join(GateFormats(), ", "))
}

func (g *Gate) writeTable(out *printer, o GateOptions) {
	out.heading(g.title())
	quiet := 0
	for i := range g.Scenarios {
		s := &g.Scenarios[i]
		if s.silent(o) {
			quiet++
			continue
		}
		g.writeScenario(out, s, o)
	}
	switch {
	case quiet > 0 && g.Updated:
		out.printf("%s: nothing changed\n", Count(quiet, "scenario"))
	case quiet > 0:
		out.printf("✓ %s: %s\n", Count(quiet, "scenario"), allEqual)
	}
	last := g.conclusion()
	if seen(last) > terminal { // the command that it ends with stays whole
		last = strings.Replace(last, "; ", ";\n", 1)
	}
	out.printf("%s\n", last)
}

func (g *Gate) title() string {
	scenarios, runs, metrics := g.tallies()
	parts := []string{g.Corpus, Count(scenarios.all, "scenario") + ", " + Count(runs.all, "run") + ", " + Count(metrics.all, "metric")}
	if g.Version != "" {
		parts = append(parts, "gangplan "+g.Version)
	}
	return strings.Join(parts, separator)
}

// conclusion is the last line.
func (g *Gate) conclusion() string {
	scenarios, runs, metrics := g.tallies()
	switch {
	case g.Updated:
		return "the baselines are up to date"
	case !g.Passed:
		return fmt.Sprintf("failed: %d of %s, %d of %s, %d of %s; what is meant to change is accepted by gangplan check %s --update",
			scenarios.failed, Count(scenarios.all, "scenario"), runs.failed, Count(runs.all, "run"), metrics.failed, Count(metrics.all, "metric"), g.Corpus)
	case g.loose():
		return fmt.Sprintf("passed; the baselines can be brought up to date by gangplan check %s --update", g.Corpus)
	}
	return "passed"
}

// loose reports whether something differs that does not fail.
func (g *Gate) loose() bool {
	for i := range g.Scenarios {
		if !g.Scenarios[i].silent(GateOptions{}) {
			return true
		}
	}
	return false
}

// silent reports whether nothing of a scenario is worth a line.
func (s *GateScenario) silent(o GateOptions) bool {
	if o.Verbose || s.Problem != "" || len(s.Notes) > 0 || s.Baseline != "" && s.Baseline != "unchanged" {
		return false
	}
	for i := range s.Policies {
		if s.Policies[i].headline(false) != "" {
			return false
		}
	}
	return true
}

// headline says in few words what is not equal, "" if all is.
func (p *GatePolicy) headline(updated bool) string {
	parts := p.counts()
	if updated {
		parts = p.changes()
	}
	if len(parts) > 0 {
		parts[0] = strings.Replace(parts[0], " ", fmt.Sprintf(" of %s ", Count(len(p.Metrics), "metric")), 1)
	}
	if n := p.improved(); n > 0 && !updated {
		parts[0] += fmt.Sprintf(" (%d for the better, but they must be equal)", n)
	}
	switch n := p.digestsChanged(); {
	case n > 0 && len(p.Digests) == 1:
		parts = append(parts, "another digest")
	case n > 0:
		parts = append(parts, fmt.Sprintf("another digest for %d of %d seeds", n, len(p.Digests)))
	}
	if p.Problem != "" {
		parts = append([]string{p.Problem}, parts...)
	}
	if len(parts) == 0 && len(p.Notes) > 0 {
		return allEqual
	}
	return strings.Join(parts, ", ")
}

const allEqual = "equal to the baseline"

// counts says how many metrics there are of each verdict that is worth a word.
func (p *GatePolicy) counts() (parts []string) {
	for _, v := range []struct {
		verdict GateVerdict
		text    string
	}{{GateFailed, "failed"}, {GateMissing, "missing"}, {GateBetter, "better"}, {GateChanged, "changed within their tolerance"}, {GateNew, "new"}} {
		if n := p.count(only(v.verdict)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v.text))
		}
	}
	return parts
}

// changes says the same of an update, in which nothing fails.
func (p *GatePolicy) changes() (parts []string) {
	different := func(v GateVerdict) bool { return v == GateFailed || v == GateBetter || v == GateChanged }
	for _, v := range []struct {
		is   func(GateVerdict) bool
		text string
	}{{different, "changed"}, {only(GateMissing), "gone"}, {only(GateNew), "new"}} {
		if n := p.count(v.is); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v.text))
		}
	}
	return parts
}

// improved counts the metrics that fail although they got better.
func (p *GatePolicy) improved() int {
	n := 0
	for i := range p.Metrics {
		m := &p.Metrics[i]
		if m.Verdict == GateFailed && m.Baseline != nil && m.Value != nil &&
			(m.Better == Lower.String() && *m.Value < *m.Baseline || m.Better == Higher.String() && *m.Value > *m.Baseline) {
			n++
		}
	}
	return n
}

func (g *Gate) writeScenario(out *printer, s *GateScenario, o GateOptions) {
	switch {
	case s.Problem != "":
		out.hanging("✗ "+s.Name+":", s.Problem)
	case g.Updated:
		out.printf("%s: baseline %s\n", s.Name, s.Baseline)
	}
	for _, note := range s.Notes {
		out.hanging("  "+s.Name+":", note)
	}
	for i := range s.Policies {
		if p := &s.Policies[i]; (o.Verbose || p.headline(g.Updated) != "") && !s.Fresh {
			g.writePolicy(out, s.Name, p, o)
		}
	}
}

func (g *Gate) writePolicy(out *printer, scenario string, p *GatePolicy, o GateOptions) {
	mark := "✓ "
	switch {
	case g.Updated:
		mark = "  "
	case p.Fails():
		mark = "✗ "
	}
	out.hanging(mark+scenario+" · "+p.Label+":", cmp.Or(p.headline(g.Updated), allEqual))
	for _, note := range p.Notes {
		out.hanging("   ", note)
	}
	shown, more := p.shown(o, g.Updated)
	if len(shown) > 0 {
		out.table(g.gateHeads(shown), g.gateLines(shown))
	}
	if more > 0 {
		out.printf("  and %s more: --verbose\n", grouped(float64(more), 0))
	}
	if p.Parting != nil {
		p.Parting.write(out)
	}
	out.printf("\n")
}

// shown picks the metrics that are listed: all, or the worst of those that fail and then
// those that are better; after an update also those that changed otherwise.
func (p *GatePolicy) shown(o GateOptions, updated bool) (shown []GateMetric, more int) {
	if o.Verbose {
		return p.Metrics, 0
	}
	shown = append(p.ranked(GateVerdict.Fails), p.ranked(only(GateBetter))...)
	if updated {
		shown = append(shown, p.ranked(only(GateChanged))...)
	}
	more = max(0, len(shown)-gateRows)
	return shown[:len(shown)-more], more
}

// gateHeads are the titles of the columns. The interval of the change is there if some
// metric has one.
func (g *Gate) gateHeads(ms []GateMetric) []string {
	heads := []string{"", "", gateBaseline, "limit", gateNow, "change"}
	if g.Updated {
		heads = []string{"", "", "old", "new", "change"}
	}
	for i := range ms {
		if ms[i].Change != nil && !g.Updated {
			return append(heads, "95 % of it")
		}
	}
	return heads
}

func (g *Gate) gateLines(ms []GateMetric) []line {
	lines := make([]line, len(ms))
	for i := range ms {
		m := &ms[i]
		lines[i] = line{label: "  " + m.mark(g.Updated) + m.Name, arrow: arrowOf(m.Better)}
		baseline, value := m.texts()
		if g.Updated {
			lines[i].cells = []string{baseline, value, m.change()}
			continue
		}
		lines[i].cells = []string{baseline, m.limit(), value, m.change()}
		if m.Change != nil {
			lines[i].cells = append(lines[i].cells, m.Change.text())
		}
	}
	return lines
}

func (m *GateMetric) mark(updated bool) string {
	switch {
	case updated:
		return ""
	case m.Verdict.Fails():
		return "✗ "
	}
	return "✓ "
}

func arrowOf(better string) string {
	for _, d := range []Direction{Lower, Higher} {
		if d.String() == better {
			return d.Arrow()
		}
	}
	return ""
}

// texts are the two values, with as many digits as it takes to tell them apart.
func (m *GateMetric) texts() (baseline, value string) {
	baseline, value = numberText(m.Baseline), numberText(m.Value)
	if m.Baseline != nil && m.Value != nil && baseline == value && *m.Baseline != *m.Value {
		baseline, value = apart(*m.Baseline, *m.Value)
	}
	switch m.Verdict {
	case GateNew:
		baseline = "new"
	case GateMissing:
		value = "missing"
	}
	return baseline, value
}

func numberText(v *float64) string {
	if v == nil {
		return "null"
	}
	return short(*v)
}

// short writes a number with about six digits, whole ones with all.
func short(v float64) string {
	decimals := 4
	for size := math.Abs(v); size >= 10 && decimals > 1; size /= 10 {
		decimals--
	}
	s := grouped(v, decimals)
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// apart writes two numbers that are not the same with the digits that tell them apart.
func apart(a, b float64) (string, string) {
	for n := 6; n < 17; n++ {
		x, y := strconv.FormatFloat(a, 'g', n, 64), strconv.FormatFloat(b, 'g', n, 64)
		if x != y {
			return x, y
		}
	}
	return strconv.FormatFloat(a, 'g', 17, 64), strconv.FormatFloat(b, 'g', 17, 64)
}

// limit is what the value has to keep.
func (m *GateMetric) limit() string {
	low, high := m.Limit.Low, m.Limit.High
	switch {
	case m.Verdict == GateNew, m.Verdict == GateMissing:
		return nothing
	case m.Rule == "exact":
		return "equal"
	case low != nil && high != nil:
		return short(*low) + " … " + short(*high)
	case low != nil:
		return "≥ " + short(*low)
	case high != nil:
		return "≤ " + short(*high)
	}
	return nothing
}

// change is how much the value is off the baseline.
func (m *GateMetric) change() string {
	switch {
	case (m.Baseline == nil) != (m.Value == nil), m.Baseline == nil && m.Differ == 0:
		return ""
	case m.Baseline == nil:
		return seedsText(m.Differ)
	case *m.Baseline == *m.Value && m.Differ > 0:
		return seedsText(m.Differ)
	case *m.Baseline == *m.Value:
		return "0"
	case *m.Baseline == 0:
		return signed(*m.Value)
	}
	return signedPercent((*m.Value - *m.Baseline) / math.Abs(*m.Baseline))
}

// seedsText is for medians that hide that values differ.
func seedsText(n int) string {
	if n == 1 {
		return "1 seed differs"
	}
	return Count(n, "seed") + " differ"
}

func signed(v float64) string {
	if v > 0 {
		return "+" + short(v)
	}
	return short(v)
}

func signedPercent(v float64) string {
	text := strconv.FormatFloat(v*100, 'f', 1, 64)
	if text == "0.0" || text == "-0.0" {
		text = strconv.FormatFloat(v*100, 'g', 2, 64)
	}
	if v > 0 {
		text = "+" + text
	}
	return text + "%"
}

func (c *GateChange) text() string {
	if c.Low == 0 && c.High == 0 {
		return ""
	}
	return boundText(c.Low) + " … " + boundText(c.High)
}

func boundText(v float64) string {
	switch {
	case math.IsInf(v, -1):
		return "-∞"
	case math.IsInf(v, 1):
		return "+∞"
	}
	return signed(v)
}

// write writes where a run parts from its baseline.
func (p *GateParting) write(out *printer) {
	out.printf("  first difference, seed %d:\n", p.Seed)
	for l := range strings.Lines(p.text()) {
		out.printf("  %s", l)
	}
}

func (p *GateParting) text() string {
	var b strings.Builder
	p.difference.writeParting(&printer{w: &b}, gateBaseline, gateNow)
	return b.String()
}
