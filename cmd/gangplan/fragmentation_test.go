package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gangplan runs a command line and wants an exit code.
func gangplan(t *testing.T, code int, args ...string) (out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	if got := execute(context.Background(), args, strings.NewReader(""), &o, &e); got != code {
		t.Fatalf("gangplan %s: exit code %d, want %d: %s", strings.Join(args, " "), got, code, e.String())
	}
	return o.String(), e.String()
}

// smallStudy writes a folder with a cluster, one workload and a study of it.
func smallStudy(t *testing.T) (folder, file string) {
	t.Helper()
	folder = t.TempDir()
	nodes, pods := "sn,cpu_milli,memory_mib,gpu,model\n", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
	for i := range 5 {
		nodes += fmt.Sprintf("node-%d,32000,131072,4,T4\n", i)
	}
	for i := range 30 {
		pods += fmt.Sprintf("pod-%02d,%d,4096,1,%d,\n", i, 1000*(1+i%7), 300+100*(i%8))
	}
	file = filepath.Join(folder, "study.yaml")
	for name, text := range map[string]string{
		filepath.Join(folder, "openb_node_list_gpu_node.csv"): nodes, filepath.Join(folder, "openb_pod_list_mini.csv"): pods,
		file: "apiVersion: gangplan/v1alpha1\nkind: FragmentationStudy\nname: small\nworkloads: [mini]\n" +
			"scorers: [best-fit, fgd]\nseeds: {first: 1, count: 2}\nload: 1.3\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, file
}

func TestFragmentation(t *testing.T) {
	folder, file := smallStudy(t)
	table, _ := gangplan(t, exitOK, "fragmentation", "--data", folder, "-f", file)
	for _, want := range []string{"small · seeds 1 to 2", "used at 130%", "mini", "best-fit", "fgd"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	again, _ := gangplan(t, exitOK, "fragmentation", "--data", folder, "-f", file, "--workload", "mini")
	if again != table {
		t.Error("a second run prints something else")
	}
	text, _ := gangplan(t, exitOK, "fragmentation", "--data", folder, "-f", file, "-o", "json")
	var d curvesJSON
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	c := d.Curves[1]
	if len(d.Curves) != 2 || c.Scorer != "fgd" || c.Published != nil || len(c.Asked) < 20 || len(c.Columns["allocated"]) != len(c.Asked) {
		t.Errorf("%d curves, the second %+v", len(d.Curves), c)
	}
	text, _ = gangplan(t, exitOK, "fragmentation", "--data", folder, "-f", file, "-o", "csv")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+len(d.Curves[0].Asked)+len(c.Asked) || len(rows[0]) != 9 {
		t.Errorf("%d rows of CSV, %v", len(rows), err)
	}
}

func TestFragmentationPlots(t *testing.T) {
	folder, file := smallStudy(t)
	plots := filepath.Join(folder, "plots")
	var before map[string]string
	for range 2 {
		gangplan(t, exitOK, "fragmentation", "--data", folder, "-f", file, "--plots", plots)
		files, err := filepath.Glob(filepath.Join(plots, "*"))
		if err != nil || len(files) != 9 {
			t.Fatalf("%d pictures, %v", len(files), err)
		}
		now := map[string]string{}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if now[f] = string(data); before != nil && before[f] != now[f] {
				t.Errorf("%s differs between two runs", f)
			}
		}
		before = now
	}
	if svg := before[filepath.Join(plots, "mini-allocated.svg")]; !strings.Contains(svg, "best-fit") || strings.Contains(svg, "published") {
		t.Error("mini-allocated.svg has no best-fit, or claims published numbers")
	}
}

func TestFragmentationMistakes(t *testing.T) {
	folder, file := smallStudy(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "expected --data DIR"},
		{[]string{"--data", folder, "-o", "jsn"}, `did you mean json`},
		{[]string{"--data", folder}, "openb_pod_list_default.csv"},
		{[]string{"--data", folder, "--workload", "defaut"}, `did you mean default`},
		{[]string{"--data", folder, "-f", folder + "/none.yaml"}, "cannot be read"},
		{[]string{"--data", folder, "-f", file, "--plots", file}, "not a directory"},
	} {
		if _, got := gangplan(t, exitUsage, append([]string{"fragmentation"}, c.args...)...); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %q", c.args, got, c.want)
		}
	}
	if shown, _ := gangplan(t, exitOK, "fragmentation", "--show"); !strings.Contains(shown, "kind: FragmentationStudy") {
		t.Errorf("--show prints %s", shown)
	}
}

// The page with the published numbers is what the command prints. It takes half a minute
// and lists that are not shipped.
func TestValidationPage(t *testing.T) {
	shared := os.Getenv("GANGPLAN_SHARED")
	if shared == "" || os.Getenv("GANGPLAN_ALL") == "" {
		t.Skip("GANGPLAN_SHARED or GANGPLAN_ALL is not set")
	}
	page, err := os.ReadFile("../../docs/validation-fragmentation.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _ := gangplan(t, exitOK, "fragmentation", "--data", filepath.Join(shared, "traces", "openb-v2023"), "-o", "markdown")
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/validation-fragmentation.md is out of date: expected in it\n%s", table)
	}
}
