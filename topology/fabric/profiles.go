package fabric

// profiles are the shipped ones, in the order of Names. Where a figure was fitted to a
// measurement, the source says which; what nobody measured stands under Estimates.
var profiles = []Profile{
	{
		Name:       "a100-hdr",
		Source:     "HGX A100, 8x200G InfiniBand HDR (Azure NDv4). Bus bandwidth, intra A0 and B0: fitted to the 8xA100 sweep of stas00/ml-engineering network/README.md; A1 to its sizes from 16 MiB on (3% geometric mean error).",
		Estimates:  "net efficiency, latency between hosts",
		DomainGPUs: 8, DomainBusBW: 235,
		NICs: 8, NICGBps: 25, NetEfficiency: 0.9,
		Intra: Latency{A0: 42, B0: 13.5, A1: 170}, Inter: Latency{A0: 100, B0: 13.5, A1: 300},
		Tiers: [MaxTiers]Tier{{32, 1}, {128, 1}},
	},
	{
		Name:       "aws-p4d",
		Source:     "AWS P4d: HGX A100, 4x100G EFA. Intra as a100-hdr. NetEfficiency: 42.5 of 50 GB/s (stas00/ml-engineering network/README.md).",
		Estimates:  "latency between hosts, tiers",
		DomainGPUs: 8, DomainBusBW: 235,
		NICs: 4, NICGBps: 12.5, NetEfficiency: 0.85,
		Intra: Latency{A0: 42, B0: 13.5, A1: 170}, Inter: Latency{A0: 150, B0: 13.5, A1: 500},
		Tiers: [MaxTiers]Tier{{16, 1}, {256, 2}},
	},
	{
		Name: "h100-ndr",
		Source: "HGX H100/H200, 8x400G InfiniBand NDR (DGX SuperPOD, Azure ND H100 v5). " +
			"Bus bandwidth 480 with NVLS, 367 without: stas00/ml-engineering network/README.md, 479.7 aigatech/vpbenchmarking. " +
			"Intra: fitted to the 8xH200 sweep of stas00 (3% geometric mean error, 32 KiB to 16 GiB). " +
			"NetEfficiency 0.93: fitted to 2x8 and 4x8 H200 and 4x8 B200 of the same source; untuned clusters reach 0.83. " +
			"Tiers: one scalable unit of 32 hosts, four of them under the spines.",
		Estimates:  "latency between hosts",
		DomainGPUs: 8, DomainBusBW: 480, RingBusBW: 367,
		NICs: 8, NICGBps: 50, NetEfficiency: 0.93,
		Intra: Latency{A0: 18, B0: 132, A1: 69}, Inter: Latency{A0: 60, B0: 20, A1: 250},
		Tiers: [MaxTiers]Tier{{32, 1}, {128, 1}},
	},
	{
		Name:       "h100-efa",
		Source:     "AWS P5: HGX H100, 32x100G EFA. Intra as h100-ndr. Inter: that of 4x8 B200 over EFA (b200-400g).",
		Estimates:  "net efficiency, latency between hosts, tiers",
		DomainGPUs: 8, DomainBusBW: 480, RingBusBW: 367,
		NICs: 32, NICGBps: 12.5, NetEfficiency: 0.92,
		Intra: Latency{A0: 18, B0: 132, A1: 69}, Inter: Latency{A0: 102, B0: 22, A1: 310},
		Tiers: [MaxTiers]Tier{{32, 1}, {512, 2}},
	},
	{
		Name:       "a3-mega",
		Source:     "GCP A3 Mega: HGX H100, 8x200G GPUDirect-TCPXO. Intra as h100-ndr. Inter: fitted to the 2x8 sweep of lessizzmore/create-a3mega-ztan-fork (1% geometric mean error).",
		Estimates:  "tiers",
		DomainGPUs: 8, DomainBusBW: 480, RingBusBW: 367,
		NICs: 8, NICGBps: 25, NetEfficiency: 0.9,
		Intra: Latency{A0: 18, B0: 132, A1: 69}, Inter: Latency{A0: 153, B0: 20, A1: 887},
		Tiers: [MaxTiers]Tier{{32, 1}, {256, 2}},
	},
	{
		Name:       "b200-400g",
		Source:     "HGX B200, 8x400G. Bus bandwidth 839 measured: stas00/ml-engineering network/benchmarks/README.md; 722 without NVLS is NCCL's ring constant. Inter and NetEfficiency: fitted to the 4x8 B200 EFA sweep of the same source (6% geometric mean error).",
		Estimates:  "bus bandwidth without NVLS, intra latency, tiers",
		DomainGPUs: 8, DomainBusBW: 839, RingBusBW: 722,
		NICs: 8, NICGBps: 50, NetEfficiency: 0.94,
		Intra: Latency{A0: 18, B0: 130, A1: 70}, Inter: Latency{A0: 102, B0: 22, A1: 310},
		Tiers: [MaxTiers]Tier{{32, 1}, {512, 2}},
	},
	{
		Name:       "b300-800g",
		Source:     "HGX B300, 8x800G (ConnectX-8). NVLink, intra and inter as b200-400g.",
		Estimates:  "net efficiency, intra and latency between hosts, tiers",
		DomainGPUs: 8, DomainBusBW: 839, RingBusBW: 722,
		NICs: 8, NICGBps: 100, NetEfficiency: 0.9,
		Intra: Latency{A0: 18, B0: 130, A1: 70}, Inter: Latency{A0: 102, B0: 22, A1: 310},
		Tiers: [MaxTiers]Tier{{32, 1}, {512, 2}},
	},
	{
		Name:       "gb200-nvl72",
		Source:     "GB200 NVL72: 72 GPUs in one NVLink domain, 18 trays of 4 with 4x400G each. No all-reduce measurement was found: B200 per GPU.",
		Estimates:  "bus bandwidth, net efficiency, all latencies, tiers",
		DomainGPUs: 72, DomainHosts: 18, DomainBusBW: 839, RingBusBW: 722,
		NICs: 4, NICGBps: 50, NetEfficiency: 0.93,
		Intra: Latency{A0: 30, B0: 100, A1: 100}, Inter: Latency{A0: 102, B0: 22, A1: 310},
		Tiers: [MaxTiers]Tier{{288, 1}, {1152, 2}},
	},
	{
		Name:       "meta-24k",
		Source:     "Meta's 24k-GPU RoCE cluster: racks of 2 hosts, pods of 384 with full bisection, 7:1 above (The Llama 3 Herd of Models, 3.3.1). Nodes as h100-ndr.",
		Estimates:  "net efficiency, latency between hosts",
		DomainGPUs: 8, DomainBusBW: 480, RingBusBW: 367,
		NICs: 8, NICGBps: 50, NetEfficiency: 0.93,
		Intra: Latency{A0: 18, B0: 132, A1: 69}, Inter: Latency{A0: 120, B0: 20, A1: 400},
		Tiers: [MaxTiers]Tier{{2, 1}, {384, 7}},
	},
	{
		Name:       "hpn7",
		Source:     "Alibaba HPN 7.0 (H800): segments of 128 hosts, pods of 15 segments, 15:1 above (SIGCOMM '24).",
		Estimates:  "bus bandwidth, net efficiency, all latencies",
		DomainGPUs: 8, DomainBusBW: 165,
		NICs: 8, NICGBps: 50, NetEfficiency: 0.93,
		Intra: Latency{A0: 18, B0: 132, A1: 69}, Inter: Latency{A0: 102, B0: 22, A1: 310},
		Tiers: [MaxTiers]Tier{{128, 1}, {1920, 15}},
	},
	{
		Name:       "legacy-25g",
		Source:     "Hosts of four P100 with 25G Ethernet, as in the published Horovod scaling (horovod docs/benchmarks.md).",
		Estimates:  "all but the bandwidth of the NIC",
		DomainGPUs: 4, DomainBusBW: 40,
		NICs: 1, NICGBps: 3.125, NetEfficiency: 0.9,
		Intra: Latency{A0: 40, B0: 10, A1: 100}, Inter: Latency{A0: 100, B0: 2, A1: 400},
		Tiers: [MaxTiers]Tier{{16, 1}, {128, 4}},
	},
}
