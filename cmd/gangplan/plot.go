package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/plots"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
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
sweep. The ending of FILE says the format: .svg, .png or .pdf; -o - writes to standard
output in the format of --format. Equal results give equal bytes.

` + kindList(),
		Example: `  gangplan run -f scenario.yaml --out runs
  gangplan plot runs --kind wait-cdf -o waits.svg
  gangplan plot runs/per-pod runs/gang --kind ledger -o ledger.pdf
  gangplan plot sweep --kind sweep-curve --x timeout --metric requeues -o requeues.png`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "kind", "", "what to draw; see --list")
	flags.StringVarP(&f.out, "output", "o", "", "file to write; - is standard output")
	flags.StringVar(&f.format, "format", "", "svg, png or pdf; default by the ending of the file")
	flags.StringVar(&f.title, "title", "", "another title")
	flags.StringVar(&f.size, "size", "", "width x height in inches, such as 8x4.5")
	flags.BoolVar(&f.list, "list", false, "list the kinds")
	flags.StringVar(&f.options.By, "by", "", "wait-cdf: policy, gang (size) or queue")
	flags.StringVar(&f.options.Level, "level", "", "fragmentation: a level of the topology")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("kind", complete(plots.Names())))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("format", complete(figure.Formats())))
	return cmd
}

// kindList is a line per kind.
func kindList() string {
	var b strings.Builder
	for _, k := range plots.Kinds() {
		fmt.Fprintf(&b, "  %-14s %s\n", k.Name, k.Doc)
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
	if f.title != "" {
		chart.Title = f.title
	}
	_ = slices.Contains[[]string]
	_ = suggest.Hint
	_ = filepath.Ext
	_ = report.Span
	if f.out == "-" {
		return chart.Write(cmd.OutOrStdout(), format)
	}
	w, err := os.Create(f.out)
	if err != nil {
		return err
	}
	defer w.Close()
	return chart.Write(io.Writer(w), format)
}

func (f *plotFlags) check(cmd *cobra.Command, args []string) (*plots.Kind, string, error) {
	k, err := plots.Find(f.kind)
	return k, strings.TrimPrefix(filepath.Ext(f.out), "."), err
}
