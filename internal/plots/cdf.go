package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report/figure"
)

// waits are those of some jobs, in seconds and in order; +Inf for one that never started.
type waits struct {
	name   string
	values []float64
}

func (w *waits) started() int {
	n, _ := slices.BinarySearch(w.values, math.Inf(1))
	return n
}

// quantile is nearest-rank, as everywhere; NaN of nothing.
func (w *waits) quantile(p int) float64 {
	if len(w.values) == 0 {
		return math.NaN()
	}
	return w.values[max(1, (p*len(w.values)+99)/100)-1]
}

// line is the share of all jobs that started within a time, in percent. It goes on to the
// right end, so that one sees which share never did.
func (w *waits) line(end float64) figure.Line {
	l := figure.Line{Name: w.name, Steps: true}
	n, all := w.started(), float64(len(w.values))
	for i, v := range w.values[:n] {
		if i == 0 {
			l.Points = append(l.Points, figure.Point{X: v})
		}
		if i+1 == n || w.values[i+1] > v {
			l.Points = append(l.Points, figure.Point{X: v, Y: 100 * float64(i+1) / all})
		}
	}
	if n > 0 {
		l.Points = append(l.Points, figure.Point{X: end, Y: 100 * float64(n) / all})
	}
	return l
}

// Groupings returns what wait-cdf can draw a line for each of.
func Groupings() []string { return groupings }

var groupings = []string{"policy", "gang", "queue"}

// waitCDF draws one panel of all policies or, grouped otherwise, one per policy.
func waitCDF(in *Input, o *Options) (*figure.Chart, error) {
	if o.By != "" && !slices.Contains(groupings, o.By) {
		return nil, fmt.Errorf("unknown --by %q, expected one of %s%s", o.By, strings.Join(groupings, ", "), suggest.Hint(o.By, groupings))
	}
	jobs, err := readAllJobs(in)
	if err != nil {
		return nil, err
	}
	all := make([]waits, len(in.Runs))
	for i := range in.Runs {
		all[i] = collect(in.Runs[i].Label, jobs[i], func(*job) bool { return true })
	}
	c := &figure.Chart{Caption: waitCaption(all)}
	if o.By == "" || o.By == "policy" {
		c.Title = waitTitle(all)
		c.Panels = []figure.Panel{waitPanel(all, longest(all))}
		return c, nil
	}
	split := bySize
	if o.By == "queue" {
		split = byQueue
	}
	parts := make([][]waits, len(jobs))
	for i := range jobs {
		parts[i] = split(jobs)(jobs[i])
	}
	c.Title, c.Columns = partsTitle(all, parts), grid(len(parts))
	for i := range parts {
		p := waitPanel(parts[i], longest(all))
		p.Ordered = o.By == "gang"
		if len(parts) > 1 {
			p.Title = all[i].name
		}
		c.Panels = append(c.Panels, p)
	}
	return labelBelow(c), nil
}

// collect sorts the waits of some of the jobs.
func collect(name string, jobs []job, of func(*job) bool) waits {
	w := waits{name: name}
	for i := range jobs {
		if jobs[i].counted && of(&jobs[i]) {
			w.values = append(w.values, jobs[i].wait)
		}
	}
	slices.Sort(w.values)
	return w
}

// longest is how far lines go: somewhat beyond the longest wait of a job that started, so
// that one sees what they end at.
func longest(all []waits) float64 {
	end := 1.0
	for i := range all {
		if n := all[i].started(); n > 0 {
			end = max(end, all[i].values[n-1])
		}
	}
	return 1.2 * end
}

func waitPanel(all []waits, end float64) figure.Panel {
	p := figure.Panel{
		X:      figure.Axis{Label: "wait from submit to start (log scale)", Scale: figure.LogSeconds, Format: span},
		Y:      figure.Axis{Label: "jobs started (%)", Max: 100},
		Guides: []figure.Guide{{Y: 95, Text: "95%"}},
	}
	n := 0
	for i := range all {
		n += all[i].started()
		p.Lines = append(p.Lines, all[i].line(end))
	}
	if n == 0 {
		p.Empty = "no job started"
	}
	return p
}

func waitTitle(all []waits) string {
	told := make([]said, len(all))
	never := 0
	for i := range all {
		q := all[i].quantile(95)
		if math.IsNaN(q) {
			return "No job was submitted"
		}
		if math.IsInf(q, 1) {
			never++
		}
		told[i] = said{all[i].name, waited(q), q}
	}
	if never == len(all) {
		for i := range all {
			share := float64(all[i].started()) / float64(len(all[i].values))
			told[i] = said{all[i].name, percent(share), -share}
		}
		return "Jobs that ever start: " + telling(told)
	}
	return "95% of jobs start within " + telling(told)
}

// partsTitle names the part that waits longest, by its 95th percentile.
func partsTitle(all []waits, parts [][]waits) string {
	told := make([]said, len(parts))
	for i := range parts {
		if len(parts[i]) == 0 {
			return "No job was submitted"
		}
		worst := parts[i][0]
		for _, p := range parts[i] {
			if p.quantile(95) > worst.quantile(95) {
				worst = p
			}
		}
		told[i] = said{all[i].name, waited(worst.quantile(95)) + " (" + worst.name + ")", worst.quantile(95)}
	}
	return "Who waits longest, by the time within which 95% start: " + telling(told)
}

// waitCaption says what is counted, and which jobs are missing above the lines.
func waitCaption(all []waits) string {
	text := fmt.Sprintf("Over all %s, from submit until all pods of the job run.", count(len(all[0].values), "job"))
	if i := slices.IndexFunc(all, func(w waits) bool { return len(w.values) != len(all[0].values) }); i >= 0 {
		text = "Over all jobs submitted, from submit until all pods of the job run."
	}
	var missing []string
	for i := range all {
		if n := len(all[i].values) - all[i].started(); n > 0 {
			missing = append(missing, number(float64(n))+" under "+all[i].name)
		}
	}
	if len(missing) == 0 {
		return text
	}
	return text + " Never started, so that the line ends below 100%: " + joined(missing) + "."
}

// class is a range of sizes of jobs, in GPUs: above from, up to to.
type class struct {
	from, to float64
	name     string
}

// bySize splits jobs by the GPUs they ask for.
func bySize(all [][]job) func([]job) []waits {
	classes := classesOf(distinct(all))
	return func(jobs []job) (out []waits) {
		for _, c := range classes {
			if w := collect(c.name, jobs, func(j *job) bool { return j.gpus > c.from && j.gpus <= c.to }); len(w.values) > 0 {
				out = append(out, w)
			}
		}
		return out
	}
}

// distinct are the sizes of the jobs, in order.
func distinct(all [][]job) (sizes []float64) {
	for _, jobs := range all {
		for i := range jobs {
			if jobs[i].counted {
				sizes = append(sizes, jobs[i].gpus)
			}
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// mostSizes is how many lines can be told apart by how dark they are.
const mostSizes = 6

// classesOf gives every size a class of its own where there are few; else a job without
// GPUs, with up to one, up to eight, and then four times as many each.
func classesOf(sizes []float64) (out []class) {
	last := -1.0
	add := func(to float64, name string) {
		out = append(out, class{last, to, name})
		last = to
	}
	if len(sizes) > 0 && sizes[0] == 0 {
		add(0, "no GPU")
		sizes = sizes[1:]
	}
	if len(sizes) <= mostSizes {
		for _, s := range sizes {
			add(s, gpus(s))
		}
		return out
	}
	for limit := 1.0; last < sizes[len(sizes)-1]; limit *= 4 {
		switch limit {
		case 1:
			add(1, "up to 1 GPU")
		case 4: // a host of eight is not two classes
			limit = 8
			add(8, "2 to 8 GPUs")
		default:
			add(limit, number(last+1)+" to "+gpus(limit))
		}
	}
	return out
}

func gpus(n float64) string {
	if n == 1 {
		return "1 GPU"
	}
	return number(n) + " GPUs"
}

// byQueue splits jobs by their queue, the busiest first; where there are more than can be
// told apart, the jobs of all others are one line.
func byQueue(all [][]job) func([]job) []waits {
	names := busiest(all)
	var others []string
	if len(names) > mostLines {
		names, others = names[:mostLines-1], names[mostLines-1:]
	}
	return func(jobs []job) (out []waits) {
		for _, name := range names {
			if w := collect(name, jobs, func(j *job) bool { return j.queue == name }); len(w.values) > 0 {
				out = append(out, w)
			}
		}
		rest := collect(count(len(others), "other queue"), jobs, func(j *job) bool { return slices.Contains(others, j.queue) })
		if len(rest.values) > 0 {
			out = append(out, rest)
		}
		return out
	}
}

// busiest are the queues with jobs that count, by how many.
func busiest(all [][]job) (names []string) {
	n := map[string]int{}
	for _, jobs := range all {
		for i := range jobs {
			if !jobs[i].counted {
				continue
			}
			if n[jobs[i].queue] == 0 {
				names = append(names, jobs[i].queue)
			}
			n[jobs[i].queue]++
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return n[b] - n[a] })
	return names
}

// labelBelow keeps the labels of the X axis of the lowest panels only.
func labelBelow(c *figure.Chart) *figure.Chart {
	columns := max(1, c.Columns)
	for i := 0; i+columns < len(c.Panels); i++ {
		c.Panels[i].X.Label = ""
	}
	return c
}
