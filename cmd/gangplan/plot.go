package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/plots"
	"github.com/gangplan/gangplan/internal/staging"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report/figure"
	"github.com/spf13/cobra"
)

// plotFlags are the flags of plot.
type plotFlags struct {
	kind, out, format, title, size string
	list                           bool
	options                        plots.Options
}

func newPlot() *cobra.Command {
	var f plotFlags
	cmd := &cobra.Command{
		Use:   "plot RUN... --kind KIND -o FILE",
		Short: "Draw runs or a sweep as SVG, PNG or PDF",
		Long: `Draw runs or a sweep. RUN is a run directory, a folder of some, or the folder of a finished
sweep. The ending of FILE says the format: svg, png or pdf. Equal results give equal bytes.

Kinds:
` + kindList(),
		Example: `  gangplan run -f scenario.yaml --out runs
  gangplan plot runs --kind wait-cdf -o waits.svg
  gangplan plot runs/gang runs/per-pod --kind ledger -o ledger.pdf
  gangplan plot sweep --kind sweep-curve --x timeout --metric requeues -o requeues.png`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *plotFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "kind", "", "what to draw; see --list")
	flags.BoolVar(&f.list, "list", false, "list the kinds")
	flags.StringVarP(&f.out, "output", "o", "", "file to write; - is standard output")
	flags.StringVar(&f.format, "format", "", "svg, png or pdf; default by the ending of the file")
	flags.StringVar(&f.title, "title", "", "another title")
	flags.StringVar(&f.size, "size", "", "width x height in inches, such as 8x4.5")
	flags.StringVar(&f.options.By, "by", "", "a line per policy, gang (its size) or queue")
	flags.StringVar(&f.options.Level, "level", "", "level of the topology")
	flags.StringVar(&f.options.Metric, "metric", "", "metric of a sweep; default the first that the study shows")
	flags.StringVar(&f.options.X, "x", "", "axis of a sweep; default the first that varies")
	flags.StringVar(&f.options.Y, "y", "", "second axis of a sweep")
	flags.StringArrayVar(&f.options.Where, "where", nil, "axis=value: only these cells of a sweep; may be repeated")
	flags.Float64Var(&f.options.Cost, "cost-per-gpu-hour", 0, "price to draw costs instead of GPUs")
	for flag, words := range map[string][]string{"kind": plots.Names(), "format": figure.Formats(), "by": plots.Groupings(), "metric": study.MetricNames()} {
		cobra.CheckErr(cmd.RegisterFlagCompletionFunc(flag, complete(words)))
	}
}

// kindList is a line per kind.
func kindList() string {
	var b strings.Builder
	for _, k := range plots.Kinds() {
		fmt.Fprintf(&b, "  %-13s  %s\n", k.Name, k.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (f *plotFlags) run(cmd *cobra.Command, args []string) error {
	if f.list {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), kindList())
		return err
	}
	kind, format, err := f.check(cmd, args)
	if err != nil {
		return err
	}
	in, err := plots.Open(args)
	if err != nil {
		return err
	}
	chart, err := kind.Draw(in, f.options)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("title") {
		chart.Title = f.title
	}
	if f.size != "" {
		if chart.Width, chart.Height, err = inches(f.size); err != nil {
			return err
		}
	}
	if f.out == "-" {
		return chart.Write(cmd.OutOrStdout(), format)
	}
	return staging.WriteFile(f.out, func(w io.Writer) error { return chart.Write(w, format) })
}

// check looks at the flags before anything is read.
func (f *plotFlags) check(cmd *cobra.Command, args []string) (*plots.Kind, string, error) {
	if f.kind == "" {
		return nil, "", fmt.Errorf("plot: expected --kind, one of %s", strings.Join(plots.Names(), ", "))
	}
	kind, err := plots.Find(f.kind)
	if err != nil {
		return nil, "", err
	}
	for _, flag := range []string{"by", "level", "metric", "x", "y", "where", "cost-per-gpu-hour"} {
		if cmd.Flags().Changed(flag) && !slices.Contains(kind.Takes, flag) {
			return nil, "", fmt.Errorf("plot: %s takes no --%s; it takes --%s", kind.Name, flag, strings.Join(kind.Takes, ", --"))
		}
	}
	if len(args) == 0 {
		return nil, "", fmt.Errorf("plot: expected run directories, a folder of them, or the folder of a sweep")
	}
	format, err := f.chosenFormat()
	return kind, format, err
}

// chosenFormat is that of --format or else of the file's ending.
func (f *plotFlags) chosenFormat() (string, error) {
	ending := strings.TrimPrefix(filepath.Ext(f.out), ".")
	format, said := f.format, "--format"
	if format == "" {
		format, said = ending, "-o "+f.out
	}
	switch {
	case f.out == "":
		return "", fmt.Errorf("plot: expected -o FILE, or -o - for standard output")
	case f.out == "-" && f.format == "":
		return "", fmt.Errorf("plot: -o - needs --format, one of %s", strings.Join(figure.Formats(), ", "))
	case !slices.Contains(figure.Formats(), format):
		return "", fmt.Errorf("plot: %s: unknown format %q, expected one of %s%s", said, format,
			strings.Join(figure.Formats(), ", "), suggest.Hint(format, figure.Formats()))
	case ending != format && slices.Contains(figure.Formats(), ending):
		return "", fmt.Errorf("plot: --format %s and -o %s: the file would be called what it is not", format, f.out)
	}
	return format, nil
}

// inches reads a size such as 8x4.5.
func inches(size string) (width, height float64, err error) {
	w, h, ok := strings.Cut(size, "x")
	width, errW := strconv.ParseFloat(w, 64)
	height, errH := strconv.ParseFloat(h, 64)
	if !ok || errW != nil || errH != nil || !(width > 0) || !(height > 0) {
		return 0, 0, fmt.Errorf("plot: --size %q: expected width x height in inches, such as 8x4.5", size)
	}
	return width, height, nil
}
