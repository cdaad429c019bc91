package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/gangplan/gangplan/workloads"
	"github.com/spf13/cobra"
)

func newFabricProfiles() *cobra.Command {
	return &cobra.Command{
		Use:   "profiles",
		Short: "List the shipped profiles, where their figures come from and what is estimated",
		Args:  noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var b strings.Builder
			for _, name := range fabric.Names() {
				p, _ := fabric.Lookup(name)
				fmt.Fprintln(&b, name)
				fmt.Fprintf(&b, "  NVLink domain of %d GPUs on %d hosts, bus bandwidth %v GB/s; %d NICs of %v GB/s a host, of which %v is reached\n",
					p.DomainGPUs, max(1, p.DomainHosts), p.DomainBusBW, p.NICs, p.NICGBps, p.NetEfficiency)
				wrap(&b, "  ", p.Source)
				wrap(&b, "  ", "estimates: "+p.Estimates)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	}
}

func newFabricModels() *cobra.Command {
	return &cobra.Command{
		Use:   "models",
		Short: "List the known models: how they are cut, what they exchange and compute in a step, and by which source",
		Args:  noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var b strings.Builder
			for _, name := range workloads.ModelNames() {
				m, _ := workloads.LookupModel(name)
				fmt.Fprintln(&b, name)
				fmt.Fprintf(&b, "  %.4g billion parameters, tensor x pipeline %dx%d: %.4g GB per rank; overlap %v\n", float64(m.Parameters)/1e9,
					max(1, m.Tensor), max(1, m.Pipeline), float64(m.GradientBytes)/1e9, float64(m.OverlapMilli)/1000)
				fmt.Fprintf(&b, "  computes %.4g ms on %s", float64(m.Compute)/1e6, m.GPU)
				for _, o := range m.Others {
					fmt.Fprintf(&b, ", %.4g ms on %s", float64(o.Compute)/1e6, o.GPU)
				}
				b.WriteString("\n")
				wrap(&b, "  ", m.Source)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	}
}
