package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology/fabric"
	"github.com/spf13/cobra"
)

func newFabric() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fabric",
		Short: "Ask the model of the network",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newFabricProfiles())
	for i, name := range fabric.Collectives {
		cmd.AddCommand(newCollective(fabric.Collective(i), strings.ReplaceAll(name, "_", "")))
	}
	return cmd
}

func newFabricProfiles() *cobra.Command {
	return &cobra.Command{
		Use:   "profiles",
		Short: "List the shipped profiles, where their figures come from and what is estimated",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var b strings.Builder
			for _, name := range fabric.Names() {
				p, _ := fabric.Lookup(name)
				fmt.Fprintf(&b, "%s\n  %s\n  estimates: %s\n", name, p.Source, p.Estimates)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	}
}

// collectiveFlags are what a collective is asked with.
type collectiveFlags struct {
	profile, size, algorithm string
	nodes, gpus              int
	nvls, sweep              bool
}

func newCollective(op fabric.Collective, name string) *cobra.Command {
	var f collectiveFlags
	cmd := &cobra.Command{
		Use:   name + " --profile NAME --nodes N",
		Short: "How long one " + fabric.Collectives[op] + " takes on nodes of their own",
		Long: `Print the time of one ` + fabric.Collectives[op] + `, its algorithm and bus bandwidth as nccl-tests defines them
(algbw = size / time; busbw = algbw x 2(n-1)/n for an all-reduce, half of that for the others), and
the level that binds: nvlink, nic, or the uplink of a leaf or pod. A node is an NVLink domain: a host,
or a rack of gb200-nvl72.`,
		Example: `  gangplan fabric ` + name + ` --profile h100-ndr --nodes 4 --size 1GiB
  gangplan fabric ` + name + ` --profile b200-400g --nodes 4 --sweep`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(op, cmd.OutOrStdout()) },
	}
	cmd.Flags().StringVar(&f.profile, "profile", "h100-ndr", "one of "+strings.Join(fabric.Names(), ", "))
	cmd.Flags().IntVar(&f.nodes, "nodes", 1, "NVLink domains, packed under the profile's switches")
	cmd.Flags().IntVar(&f.gpus, "gpus", 0, "GPUs of each; default all")
	cmd.Flags().StringVar(&f.size, "size", "1GiB", "bytes per rank, such as 4096, 64MiB or 1.5GB")
	cmd.Flags().StringVar(&f.algorithm, "algorithm", "", "one of "+strings.Join(fabric.Algorithms, ", ")+"; default the profile's")
	cmd.Flags().BoolVar(&f.nvls, "nvls", true, "in-network reduction inside the NVLink domain, where it has that")
	cmd.Flags().BoolVar(&f.sweep, "sweep", false, "print the table over sizes from 8 B to 16 GiB")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("profile", complete(fabric.Names())))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("algorithm", complete(fabric.Algorithms)))
	return cmd
}

func (c *collectiveFlags) run(op fabric.Collective, w io.Writer) error {
	p, err := c.platform()
	if err != nil {
		return err
	}
	gpus := c.gpus
	if gpus == 0 {
		gpus = p.DomainGPUs
	}
	f, pods, err := fabric.Alone(p, c.nodes, gpus)
	if err != nil {
		return err
	}
	sizes := []int64{}
	if c.sweep {
		for size := int64(8); size <= 16<<30; size *= 2 {
			sizes = append(sizes, size)
		}
	} else {
		size, err := parseSize(c.size)
		if err != nil {
			return err
		}
		sizes = append(sizes, size)
	}
	var b strings.Builder
	n := int64(c.nodes) * int64(gpus)
	fmt.Fprintf(&b, "# %s: %d ranks on %d nodes of %s, %s between nodes\n", fabric.Collectives[op], n, c.nodes, p.Name, p.Algorithm)
	fmt.Fprintf(&b, "# estimates, not measured: %s\n", p.Estimates)
	fmt.Fprintf(&b, "#%12s %14s %10s %10s  %s\n#%12s %14s %10s %10s\n", "size", "time", "algbw", "busbw", "bottleneck", "(B)", "(us)", "(GB/s)", "(GB/s)")
	s := fabric.NewScratch(f)
	for _, size := range sizes {
		cost := f.Collect(s, op, pods, size)
		b.WriteString(collectiveLine(op, n, size, cost, f.LevelName(cost.Level)))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// collectiveLine is one line of the table. One rank has nothing to send.
func collectiveLine(op fabric.Collective, n, size int64, cost fabric.Cost, level string) string {
	if cost.Nanos == 0 {
		return fmt.Sprintf(" %12d %14.2f %10s %10s  %s\n", size, 0.0, "-", "-", level)
	}
	algbw := float64(size) / float64(cost.Nanos)
	return fmt.Sprintf(" %12d %14.2f %10.2f %10.2f  %s\n", size, float64(cost.Nanos)/1000, algbw, algbw*fabric.BusFactor(op, n), level)
}

func (c *collectiveFlags) platform() (fabric.Profile, error) {
	p, ok := fabric.Lookup(c.profile)
	if !ok {
		return p, fmt.Errorf("unknown profile %q, expected one of %s%s", c.profile,
			strings.Join(fabric.Names(), ", "), suggest.Hint(c.profile, fabric.Names()))
	}
	if !c.nvls {
		p = p.WithoutNVLS()
	}
	if c.algorithm != "" {
		i := slices.Index(fabric.Algorithms, c.algorithm)
		if i < 0 {
			return p, fmt.Errorf("unknown algorithm %q, expected one of %s%s", c.algorithm,
				strings.Join(fabric.Algorithms, ", "), suggest.Hint(c.algorithm, fabric.Algorithms))
		}
		p.Algorithm = fabric.Algorithm(i)
	}
	return p, nil
}

// sizeUnits are the longest first, so that a suffix is not taken for a shorter one.
var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"B", 1},
}

// parseSize reads a number of bytes; K, M and G are binary, as in nccl-tests.
func parseSize(text string) (int64, error) {
	number, unit := text, 1.0
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v*unit >= 1) || v*unit > 1<<50 {
		return 0, fmt.Errorf("size %q: expected a number of bytes from 1 to 1 PiB, such as 4096, 64MiB or 1.5GB", text)
	}
	return int64(v * unit), nil
}
