package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cluster runs a command about a cluster.
func cluster(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	code = execute(context.Background(), append([]string{"cluster"}, args...), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// The bad ClusterQueue of docs/cluster.md is refused as it says there, and nothing is written.
func TestRefusedAsTheDocsSay(t *testing.T) {
	text, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## What is refused\n")
	blocks := map[string]string{}
	for _, m := range fence.FindAllStringSubmatch(rest, -1) {
		blocks[m[1]] += m[2]
	}
	t.Chdir(t.TempDir())
	write(t, "kueue.yaml", blocks["yaml"])
	code, out, errOut := cluster("import", "kueue.yaml", "--out", "mine")
	if want := "gangplan: " + strings.ReplaceAll(strings.TrimSpace(blocks["text"]), "\n", "\ngangplan: ") + "\n"; code != exitUsage || out != "" || errOut != want {
		t.Errorf("exit code %d, %s%s, want\n%s", code, out, errOut, want)
	}
	if _, err := os.Stat("mine"); !os.IsNotExist(err) {
		t.Error("something was written")
	}
}

// Whatever is said of a cluster fits a terminal of a hundred letters, however many things it is
// about and whatever they are called.
func TestClusterFitsTheTerminal(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range 30 {
		name := strings.Repeat("a-long-name-", 4) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		text.WriteString("- {apiVersion: v1, kind: Node, metadata: {name: " + name + "}, spec: {unschedulable: true}}\n")
		text.WriteString("- {apiVersion: v1, kind: Node, metadata: {name: b" + name + "}, status: {allocatable: {cpu: 128, memory: 1Ti, nvidia.com/gpu: 8, example.com/" + name + ": 1}}}\n")
		text.WriteString("- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + name + "}, spec: {nodeLabels: {pool: p}}}\n")
		text.WriteString("- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name + "}, spec: {stopPolicy: Hold, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: " + name + ", resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]}}\n")
		text.WriteString("- {apiVersion: v1, kind: K" + string(rune('a'+i%26)) + ", metadata: {name: " + name + "}}\n")
	}
	write(t, filepath.Join(dir, "dump.yaml"), text.String())
	for _, command := range []string{"import", "inspect"} {
		code, out, errOut := cluster(command, dir)
		if code != exitOK {
			t.Fatal(errOut)
		}
		for line := range strings.SplitSeq(out, "\n") {
			if n := len([]rune(line)); n > 100 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: %d letters: %s", command, n, line)
			}
		}
		if lines := strings.Count(out, "\n"); command == "import" && lines > 70 {
			t.Errorf("%d lines:\n%s", lines, out)
		}
	}
}
