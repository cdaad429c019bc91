package main

import (
	"github.com/gangplan/gangplan/testdata"
	"github.com/spf13/cobra"
)

func newDemo() *cobra.Command {
	var f runFlags
	var show bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the embedded scenario: the same two days under three schedulers",
		Args:  noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if show {
				_, err := cmd.OutOrStdout().Write(testdata.Demo)
				return err
			}
			s, err := parse("demo.yaml", testdata.Demo)
			if err != nil {
				return err
			}
			return f.run(cmd, s)
		},
	}
	cmd.Flags().BoolVar(&show, "show", false, "print the scenario instead of running it")
	f.add(cmd)
	return cmd
}
