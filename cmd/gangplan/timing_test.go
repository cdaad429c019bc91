package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/sim"
)

// timingRow is a row of the table in docs/timing.md: one or several fields with a value each.
var timingRow = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| ([^|]*) \\| [^|]+ \\|$")

// timingFields returns the fields of docs/timing.md as YAML lays them over a preset.
func timingFields(t *testing.T) (fields []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/timing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range timingRow.FindAllStringSubmatch(string(text), -1) {
		names, values := strings.Split(m[1], ", "), strings.Split(m[2], ", ")
		if len(names) != len(values) {
			t.Fatalf("%s has the values %s", m[1], m[2])
		}
		for i := range names {
			fields = append(fields, strings.Trim(names[i], "`")+": "+values[i])
		}
	}
	return fields
}

// underPreset writes fields into a timing; those with a dot in their name are of a mapping.
func underPreset(preset string, fields []string) string {
	var flat, start []string
	for _, f := range fields {
		if inner, ok := strings.CutPrefix(f, "start."); ok {
			start = append(start, inner)
		} else {
			flat = append(flat, f)
		}
	}
	flat = append([]string{"preset: " + preset}, flat...)
	if len(start) > 0 {
		flat = append(flat, "start: {"+strings.Join(start, ", ")+"}")
	}
	return "{" + strings.Join(flat, ", ") + "}"
}

func timingOf(t *testing.T, timing string) sim.Timing {
	t.Helper()
	f, err := scenario.Parse("timing", fmt.Appendf(nil, `apiVersion: gangplan/v1alpha1
kind: Scenario
cluster: {nodes: [{name: n1, gpus: 8}]}
workload: {jobs: [{id: a, duration: 1h, gpus: 1}]}
policies: [gang]
timing: %s
`, timing))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	got := s.Config.Timing
	got.Name = sim.Kubernetes.Name
	return got
}

// Every field of docs/timing.md is one of the scenario format, with the value of the preset.
func TestTimingDocsFields(t *testing.T) {
	for _, field := range timingFields(t) {
		t.Run(field, func(t *testing.T) {
			if got := timingOf(t, underPreset("kubernetes", []string{field})); got != sim.Kubernetes {
				t.Errorf("the preset says otherwise: %+v, with %s %+v", sim.Kubernetes, field, got)
			}
		})
	}
}

// The fields of docs/timing.md together are the whole preset: none is missing.
func TestTimingDocsComplete(t *testing.T) {
	if got := timingOf(t, underPreset("instant", timingFields(t))); got != sim.Kubernetes {
		t.Errorf("the fields of the docs are %+v\nand the preset is       %+v", got, sim.Kubernetes)
	}
}
