package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gangplan/gangplan/internal/clusterimport"
	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/spf13/cobra"
)

func newCluster() *cobra.Command {
	cmd := &cobra.Command{Use: "cluster", Short: "Turn a real cluster into a scenario, and see what does not add up in it"}
	cmd.AddCommand(newClusterImport(), newClusterInspect())
	return cmd
}

func newClusterImport() *cobra.Command {
	var out, levels string
	cmd := &cobra.Command{
		Use:   "import DIR [--out DIR]",
		Short: "Turn what kubectl prints of a cluster into a scenario",
		Long: `Turn what kubectl prints of a cluster into a scenario: nodes, Kueue's objects and
configuration, and Workloads as the trace. DIR has files of YAML or JSON, as of

  kubectl get nodes -o json > nodes.json
  kubectl get clusterqueues,cohorts,resourceflavors,topologies,workloadpriorityclasses -o yaml > kueue.yaml
  kubectl get localqueues -A -o yaml > localqueues.yaml
  kubectl get workloads -A -o json > workloads.json
  kubectl get configmap -n kueue-system kueue-manager-config -o yaml > config.yaml

What gangplan does not model is listed, here and in the assumptions of every run.`,
		Example: "  gangplan cluster import dump --out mine\n  gangplan run -f mine/scenario.yaml",
		Args:    exactly(1, "the folder with what kubectl prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			im, err := importCluster(args[0], levels)
			if err != nil {
				return err
			}
			var files []string
			if out != "" {
				if files, err = im.Save(out); err != nil {
					return err
				}
			}
			return writeImport(cmd.OutOrStdout(), im, files)
		},
	}
	addLevels(cmd, &levels)
	cmd.Flags().StringVar(&out, "out", "", "folder to write the scenario and its trace into; without it they are only looked at")
	return cmd
}

func addLevels(cmd *cobra.Command, levels *string) {
	cmd.Flags().StringVar(levels, "levels", "", "levels above the host and their node labels, outermost first, as block=KEY,rack=KEY; default those of Kueue's Topology, else of the labels of clouds")
}

func importCluster(path, levels string) (*clusterimport.Import, error) {
	dump, err := clusterimport.Read(path)
	if err != nil {
		return nil, err
	}
	var given []clusterimport.LevelLabel
	if levels != "" {
		if given, err = clusterimport.ParseLevels(levels); err != nil {
			return nil, err
		}
	}
	return clusterimport.New(dump, "imported", given...)
}

func writeImport(w io.Writer, im *clusterimport.Import, files []string) error {
	var b strings.Builder
	if len(files) > 0 {
		fmt.Fprintf(&b, "wrote %s\n", strings.Join(files, ", "))
	}
	for _, line := range im.Summary() {
		wrap(&b, "", line)
	}
	writeList(&b, "notes", im.Notes)
	writeList(&b, "not modelled", im.File.NotModelled)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeList(b *strings.Builder, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n%s\n", title)
	}
	for _, line := range lines {
		wrap(b, "  ", line)
	}
}

func newClusterInspect() *cobra.Command {
	var levels string
	cmd := &cobra.Command{
		Use:   "inspect DIR|scenario.yaml",
		Short: "Show capacity, quota and levels, and what does not add up",
		Long: `Show the levels, GPU models and flavors of a cluster with their capacity and quota, and what
does not add up: quota beyond capacity, flavors without nodes, nodes without the label of a
level, GPUs that no queue can reach. The argument is a scenario, or a folder or file of what
kubectl prints (see cluster import).`,
		Args: exactly(1, "a scenario, or the folder with what kubectl prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, notes, err := inspected(args[0], levels)
			if err != nil {
				return err
			}
			in := clusterimport.Inspect(s)
			in.Problems = append(in.Problems, notes...)
			for i, grid := range in.Grids() {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := grid.Write(cmd.OutOrStdout(), "table"); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addLevels(cmd, &levels)
	return cmd
}

// inspected reads a scenario, or imports a cluster.
func inspected(path, levels string) (*scenario.Scenario, []string, error) {
	if scenario.IsScenario(path) {
		s, err := scenario.Load(path)
		return s, nil, err
	}
	im, err := importCluster(path, levels)
	if err != nil {
		return nil, nil, err
	}
	notes := im.Notes
	if list := im.File.NotModelled; len(list) > 0 {
		notes = append(notes, "not modelled: "+strings.Join(list, ", "))
	}
	return im.Scenario, notes, nil
}
