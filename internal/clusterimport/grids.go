package clusterimport

import (
	"fmt"
	"strconv"

	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/topology"
)

// Grids are the tables of an inspection: the levels, the GPU models, and the flavors with
// what does not add up.
func (in *Inspection) Grids() []*report.Grid {
	levels := &report.Grid{Title: "levels", Words: 1, Header: []string{"level", "domains", "fewest GPUs", "most GPUs"}}
	for _, l := range in.Levels {
		levels.Rows = append(levels.Rows, []string{l.Name, strconv.Itoa(l.Domains), Amount(topology.GPU, l.Least), Amount(topology.GPU, l.Most)})
	}
	models := &report.Grid{Title: "GPU models", Words: 1, Header: []string{"model", "nodes", "GPUs"}}
	for _, m := range in.Models {
		models.Rows = append(models.Rows, []string{m.Name, strconv.Itoa(m.Nodes), Amount(topology.GPU, m.Milli)})
	}
	flavors := &report.Grid{Title: "flavors: capacity and quota", Words: 2, Header: []string{"flavor", "resource", "nodes", "capacity", "quota", "given"}}
	for i := range in.Flavors {
		flavors.Rows = append(flavors.Rows, in.Flavors[i].rows()...)
	}
	flavors.Warnings = in.Problems
	return []*report.Grid{levels, models, flavors}
}

// rows has a line for every resource that anybody has quota for.
func (f *Flavor) rows() (rows [][]string) {
	for r, covered := range f.Covered {
		if !covered {
			continue
		}
		given := "-"
		if f.Capacity[r] > 0 {
			given = fmt.Sprintf("%.0f %%", 100*float64(f.Quota[r])/float64(f.Capacity[r]))
		}
		name := topology.Resource(r)
		rows = append(rows, []string{f.Name, name.String(), strconv.Itoa(f.Nodes), Amount(name, f.Capacity[r]), Amount(name, f.Quota[r]), given})
	}
	if rows == nil {
		rows = [][]string{{f.Name, "-", strconv.Itoa(f.Nodes), "-", "-", "-"}}
	}
	return rows
}
