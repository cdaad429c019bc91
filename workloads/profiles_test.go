package workloads

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestModelNames(t *testing.T) {
	want := []string{"resnet-50", "vgg-16", "bert-large", "gpt-2-large", "llama-3-8b", "t5-11b",
		"llama-3-70b", "gpt-3-175b", "llama-3-405b"}
	if got := ModelNames(); !slices.Equal(got, want) {
		t.Errorf("ModelNames = %v, want %v", got, want)
	}
}

func TestLookupModel(t *testing.T) {
	for _, name := range ModelNames() {
		if m, ok := LookupModel(name); !ok || m.Name != name {
			t.Errorf("LookupModel(%q) = %v, %v", name, m, ok)
		}
	}
	if m, ok := LookupModel("llama-4"); ok || m != nil {
		t.Errorf("an unknown model is %v", m)
	}
	a, _ := LookupModel("vgg-16")
	if b, _ := LookupModel("vgg-16"); a != b {
		t.Error("a profile is not shared")
	}
}

func TestEveryProfileIsValidAndSaysItsSource(t *testing.T) {
	for _, name := range ModelNames() {
		m, _ := LookupModel(name)
		if err := validateModel(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if m.Source == "" {
			t.Errorf("%s has no source", name)
		}
		honest := strings.Contains(m.Source, "estimated") || strings.Contains(m.Source, "not re-checked")
		if honest != m.Estimate {
			t.Errorf("%s: Estimate is %v, but its source says %q", name, m.Estimate, m.Source)
		}
	}
}

// Gradient bytes are parameters x bytes each / (TP x PP).
func TestGradientBytes(t *testing.T) {
	cases := []struct {
		model             string
		parameters, bytes float64
		cut               float64
	}{
		{"resnet-50", 25.6e6, 4, 1},
		{"vgg-16", 138e6, 4, 1},
		{"bert-large", 336e6, 2, 1},
		{"gpt-2-large", 708e6, 2, 1},
		{"llama-3-8b", 8.03e9, 2, 1},
		{"t5-11b", 11.3e9, 2, 1},
		{"llama-3-70b", 70.6e9, 2, 4 * 8},
		{"gpt-3-175b", 175e9, 2, 8 * 8},
		{"llama-3-405b", 405e9, 2, 8 * 8},
	}
	if len(cases) != len(ModelNames()) {
		t.Errorf("%d cases for %d models", len(cases), len(ModelNames()))
	}
	for _, c := range cases {
		m, _ := LookupModel(c.model)
		want := c.parameters * c.bytes / c.cut
		if math.Abs(float64(m.GradientBytes)-want) > 0.003*want {
			t.Errorf("%s: %d bytes, want %.0f", c.model, m.GradientBytes, want)
		}
	}
}

// Measured compute follows from the published rates, estimates from the rule of thumb
// 6 x parameters x tokens / (GPUs x 0.4 x peak).
func TestComputeFollowsItsSource(t *testing.T) {
	const a100, h100 = 0.4 * 312e12, 0.4 * 989e12
	cases := []struct {
		model   string
		seconds float64
	}{
		{"resnet-50", 256.0 / 2850}, // images per step / images per second
		{"vgg-16", 64.0 / 144},
		{"bert-large", 6 * 336e6 * 8192 / a100},
		{"gpt-2-large", 0.2249},
		{"llama-3-8b", 8192.0 / 14_451},
		{"t5-11b", 6 * 11.3e9 * 8192 / h100},
		{"llama-3-70b", 128 * 8192.0 / (1602 * 64)},
		{"gpt-3-175b", 6 * 175e9 * 96 * 2048 / (64 * h100)},
		{"llama-3-405b", 14.0},
	}
	for _, c := range cases {
		m, _ := LookupModel(c.model)
		if got := float64(m.Compute) / 1e9; math.Abs(got-c.seconds) > 0.003*c.seconds {
			t.Errorf("%s computes for %v s, its source says %v", c.model, got, c.seconds)
		}
	}
}
