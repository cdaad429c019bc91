package check

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
)

func zip(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.NoCompression)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func unzip(t testing.TB, file []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func drawTransitionsOnce(t testing.TB) sim.Transitions {
	t.Helper()
	return rapid.Custom(drawTransitions).Filter(func(ts sim.Transitions) bool { return len(ts) > 20 }).Example(1)
}

// header begins every scenario of the tests.
const header = "apiVersion: gangplan/v1alpha1\nkind: Scenario\n"

// queueing is a scenario in which a gang of eight GPUs waits for the first job, which has six of
// eight until 600 s. The late one would fit beside it; in a StrictFIFO queue it waits behind
// the gang, in a BestEffortFIFO queue it does not.
const queueing = header + `cluster: {synthetic: {hosts: 1, gpus: 8}}
workload:
  jobs:
  - {id: first, duration: 600s, gpusPerPod: 6}
  - {id: gang, submit: 60s, duration: 600s, pods: 8, gpusPerPod: 1}
  - {id: late, submit: 120s, duration: 300s, gpusPerPod: 2}
queues: [{name: default, strategy: StrictFIFO, quota: {gpu: 8}}]
policies: [gang, {name: gang-topology, as: topology}]
`

// drawn is a scenario whose jobs depend on the seed.
const drawn = header + `cluster: {synthetic: {racks: 2, hosts: 2, gpus: 8}}
workload: {synthetic: {mix: llm, jobs: 30, load: 1.2}}
policies: [gang]
`

// folder makes a corpus of some files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// edit replaces a text that must be in a file.
func edit(t testing.TB, dir, name, old, new string) {
	t.Helper()
	text := get(t, dir, name)
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not have %q:\n%s", name, old, text)
	}
	put(t, dir, name, strings.Replace(text, old, new, 1))
}

// contents are all files of a folder by name.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if out[e.Name()] = "a folder"; !e.IsDir() {
			out[e.Name()] = get(t, dir, e.Name())
		}
	}
	return out
}

// run checks a corpus, which must be possible.
func run(t testing.TB, dir string, o Options) *report.Gate {
	t.Helper()
	g, err := Run(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// based is a corpus with its baselines.
func based(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := folder(t, files)
	run(t, dir, Options{Update: true})
	return dir
}

// text is a gate as the terminal has it, the folder cut out.
func text(t testing.TB, g *report.Gate, dir string) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.Write(&b, "table", report.GateOptions{}); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), slash(dir), "DIR")
}

// says wants a gate to be failed or passed, and to say some things.
func says(t testing.TB, g *report.Gate, dir string, passed bool, parts ...string) {
	t.Helper()
	got := strings.Join(strings.Fields(text(t, g, dir)), " ")
	if g.Passed != passed {
		t.Errorf("passed %v, want %v", g.Passed, passed)
	}
	for _, part := range parts {
		if !strings.Contains(got, strings.Join(strings.Fields(part), " ")) {
			t.Errorf("does not say %q:\n%s", part, text(t, g, dir))
		}
	}
}
