package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/workloads"
	"github.com/spf13/cobra"
)

func newFabricProfiles() *cobra.Command {
	return newFabricList("profiles", "List the shipped profiles, where their figures come from and what is estimated", fabric.Names(), writeProfile)
}

func newFabricModels() *cobra.Command {
	return newFabricList("models", "List the known models: how they are cut, what they exchange and compute in a step, and by which source",
		workloads.ModelNames(), writeModel)
}

// newFabricList makes a command that writes what is known under each of some names.
func newFabricList(use, short string, names []string, write func(b *strings.Builder, name string)) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var b strings.Builder
			for _, name := range names {
				fmt.Fprintln(&b, name)
				write(&b, name)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	}
}

func writeProfile(b *strings.Builder, name string) {
	p, _ := fabric.Lookup(name)
	fmt.Fprintf(b, "  NVLink domain of %s on %s, bus bandwidth %v GB/s; %s of %v GB/s a host, of which %v is reached\n",
		report.Count(int(p.DomainGPUs), "GPU"), report.Count(max(1, int(p.DomainHosts)), "host"), p.DomainBusBW, report.Count(int(p.NICs), "NIC"), p.NICGBps, p.NetEfficiency)
	wrap(b, "  ", p.Source)
	wrap(b, "  ", "estimates: "+p.Estimates)
}

func writeModel(b *strings.Builder, name string) {
	m, _ := workloads.LookupModel(name)
	fmt.Fprintf(b, "  %.4g billion parameters, tensor x pipeline %dx%d: %.4g GB per rank; overlap %v\n", float64(m.Parameters)/1e9,
		max(1, m.Tensor), max(1, m.Pipeline), float64(m.GradientBytes)/1e9, float64(m.OverlapMilli)/1000)
	fmt.Fprintf(b, "  computes %.4g ms on %s", float64(m.Compute)/1e6, m.GPU)
	for _, o := range m.Others {
		fmt.Fprintf(b, ", %.4g ms on %s", float64(o.Compute)/1e6, o.GPU)
	}
	b.WriteString("\n")
	wrap(b, "  ", m.Source)
}
