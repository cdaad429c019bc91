package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/report"
	"github.com/spf13/cobra"
)

// runFlags are the flags of run and demo.
type runFlags struct {
	file      string
	policies  []string
	seed      uint64
	out       string
	decisions string
	strict    bool
	trade     bool
	format    string
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run -f scenario.yaml",
		Short: "Run a scenario under its policies and compare them",
		Long: `Run a scenario under its policies and compare them in a table.

Verdicts such as a deadlock or a job that never fits are part of the result; with --strict
they make the command exit with 1.`,
		Example: `  gangplan run -f scenario.yaml
  gangplan run -f scenario.yaml --policy gang,gang-topology --seed 7 -o json
  gangplan run -f scenario.yaml --out results`,
		Args: noArguments("the scenario is given as -f"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.file == "" {
				return fmt.Errorf("run: expected -f scenario.yaml")
			}
			s, err := load(f.file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			return f.run(cmd, s)
		},
	}
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "the scenario; - reads standard input")
	f.add(cmd)
	return cmd
}

// add adds the flags that run and demo share.
func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.policies, "policy", nil, "policies to run, by label or name; default all of the scenario")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of all randomness; default that of the scenario")
	flags.StringVar(&f.out, "out", "", "folder to write a run directory per policy into")
	flags.StringVar(&f.decisions, "decisions", "auto", "with --out, keep every transition for diff: auto (unless there are very many), always or never")
	flags.BoolVar(&f.trade, "trade", false, "add what jobs trade, one by one, under each policy against the first: less waiting for a longer run")
	flags.BoolVar(&f.strict, "strict", false, "exit with 1 if there is any verdict")
	flags.StringVarP(&f.format, "output", "o", "table", "one of "+strings.Join(report.Formats(), ", "))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("policy", complete(policies.Names())))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete(report.Formats())))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("decisions", complete(study.Keepings())))
}

func complete(words []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// load reads a scenario file, or standard input for -.
func load(file string, in io.Reader) (*scenario.Scenario, error) {
	if file != "-" {
		return scenario.Load(file)
	}
	data, err := io.ReadAll(io.LimitReader(in, scenario.MaxFileSize+1))
	if err != nil {
		return nil, err
	}
	return parse("-", data)
}

func parse(name string, data []byte) (*scenario.Scenario, error) {
	file, err := scenario.Parse(name, data)
	if err != nil {
		return nil, err
	}
	return file.Resolve("")
}

// run is both commands once the scenario is read.
func (f *runFlags) run(cmd *cobra.Command, s *scenario.Scenario) error {
	if !slices.Contains(report.Formats(), f.format) {
		return fmt.Errorf("unknown output format %q, expected one of %s%s", f.format,
			strings.Join(report.Formats(), ", "), suggest.Hint(f.format, report.Formats()))
	}
	s, err := f.adjust(cmd, s)
	if err != nil {
		return err
	}
	outcomes, err := f.simulate(cmd.Context(), s)
	if err != nil {
		return err
	}
	warnings, err := f.save(s, outcomes)
	if err != nil {
		return err
	}
	header := report.Document{Version: version(), Scenario: s.Name, Assumptions: s.Assumptions, Warnings: slices.Concat(s.Warnings, warnings)}
	document := study.Compare(header, outcomes)
	if f.trade {
		document.Trades = study.Trades(outcomes)
	}
	if err := report.Render(cmd.OutOrStdout(), f.format, document); err != nil {
		return err
	}
	return f.judge(document)
}

// adjust applies the flags that change the scenario.
func (f *runFlags) adjust(cmd *cobra.Command, s *scenario.Scenario) (*scenario.Scenario, error) {
	if cmd.Flags().Changed("policy") {
		if err := s.Select(f.policies); err != nil {
			return nil, err
		}
	}
	if cmd.Flags().Changed("seed") {
		return s.WithSeed(f.seed)
	}
	return s, nil
}

func (f *runFlags) simulate(ctx context.Context, s *scenario.Scenario) ([]study.Outcome, error) {
	options, err := study.Keep(f.decisions)
	if err != nil {
		return nil, fmt.Errorf("--decisions: %w", err)
	}
	choices := study.Choices(s)
	if f.out == "" {
		return study.Run(ctx, s.Config, choices, study.Options{})
	}
	if err := report.CheckRunDirs(f.out, study.Manifest(version(), s), study.Labels(choices)); err != nil {
		return nil, err
	}
	return study.Run(ctx, s.Config, choices, options)
}

func (f *runFlags) save(s *scenario.Scenario, outcomes []study.Outcome) (warnings []string, err error) {
	if f.out == "" {
		return nil, nil
	}
	return study.Save(f.out, *study.Manifest(version(), s), outcomes)
}

// judge fails a strict run that has verdicts.
func (f *runFlags) judge(d *report.Document) error {
	for i := range d.Runs {
		if f.strict && len(d.Runs[i].Verdicts) > 0 {
			return errFailed
		}
	}
	return nil
}
