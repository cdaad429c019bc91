package plots

import (
	"fmt"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/study/sweep"
	"github.com/gangplan/gangplan/report"
)

// Open reads what is to be drawn: run directories, folders of them, or one finished sweep.
func Open(paths []string) (*Input, error) {
	var runs []*report.StoredRun
	for _, path := range paths {
		if sweep.Is(path) {
			if len(paths) > 1 {
				return nil, fmt.Errorf("%s: is a sweep, which is drawn alone", path)
			}
			s, err := sweep.Read(path)
			return &Input{Sweep: s}, err
		}
		some, err := report.OpenRuns(path)
		if err != nil {
			return nil, err
		}
		runs = append(runs, some...)
	}
	return &Input{Runs: labelled(runs)}, nil
}

// labelled gives runs of the same label what tells them apart: their seeds, or the folders
// they lie in.
func labelled(stored []*report.StoredRun) []Run {
	runs := make([]Run, len(stored))
	same := map[string][]int{}
	for i, r := range stored {
		runs[i] = Run{Label: r.Manifest.Label, Summary: &r.Summary, Tables: r}
		same[r.Manifest.Label] = append(same[r.Manifest.Label], i)
	}
	for label, of := range same {
		if len(of) == 1 {
			continue
		}
		for _, mark := range []func(r *report.StoredRun) string{
			func(r *report.StoredRun) string { return fmt.Sprint("seed ", r.Manifest.Seed) },
			func(r *report.StoredRun) string { return filepath.Base(filepath.Dir(r.Dir)) },
			func(r *report.StoredRun) string { return r.Dir },
		} {
			seen := map[string]bool{}
			for _, i := range of {
				runs[i].Label = fmt.Sprintf("%s (%s)", label, mark(stored[i]))
				seen[runs[i].Label] = true
			}
			if len(seen) == len(of) {
				break
			}
		}
	}
	return runs
}
