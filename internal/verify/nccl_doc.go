package verify

import (
	"fmt"
	"strings"

	"github.com/gangplan/gangplan/topology/fabric"
)

// ValidationTable writes what the suite nccl compares as Markdown: measured, model, error.
func ValidationTable(o Options) (string, error) {
	rows, err := compareNCCL(o)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| measurement | profile | size | measured busbw GB/s | model GB/s | error | bottleneck | fitted on it |\n|---|---|---|---|---|---|---|---|\n")
	for i := range rows {
		rows[i].write(&b)
	}
	b.WriteString("\nNot compared:\n\n")
	for i := range rows {
		if rows[i].skip != "" {
			fmt.Fprintf(&b, "- %s: %s\n", rows[i].Name, rows[i].skip)
		}
	}
	return b.String(), nil
}

func (c *compared) write(b *strings.Builder) {
	if c.skip != "" {
		return
	}
	fitted := "no"
	if c.fitted {
		fitted = "calibration"
	}
	factor := fabric.BusFactor(fabric.AllReduce, c.Ranks)
	for _, p := range c.points {
		size := factor * float64(p.bytes)
		fmt.Fprintf(b, "| %s | %s | %s | %.1f | %.1f | %+.1f %% | %s | %s |\n", c.Name, c.profile, sizeName(p.bytes),
			size/p.measured, size/p.modelled, 100*p.err(), p.level, fitted)
	}
	if len(c.points) > 1 {
		fmt.Fprintf(b, "| %s | %s | geometric mean | | | %.1f %% | | %s |\n", c.Name, c.profile, 100*c.judged(), fitted)
	}
}

func sizeName(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.4g GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%.4g MiB", float64(bytes)/(1<<20))
}
