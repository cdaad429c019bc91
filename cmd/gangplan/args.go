package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/report"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandName is what errors call a command: its path below the program.
func commandName(cmd *cobra.Command) string {
	if _, below, ok := strings.Cut(cmd.CommandPath(), " "); ok {
		return below
	}
	return cmd.Name()
}

// exactly checks the number of arguments and names what was expected.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%s: expected %s, got %s", commandName(cmd), what, report.Count(len(args), "argument"))
		}
		return nil
	}
}

// noArguments refuses arguments, and says of the first where it belongs, if anywhere: "the
// scenario is given as -f". It may also be a subcommand with a typo.
func noArguments(where string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		expected := "expected no arguments"
		if where != "" {
			expected = where + " " + args[0]
		}
		return fmt.Errorf("%s: unexpected %q: %s%s", commandName(cmd), args[0], expected, suggest.Hint(args[0], subcommands(cmd)))
	}
}

// subcommands are the names of what stands below a command.
func subcommands(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// misled finds a word that no command goes by. The library would print the help of the
// command above, and exit as if nothing were wrong.
func misled(root *cobra.Command, args []string) error {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil // from a shell, which completes words that are not whole
	}
	cmd, rest, err := root.Find(args)
	word := slices.IndexFunc(rest, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if word < 0 || err == nil && (cmd.Runnable() || !cmd.HasSubCommands()) {
		return nil
	}
	return unknownCommand(cmd, rest[word])
}

func unknownCommand(under *cobra.Command, name string) error {
	names := subcommands(under)
	return fmt.Errorf("unknown command %q for %q%s, expected one of %s", name, under.CommandPath(), suggest.Hint(name, names), strings.Join(names, ", "))
}

// flagError says what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("%s: unknown flag -%s", commandName(cmd), unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		hint := ""
		if near, ok := suggest.Closest(name, flagNames(cmd)); ok {
			hint = fmt.Sprintf(" (did you mean --%s?)", near)
		}
		return fmt.Errorf("%s: unknown flag --%s%s", commandName(cmd), name, hint)
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return fmt.Errorf("%s: --%s: expected a value behind it: %s", commandName(cmd), f.Name, f.Usage)
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return fmt.Errorf("%s: --%s %q: %s", commandName(cmd), f.Name, invalid.GetValue(), expectedValue(f, invalid.Unwrap()))
	}
	return fmt.Errorf("%s: %w", commandName(cmd), err)
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// expectedValue says what a flag takes; the library would tell of its parser.
func expectedValue(f *pflag.Flag, err error) string {
	switch f.Value.(type) {
	case *count:
		return err.Error()
	}
	switch f.Value.Type() {
	case "bool":
		return "expected true or false"
	case "int", "int64":
		return "expected a whole number"
	case "uint64":
		return "expected a whole number, 0 or more"
	case "float64":
		return "expected a number"
	}
	return err.Error()
}
