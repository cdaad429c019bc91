package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study/progress"
	"github.com/gangplan/gangplan/internal/study/size"
	"github.com/spf13/cobra"
)

// sizeFlags are the flags of size.
type sizeFlags struct {
	file              string
	vary, targets     []string
	policies          []string
	seeds             string
	confidence, share float64
	all               bool
	parallel          int
	format            string
}

func newSize() *cobra.Command {
	var f sizeFlags
	cmd := &cobra.Command{
		Use:   "size -f scenario.yaml --vary FIELD=LO..HI --target 'METRIC<=VALUE'",
		Short: "Find the smallest value of a field with which targets hold",
		Long: `Find the first value of a scenario's field, in the order given, with which all targets
hold: the smallest number of nodes for a wait, the largest load that a cluster bears.

FIELD is the path of a field, as in waitForPodsReady.timeout, or nodes, which repeats or
cuts the cluster. Several --vary move together. A metric that is null meets no target.
With several seeds a value has to meet the targets in so many of them that, with the
confidence asked for, more than the share asked for of all seeds would.

Exits with 1 if some policy has no such value.`,
		Example: `  gangplan size -f scenario.yaml --vary nodes=4..32 --target 'wait.p95_seconds<=30m'
  gangplan size -f scenario.yaml --vary scale.load=2..0.5:0.1 --target 'wait.p95_seconds<=30m' --seeds 1..10
  gangplan size -f scenario.yaml --vary nodes=4..8 --vary 'queues[0].quota.gpu=32..64:8' --target 'utilisation>=70%'`,
		Args: noArguments("the scenario is given as -f"),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "file", "f", "", "the scenario; - reads standard input")
	flags.StringArrayVar(&f.vary, "vary", nil, "what is varied: FIELD=LO..HI[:STEP] or FIELD=A,B,C")
	flags.StringArrayVar(&f.targets, "target", nil, "what must hold: METRIC and <=, <, >=, > or == and a VALUE")
	flags.StringSliceVar(&f.policies, "policy", nil, "policies to ask for, by label or name; default all of the scenario")
	flags.StringVar(&f.seeds, "seeds", "", "seeds of all randomness, as 1..10 or 3,5,8; default that of the scenario")
	flags.Float64Var(&f.confidence, "confidence", 0.95, "with which several seeds have to say it")
	flags.Float64Var(&f.share, "share", 0.5, "of all seeds, more than which has to meet the targets")
	flags.BoolVar(&f.all, "all", false, "look at every value")
	countVar(flags, &f.parallel, "parallel", 0, 0, "runs at a time; 0 is one per processor")
	flags.StringVarP(&f.format, "output", "o", "table", "one of "+strings.Join(size.Formats(), ", "))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete(size.Formats())))
	return cmd
}

func (f *sizeFlags) run(cmd *cobra.Command) error {
	q, err := f.question(cmd.InOrStdin())
	if err != nil {
		return err
	}
	bar := progress.New(cmd.ErrOrStderr(), "runs")
	q.Progress = func(done, begun int) { bar.Set(done, begun, 0) }
	answer, err := size.Find(cmd.Context(), q)
	bar.Clear()
	if err != nil {
		return err
	}
	answer.Version = version()
	if err := answer.Render(cmd.OutOrStdout(), f.format); err != nil {
		return err
	}
	if !answer.AllMet() {
		return errFailed
	}
	return nil
}

// question puts the flags together.
func (f *sizeFlags) question(in io.Reader) (*size.Question, error) {
	if err := size.CheckFormat(f.format); err != nil {
		return nil, err
	}
	targets, err := size.ParseTargets(f.targets)
	if err != nil {
		return nil, err
	}
	seeds, err := size.ParseSeeds(f.seeds)
	if err != nil {
		return nil, err
	}
	file, err := readScenario("size", f.file, in)
	if err != nil {
		return nil, err
	}
	vary, err := size.ParseVary(f.vary, file)
	if err != nil {
		return nil, err
	}
	q, err := size.Of(vary, file, filepath.Dir(f.file), targets)
	if err != nil {
		return nil, err
	}
	q.Labels, q.Seeds, q.Confidence, q.Share = f.policies, seeds, f.confidence, f.share
	q.All, q.Parallel = f.all, f.parallel
	return q, nil
}

// readScenario reads a scenario file, or standard input for -, and does not resolve it.
func readScenario(command, file string, in io.Reader) (*scenario.File, error) {
	switch file {
	case "":
		return nil, fmt.Errorf("%s: expected -f scenario.yaml", command)
	case "-":
		data, err := io.ReadAll(io.LimitReader(in, scenario.MaxFileSize+1))
		if err != nil {
			return nil, err
		}
		return scenario.Parse("-", data)
	}
	return scenario.LoadFile(file)
}
