package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/internal/verify"
	"github.com/spf13/cobra"
)

func newVerify() *cobra.Command {
	var suite, format, scenarios string
	var options verify.Options
	cmd := &cobra.Command{
		Use:   "verify --suite NAME",
		Short: "Compare the simulator with recorded answers",
		Long: `Compare the simulator with recorded answers of real schedulers, of independent tools and
of hand-derived scenarios. Exits with 1 if any case is outside its tolerance.

Suites:
` + listSuites(),
		Example: `  gangplan verify --suite scenarios
  gangplan verify --suite scenarios --cases more.jsonl -o json`,
		Args: noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, ok := verify.Lookup(suite)
			if !ok {
				return fmt.Errorf("unknown suite %q, expected one of %s%s", suite, strings.Join(suiteNames(), ", "), suggest.Hint(suite, suiteNames()))
			}
			if format != "table" && format != "json" {
				return fmt.Errorf("unknown output format %q, expected table or json%s", format, suggest.Hint(format, []string{"table", "json"}))
			}
			if scenarios != "" && s.Write == nil {
				return fmt.Errorf("--write-scenarios: the cases of suite %s are no scenarios of their own; those of %s are", suite, strings.Join(writableSuites(), ", "))
			}
			if scenarios != "" {
				return s.Write(options, scenarios)
			}
			r, err := s.Check(options)
			if err != nil {
				return err
			}
			if err := writeVerification(cmd.OutOrStdout(), format, r); err != nil {
				return err
			}
			if r.Outside > 0 {
				return errFailed
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&suite, "suite", "scenarios", "what to compare: one of "+strings.Join(suiteNames(), ", "))
	cmd.Flags().StringVar(&options.Cases, "cases", "", "file of cases, one JSON object a line with the fields of those shipped, which are the default")
	cmd.Flags().StringVar(&options.Data, "data", "", "folder of data that a suite needs and gangplan does not ship")
	cmd.Flags().StringVar(&scenarios, "write-scenarios", "", "write each case as a scenario into this folder, and compare nothing")
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table or json")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("suite", complete(suiteNames())))
	return cmd
}

// writableSuites are those whose cases are scenarios of their own.
func writableSuites() (names []string) {
	for _, s := range verify.Suites() {
		if s.Write != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

func suiteNames() []string {
	var names []string
	for _, s := range verify.Suites() {
		names = append(names, s.Name)
	}
	return names
}

func listSuites() string {
	var b strings.Builder
	for _, s := range verify.Suites() {
		fmt.Fprintf(&b, "  %-20s %s\n", s.Name, s.Doc)
	}
	return b.String()
}

func writeVerification(w io.Writer, format string, r *verify.Report) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	var b strings.Builder
	for _, c := range r.Results {
		line := fmt.Sprintf("%-8s %s", c.Verdict, c.ID)
		if c.Reason != "" {
			line += ": " + c.Reason
		}
		fmt.Fprintln(&b, line)
	}
	for _, m := range r.Mismatches {
		if m.Want == nil && m.Got == nil {
			continue // it was not played, and says why
		}
		fmt.Fprintf(&b, "\n%s\n  want %v\n  got  %v\n", m.ID, m.Want, m.Got)
	}
	fmt.Fprintf(&b, "\n%s: %d cases, %d exact, %d within, %d outside, %d skipped\n", r.Suite, r.Cases, r.Exact, r.Within, r.Outside, r.Skipped)
	_, err := io.WriteString(w, b.String())
	return err
}
