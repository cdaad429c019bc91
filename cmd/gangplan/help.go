package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// strictHelp makes `help nosuch` an error, as `nosuch` is.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != "help" {
			continue
		}
		help.Run = nil
		help.RunE = func(_ *cobra.Command, args []string) error {
			on, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return fmt.Errorf("unknown command %q for %q", strings.Join(rest, " "), on.CommandPath())
			}
			on.InitDefaultHelpFlag()
			return on.Help()
		}
	}
}
