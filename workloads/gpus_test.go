package workloads

import (
	"fmt"
	"testing"
)

func TestModelOnGPU(t *testing.T) {
	tests := []struct {
		model, gpu string
		compute    int64 // ms, rounded down
		on         string
		scaled     bool
	}{
		{"llama-3-8b", "h100", 567, "h100", false},
		{"llama-3-8b", "NVIDIA-H100-80GB-HBM3", 567, "h100", false},
		{"llama-3-8b", "b200", 268, "b200", false},   // published
		{"llama-3-8b", "GB200", 260, "gb200", false}, // published, and not taken for a B200
		{"llama-3-8b", "h200", 567, "h200", true},    // the same peak
		{"llama-3-8b", "Tesla-V100-SXM2-32GB", 4486, "v100", true},
		{"llama-3-8b", "NVIDIA-A10", 4486, "a10", true},
		{"llama-3-8b", "A100-SXM4", 1797, "a100", true}, // not an A10
		{"llama-3-8b", "H20", 3788, "h20", true},        // not an H200
		{"bert-large", "h100", 41, "h100", true},
		{"bert-large", "gpu", 132, "a100", false}, // nothing is known of it
		{"bert-large", "", 132, "a100", false},
	}
	for _, tt := range tests {
		m, _ := LookupModel(tt.model)
		got, scaled := m.On(tt.gpu)
		if got.Compute/millisecond != tt.compute || got.GPU != tt.on || scaled != tt.scaled {
			t.Errorf("%s on %q: %d ns on %s, scaled %v", tt.model, tt.gpu, got.Compute, got.GPU, scaled)
		}
		if err := validateModel(got); err != nil || got.Name != m.Name || got.GradientBytes != m.GradientBytes || scaled && !got.Estimate {
			t.Errorf("%s on %q: %+v, %v", tt.model, tt.gpu, got, err)
		}
		if again, _ := got.On(tt.gpu); again != got {
			t.Errorf("%s on %q a second time is another", tt.model, tt.gpu)
		}
	}
}

func TestEveryModelSaysItsGPU(t *testing.T) {
	for _, name := range ModelNames() {
		m, _ := LookupModel(name)
		if g := lookupGPU(m.GPU); g == nil || g.word != m.GPU {
			t.Errorf("%s: %q", name, m.GPU)
		}
		for _, o := range m.Others {
			if g := lookupGPU(o.GPU); g == nil || g.word != o.GPU || o.GPU == m.GPU || o.Compute <= 0 {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
}

// Models are drawn by id, so that a slice of the jobs draws the same; about as often each.
func TestAssignModels(t *testing.T) {
	choices, ok := MixModels("llm")
	if !ok {
		t.Fatal("no mix llm")
	}
	jobs := func(gpus int32, n int) []Job {
		jobs := make([]Job, n)
		for i := range jobs {
			jobs[i] = NewJob(fmt.Sprint("j", i), int64(i))
			jobs[i].PodSets = Shape(gpus, 8, PerGPU())
		}
		return jobs
	}
	tests := []struct {
		gpus int32
		want []string
	}{
		{1, nil}, {2, []string{"bert-large", "gpt-2-large", "llama-3-8b"}}, {32, []string{"llama-3-8b", "t5-11b"}},
		{48, []string{"llama-3-8b"}}, // 70b is cut over 32
		{64, []string{"llama-3-8b", "llama-3-70b"}}, {127, []string{"llama-3-70b"}}, {128, []string{"llama-3-70b", "gpt-3-175b"}},
		{4096, []string{"llama-3-70b", "gpt-3-175b", "llama-3-405b"}},
	}
	for _, tt := range tests {
		all := jobs(tt.gpus, 300)
		given := AssignModels(all, 7, choices)
		counts := map[string]int{}
		for i := range all {
			if all[i].Model != nil {
				counts[all[i].Model.Name]++
			}
		}
		if len(counts) != len(tt.want) || (given > 0) != (len(tt.want) > 0) {
			t.Errorf("%d GPUs: %v", tt.gpus, counts)
		}
		for _, name := range tt.want {
			if share := 300 / len(tt.want); counts[name] < share-40 || counts[name] > share+40 {
				t.Errorf("%d GPUs: %v", tt.gpus, counts)
			}
		}
		part := jobs(tt.gpus, 300)[100:200]
		AssignModels(part, 7, choices)
		for i := range part {
			if part[i].Model != all[100+i].Model {
				t.Fatalf("%d GPUs: a slice draws another model for %s", tt.gpus, part[i].ID)
			}
		}
	}
	if _, ok := MixModels("lm"); ok {
		t.Error("a mix that is none")
	}
}
