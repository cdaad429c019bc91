package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gangplan/gangplan/policies"
	"github.com/spf13/cobra"
)

func newPolicies() *cobra.Command {
	return &cobra.Command{
		Use:   "policies",
		Short: "List the scheduling policies and their parameters",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writePolicies(cmd.OutOrStdout())
		},
	}
}

func writePolicies(w io.Writer) error {
	var b strings.Builder
	for i, d := range policies.All() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n  %s\n", d.Name, d.Doc)
		for _, p := range d.Params {
			values := strings.Join(p.Values, " | ")
			if values == "" && p.Syntax != "" {
				values = p.Syntax
			} else if values == "" {
				values = "a level"
			}
			if p.Default != "" {
				values += "; default " + p.Default
			}
			fmt.Fprintf(&b, "    %-10s %s\n               (%s)\n", p.Name, p.Doc, values)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
