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
		Args:  noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writePolicies(cmd.OutOrStdout())
		},
	}
}

// width is the terminal that lists are wrapped for.
const width = 100

func writePolicies(w io.Writer) error {
	var b strings.Builder
	for i, d := range policies.All() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintln(&b, d.Name)
		wrap(&b, "  ", d.Doc)
		for _, p := range d.Params {
			wrap(&b, fmt.Sprintf("    %-13s ", p.Name), p.Doc)
			wrap(&b, strings.Repeat(" ", 18), "("+choices(&p)+")")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// choices says what a parameter may be.
func choices(p *policies.Param) string {
	values := strings.Join(p.Values, " | ")
	switch {
	case values == "" && p.Syntax != "":
		values = p.Syntax
	case values == "":
		values = "a level"
	}
	if p.Default != "" {
		values += "; default " + p.Default
	}
	return values
}

// wrap writes words behind a head, and under it as far to the right.
func wrap(b *strings.Builder, head, text string) {
	line := head
	for _, word := range strings.Fields(text) {
		if len(line)+len(word) > width && strings.TrimSpace(line) != "" {
			fmt.Fprintln(b, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", len(head))
		}
		line += word + " "
	}
	fmt.Fprintln(b, strings.TrimRight(line, " "))
}
