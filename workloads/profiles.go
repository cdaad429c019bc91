package workloads

// DefaultOverlapMilli is the share of the backward pass that hides communication where
// nothing better is known. Horovod's published VGG-16 scaling lies between no overlap
// and full overlap; half explains it.
const DefaultOverlapMilli = 500

const millisecond = int64(1e6)

// profiles holds the models in ascending order of their parameters. The gradient of a
// parameter takes 2 bytes in bf16 and 4 in fp32. Where a model is cut by tensor (TP) and
// pipeline (PP) parallelism, GradientBytes is one rank's share, the model's gradient
// divided by TP x PP: each rank group of the same cut reduces only that.
//
// Estimated compute times follow 6 x parameters x tokens per rank / (MFU x peak), with
// an assumed model FLOP utilisation (MFU) of 0.4.
var profiles = [...]ModelProfile{
	{
		Name: "resnet-50", Parameters: 25_600_000, GradientBytes: 102_400_000,
		GPU: "a100", Compute: 90 * millisecond, OverlapMilli: DefaultOverlapMilli,
		Source: "25.6 M parameters, fp32; A100, batch 256: 80 to 100 ms by published 2.5 to 3.2 k images/s (secondary source; the middle is taken)",
	},
	{
		Name: "vgg-16", Parameters: 138_300_000, GradientBytes: 553_000_000,
		GPU: "p100", Compute: 444 * millisecond, OverlapMilli: DefaultOverlapMilli, Estimate: true,
		Source: "138 M parameters, fp32; P100, batch 64: 144 images/s as recalled from Horovod's benchmarks, not re-checked",
	},
	{
		Name: "bert-large", Parameters: 336_000_000, GradientBytes: 672_000_000,
		GPU: "a100", Compute: 132 * millisecond, OverlapMilli: DefaultOverlapMilli, Estimate: true,
		Source: "336 M parameters, bf16; compute estimated: 8192 tokens per A100 at 0.4 x 312 TFLOP/s",
	},
	{
		Name: "gpt-2-large", Parameters: 708_000_000, GradientBytes: 1_416_000_000,
		GPU: "a100", Compute: 224_900_000, OverlapMilli: 0,
		Source: "708 M parameters, bf16; measured on one A100, batch 16: 0.2249 s; no overlap was seen (T. Lazauskas, The Impact of GPU Networking, Baskerville)",
	},
	{
		Name: "llama-3-8b", Parameters: 8_030_000_000, GradientBytes: 16_060_000_000,
		GPU: "h100", Compute: 567 * millisecond, OverlapMilli: DefaultOverlapMilli,
		Others: []StepTime{{"gb200", 260 * millisecond}, {"b200", 268 * millisecond}},
		Source: "8.03 B parameters, bf16; measured on H100, B200 and GB200 in FP8: 14451, 30624 and 31508 tokens/s/GPU, one sequence of 8192 tokens (NVIDIA Megatron-Bridge 25.11)",
	},
	{
		Name: "t5-11b", Parameters: 11_300_000_000, GradientBytes: 22_600_000_000,
		GPU: "h100", Compute: 1404 * millisecond, OverlapMilli: DefaultOverlapMilli, Estimate: true,
		Source: "11.3 B parameters, bf16; compute estimated: 8192 tokens per H100 at 0.4 x 989 TFLOP/s",
	},
	{
		Name: "llama-3-70b", Parameters: 70_600_000_000, GradientBytes: 4_412_500_000, Tensor: 4, Pipeline: 8,
		GPU: "h100", Compute: 10_230 * millisecond, OverlapMilli: DefaultOverlapMilli,
		Source: "70.6 B parameters, bf16, per rank of TP4 x PP8; step of 64 H100 (DP2, batch 128) from 1602 tokens/s/GPU, its exposed communication included (NVIDIA Megatron-Bridge 25.11)",
	},
	{
		Name: "gpt-3-175b", Parameters: 175_000_000_000, GradientBytes: 5_468_750_000, Tensor: 8, Pipeline: 8,
		GPU: "h100", Compute: 8154 * millisecond, OverlapMilli: DefaultOverlapMilli, Estimate: true,
		Source: "175 B parameters, bf16, per rank of TP8 x PP8; compute estimated: 96 sequences of 2048 tokens per 64 H100 at 0.4 x 989 TFLOP/s",
	},
	{
		Name: "llama-3-405b", Parameters: 405_000_000_000, GradientBytes: 12_656_250_000, Tensor: 8, Pipeline: 8,
		GPU: "h100", Compute: 14_000 * millisecond, OverlapMilli: DefaultOverlapMilli,
		Source: "Llama 3.1, 405 B parameters, bf16, per rank of TP8 x PP8; step of 1024 H100 (CP2, batch 512), its exposed communication included (NVIDIA Megatron-Bridge 25.11)",
	},
}

// LookupModel returns the profile of a model by its exact name. The profile is shared by
// all who ask: copy it to change it.
func LookupModel(name string) (*ModelProfile, bool) {
	for i := range profiles {
		if profiles[i].Name == name {
			return &profiles[i], true
		}
	}
	return nil, false
}

// ModelNames returns the names LookupModel knows, smallest model first.
func ModelNames() []string {
	names := make([]string, len(profiles))
	for i := range profiles {
		names[i] = profiles[i].Name
	}
	return names
}
