package scenario

import (
	"strings"
	"testing"
)

// BenchmarkParse decodes 10,000 jobs.
func BenchmarkParse(b *testing.B) {
	const header = "apiVersion: gangplan/v1alpha1\nkind: Scenario\ncluster: {synthetic: {hosts: 1, gpus: 8}}\nworkload:\n  jobs:\n"
	text := []byte(header + strings.Repeat("  - {id: a, submit: 1h, duration: 10m, pods: 4, gpusPerPod: 8, queue: research}\n", 10_000))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("s.yaml", text); err != nil {
			b.Fatal(err)
		}
	}
}
