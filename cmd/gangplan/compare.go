package main

import (
	"strings"

	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/study/compare"
	"github.com/spf13/cobra"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	options  compare.Options
	exitZero bool
	format   string
}

func newCompare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two sets of runs, with statistics over seeds and jobs",
		Long: `Compare B with A: run directories, folders of them, or sweeps. After a sweep or a folder,
parts NAME=VALUE keep the runs that have this value, as in results/policy=gang.

Runs are paired by policy and axes, or by seed where each side has one policy or value. Each
metric is tested over the seeds by Wilcoxon's signed-rank test with Holm's correction; jobs
are paired within each pair of runs. A count of a single seed is exact.

Exits with 1 if anything is worse: significantly, or exactly for a single seed.`,
		Example: `  gangplan run -f scenario.yaml --out results
  gangplan compare results/gang results/gang-topology
  gangplan compare sweep/policy=gang sweep/policy=gang-topology -o markdown
  gangplan compare before after -o benchfmt | benchstat -col /side -`,
		Args: exactly(2, "two run directories, folders of runs, or sweeps"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.options.Metrics, "metric", nil, "metrics to compare: names, beginnings with a star, or all; default the usual ones")
	flags.Float64Var(&f.options.Confidence, "confidence", 0.95, "of intervals; a difference is significant at 1 less this")
	flags.BoolVar(&f.exitZero, "exit-zero", false, "exit with 0 even if something is worse")
	flags.StringVarP(&f.format, "output", "o", "table", "one of "+strings.Join(compare.Formats(), ", "))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete(compare.Formats())))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("metric", complete(append(study.MetricNames(), "all"))))
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command, a, b string) error {
	if err := compare.CheckFormat(f.format); err != nil {
		return err
	}
	left, err := compare.Load(a)
	if err != nil {
		return err
	}
	right, err := compare.Load(b)
	if err != nil {
		return err
	}
	c, err := compare.Compare(left, right, f.options)
	if err != nil {
		return err
	}
	c.Version = version()
	if err := c.Render(cmd.OutOrStdout(), f.format); err != nil {
		return err
	}
	if c.Worsened() && !f.exitZero {
		return errFailed
	}
	return nil
}
