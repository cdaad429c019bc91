// Command gangplan replays a job trace against a modelled GPU cluster under several
// schedulers and says what each would have cost.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/spf13/cobra"
)

// The exit codes of every command.
const (
	exitOK          = 0
	exitFailed      = 1 // a gate, a verification or a --strict run failed
	exitUsage       = 2 // usage or bad input
	exitBroken      = 3 // an internal invariant broke
	exitInterrupted = 130
)

// errFailed is the error of a command that answered, with an answer that fails a gate.
var errFailed = errors.New("failed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code. Results go to out, everything
// else to errOut.
func execute(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	strictHelp(root)
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(flagError)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := misled(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	return exitCode(err, args, errOut)
}

func exitCode(err error, args []string, errOut io.Writer) int {
	var broken *study.Broken
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(errOut, "gangplan: %s\n", interruption(err))
		return exitInterrupted
	case errors.As(err, &broken):
		fmt.Fprintf(errOut, "gangplan: internal error, please report it: %v\nreproduce: gangplan %s\n%s", err, commandLine(args), broken.Stack)
		return exitBroken
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(errOut, "gangplan: %s\n", line)
		}
	}
	return exitUsage
}

// interruption says what became of what was interrupted.
func interruption(err error) string {
	var stopped *sweep.Interrupted
	if errors.As(err, &stopped) {
		return stopped.Error()
	}
	return "interrupted; nothing was written"
}

// commandLine joins arguments so that a shell takes them apart again.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if quoted[i] = a; strings.ContainsAny(a, " \t\n'\"\\$&|;<>()*?[]#~") || a == "" {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "gangplan",
		Short: "Replay a job trace against a GPU cluster under several schedulers",
		Long: `gangplan replays a job trace against a modelled GPU cluster, under several schedulers,
in virtual time, and says what each would have cost: idle GPU-hours by cause, waits,
evictions and requeues, all-reduce slowdowns.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		newDemo(),
		newRun(),
		newDiff(),
		newCompare(),
		newSweep(),
		newSize(),
		newCheck(),
		newPlot(),
		newFabric(),
		newFragmentation(),
		newCluster(),
		newTrace(),
		newVerify(),
		newPolicies(),
		newVersion(),
	)
	return root
}
