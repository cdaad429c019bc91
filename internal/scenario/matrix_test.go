package scenario

import (
	"fmt"
	"strings"
	"testing"
)

var someMetrics = []string{"wait.p95_seconds", "gpu_hours.idle"}

// showStudy reads a study, to which what it lacks is added at the end, and shows axes,
// cells and what the first and the last cell set.
func showStudy(text string) string {
	parts := []struct{ field, text string }{
		{"apiVersion", "apiVersion: gangplan/v1alpha1"},
		{"kind", "kind: Study"},
		{"scenario", "scenario: base.yaml"},
	}
	for _, p := range parts {
		if !strings.Contains("\n"+text, "\n"+p.field+":") {
			text += "\n" + p.text
		}
	}
	s, err := ParseStudy("study.yaml", []byte(text), "testdata/files", someMetrics)
	if err != nil {
		return errorText(err, "")
	}
	var b strings.Builder
	for _, a := range s.Axes {
		fmt.Fprintf(&b, "axis %s of %s:", a.Name, strings.Join(a.Paths, " "))
		for _, p := range a.Points {
			fmt.Fprintf(&b, " %s", p.Label)
			if p.Numeric {
				fmt.Fprintf(&b, "=%v%s", p.Number, a.Unit)
			}
		}
		b.WriteString("\n")
	}
	cells := s.Cells()
	fmt.Fprintf(&b, "%d cells, keep %s, show %v\n", len(cells), s.Keep, s.Metrics)
	for _, at := range [][]int{cells[0], cells[len(cells)-1]} {
		var set []Override
		for i, k := range at {
			set = append(set, s.Axes[i].Points[k].Set...)
		}
		for _, o := range set {
			fmt.Fprintf(&b, "  %s: %s\n", o.Path, o.Value)
		}
		f, err := s.Base.With(set...)
		if err == nil {
			_, err = f.Resolve(s.Dir)
		}
		b.WriteString(errorText(err, "  resolves\n"))
	}
	return b.String()
}

func FuzzParseStudy(f *testing.F) {
	f.Add("scenario: base.yaml\nmatrix: {seed: 1..3, policy: [gang, {name: gang, as: b}]}\nexclude: [{seed: 2}]")
	f.Add("scenario: {cluster: {synthetic: {hosts: 1, gpus: 8}}, workload: {jobs: [{id: a, gpus: 1, duration: 1}]}}\nmatrix: {until: {from: 1m, to: 2m10s, step: 7s}}")
	f.Add("scenario: base.yaml\nmatrix: {a: {x: {seed: 1}, y: {}}}\nkeep: summary\nmetrics: [gpu_hours.idle]")
	f.Fuzz(func(t *testing.T, text string) {
		text = "apiVersion: gangplan/v1alpha1\nkind: Study\n" + text
		s, err := ParseStudy("study.yaml", []byte(text), "testdata/files", someMetrics)
		if errs, ok := err.(Errors); err != nil && (!ok || len(errs) == 0 || len(errs) > MaxErrors) {
			t.Fatalf("not a list of errors: %v", err)
		} else if err != nil {
			return
		}
		for _, at := range s.Cells() {
			for i, k := range at {
				if k < 0 || k >= len(s.Axes[i].Points) {
					t.Fatalf("cell %v is outside of axis %d", at, i)
				}
			}
		}
	})
}

// Ranges are exact: as many values as there are steps, in decimals as written.
func TestRangesAreExact(t *testing.T) {
	for _, c := range []struct{ path, from, to, step, want string }{
		{"scale.load", "0.1", "0.7", "0.1", "0.1 0.2 0.3 0.4 0.5 0.6 0.7"},
		{"scale.load", "0.5", "1.5", "0.25", "0.5 0.75 1 1.25 1.5"},
		{"scale.load", "1", "2.2", "0.4", "1 1.4 1.8 2.2"},
		{"cluster.synthetic.racks", "2", "8", "3", "2 5 8"},
		{"waitForPodsReady.timeout", "30", "2m", "45s", "30s 1m15s 2m"},
		{"queues[a].quota.gpu", "500m", "2", "0.75", "0.5 1.25 2"},
		{"queues[a].quota.memory", "512Mi", "2Gi", "512Mi", "512Mi 1Gi 1536Mi 2Gi"},
		{"workload.jobs[0].priority", "-2", "2", "2", "-2 0 2"},
		{"seed", "18", "18", "5", "18"},
	} {
		text := fmt.Sprintf("apiVersion: gangplan/v1alpha1\nkind: Study\nscenario: base.yaml\nmatrix: {'%s': {from: %s, to: %s, step: %s}}", c.path, c.from, c.to, c.step)
		s, err := ParseStudy("study.yaml", []byte(text), "testdata/files", nil)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		var got []string
		for _, p := range s.Axes[1].Points {
			got = append(got, p.Label)
			if !p.Numeric {
				t.Errorf("%s: %s is no number", c.path, p.Label)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s from %s to %s by %s: %v, expected %s", c.path, c.from, c.to, c.step, got, c.want)
		}
	}
}
