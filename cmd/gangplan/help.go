package main

import "github.com/spf13/cobra"

// strictHelp makes `help nosuch` an error, as `nosuch` is.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != "help" {
			continue
		}
		help.Run = nil
		help.RunE = func(_ *cobra.Command, args []string) error {
			on, rest, _ := root.Find(args)
			if len(rest) > 0 {
				return unknownCommand(on, rest[0])
			}
			on.InitDefaultHelpFlag()
			return on.Help()
		}
	}
}
