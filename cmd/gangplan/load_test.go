package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kueueLoad writes the scenario of docs/kueue-load.sh.
func kueueLoad(t testing.TB, shape string) (file string) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the load is made by a shell script")
	}
	text, err := exec.Command(sh, append([]string{"../../docs/kueue-load.sh"}, strings.Fields(shape)...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "load.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func runLoad(t testing.TB, file, policy string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := execute(context.Background(), []string{"run", "-f", file, "--policy", policy, "-o", "json"}, nil, &out, &errOut); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	return out.String()
}

func TestKueueLoad(t *testing.T) {
	out := runLoad(t, kueueLoad(t, "2 3 20"), "classical,fair")
	if want := `"jobs.finished": 120,`; strings.Count(out, want) != 2 {
		t.Errorf("expected %s twice in\n%s", want, out)
	}
}

// BenchmarkKueueLoad runs Kueue's public load shapes from the file to the table.
func BenchmarkKueueLoad(b *testing.B) {
	for _, shape := range []string{"5 6 500", "100 10 50", "10 100 50", "1 1000 50"} {
		file := kueueLoad(b, shape)
		for _, policy := range []string{"classical", "fair"} {
			b.Run(strings.ReplaceAll(shape, " ", "x")+"/"+policy, func(b *testing.B) {
				for b.Loop() {
					runLoad(b, file, policy)
				}
			})
		}
	}
}
