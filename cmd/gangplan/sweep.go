package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gangplan/gangplan/internal/plots"
	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/study/progress"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
	"github.com/spf13/cobra"
)

// sweepFlags are the flags of sweep and its subcommands.
type sweepFlags struct {
	file     string
	out      string
	shard    string
	parallel int
	plots    bool
	metrics  []string
	format   string
}

func newSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep -f study.yaml --out DIR",
		Short: "Run a scenario under every combination of some values",
		Long: `Run a scenario under every combination of the values of a study, on all cores, and show the
results in a table. The folder gets a run directory per cell, all results as Parquet, plots,
and an index, sweep.json.

A sweep that is interrupted goes on where it stopped when the same command is given again,
and a study that was changed runs only what is new. With --shard it runs one part of the
cells, on another machine for instance; "sweep merge" then puts the results together, and
"sweep plan" prints what starts all parts on Kubernetes, Slurm and others.`,
		Example: `  gangplan sweep -f study.yaml --out results
  gangplan sweep -f study.yaml --out results --shard 2/6
  gangplan sweep merge -f study.yaml --out results`,
		Args: noArguments("the study is given as -f"),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.add(cmd)
	f.addResults(cmd)
	cmd.Flags().StringVar(&f.shard, "shard", "", "run only part i of n, as in 0/6; auto/6 takes i from the job index of Kubernetes or Slurm")
	cmd.AddCommand(newSweepMerge(), newSweepPlan(), newSweepShow())
	return cmd
}

// add adds the flags that say what is swept.
func (f *sweepFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "the study; - reads standard input")
	countVar(cmd.Flags(), &f.parallel, "parallel", 0, 0, "runs at a time; 0 is one per processor")
}

// addResults adds those that say where the results go and how they are shown.
func (f *sweepFlags) addResults(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.out, "out", "", "folder for cells and results")
	cmd.Flags().BoolVar(&f.plots, "plots", true, "draw the metrics of the study into the folder plots of the results")
	f.addShow(cmd)
}

func (f *sweepFlags) addShow(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.metrics, "metric", nil, "metrics to show: names, beginnings with a star, or all; default those of the study")
	cmd.Flags().StringVarP(&f.format, "output", "o", "table", "one of "+strings.Join(sweep.Formats(), ", "))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete(sweep.Formats())))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("metric", complete(append(study.MetricNames(), "all"))))
}

func newSweepMerge() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "merge -f study.yaml --out DIR [SHARD...]",
		Short: "Put the results of a sweep together from its shards",
		Long: `Gather the cells of a study from the folders of its shards, check every one of them, and put
the results together: the same bytes as if one machine had run all of it. Shards that share
the folder DIR need not be named. A cell that is missing, damaged or not of the study is an
error, and then nothing is written.`,
		Example: `  gangplan sweep merge -f study.yaml --out results
  gangplan sweep merge -f study.yaml --out results shard-0 shard-1 shard-2`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.merge(cmd, args) },
	}
	f.add(cmd)
	f.addResults(cmd)
	return cmd
}

func newSweepShow() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:     "show DIR",
		Short:   "Show the results of a finished sweep again",
		Example: `  gangplan sweep show results --metric jct.p95_seconds,requeues -o markdown`,
		Args:    exactly(1, "the folder of a sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			s, err := sweep.Read(args[0])
			if err != nil {
				return err
			}
			return f.show(cmd, s)
		},
	}
	f.addShow(cmd)
	return cmd
}

// plan reads the study and plans it.
func (f *sweepFlags) plan(cmd *cobra.Command) (*sweep.Plan, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	s, err := loadStudy(cmd, f.file)
	if err != nil {
		return nil, err
	}
	return sweep.NewPlan(cmd.Context(), s, version(), f.parallel)
}

func (f *sweepFlags) run(cmd *cobra.Command) error {
	if err := needs(cmd, "file", "out"); err != nil {
		return err
	}
	shard, err := sweep.ParseShard(f.shard, os.Getenv)
	if err != nil {
		return err
	}
	p, err := f.plan(cmd)
	if err != nil {
		return err
	}
	bar := progress.New(cmd.ErrOrStderr(), "runs")
	done, err := p.Run(cmd.Context(), sweep.Options{Dir: f.out, Parallel: f.parallel, Shard: shard,
		Progress: func(now sweep.Progress) { bar.Set(now.Done, now.Runs, now.Reused) }})
	bar.Clear()
	if err != nil {
		return err
	}
	if shard.Of > 1 {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "shard %s: %s done; `gangplan sweep merge` puts the shards together\n", shard, report.Count(done.Done, "run"))
		return err
	}
	s, err := p.Finish(f.out)
	if err != nil {
		return err
	}
	return f.finish(cmd, s)
}

func (f *sweepFlags) merge(cmd *cobra.Command, shards []string) error {
	if err := needs(cmd, "file", "out"); err != nil {
		return err
	}
	p, err := f.plan(cmd)
	if err != nil {
		return err
	}
	s, err := p.Merge(cmd.Context(), f.out, shards, f.parallel)
	if err != nil {
		return err
	}
	return f.finish(cmd, s)
}

// finish draws the results and shows them.
func (f *sweepFlags) finish(cmd *cobra.Command, s *sweep.Sweep) error {
	if f.plots {
		if err := plots.WriteUsual(f.out, s); err != nil {
			return err
		}
	}
	return f.show(cmd, s)
}

// check looks at what is to be shown, before anything is read.
func (f *sweepFlags) check() (err error) {
	if f.metrics, err = study.ChooseMetrics(f.metrics); err != nil {
		return err
	}
	return sweep.CheckFormat(f.format)
}

func (f *sweepFlags) show(cmd *cobra.Command, s *sweep.Sweep) error {
	if len(f.metrics) > 0 {
		s.Shown = f.metrics
	}
	return s.Write(cmd.OutOrStdout(), f.format)
}

// needs wants flags to be given.
func needs(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); !flag.Changed {
			return fmt.Errorf("%s: expected --%s: %s", commandName(cmd), name, flag.Usage)
		}
	}
	return nil
}

// loadStudy reads a study file, or standard input for -.
func loadStudy(cmd *cobra.Command, file string) (*scenario.Study, error) {
	if file != "-" {
		return scenario.LoadStudy(file, study.MetricNames())
	}
	data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), scenario.MaxFileSize+1))
	if err != nil {
		return nil, err
	}
	return scenario.ParseStudy("-", data, "", study.MetricNames())
}
