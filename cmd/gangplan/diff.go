package main

import (
	"github.com/gangplan/gangplan/report"
	"github.com/spf13/cobra"
)

func newDiff() *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Find the first transition at which two runs part",
		Long: `Find the first transition at which two runs part.

A and B are run directories, as run --out writes them. Exits with 0 if the runs are equal
and with 1 if they are not.`,
		Example: `  gangplan run -f scenario.yaml --out results
  gangplan diff results/gang results/gang-topology`,
		Args: exactly(2, "two run directories"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := report.Diff(args[0], args[1])
			if err != nil {
				return err
			}
			if err := d.WriteText(cmd.OutOrStdout()); err != nil {
				return err
			}
			if !d.Equal() {
				return errFailed
			}
			return nil
		},
	}
}
