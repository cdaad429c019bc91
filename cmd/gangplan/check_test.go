package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// ciBlocks are the blocks of docs/ci.md in a language.
func ciBlocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("docs/ci.md has no block of %s", language)
	}
	return blocks
}

// blockWith is the block of docs/ci.md that has a text.
func blockWith(t *testing.T, language, text string) string {
	t.Helper()
	for _, b := range ciBlocks(t, language) {
		if strings.Contains(b, text) {
			return b
		}
	}
	t.Fatalf("docs/ci.md has no block of %s with %q", language, text)
	return ""
}

// newCorpus makes the corpus of the docs in an empty folder, and goes there.
func newCorpus(t *testing.T) {
	t.Helper()
	scenario := blockWith(t, "yaml", "kind: Scenario")
	t.Chdir(t.TempDir())
	if err := os.Mkdir("corpus", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "corpus/queue.yaml", scenario)
}

// What docs/ci.md shows of a failing gate is what is printed, as far as it is shown.
func TestCIExample(t *testing.T) {
	shown := blockWith(t, "text", "first difference")
	settings := blockWith(t, "yaml", "kind: Corpus")
	newCorpus(t)
	gangplan(t, exitOK, "check", "corpus", "--update")
	text, err := os.ReadFile("corpus/queue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "corpus/queue.yaml", strings.Replace(string(text), "StrictFIFO", "BestEffortFIFO", 1))
	got, _ := gangplan(t, exitFailed, "check", "corpus")
	rest := got
	for line := range strings.Lines(shown) {
		line, cut := strings.CutSuffix(strings.TrimSuffix(line, "\n"), "...")
		at := strings.Index(rest, "\n"+line)
		if at < 0 || !cut && !strings.HasPrefix(rest[at+1+len(line):], "\n") {
			t.Fatalf("docs/ci.md shows a line that is not printed there: %q\n%s", line, got)
		}
		rest = rest[at+1:]
	}
	write(t, "corpus/corpus.yaml", settings)
	gangplan(t, exitOK, "check", "corpus", "--update")
	gangplan(t, exitOK, "check", "corpus")
}

// The workflow of docs/ci.md is one, and its command works.
func TestCIWorkflow(t *testing.T) {
	var workflow struct {
		Name string
		On   map[string]any
		Jobs map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []struct {
				Uses, Run, If, Name string
				With                map[string]string
			}
		}
		Permissions map[string]string
	}
	d := yaml.NewDecoder(strings.NewReader(blockWith(t, "yaml", "runs-on")))
	d.KnownFields(true)
	if err := d.Decode(&workflow); err != nil {
		t.Fatal(err)
	}
	if _, ok := workflow.On["pull_request"]; !ok || len(workflow.Jobs) != 1 {
		t.Errorf("%+v", workflow)
	}
	action := regexp.MustCompile(`^actions/[a-z-]+@v[0-9]+$`)
	commands := 0
	for name, job := range workflow.Jobs {
		for i, s := range job.Steps {
			if (s.Uses == "") == (s.Run == "") || s.Uses != "" && !action.MatchString(s.Uses) {
				t.Errorf("job %s, step %d: %+v", name, i, s)
			}
			if args, ok := strings.CutPrefix(s.Run, "gangplan "); ok {
				commands++
				t.Run(s.Run, func(t *testing.T) {
					newCorpus(t)
					gangplan(t, exitOK, "check", "corpus", "--update")
					gangplan(t, exitOK, strings.Fields(strings.ReplaceAll(args, `"$GITHUB_STEP_SUMMARY"`, "summary.md"))...)
					for _, file := range []string{"junit.xml", "summary.md"} {
						if info, err := os.Stat(file); err != nil || info.Size() == 0 {
							t.Errorf("%s: %v", file, err)
						}
					}
				})
			}
		}
	}
	if commands != 1 {
		t.Errorf("%d commands of gangplan", commands)
	}
}

// The script that fetches traces takes what is there, and refuses what has another checksum.
func TestCIFetch(t *testing.T) {
	for _, program := range []string{"sh", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no ", program)
		}
	}
	script := blockWith(t, "sh", "sha256sum -c")
	t.Chdir(t.TempDir())
	write(t, "fetch.sh", script)
	if err := os.Mkdir("traces", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "traces/philly.csv.gz", "a trace")
	write(t, "traces.sha256", fmt.Sprintf("%x  traces/philly.csv.gz\n", sha256.Sum256([]byte("a trace"))))
	if out, err := exec.Command("sh", "fetch.sh").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	write(t, "traces/philly.csv.gz", "half of")
	if out, err := exec.Command("sh", "fetch.sh").CombinedOutput(); err == nil {
		t.Errorf("another file is taken: %s", out)
	}
}

// An update that is killed at any moment leaves every file as it was or as it should be, and
// the next update makes all of it.
func TestKilledUpdate(t *testing.T) {
	newCorpus(t)
	gangplan(t, exitOK, "check", "corpus", "--update")
	before := corpusFiles(t)
	text := before["queue.yaml"]
	write(t, "corpus/queue.yaml", strings.Replace(text, "StrictFIFO", "BestEffortFIFO", 1))
	gangplan(t, exitOK, "check", "corpus", "--update")
	after := corpusFiles(t)
	for i := range 20 {
		for _, name := range []string{"queue.baseline.yaml", "queue.transitions.gz"} {
			write(t, "corpus/"+name, before[name])
		}
		cmd := exec.Command("gangplan", "check", "corpus", "--update")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i*i) * 200 * time.Microsecond) // 0 to 72 ms
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for name, got := range corpusFiles(t) {
			if !strings.HasPrefix(name, ".") && got != before[name] && got != after[name] {
				t.Fatalf("kill %d: %s is neither the old nor the new one", i, name)
			}
		}
	}
	gangplan(t, exitOK, "check", "corpus", "--update")
	if got := corpusFiles(t); !maps.Equal(got, after) {
		t.Errorf("after all kills and an update: %v", got)
	}
}

// corpusFiles are the files of the corpus by name, and its folders.
func corpusFiles(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir("corpus")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			out[e.Name()] = "a folder"
			continue
		}
		b, err := os.ReadFile(filepath.Join("corpus", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}
