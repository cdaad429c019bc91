package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/report"
)

// phrases say what it is to be lower or higher in a metric; %s is by how much.
var phrases = map[string][2]string{
	"wait.mean_seconds":       {"waits %s less on average", "waits %s longer on average"},
	"wait.p50_seconds":        {"waits %s less at the median", "waits %s longer at the median"},
	"wait.p90_seconds":        {"waits %s less at the 90th percentile", "waits %s longer at the 90th percentile"},
	"wait.p95_seconds":        {"waits %s less at the 95th percentile", "waits %s longer at the 95th percentile"},
	"wait.p99_seconds":        {"waits %s less at the 99th percentile", "waits %s longer at the 99th percentile"},
	"wait.max_seconds":        {"has a longest wait that is %s shorter", "has a longest wait that is %s longer"},
	"wait.by_job_seconds":     {"starts the median job %s sooner", "starts the median job %s later"},
	"jct.by_job_seconds":      {"finishes the median job %s sooner", "finishes the median job %s later"},
	"jct.mean_seconds":        {"completes jobs %s sooner on average", "completes jobs %s later on average"},
	"jct.p95_seconds":         {"completes jobs %s sooner at the 95th percentile", "completes jobs %s later at the 95th percentile"},
	"makespan_seconds":        {"is done %s sooner", "is done %s later"},
	"jobs.finished":           {"finishes %s jobs fewer", "finishes %s jobs more"},
	"requeues":                {"requeues %s times less", "requeues %s times more"},
	"preemptions":             {"preempts %s times less", "preempts %s times more"},
	"gpu_hours.held":          {"holds %s GPU-hours less for incomplete gangs", "holds %s GPU-hours more for incomplete gangs"},
	"gpu_hours.idle":          {"leaves %s GPU-hours less idle", "leaves %s GPU-hours more idle"},
	"utilisation":             {"has a utilisation that is %s lower", "has a utilisation that is %s higher"},
	"allreduce_slowdown.mean": {"slows all-reduces by %s less", "slows all-reduces by %s more"},
	"verdicts.deadlock":       {"deadlocks %s times less", "deadlocks %s times more"},
}

// jobWords say what is done to jobs that are compared one by one.
var jobWords = map[string]string{"wait.by_job_seconds": "starts", "jct.by_job_seconds": "finishes"}

// sentences are what can be said of a group, worse first, each to be quoted by itself.
func (c *Comparison) sentences(g *Group) []string {
	var out []string
	for _, v := range []Verdict{Worse, Better, Changed} {
		for i := range g.Rows {
			if g.Rows[i].Verdict == v {
				out = append(out, c.sentence(g, &g.Rows[i]))
			}
		}
	}
	if unclear := named(g.Rows, Unclear); len(unclear) > 0 {
		out = append(out, fmt.Sprintf("No significant difference%s in %s.", g.where(), strings.Join(unclear, ", ")))
	}
	if same := named(g.Rows, Same); len(same) > 0 && len(out) == 0 && len(same) == len(g.Rows) {
		out = append(out, fmt.Sprintf("%s and %s do not differ%s in any of %s.", c.A.Name, c.B.Name, g.where(), report.Count(len(same), "metric")))
	}
	return out
}

func named(rows []Row, v Verdict) []string {
	var names []string
	for i := range rows {
		if rows[i].Verdict == v {
			names = append(names, rows[i].Metric)
		}
	}
	return names
}

// sentence says one difference, with what it rests on.
func (c *Comparison) sentence(g *Group, r *Row) string {
	ofJobs := isByJob(r.metric) && len(g.runs.pairs) == 1
	text := fmt.Sprintf("%s %s than %s%s", c.B.Name, r.phrase(), c.A.Name, g.where())
	switch {
	case ofJobs:
		words := jobWords[r.Metric]
		text = fmt.Sprintf("%s %s %d of %s sooner and %d later than %s%s, the median by %s", c.B.Name, words, r.Lower, report.Count(r.Pairs, "job"), r.Higher, c.A.Name, g.where(), r.signed(r.d))
	case math.IsInf(r.d, -1):
		text = fmt.Sprintf("%s of %s is %s%s, where that of %s is never", r.Metric, c.B.Name, r.metric.Text(r.b, r.B != nil), g.where(), c.A.Name)
	case math.IsInf(r.d, 1):
		text = fmt.Sprintf("%s of %s is never%s, where that of %s is %s", r.Metric, c.B.Name, g.where(), c.A.Name, r.metric.Text(r.a, r.A != nil))
	}
	var notes []string
	if r.Relative != nil {
		notes = append(notes, percentText(*r.Relative))
	}
	if r.interval != nil {
		notes = append(notes, c.level()+" CI "+r.intervalText())
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	switch r.Test {
	case signedRank:
		if text += ", p" + equation(*r.Adjusted); !ofJobs {
			text += fmt.Sprintf(", %d seeds", r.Pairs)
		}
	case rankSum:
		text += fmt.Sprintf(", p%s, %s not paired", equation(*r.Adjusted), g.runs.sizes())
	case exact:
		text += ", exactly, with one seed"
	}
	return text + "."
}

// phrase says by how much B is lower or higher.
func (r *Row) phrase() string {
	lower := r.d < 0 || r.d == 0 && r.Lower > r.Higher
	size := strings.TrimPrefix(r.metric.Text(math.Abs(r.d), true), "-")
	switch {
	case r.d == 0 && lower:
		return fmt.Sprintf("is more often lower in %s (%d of %d)", r.Metric, r.Lower, r.Pairs)
	case r.d == 0:
		return fmt.Sprintf("is more often higher in %s (%d of %d)", r.Metric, r.Higher, r.Pairs)
	}
	if words, ok := phrases[r.Metric]; ok {
		text := fmt.Sprintf(words[map[bool]int{true: 0, false: 1}[lower]], size)
		if size == "1" {
			text = strings.NewReplacer(" 1 jobs ", " 1 job ", " 1 times ", " 1 time ").Replace(text)
		}
		return text
	}
	return fmt.Sprintf("is %s %s in %s", size, map[bool]string{true: "lower", false: "higher"}[lower], r.Metric)
}

func (r *Row) intervalText() string {
	return r.signed(r.interval.Low) + " to " + r.signed(r.interval.High)
}

// signed writes a difference with its sign: infinite to or from what never came.
func (r *Row) signed(d float64) string {
	switch {
	case math.IsInf(d, -1):
		return "−∞"
	case math.IsInf(d, 1):
		return "+∞"
	case d < 0:
		return "−" + r.metric.Text(-d, true)
	case d > 0:
		return "+" + r.metric.Text(d, true)
	}
	return r.metric.Text(0, true)
}

// percentText writes a share with its sign.
func percentText(x float64) string {
	s := strconv.FormatFloat(100*math.Abs(x), 'f', 1, 64) + "%"
	if x < 0 {
		return "−" + s
	}
	return "+" + s
}

// pText writes a probability with two digits that count, no smaller than it is worth.
func pText(p float64) string {
	switch {
	case p < 0.0001:
		return "<0.0001"
	case p >= 0.1:
		return strconv.FormatFloat(p, 'f', 2, 64)
	case p >= 0.01:
		return strconv.FormatFloat(p, 'f', 3, 64)
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// equation writes p for a sentence.
func equation(p float64) string {
	s := pText(p)
	if strings.HasPrefix(s, "<") {
		return s
	}
	return "=" + s
}
