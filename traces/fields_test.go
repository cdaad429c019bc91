package traces

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/workloads"
)

// lookup is the context of a trace whose only model is resnet-50.
func lookup() *context { return newContext(Options{}.withDefaults()) }

// TestEveryFieldReadsAndWrites says for each field what it reads and how it writes it
// again. An empty writing is one that is left out.
func TestEveryFieldReadsAndWrites(t *testing.T) {
	cases := []struct{ field, text, written string }{
		{"id", "job 1", "job 1"},
		{"row", "0", "0"},
		{"row", "82247", "82247"},
		{"submit_seconds", "0", "0"},
		{"submit_seconds", "60.500", "60.5"},
		{"duration_seconds", "0.0", "0"},
		{"duration_seconds", "86400.000000001", "86400.000000001"},
		{"gpus", "0", "0"},
		{"gpus", "64.0", "64"},
		{"queue", "research", "research"},
		{"tenant", "6214e9", "6214e9"},
		{"priority", "0", ""},
		{"priority", "-2147483648", "-2147483648"},
		{"model", "resnet-50", "resnet-50"},
		{"time_limit_seconds", "0", ""},
		{"time_limit_seconds", "3600", "3600"},
		{"checkpoint_interval_seconds", "1800", "1800"},
		{"checkpoint_cost_seconds", "0.25", "0.25"},
		{"startup_seconds", "0", "0"}, // not the same as nothing: the timing's
		{"startup_seconds", "90", "90"},
		{"image", "registry/train:v1", "registry/train:v1"},
		{"image_size", "8589934592", "8GiB"},
		{"carried", "true", "true"},
		{"carried", "false", ""},
		{"pod_affinity", "rack|zone:50", "rack|zone:50"},
		{"pod_anti_affinity", "host:1", "host:1"},
		{"pod_affinity", "rack@app=web&!canary|zone:7@a;b#|host@*#app=a;b", "rack@app=web&!canary|zone:7@a;b#|host@*#app=a;b"},
		{"pod_affinity", "rack@", "rack@"},
		{"pod_affinity", "rack@-|rack@a#-", "rack@-|rack@a#-"},
		{"topology_spread", "rack:1|zone:04:soft", "rack:1|zone:4:soft"},
		{"topology_spread", "rack:1:all-nodes:min=3:soft:taints@app=web", "rack:1:soft:min=3:taints:all-nodes@app=web"},
		{"namespace", "team-a", "team-a"},
		{"labels", "tier=|app=web", "app=web|tier="},
		{"preemption_policy", "Never", "Never"},
		{"preemption_policy", "PreemptLowerPriority", ""},
		{"pods", "8", "8"},
		{"gpus_per_pod", "0", "0"},
		{"gpus_per_pod", "0.125", "0.125"},
		{"podset", "workers", ""}, // the name by default
		{"podset", "launcher", "launcher"},
		{"cpus_per_pod", "1.50", "1.5"},
		{"cpus_per_pod", "0", "0"}, // none, and not unknown
		{"memory_per_pod", "0.5GiB", "512MiB"},
		{"memory_per_pod", "0GiB", "0"},
		{"maximum_execution_seconds", "90.5", "90.5"},
		{"termination_seconds", "0", "0"}, // at once, and not the timing's
		{"termination_seconds", "30", "30"},
		{"lost_node_seconds", "300.5", "300.5"},
		{"restarts", "7200+60@3|0.5+1", "7200+60@3|0.5+1"},
		{"completions", "100", "100"},
		{"plain_pods", "true", "true"},
		{"min_pods", "0", ""},
		{"min_pods", "6", "6"},
		{"gpu_models", "A100 | H100", "A100|H100"},
		{"topology", "required:rack", "required:rack"},
		{"topology", "preferred:a:b", "preferred:a:b"},
		{"topology", "unconstrained", "unconstrained"},
		{"topology", "slice-only", "slice-only"},
		{"slices", "rack:4", "rack:4"},
		{"slices", "a:b:16|rack:08|host:2", "a:b:16|rack:8|host:2"},
		{"group", "mpi", "mpi"},
		{"node_selector", "pool=spot|gen=", "pool=spot|gen="},
		{"node_affinity", "zone=a;b&gen>8&!spot|rack!=r1;&pool&gen<-1:5", "zone=a;b&gen>8&!spot|rack!=r1;&pool&gen<-1:5"},
		{"node_affinity", "pool:7|zone=a|!spot:100", "zone=a|pool:7|!spot:100"},
		{"tolerations", "spot", "spot"},
		{"tolerations", "spot=x:NoSchedule|gone:NoExecute|*|*:PreferNoSchedule|k=", "spot=x:NoSchedule|gone:NoExecute|*|*:PreferNoSchedule|k="},
		{"node", "node-7", "node-7"},
		{"never_ready", "1", "1"},
	}
	covered := map[string]bool{}
	for _, c := range cases {
		covered[c.field] = true
		d := newDraft(1)
		if err := d.put(lookup(), slots[c.field], c.text); err != nil {
			t.Errorf("%s %q: %v", c.field, c.text, err)
			continue
		}
		texts := written(&d.job)
		writePods(texts, &d.pod)
		if got := texts[slots[c.field]]; got != c.written {
			t.Errorf("%s %q was written %q, want %q", c.field, c.text, got, c.written)
		}
	}
	for _, name := range slotNames {
		if !covered[name] {
			t.Errorf("no case for the field %s", name)
		}
	}
}

func TestAFieldChangesNothingElse(t *testing.T) {
	empty := newDraft(1)
	want := written(&empty.job)
	for _, c := range []struct{ field, text string }{{"queue", "q"}, {"priority", "3"}, {"startup_seconds", "4"}, {"carried", "true"}} {
		d := newDraft(1)
		if err := d.put(lookup(), slots[c.field], c.text); err != nil {
			t.Fatal(err)
		}
		got := written(&d.job)
		got[slots[c.field]] = want[slots[c.field]]
		if !slices.Equal(got, want) {
			t.Errorf("%s changed other fields too: %q", c.field, got)
		}
	}
}

func TestFieldNamesAreDistinctWords(t *testing.T) {
	if len(slots) != len(slotNames) || len(slotNames) > 64 {
		t.Fatalf("%d names for %d fields: want as many, and at most 64", len(slots), len(slotNames))
	}
	for _, name := range slotNames {
		if name == podSetsKey || quoteOdd(name) != name || name != strings.ToLower(name) {
			t.Errorf("%q is no plain name of a field", name)
		}
	}
}

func TestNamesAreSharedBetweenJobs(t *testing.T) {
	c := lookup()
	line := "research,vision" // as a record of CSV: cells are parts of one text
	first, err := c.name(line[:8])
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, _ := c.name(strings.Clone("research"))
		if again != first || len(c.names) != 1 {
			t.Errorf("%q was kept %d times", again, len(c.names))
		}
	}
}

func TestNamesThatDoNotRepeatAreNotKept(t *testing.T) {
	c := lookup()
	for i := range 1<<16 + 10 {
		if _, err := c.name(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.names) != 1<<16 {
		t.Errorf("%d names were kept, want a bounded number", len(c.names))
	}
}

func TestDraftWantsItsFields(t *testing.T) {
	given := map[string]string{"id": "a", "submit_seconds": "0", "duration_seconds": "1", "pods": "2", "gpus_per_pod": "1"}
	read := func(without string) error {
		d := newDraft(1)
		for name, s := range given {
			if name == without {
				continue
			}
			if err := d.put(lookup(), slots[name], s); err != nil {
				t.Fatal(err)
			}
		}
		_, err := d.finish()
		return err
	}
	if err := read(""); err != nil {
		t.Errorf("all fields given: %v", err)
	}
	for name := range given {
		if err := read(name); err == nil || err.Error() != name+": missing" {
			t.Errorf("without %s: error %v", name, err)
		}
	}
}

func TestErrorsOfValidateNameOurFields(t *testing.T) {
	for theirs, ours := range map[string]string{
		"podsets[0].count": "pods", "podsets": "pods", "podsets[2].min_count": "min_pods", "podsets[1].name": "podset",
		"image_bytes": "image_size", "podsets[0].topology": "topology", "gpus": "gpus", "podsets[0].never_ready": "never_ready",
	} {
		got := inOurWords(&workloads.FieldError{Field: theirs, Problem: "bad"})
		if got.Error() != ours+": bad" {
			t.Errorf("%s became %q, want %s", theirs, got, ours)
		}
		if _, known := slots[ours]; !known {
			t.Errorf("%s is no field", ours)
		}
	}
	for problem, ours := range map[string]string{
		"nvidia.com/gpu: bad": "gpus_per_pod", "cpu: bad": "cpus_per_pod", "memory: bad": "memory_per_pod", "pods: bad": "pods",
	} {
		got := inOurWords(&workloads.FieldError{Field: "podsets[0].request", Problem: problem})
		if got.Error() != ours+": "+problem {
			t.Errorf("%s became %q, want %s", problem, got, ours)
		}
	}
	if got := inOurWords(fmt.Errorf("odd")).(*fieldError); got.field != "" || got.msg != "odd" {
		t.Errorf("an error of another kind became %+v", got)
	}
}

func TestMistakesOfTopologies(t *testing.T) {
	for field, texts := range map[string]map[string]string{
		"node_selector": {"": `"" is no label`, "pool": "expected KEY=VALUE", "=a": "is no label", "a=b|": `"" is no label`, "a=\x00": "control character"},
		"node_affinity": {"": "key: missing", "!": "key: missing", "a&": `"" is no condition`, "=a": "key: missing", "a:0": "weight from 1 to 100",
			"gen>x": `"gen>x" is no condition on a label: expected KEY=A;B, KEY!=A;B, KEY>N, KEY<N, KEY or !KEY: its values: "x": expected one whole number`, "a=\x00": "control character"},
		"tolerations": {"": "is no toleration", "=v": "is no toleration", "k:": "is no toleration", "*=v": "is no toleration",
			"k:NoSched": "expected the effect NoSchedule", "k=v:NoSchedule:x": "expected the effect", "k|": "is no toleration"},
		"topology": {
			"required":        "with the name of a level",
			"slice-only:rack": "slice-only without",
			"slices":          "is no topology request",
			"none":            "is no topology request",
		},
		"slices": {
			"4":                         `"4" is no layer of slices: expected LEVEL:SIZE`,
			":4":                        "is no layer",
			"rack":                      "is no layer",
			"rack:":                     "",
			"rack:x":                    "",
			"rack:0":                    "slices of at least one pod",
			"rack:-1":                   "",
			"rack:4||host:2":            `"" is no layer`,
			"a:16|b:8|c:4|d:2":          "expected at most 3 layers",
			"rack:99999999999999":       "",
			"rack\x00:4":                "control character",
			"block:8|rack:4|rack\x00:2": "control character",
		},
	} {
		for text, want := range texts {
			d := newDraft(1)
			err := d.put(lookup(), slots[field], text)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: got %v, want %q", field, text, err, want)
			}
		}
	}
}
