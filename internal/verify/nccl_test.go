package verify

import (
	"os"
	"strings"
	"testing"
)

func TestNCCL(t *testing.T) {
	r := checkShipped(t, "nccl", 10)
	for _, o := range r.Results {
		t.Logf("%-8s %s: %s", o.Verdict, o.ID, o.Reason)
	}
}

const validation = "../../docs/validation.md"

// The table of docs/validation.md is what the suite says today.
func TestValidationDoc(t *testing.T) {
	table, err := ValidationTable(Options{})
	if err != nil {
		t.Fatal(err)
	}
	sameSection(t, "nccl", table)
}

// sameSection compares a section of docs/validation.md with what a suite writes, or writes
// it where GANGPLAN_UPDATE says so.
func sameSection(t *testing.T, suite, table string) {
	t.Helper()
	text, err := os.ReadFile(validation)
	if err != nil {
		t.Fatal(err)
	}
	from, to := "<!-- "+suite+": written by the suite -->\n", "<!-- end of "+suite+" -->"
	before, rest, ok1 := strings.Cut(string(text), from)
	_, after, ok2 := strings.Cut(rest, to)
	if !ok1 || !ok2 {
		t.Fatalf("%s: no section between %q and %q", validation, from, to)
	}
	want := before + from + table + to + after
	if want == string(text) {
		return
	}
	if os.Getenv("GANGPLAN_UPDATE") == "" {
		t.Fatalf("%s is stale: run the tests with GANGPLAN_UPDATE=1", validation)
	}
	if err := os.WriteFile(validation, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Names lead to platforms; what is not the platform's is not compared.
func TestPlatforms(t *testing.T) {
	row := func(name, rest string) string { return `{"name":"` + name + `",` + rest + `}` }
	const big = `"size":17179869184`
	tests := []struct{ name, text, want string }{
		{"right", row("2x8 H200", `"n":16,"m":2,"busbw_GBps":486.8,`+big), "1 within"},
		{"wrong", row("2x8 H200", `"n":16,"m":2,"busbw_GBps":300,`+big), "1 outside"},
		{"untuned", row("4x8 H100 Voltage Park", `"n":32,"m":4,"busbw_GBps":330.9,`+big), "1 within"},
		{"as a time", row("2x8 H100 x", `"n":16,"nodes":2,"time_s":0.067,`+big), "1 within"},
		{"a sweep", row("2x8 H100 x", `"n":16,"nodes":2,"points":[{"size_bytes":17179869184,"time_us":67000},{"size_bytes":8,"time_us":1}]`), "1 within"},
		{"half hosts", row("2x4 H100", `"n":8,"m":2,"busbw_GBps":486.8,`+big), "hosts of 4 GPUs"},
		{"unknown", row("8x TPU", `"n":8,"m":1,"busbw_GBps":486.8,`+big), "no shipped profile"},
		{"small", row("8xB200", `"n":8,"m":1,"busbw_GBps":2,"size":32768`), "smaller than 16 MiB"},
		{"ranks", row("8xB200", `"n":9,"m":2`), ":1: expected a name, nodes, and ranks"},
	}
	for _, tt := range tests {
		if got := checkText(t, "nccl", tt.text); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
