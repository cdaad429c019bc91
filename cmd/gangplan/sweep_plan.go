package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/study/launch"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/spf13/cobra"
)

// planFlags are the flags of sweep plan.
type planFlags struct {
	sweepFlags
	job launch.Job
}

func newSweepPlan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan -f study.yaml",
		Short: "List the cells of a study, or print what runs its shards elsewhere",
		Long: `List the cells of a study and the shards they would be run in. With -o, print what runs the
shards on an engine and merges them: an Indexed Job of Kubernetes with a queue label for
Kueue, an array of Slurm with a dependent merge, a line of xargs, a workflow of GitHub.`,
		Example: `  gangplan sweep plan -f study.yaml --shards 6
  gangplan sweep plan -f study.yaml --shards 6 -o slurm | bash
  gangplan sweep plan -f study.yaml --shards 6 -o indexed-job --image registry/gangplan --claim traces | kubectl apply -f -`,
		Args: noArguments("the study is given as -f"),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "the study, as the shards find it")
	cmd.Flags().StringVarP(&f.format, "output", "o", "table", "table or csv, or one of "+strings.Join(launch.Formats(), ", "))
	f.addJob(cmd)
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete(planFormats())))
	return cmd
}

// addJob adds the flags that say how shards are run.
func (f *planFlags) addJob(cmd *cobra.Command) {
	flags, j := cmd.Flags(), &f.job
	flags.StringVar(&j.Out, "out", "results", "folder for cells and results that the shards share")
	countVar(flags, &j.Shards, "shards", 0, 1, "parts to cut the sweep into; default 8, or the runs if they are fewer")
	countVar(flags, &j.CPUs, "parallel", 1, 1, "runs at a time, and processors, of each shard")
	countVar(flags, &j.Retry, "retry", 3, 0, "how many more times a shard that fails is tried")
	flags.StringVar(&j.Name, "name", "", "name of the job; default that of the study")
	flags.StringVar(&j.Image, "image", "gangplan", "indexed-job: image of the container")
	flags.StringVar(&j.Memory, "memory", "2Gi", "indexed-job: memory of each shard")
	flags.StringVar(&j.Claim, "claim", "gangplan", "indexed-job: volume claim that holds the study and gets the results")
	flags.StringVar(&j.Queue, "queue-name", "default", "indexed-job: LocalQueue of Kueue; empty for none")
	flags.StringVar(&j.Namespace, "namespace", "", "indexed-job: namespace; default the current one")
	flags.StringVar(&j.Partition, "partition", "", "slurm: partition; default that of the cluster")
	countVar(flags, &j.Workers, "workers", 4, 1, "xargs: shards at a time")
}

func planFormats() []string { return append([]string{"table", "csv"}, launch.Formats()...) }

func (f *planFlags) run(cmd *cobra.Command) error {
	if err := needs(cmd, "file"); err != nil {
		return err
	}
	if !slices.Contains(planFormats(), f.format) {
		return fmt.Errorf("unknown output format %q, expected one of %s%s", f.format, strings.Join(planFormats(), ", "), suggest.Hint(f.format, planFormats()))
	}
	s, err := loadStudy(cmd, f.file)
	if err != nil {
		return err
	}
	p, err := sweep.NewPlan(cmd.Context(), s, version(), 0)
	if err != nil {
		return err
	}
	if f.job.Shards, err = p.Shards(f.job.Shards); err != nil {
		return fmt.Errorf("--shards: %w", err)
	}
	if !slices.Contains(launch.Formats(), f.format) {
		return p.Cells(f.job.Shards).Write(cmd.OutOrStdout(), f.format)
	}
	f.job.Study, f.job.Name = f.file, cmp.Or(f.job.Name, launch.Name(p.Name()))
	f.job.Module, f.job.Version = module, version()
	return f.job.Write(cmd.OutOrStdout(), f.format)
}
