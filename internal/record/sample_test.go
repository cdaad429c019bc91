package record

import (
	"fmt"
	"os"
	"testing"
	"time"
)

const msec = int64(time.Millisecond)

// sample is what a cluster does with the scenario of testdata/watch, made by hand after what
// recorded ones do: a step takes some milliseconds more or less than in the simulator, and the
// timeouts fall on whole seconds of the clock.
func sample() *Record {
	single := Job{Name: "single", WorkloadCreated: 9 * msec, Admissions: []Admission{{24 * msec, []int32{1}}}, Unsuspended: []int64{38 * msec},
		Created: []PodEvent{{43 * msec, 0, ""}}, Bound: []PodEvent{{52 * msec, 0, "h-3"}}, Steps: []Step{{52 * msec, 1}, {10_131 * msec, 0}},
		AllReady: []int64{1094 * msec}, RunComplete: []int64{10_131 * msec}, JobComplete: []int64{11_148 * msec}, Finished: []int64{11_166 * msec}, State: Finished}
	train := Job{Name: "train", Submit: 2031 * msec, WorkloadCreated: 2040 * msec, Admissions: []Admission{{2058 * msec, []int32{8}}, {8655 * msec, []int32{8}}},
		Unsuspended: []int64{2071 * msec, 8668 * msec}, Evictions: []Eviction{{6611 * msec, "PodsReadyTimeout"}}, Suspended: []int64{6624 * msec}, Cleared: []int64{6752 * msec},
		Requeues: []Requeue{{6611 * msec, 8588 * msec, 1}, {8629 * msec, Never, 1}},
		AllReady: []int64{11_170 * msec}, RunComplete: []int64{15_193 * msec}, JobComplete: []int64{16_208 * msec}, Finished: []int64{16_225 * msec}, State: Finished}
	for round, at := range []int64{2076 * msec, 8675 * msec} {
		for i, after := range []int64{0, 12, 12, 21, 21, 21, 21, 34} {
			train.Created = append(train.Created, PodEvent{at + after*msec, int32(i), ""})
			if i == 7 {
				continue // no node has room
			}
			bound := at + (after+8+int64(i))*msec
			train.Bound = append(train.Bound, PodEvent{bound, int32(i), fmt.Sprintf("h-%d", (i+4+round)%8)})
			train.Steps = append(train.Steps, Step{bound, int32(i) + 1})
		}
		if round == 0 {
			for i := range int32(7) {
				train.Steps = append(train.Steps, Step{(7262 + int64(i)) * msec, 6 - i})
			}
		}
	}
	train.Bound = append(train.Bound, PodEvent{10_140 * msec, 7, "h-3"})
	train.Steps = append(train.Steps, Step{10_140 * msec, 8})
	for i := range int32(8) {
		train.Steps = append(train.Steps, Step{(15_193 + int64(i)) * msec, 7 - i})
	}
	return &Record{Jobs: []Job{single, train}, Decisions: []string{"single", "train", "train"}}
}

// The sample of testdata/watch is what a watch of the cluster above prints.
func TestSample(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 412e6, time.UTC)
	f := form{receipt: true}
	out := play(sample(), begin, f)
	text := nodes(begin, f, 8) + all(out)
	const path = "../../testdata/watch/watch.jsonl"
	if os.Getenv("GANGPLAN_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != text {
		t.Error("testdata/watch/watch.jsonl is not what the sample prints")
	}
	got := read(t, sample(), text)
	if d := differences(sample(), got, 2*msec); d != "" {
		t.Error(d)
	}
	if got.Offset() != 412*msec || len(got.Notes) != 0 || got.GPUs != 64_000 || len(got.Hosts) != 8 {
		t.Errorf("begins %v, notes %q, %d thousandths of GPUs on %q", got.Begin, got.Notes, got.GPUs, got.Hosts)
	}
}
