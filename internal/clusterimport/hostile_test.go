package clusterimport

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/traces/kube"
)

const (
	jsonNode = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"128","memory":"1Ti","nvidia.com/gpu":"8"}}}`
	yamlNode = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n\nstatus:\n  allocatable: {cpu: 128, memory: 1Ti, nvidia.com/gpu: 8}\n"
)

// folder makes a folder of files, some of which may be in folders.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func importFolder(dir string) (*Import, error) {
	d, err := Read(dir)
	if err != nil {
		return nil, err
	}
	return New(d, "x")
}

func asUTF16(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// Files as editors, shells and tools of all kinds leave them.
func TestFilesOfAllKinds(t *testing.T) {
	second := strings.Replace(jsonNode, `"n"`, `"m"`, 1)
	for name, c := range map[string]struct {
		files map[string]string
		nodes int
	}{
		"ends of lines of Windows": {map[string]string{"a.yaml": strings.ReplaceAll(yamlNode, "\n", "\r\n")}, 1},
		"a mark before YAML":       {map[string]string{"a.yaml": "\ufeff" + yamlNode}, 1},
		"a mark before JSON":       {map[string]string{"a.json": "\ufeff" + jsonNode}, 1},
		"UTF-16, as PowerShell":    {map[string]string{"a.json": asUTF16(jsonNode), "b.yaml": asUTF16(strings.Replace(yamlNode, ": n\n", ": m\n", 1))}, 2},
		"JSON one after another":   {map[string]string{"a.json": jsonNode + "\n" + second + "\n---\n" + jsonNode}, 2},
		"items alone":              {map[string]string{"a.json": "[" + jsonNode + ",\n\t" + second + "]"}, 2},
		"lists of lists":           {map[string]string{"a.json": strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 9) + jsonNode + strings.Repeat("]}", 9)}, 1},
		"folders, and hidden ones": {map[string]string{"A.JSON": jsonNode, "sub/b.yml": strings.Replace(yamlNode, ": n\n", ": m\n", 1), ".git/c.yaml": "[", ".d.json": "{", "readme.txt": "x"}, 2},
		"an empty file beside":     {map[string]string{"a.json": jsonNode, "b.yaml": "", "c.yaml": "# nothing\n---\n", "d.json": `{"apiVersion":"v1","items":[],"kind":"List"}`}, 1},
		"its own scenario beside":  {map[string]string{"a.json": jsonNode, "scenario.yaml": "apiVersion: " + scenario.APIVersion + "\nkind: " + scenario.Kind + "\n"}, 1},
	} {
		im, err := importFolder(folder(t, c.files))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if n := len(im.Scenario.Config.Cluster.Nodes); n != c.nodes {
			t.Errorf("%s: %d nodes, want %d", name, n, c.nodes)
		}
	}
}

// What cannot be read as objects ends in a message that says where and why.
func TestHostileFolders(t *testing.T) {
	list := func(n int) string {
		return strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, n) + jsonNode + strings.Repeat("]}", n)
	}
	aliases := func(name string, n int) string { return strings.TrimSuffix(strings.Repeat("*"+name+", ", n), ", ") }
	for name, c := range map[string]struct{ file, text, want string }{
		"nothing":           {"a.txt", "", "has no files that end in .yaml, .yml or .json"},
		"empty":             {"a.yaml", "", "no nodes: expected the output of `kubectl get nodes -o json` among the files, which have no objects"},
		"what kubectl says": {"a.yaml", "No resources found\n", `a.yaml:1:1: expected a Kubernetes object, with apiVersion and kind: got "No resources found"`},
		"other kinds":       {"a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "among the files, which have 1 Pod"},
		"a tab":             {"a.yaml", "apiVersion: v1\nkind: Node\nmetadata:\n\tname: n\n", "a.yaml:4:1: not YAML: a tab before the first word of the line: expected spaces"},
		"no YAML":           {"a.yaml", "a: [b\nc: d", "a.yaml:1: not YAML or JSON: did not find expected ',' or ']'"},
		"bytes":             {"a.yaml", "apiVersion: v1\n\x00\x01", "a.yaml:2:1: not text: expected YAML or JSON, in UTF-8"},
		"Latin":             {"a.yaml", yamlNode + "# caf\xe9\n", "a.yaml:7:6: not text: expected YAML or JSON, in UTF-8"},
		"half a file":       {"a.json", jsonNode[:100], "a.json:1:95: not JSON: a text in quotes that does not end"},
		"deep":              {"a.json", strings.Repeat(`{"a":`, 5000), "a.json:1:5002: not JSON: nested more than 1000 times"},
		"deeper":            {"a.yaml", "a: " + strings.Repeat("[", 100_000), "a.yaml:1: not YAML or JSON"},
		"deep lists":        {"a.json", list(40), "lists in lists, more than 16 deep"},
		"itself":            {"a.yaml", "apiVersion: v1\nkind: List\nitems: &x\n- {apiVersion: v1, kind: List, items: *x}\n", "lists in lists, more than 16 deep"},
		"a bomb of items": {"a.yaml", "- &a " + jsonNode + "\n- &b [" + aliases("a", 500) + "]\n- [" + aliases("b", 500) + "]\n",
			"the file stands for more than 10000 by aliases"},
		"a bomb of values": {"a.yaml", "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: q}\nspec:\n  resourceGroups: [{coveredResources: &c [" + strings.TrimSuffix(strings.Repeat("cpu, ", 500), ", ") +
			"], flavors: []}, " + strings.TrimSuffix(strings.Repeat("{coveredResources: *c}, ", 500), ", ") + "]\n", "spec.resourceGroups: 501 entries: expected at most 16"},
		"itself in a value": {"a.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: &s {allocatable: *s}\n", "a.yaml:4:9: Node/n status.allocatable.allocatable: expected a quantity"},
	} {
		_, err := importFolder(folder(t, map[string]string{c.file: c.text}))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.300v, want %s", name, err, c.want)
		}
	}
}

// Of much that is wrong ten are said, of whichever files.
func TestManyMistakes(t *testing.T) {
	bad := strings.Replace(jsonNode, `"cpu":"128"`, `"cpu":"x","pods":"y"`, 1)
	files := map[string]string{"z.yaml": "["}
	for i := range 8 {
		files[fmt.Sprintf("%d.json", i)] = strings.Replace(bad, `"n"`, fmt.Sprintf(`"n%d"`, i), 1)
	}
	_, err := importFolder(folder(t, files))
	if list, ok := err.(kube.Errors); !ok || len(list) != kube.MaxErrors || !strings.HasSuffix(list[9].File, "4.json") {
		t.Errorf("%v", err)
	}
}

// Links to files are followed, links to folders are not, and what cannot be read is said.
func TestLinks(t *testing.T) {
	dir := folder(t, map[string]string{"..data/nodes.json": jsonNode, "notes.txt": "x"})
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links:", err)
		}
	}
	link("..data/nodes.json", "nodes.json")
	link(".", "loop")
	if im, err := importFolder(dir); err != nil || len(im.Notes) != 1 {
		t.Errorf("%v", err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "whole")); err != nil {
		t.Fatal(err)
	}
	if _, err := importFolder(filepath.Join(dir, "whole")); err != nil {
		t.Errorf("a link to the folder: %v", err)
	}
	link("nowhere.json", "gone.json")
	if _, err := importFolder(dir); err == nil || !strings.Contains(err.Error(), "gone.json cannot be read: ") {
		t.Errorf("%v", err)
	}
}

func TestUnreadable(t *testing.T) {
	dir := folder(t, map[string]string{"a.json": jsonNode})
	if err := os.Chmod(filepath.Join(dir, "a.json"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "a.json")); err == nil {
		t.Skip("nothing is unreadable for this user")
	}
	if _, err := importFolder(dir); err == nil || !strings.HasSuffix(err.Error(), "a.json cannot be read: permission denied") {
		t.Errorf("%v", err)
	}
}

// Where one of the files cannot be written, neither is.
func TestSaveAllOrNothing(t *testing.T) {
	im, err := New(mustRead(t, "../../testdata/cluster"), "x")
	if err != nil {
		t.Fatal(err)
	}
	out := folder(t, map[string]string{TraceFile: "old", ScenarioFile + "/x": ""})
	if _, err := im.Save(out); err == nil || !strings.HasSuffix(err.Error(), ScenarioFile+" is there and is no file") {
		t.Errorf("%v", err)
	}
	entries, err := os.ReadDir(out)
	if old, _ := os.ReadFile(filepath.Join(out, TraceFile)); err != nil || len(entries) != 2 || string(old) != "old" {
		t.Errorf("%v are there, and the trace is %q", entries, old)
	}
}

// A cluster of ten thousand nodes, as an API server prints it.
func BenchmarkReadNodes(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"apiVersion":"v1","items":[`)
	for i := range 10_000 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d","uid":"u%d","managedFields":[%s],"labels":{`, i, i, strings.Repeat(`{"f:a":{}},`, 50)+"{}")
		for k := range 40 {
			fmt.Fprintf(&text, `"feature.node.kubernetes.io/cpu-cpuid.F%d":"true",`, k)
		}
		fmt.Fprintf(&text, `"rack":"r%d"}},"status":{"allocatable":{"cpu":"128","memory":"1Ti","nvidia.com/gpu":"8"},"images":[%s]}}`, i/16, strings.Repeat(`{"names":["registry/an-image:v1"],"sizeBytes":1},`, 50)+"{}")
	}
	text.WriteString(`],"kind":"List"}`)
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		d := &kube.Dump{}
		if err := d.Add("nodes.json", strings.NewReader(text.String())); err != nil || len(d.Nodes) != 10_000 {
			b.Fatal(err)
		}
	}
}

// FuzzImport looks for texts that make an import panic, or fail without saying why, and for
// imports that do not make a scenario.
func FuzzImport(f *testing.F) {
	for _, name := range []string{"objects", "queues", "flavors", "workloads", "configuration", "times", "copies"} {
		text, err := os.ReadFile("testdata/cases/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n\n") {
			input, _, _ := strings.Cut(part, "\n----")
			f.Add(input[strings.IndexByte(input, '\n')+1:])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := &kube.Dump{}
		err := d.Add("a", strings.NewReader(text))
		if err == nil {
			if err = d.Add("n", strings.NewReader(oneNode)); err == nil {
				im, bad := New(d, "x")
				if err = bad; err == nil {
					readBack(t, im)
				}
			}
		}
		if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "cannot unmarshal") || strings.Contains(err.Error(), "%!")) {
			t.Errorf("%q", err)
		}
	})
}

// readBack checks that what an import writes is the scenario that it is.
func readBack(t *testing.T, im *Import) {
	text, err := im.File.Text()
	if err != nil {
		t.Fatal(err)
	}
	file, err := scenario.Parse(ScenarioFile, text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	s, err := file.ResolveFS(traceFS(im.trace), ".")
	if err != nil || s.Hash != im.Scenario.Hash {
		t.Fatalf("%v, of\n%s", err, text)
	}
}
