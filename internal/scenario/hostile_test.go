package scenario

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Hostile files end in a message, quickly and without much memory.
func TestHostile(t *testing.T) {
	const header = "apiVersion: gangplan/v1alpha1\nkind: Scenario\ncluster: {synthetic: {hosts: 1, gpus: 8}}\n"
	tests := []struct{ name, text, want string }{
		{"a bomb of aliases", header + bomb(), "the file stands for too much: expected at most 100000 values by aliases"},
		{"an alias of itself", header + "workload: &w\n  jobs: [&j {id: a, podSets: [*j, *j]}]\n", "workload.jobs[0].podSets[0].id: unknown field"},
		{"deep lists", header + "workload: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "expected a mapping"},
		{"deeper lists", strings.Repeat("[", 100_000), "not valid YAML"},
		{"deep mappings", header + strings.Repeat("{a: ", 9000), "not valid YAML"},
		{"a long number", header + "until: " + strings.Repeat("9", 1<<20), "expected a duration"},
		{"a long name", header + "name: " + strings.Repeat("x", 1<<20) + "\n" + strings.Repeat("y", 1000) + ": 1", "unknown field"},
		{"many mistakes", header + "workload: {jobs: [" + strings.Repeat("{a: 1},", 50_000) + "]}", "workload.jobs[0].id: missing"},
		{"a long list of nothing", header + "workload: {jobs: [" + strings.Repeat("~,", 50_000) + "]}", "workload.jobs[0]: empty"},
		{"bytes", "\x00\x01\x02", "not valid YAML"},
		{"not UTF-8", "name: \xff\xfe", "not valid YAML"},
		{"UTF-16", "\xff\xfea\x00:\x00 \x001\x00", "apiVersion: missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("s.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.300v, want %s", err, tt.want)
			}
		})
	}
}

// bomb is a workload of 500 jobs by alias with 500 PodSets by alias each.
func bomb() string {
	var b bytes.Buffer
	b.WriteString("workload:\n  jobs:\n  - &j\n    id: a\n    duration: 1m\n    podSets:\n    - &p {name: w, gpusPerPod: 1}\n")
	b.WriteString(strings.Repeat("    - *p\n", 500))
	b.WriteString(strings.Repeat("  - *j\n", 500))
	return b.String()
}

func TestFileTooLarge(t *testing.T) {
	const want = "larger than 64 MiB: expected a scenario; large workloads belong in a trace"
	if _, err := Parse("s.yaml", make([]byte, MaxFileSize+1)); err == nil || err.Error() != "s.yaml: "+want {
		t.Errorf("got %v", err)
	}
	name := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 1<<40); err != nil {
		t.Skip("no sparse files:", err)
	}
	if _, err := Load(name); err == nil || err.Error() != name+": "+want {
		t.Errorf("got %v", err)
	}
}

// FuzzParse looks for texts that make Parse or Resolve panic, or fail without saying why.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no cases", err)
	}
	for _, name := range seeds {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, text := range casesIn(string(text)) {
			f.Add([]byte(withHeader(text)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("s.yaml", data)
		if err == nil && isSmall(file) {
			_, err = file.Resolve("testdata/files")
		}
		if errs, ok := err.(Errors); err != nil && (!ok || len(errs) == 0 || len(errs) > MaxErrors || strings.HasSuffix(err.Error(), ": ")) {
			t.Errorf("%#v", err)
		}
	})
}

// casesIn returns the texts of a file of cases.
func casesIn(file string) []string {
	var texts []string
	for block := range strings.SplitSeq(file, "\n\n") {
		input, _, ok := strings.Cut(block, "\n----")
		for strings.HasPrefix(input, "#") {
			_, input, _ = strings.Cut(input, "\n")
		}
		if _, text, more := strings.Cut(input, "\n"); ok && more {
			texts = append(texts, text)
		}
	}
	return texts
}

// isSmall reports whether a scenario takes little time to resolve.
func isSmall(f *File) bool {
	const small = 1000
	if f.Scale.Cluster > 10 {
		return false
	}
	size := 1
	if s := f.Cluster.Synthetic; s != nil {
		for _, n := range s.Counts {
			if size *= min(n, small); size > small {
				return false
			}
		}
	}
	for i := range f.Cluster.Nodes {
		size += min(f.Cluster.Nodes[i].Count, small)
	}
	for i := range f.Workload.Jobs {
		size += min(f.Workload.Jobs[i].Count, small)
	}
	if s := f.Workload.Synthetic; s != nil {
		size += min(s.Jobs, small)
	}
	return size <= small
}
