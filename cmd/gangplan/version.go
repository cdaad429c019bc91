package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/spf13/cobra"
)

// module is what `go install` builds this command from.
const module = "github.com/gangplan/gangplan/cmd/gangplan"

// version is the module's version as the build recorded it, or devel.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func newVersion() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch format {
			case "text":
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "gangplan %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			case "json":
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]string{"version": version(), "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH, "scenario": scenario.APIVersion})
			}
			return fmt.Errorf("unknown output format %q, expected text or json%s", format, suggest.Hint(format, []string{"text", "json"}))
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return cmd
}
