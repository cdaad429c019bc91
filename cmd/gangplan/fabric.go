package main

import (
	"encoding/json"
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
	}
	cmd.AddCommand(newFabricProfiles(), newFabricModels())
	for i, name := range fabric.Collectives {
		cmd.AddCommand(newCollective(fabric.Collective(i), strings.ReplaceAll(name, "_", "")))
	}
	return cmd
}

// collectiveFlags are what a collective is asked with.
type collectiveFlags struct {
	profile, size, algorithm, order, output string

	nodes, gpus int
	nvls, sweep bool
}

func newCollective(op fabric.Collective, name string) *cobra.Command {
	var f collectiveFlags
	cmd := &cobra.Command{
		Use:   name + " --profile NAME --nodes N",
		Short: "How long one " + fabric.Collectives[op] + " takes on nodes of their own",
		Long: `Print the time of one ` + fabric.Collectives[op] + `, its algorithm and bus bandwidth as nccl-tests defines them
(algbw = size / time; busbw = algbw x 2(n-1)/n for an all-reduce, half of that for the others), and
the level that binds: nvlink, nic, or the uplink of a leaf or pod. Nodes are packed into NVLink domains (18
trays of gb200-nvl72 are one) and under the profile's switches.`,
		Example: `  gangplan fabric ` + name + ` --profile h100-ndr --nodes 4 --size 1GiB
  gangplan fabric ` + name + ` --profile b200-400g --nodes 4 --sweep`,
		Args: noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(op, cmd.OutOrStdout()) },
	}
	cmd.Flags().StringVar(&f.profile, "profile", "h100-ndr", "one of "+strings.Join(fabric.Names(), ", "))
	cmd.Flags().IntVar(&f.nodes, "nodes", 1, "hosts: of gb200-nvl72 trays of four GPUs, 18 to a rack")
	cmd.Flags().IntVar(&f.gpus, "gpus", 0, "GPUs of each; default all")
	cmd.Flags().StringVar(&f.order, "order", "", "of the ranks: topology (the default) or random")
	cmd.Flags().StringVar(&f.size, "size", "1GiB", "bytes per rank, such as 4096, 64MiB or 1.5GB")
	cmd.Flags().StringVar(&f.algorithm, "algorithm", "", "one of "+strings.Join(fabric.Algorithms, ", ")+"; default the profile's")
	cmd.Flags().BoolVar(&f.nvls, "nvls", true, "in-network reduction inside the NVLink domain, where it has that")
	cmd.Flags().BoolVar(&f.sweep, "sweep", false, "print the table over sizes from 8 B to 16 GiB")
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "table, csv or json")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete([]string{"table", "csv", "json"})))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("profile", complete(fabric.Names())))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("order", complete([]string{"topology", "random"})))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("algorithm", complete(fabric.Algorithms)))
	return cmd
}

func (c *collectiveFlags) run(op fabric.Collective, w io.Writer) error {
	p, err := c.platform()
	if err != nil {
		return err
	}
	if c.gpus == 0 {
		c.gpus = p.HostGPUs()
	}
	sizes := fabric.SweepSizes()
	if !c.sweep {
		size, err := parseSize(c.size)
		if err != nil {
			return err
		}
		sizes = []int64{size}
	}
	points, err := fabric.Measure(p, op, c.nodes, c.gpus, sizes)
	if err != nil {
		return err
	}
	switch c.output {
	case "table":
		return c.writeTable(w, &p, op, points)
	case "csv":
		return writeCollectiveCSV(w, points)
	case "json":
		return writeIndented(w, points)
	}
	return fmt.Errorf("unknown output %q, expected table, csv or json", c.output)
}

// writeTable writes the table that nccl-tests users know.
func (c *collectiveFlags) writeTable(w io.Writer, p *fabric.Profile, op fabric.Collective, points []fabric.Point) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %d ranks on %d nodes of %s, %s between nodes\n", fabric.Collectives[op], c.nodes*c.gpus, c.nodes, p.Name, p.Algorithm)
	fmt.Fprintf(&b, "# estimates, not measured: %s\n", p.Estimates)
	fmt.Fprintf(&b, "#%12s %14s %10s %10s  %s\n#%12s %14s %10s %10s\n", "size", "time", "algbw", "busbw", "bottleneck", "(B)", "(us)", "(GB/s)", "(GB/s)")
	for _, at := range points {
		if at.Nanos == 0 { // one rank has nothing to send
			fmt.Fprintf(&b, " %12d %14.2f %10s %10s  %s\n", at.Bytes, 0.0, "-", "-", at.Level)
			continue
		}
		fmt.Fprintf(&b, " %12d %14.2f %10.2f %10.2f  %s\n", at.Bytes, float64(at.Nanos)/1000, at.AlgBW, at.BusBW, at.Level)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeCollectiveCSV(w io.Writer, points []fabric.Point) error {
	var b strings.Builder
	b.WriteString("size_bytes,time_ns,algbw_GBps,busbw_GBps,bottleneck\n")
	for _, at := range points {
		fmt.Fprintf(&b, "%d,%d,%v,%v,%s\n", at.Bytes, at.Nanos, at.AlgBW, at.BusBW, at.Level)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
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
	switch c.order {
	case "", "topology":
	case "random":
		p.Order = fabric.Random
	default:
		return p, fmt.Errorf("unknown order %q, expected topology or random%s", c.order, suggest.Hint(c.order, []string{"topology", "random"}))
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
