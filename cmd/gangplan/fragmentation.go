package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/fragmentation"
	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/internal/verify"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/testdata"
	"github.com/spf13/cobra"
)

// fragmentationFlags are the flags of the command.
type fragmentationFlags struct {
	data, file, format, plots string
	workloads                 []string
	show                      bool
}

var fragmentationFormats = []string{"table", "json", "csv", "markdown"}

func newFragmentation() *cobra.Command {
	var f fragmentationFlags
	cmd := &cobra.Command{
		Use:   "fragmentation --data DIR",
		Short: "Play the fragmentation study: how full six scorers pack a cluster",
		Long: `Play the fragmentation study of Weng et al. (ATC'23): pods arrive at a cluster until 130% of
its GPUs are asked for, and six ways to choose a node are compared by how many GPUs they
fill. Prints means over the seeds beside the published ones, where those are known.

DIR holds the openb lists of nodes and pods of Alibaba's cluster-trace-gpu-v2023, which
gangplan does not ship. -f takes another study; --show prints the one that is shipped.`,
		Example: `  gangplan fragmentation --data openb/
  gangplan fragmentation --data openb/ --workload default --plots plots/
  gangplan fragmentation --data openb/ -o csv`,
		Args: noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "folder with the openb lists")
	flags.StringVarP(&f.file, "file", "f", "", "a study file; default the published study")
	flags.StringSliceVar(&f.workloads, "workload", nil, "workloads to play; default all of the study")
	flags.StringVarP(&f.format, "output", "o", "table", "one of "+strings.Join(fragmentationFormats, ", "))
	flags.StringVar(&f.plots, "plots", "", "folder to draw the curves into, as SVG, PNG and PDF")
	flags.BoolVar(&f.show, "show", false, "print the study file instead of playing it")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete(fragmentationFormats)))
	return cmd
}

func (f *fragmentationFlags) run(cmd *cobra.Command) error {
	if f.show {
		_, err := cmd.OutOrStdout().Write(testdata.Fragmentation)
		return err
	}
	file, study, err := f.study()
	if err != nil {
		return err
	}
	c := curves{title: file.Title()}
	if c.ours, err = study.Play(cmd.Context(), f.data); err != nil {
		return err
	}
	if c.published, err = verify.PublishedFGD(study); err != nil {
		return err
	}
	if f.plots != "" {
		if err := c.plot(f.plots); err != nil {
			return err
		}
	}
	return c.write(cmd.OutOrStdout(), f.format)
}

// study reads the study and checks the flags against it.
func (f *fragmentationFlags) study() (*scenario.Fragmentation, *fragmentation.Study, error) {
	if !slices.Contains(fragmentationFormats, f.format) {
		return nil, nil, fmt.Errorf("unknown output format %q, expected one of %s%s", f.format,
			strings.Join(fragmentationFormats, ", "), suggest.Hint(f.format, fragmentationFormats))
	}
	if f.data == "" {
		return nil, nil, fmt.Errorf("fragmentation: expected --data DIR with %s and lists of pods", fragmentation.NodeList)
	}
	name, data := "fragmentation.yaml", testdata.Fragmentation
	file, err := scenario.ParseFragmentation(name, data, fragmentation.Policies())
	if f.file != "" {
		file, err = scenario.LoadFragmentation(f.file, fragmentation.Policies())
	}
	if err != nil {
		return nil, nil, err
	}
	s := &fragmentation.Study{Workloads: file.Workloads, Policies: file.Scorers, Ratio: file.Load}
	for _, w := range f.workloads {
		if !slices.Contains(file.Workloads, w) {
			return nil, nil, fmt.Errorf("the study has no workload %q: expected one of %s%s", w,
				strings.Join(file.Workloads, ", "), suggest.Hint(w, file.Workloads))
		}
	}
	if len(f.workloads) > 0 {
		s.Workloads = f.workloads
	}
	for i := range file.Seeds.Count {
		s.Seeds = append(s.Seeds, file.Seeds.First+int64(i))
	}
	return file, s, nil
}

// curves are those of a study and, in the same order, the published ones.
type curves struct {
	title           string
	ours, published []fragmentation.Curve
}

func (c *curves) write(w io.Writer, format string) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(c.document())
	case "csv":
		return c.allPoints().Write(w, format)
	}
	return c.summary().Write(w, format)
}

// curveColumns are the columns of a curve.
var curveColumns = []struct {
	name, label string
	of          func(fragmentation.Point) float64
}{
	{"allocated", "GPUs used (% of all)", func(p fragmentation.Point) float64 { return p.Allocated }},
	{"fragment_amount", "fragments (% of all GPUs)", func(p fragmentation.Point) float64 { return p.FragmentAmount }},
	{"fragment_ratio", "fragments (% of the free GPUs)", func(p fragmentation.Point) float64 { return p.FragmentRatio }},
}

// summary is what the study is usually quoted by.
func (c *curves) summary() *report.Grid {
	shown := []struct {
		title      string
		at, column int
	}{{"used at 100%", 100, 0}, {"used at 130%", 130, 0}, {"fragment ratio at 90%", 90, 2}}
	g := &report.Grid{Title: c.title, Header: []string{"workload", "scorer"}}
	for _, s := range shown {
		g.Header = append(g.Header, s.title, "published")
	}
	for i := range c.ours {
		row := []string{c.ours[i].Workload, c.ours[i].Policy}
		for _, s := range shown {
			row = append(row, cell(&c.ours[i], s.at, s.column, 2), cell(&c.published[i], s.at, s.column, 2))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// cell is a number of a curve, or nothing; with all its digits if decimals is -1.
func cell(c *fragmentation.Curve, at, column, decimals int) string {
	p, ok := c.At(at)
	if !ok {
		return ""
	}
	return strconv.FormatFloat(curveColumns[column].of(p), 'f', decimals, 64)
}

// allPoints is every number of every curve.
func (c *curves) allPoints() *report.Grid {
	g := &report.Grid{Header: []string{"workload", "scorer", "asked"}}
	for _, column := range curveColumns {
		g.Header = append(g.Header, column.name, column.name+"_published")
	}
	for i := range c.ours {
		for _, p := range c.ours[i].Points {
			row := []string{c.ours[i].Workload, c.ours[i].Policy, strconv.Itoa(p.Arrived)}
			for column := range curveColumns {
				row = append(row, cell(&c.ours[i], p.Arrived, column, -1), cell(&c.published[i], p.Arrived, column, -1))
			}
			g.Rows = append(g.Rows, row)
		}
	}
	return g
}
