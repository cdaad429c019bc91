package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/study/check"
	"github.com/gangplan/gangplan/internal/study/progress"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
	"github.com/spf13/cobra"
)

// checkFlags are the flags of check.
type checkFlags struct {
	options  check.Options
	gate     report.GateOptions
	format   string
	junit    string
	summary  string
	github   bool
	exitZero bool
}

func newCheck() *cobra.Command {
	f := checkFlags{options: check.Options{Version: version()}}
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Hold a corpus of scenarios against its baselines: the gate for CI",
		Long: `Hold a corpus of scenarios against its baselines: the gate for CI.

DIR holds scenarios NAME.yaml, beside each a NAME.baseline.yaml with every metric of every
policy and a NAME.transitions.gz with what every run did; --update writes both. Exact metrics
must be equal, sampled ones within their tolerance; corpus.yaml in DIR changes that. Where a
run differs, the first transition that does is named, with what either run did and why.

Exits with 0 if the gate is passed and with 1 if it is not.`,
		Example: `  gangplan check testdata/corpus
  gangplan check testdata/corpus --update
  gangplan check corpus --github --junit junit.xml --summary "$GITHUB_STEP_SUMMARY"`,
		Args: exactly(1, "the folder of the corpus"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.options.Update, "update", false, "take what is measured now as the baseline, and print what changed")
	flags.StringSliceVar(&f.options.Scenarios, "scenario", nil, "scenarios to check, by name; default all")
	countVar(flags, &f.options.Parallel, "parallel", 0, 0, "runs at a time; 0 is one per processor")
	flags.StringVarP(&f.format, "output", "o", "table", "one of "+strings.Join(report.GateFormats(), ", "))
	flags.BoolVar(&f.gate.Verbose, "verbose", false, "print every metric with its baseline and limit")
	flags.StringVar(&f.junit, "junit", "", "file to write a JUnit report to")
	flags.StringVar(&f.summary, "summary", "", "file to append a Markdown summary to, such as $GITHUB_STEP_SUMMARY")
	flags.BoolVar(&f.github, "github", false, "print annotations for GitHub, on standard error unless the output is a table")
	flags.BoolVar(&f.exitZero, "exit-zero", false, "exit with 0 even if the gate is not passed")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete(report.GateFormats())))
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, dir string) error {
	if !slices.Contains(report.GateFormats(), f.format) {
		return fmt.Errorf("unknown output format %q, expected one of %s%s", f.format,
			strings.Join(report.GateFormats(), ", "), suggest.Hint(f.format, report.GateFormats()))
	}
	bar := progress.New(cmd.ErrOrStderr(), "runs")
	f.options.Progress = func(done, all int) { bar.Set(done, all, 0) }
	g, err := check.Run(cmd.Context(), dir, f.options)
	bar.Clear()
	if err != nil {
		return err
	}
	if err := f.write(cmd, g); err != nil {
		return err
	}
	if !g.Passed && !f.exitZero {
		return errFailed
	}
	return nil
}

// write writes the files first: they are for those who do not see the output.
func (f *checkFlags) write(cmd *cobra.Command, g *report.Gate) error {
	if f.junit != "" {
		if err := g.SaveJUnit(f.junit); err != nil {
			return err
		}
	}
	if f.summary != "" {
		if err := g.AppendSummary(f.summary); err != nil {
			return err
		}
	}
	if err := g.Write(cmd.OutOrStdout(), f.format, f.gate); err != nil {
		return err
	}
	if f.github {
		return g.WriteGitHub(f.annotationsTo(cmd))
	}
	return nil
}

// annotationsTo is where the runner looks for them, and where they do not spoil the output.
func (f *checkFlags) annotationsTo(cmd *cobra.Command) io.Writer {
	if f.format == "table" {
		return cmd.OutOrStdout()
	}
	return cmd.ErrOrStderr()
}
