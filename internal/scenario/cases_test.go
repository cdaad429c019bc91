package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// TestCases runs the cases of testdata/cases. A case is a command, a text and what is
// expected: the mistakes in the text, or a view of the scenario that it makes. The files
// that scenarios name are in testdata/files.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, runCase)
	})
}

func runCase(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "durations":
		return parseEach(d.Input, new(Duration))
	case "quantities":
		return parseEach(d.Input, new(Milli))
	case "memory":
		return parseEach(d.Input, new(Bytes))
	case "parse":
		_, err := Parse("s.yaml", []byte(d.Input))
		return errorText(err, "ok\n")
	case "study":
		return showStudy(d.Input)
	case "with":
		return with(t, d.Input)
	case "resolve":
		_, err := resolveText(d.Input)
		return errorText(err, "ok\n")
	}
	s, err := resolveText(d.Input)
	if err != nil {
		return errorText(err, "")
	}
	return view(t, d, s)
}

// view shows a part of a scenario.
func view(t *testing.T, d *datadriven.TestData, s *Scenario) string {
	var b strings.Builder
	switch d.Cmd {
	case "nodes":
		showNodes(&b, s.Config.Cluster)
	case "jobs":
		for i := range s.Config.Jobs {
			showJob(&b, &s.Config.Jobs[i])
		}
	case "models":
		for i := range s.Config.Jobs {
			showModel(&b, &s.Config.Jobs[i])
		}
	case "events":
		for _, f := range s.Config.Actions {
			fmt.Fprintf(&b, "%s do %d node %d job %d pod %d\n", Duration(f.Time), f.Do, f.Node, f.Job, f.Rank)
		}
	case "notes":
		for _, w := range s.Warnings {
			fmt.Fprintln(&b, "warning:", w)
		}
		for _, a := range s.Assumptions {
			fmt.Fprintln(&b, "assumed:", a)
		}
	case "queues":
		for _, q := range s.Config.Queues {
			showQueue(&b, q)
		}
	case "settings":
		showSettings(&b, s.Config)
	case "policies":
		showPolicies(&b, s)
	case "select":
		showSelection(&b, d, s)
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	return b.String()
}

func showSelection(b *strings.Builder, d *datadriven.TestData, s *Scenario) {
	var labels []string
	for _, arg := range d.CmdArgs {
		for _, v := range arg.Vals {
			if v != "" {
				labels = append(labels, v)
			}
		}
	}
	if err := s.Select(labels); err != nil {
		fmt.Fprintln(b, err)
		return
	}
	showPolicies(b, s)
}

// resolveText resolves a text to which the parts of a scenario that it lacks are added at
// the end, so that places are those in the text.
func resolveText(text string) (*Scenario, error) {
	f, err := Parse("s.yaml", []byte(withHeader(text)))
	if err != nil {
		return nil, err
	}
	return f.Resolve("testdata/files")
}

// withHeader adds what a text lacks to be a scenario.
func withHeader(text string) string {
	parts := []struct{ field, text string }{
		{"apiVersion", "apiVersion: gangplan/v1alpha1"},
		{"kind", "kind: Scenario"},
		{"cluster", "cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}"},
		{"workload", "workload: {jobs: [{id: a, duration: 1m, gpus: 8}]}"},
	}
	whole := text + "\n"
	for _, p := range parts {
		if !strings.HasPrefix(text, p.field+":") && !strings.Contains(text, "\n"+p.field+":") {
			whole += p.text + "\n"
		}
	}
	return whole
}

func errorText(err error, none string) string {
	if err == nil {
		return none
	}
	if e, ok := err.(Errors); !ok || len(e) == 0 || len(e) > MaxErrors {
		return fmt.Sprintf("not a list of errors: %#v\n", err)
	}
	return err.Error() + "\n"
}

// parseEach parses every line of a text.
func parseEach(text string, into textual) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if err := into.fromText(line); err != nil {
			fmt.Fprintln(&b, err)
		} else {
			fmt.Fprintf(&b, "%s = %d\n", line, reflect.ValueOf(into).Elem().Int())
		}
	}
	return b.String()
}

func showNodes(b *strings.Builder, c *topology.Cluster) {
	fmt.Fprintln(b, "levels", strings.Join(c.Levels, " "))
	for i := range c.Nodes {
		n := &c.Nodes[i]
		fmt.Fprintf(b, "%s: %s", strings.Join(append(n.Path[:len(n.Path):len(n.Path)], n.Name), "/"), amounts(n.Allocatable))
		if n.GPUModel != "" {
			fmt.Fprintf(b, " %s", n.GPUModel)
		}
		if n.Labels != nil {
			fmt.Fprintf(b, " %v", n.Labels)
		}
		fmt.Fprintln(b)
	}
}

// amounts writes a vector of resources; in GiB where memory is whole GiB.
func amounts(r topology.Resources) string {
	memory := fmt.Sprintf("%d B", r[topology.Memory])
	if r[topology.Memory]%topology.GiB == 0 {
		memory = fmt.Sprintf("%d GiB", r[topology.Memory]/topology.GiB)
	}
	return fmt.Sprintf("%v gpu, %v cpu, %s, %d pods", float64(r[topology.GPU])/1000, float64(r[topology.CPU])/1000, memory, r[topology.Pods])
}

func showJob(b *strings.Builder, j *workloads.Job) {
	fmt.Fprintf(b, "%s row %d: submit %s duration %s queue %s", j.ID, j.Row, Duration(j.Submit), Duration(j.Duration), j.Queue)
	for _, f := range []struct {
		text string
		show bool
	}{
		{"tenant " + j.Tenant, j.Tenant != ""},
		{fmt.Sprint("priority ", j.Priority), j.Priority != 0},
		{"startup " + Duration(j.Startup).String(), j.Startup >= 0},
		{"limit " + Duration(j.TimeLimit).String(), j.TimeLimit != 0},
		{fmt.Sprintf("checkpoint %s/%s", Duration(j.CheckpointCost), Duration(j.CheckpointInterval)), j.CheckpointInterval != 0},
		{fmt.Sprintf("image %s of %d B", j.Image, j.ImageBytes), j.Image != ""},
		{"carried", j.Carried},
	} {
		if f.show {
			b.WriteString(" " + f.text)
		}
	}
	if j.Model != nil {
		b.WriteString(" model " + j.Model.Name)
	}
	b.WriteString("\n")
	for i := range j.PodSets {
		showPodSet(b, &j.PodSets[i])
	}
}

func showModel(b *strings.Builder, j *workloads.Job) {
	fmt.Fprintf(b, "%s of %d GPUs: ", j.ID, j.TotalGPUs()/1000)
	m := j.Model
	if m == nil {
		b.WriteString("none\n")
		return
	}
	fmt.Fprintf(b, "%s %d B cut %dx%d compute %s on %q overlap %d", m.Name, m.GradientBytes, m.Tensor, m.Pipeline, Duration(m.Compute), m.GPU, m.OverlapMilli)
	if m.FullyShard {
		b.WriteString(" sharded")
	}
	b.WriteString("\n")
}

func showPodSet(b *strings.Builder, p *workloads.PodSet) {
	fmt.Fprintf(b, "  %s: %d of %s", p.Name, p.Count, amounts(p.Request))
	if p.MinCount != 0 {
		fmt.Fprintf(b, " min %d", p.MinCount)
	}
	if p.NeverReady != 0 {
		fmt.Fprintf(b, " never ready %d", p.NeverReady)
	}
	if p.Node != "" {
		fmt.Fprintf(b, " on %s", p.Node)
	}
	if p.Models != nil {
		fmt.Fprintf(b, " models %v", p.Models)
	}
	if p.Topology.Mode != workloads.TopologyNone {
		fmt.Fprintf(b, " topology %d %s", p.Topology.Mode, p.Topology.Level)
	}
	for _, s := range p.Topology.Slices {
		if s.Size > 0 {
			fmt.Fprintf(b, " slices of %d in a %s", s.Size, s.Level)
		}
	}
	for _, r := range p.NodeSelector {
		fmt.Fprintf(b, " where %s is %s", r.Key, r.Values[0])
	}
	if a := p.NodeAffinity; len(a.Required)+len(a.Preferred) > 0 {
		fmt.Fprintf(b, " on nodes of %v, better of %v", a.Required, a.Preferred)
	}
	if p.Tolerations != nil {
		fmt.Fprintf(b, " tolerates %v", p.Tolerations)
	}
	if p.Topology.Group != "" {
		fmt.Fprintf(b, " group %s", p.Topology.Group)
	}
	b.WriteString("\n")
}

func showQueue(b *strings.Builder, q quota.Queue) {
	fmt.Fprintf(b, "%s %s:", q.Name, q.Strategy)
	for r := range topology.NumResources {
		if q.Covers[r] {
			fmt.Fprintf(b, " %s %d", r, q.Nominal[r])
		}
	}
	if q.Cohort != "" || q.Preemption != (quota.Preemption{}) || q.Weight.Set {
		fmt.Fprintf(b, " cohort %q weight %v preemption %+v", q.Cohort, q.Weight, q.Preemption)
	}
	for _, g := range q.Groups {
		fmt.Fprintf(b, " limits %+v", g.Flavors[0].Quota[topology.GPU])
	}
	b.WriteString("\n")
}

func showPolicies(b *strings.Builder, s *Scenario) {
	for _, p := range s.Policies {
		fmt.Fprintf(b, "%s: %s %v\n", p.Label, p.Declaration.Name, p.Params)
	}
}

func showSettings(b *strings.Builder, c *sim.Config) {
	fmt.Fprintf(b, "timing %+v\n", c.Timing)
	fmt.Fprintf(b, "pods ready %+v\n", c.PodsReady)
	fmt.Fprintf(b, "creation %d, notice %s action %d, starvation %s, until %s, seed %d\n",
		c.Creation, Duration(c.Notice.After), c.Notice.Action, Duration(c.StarvationAfter), Duration(c.Until), c.Seed)
}
