package report

import (
	"strings"
	"testing"
)

func TestSizeNames(t *testing.T) {
	var names, words []string
	for k := range numSizes {
		names, words = append(names, sizeName(k)), append(words, sizeWords(k))
	}
	if got := strings.Join(names, " "); got != "gpus_1 gpus_2_8 gpus_9_32 gpus_33_128 gpus_129_512 gpus_513" {
		t.Error(got)
	}
	if got := strings.Join(words, ", "); got != "up to 1 GPU, 2 to 8 GPUs, 9 to 32 GPUs, 33 to 128 GPUs, 129 to 512 GPUs, more than 512 GPUs" {
		t.Error(got)
	}
	if len(sizeClasses)+1 != numSizes {
		t.Errorf("%d classes, %d names", len(sizeClasses)+1, numSizes)
	}
}

// Small jobs that wait a minute, one of nine GPUs that waits ten and one that never starts.
func TestWaitsBySize(t *testing.T) {
	r := handmade(4, 64)
	for j, gpus := range []int64{500, 1000, 9000, 32_000} {
		r.Jobs[j].GPUs = gpus
	}
	finished(&r.Jobs[0], 60, 600)
	finished(&r.Jobs[1], 60, 600)
	finished(&r.Jobs[2], 600, 1200)
	vs := Measure(r, nil)
	for name, want := range map[string]float64{"jobs.gpus_1": 2, "jobs.gpus_2_8": 0, "jobs.gpus_9_32": 2,
		"wait.gpus_1.p95_seconds": 60, "wait.gpus_1.max_seconds": 60} {
		if got, ok := vs.Get(name); !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"wait.gpus_9_32.p95_seconds", "wait.gpus_2_8.max_seconds"} {
		if got, ok := vs.Get(name); ok {
			t.Errorf("%s is %v", name, got)
		}
	}
	table := tableOf(t, r)
	wantLine(t, table, "up to 1 GPU", "1m")
	wantLine(t, table, "9 to 32 GPUs", "never")
	if strings.Contains(table, "2 to 8 GPUs") {
		t.Errorf("a class without jobs is shown:\n%s", table)
	}
}

// One class of jobs is no split.
func TestOneSize(t *testing.T) {
	r := handmade(2, 64)
	finished(&r.Jobs[0], 60, 600)
	finished(&r.Jobs[1], 60, 600)
	if table := tableOf(t, r); strings.Contains(table, "up to 1 GPU") || strings.Contains(table, "2 to 8 GPUs") {
		t.Errorf("a split into one part is shown:\n%s", table)
	}
}
