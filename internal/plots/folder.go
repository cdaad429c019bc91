package plots

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/study/sweep"
)

const folderStage = ".plots-"

// WriteUsual draws, for every metric that a sweep shows, its curve along an axis and, if
// there is a second one, its heat map: METRIC-curve.svg and METRIC-heat.svg in the folder
// plots of the sweep's. What cannot be drawn of this sweep is left out. The folder is
// replaced as a whole, and there is none if nothing can be drawn.
func WriteUsual(dir string, s *sweep.Sweep) error {
	left, err := filepath.Glob(filepath.Join(dir, folderStage+"*"))
	if err != nil {
		return err
	}
	for _, path := range append(left, filepath.Join(dir, sweep.PlotsDir)) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	stage, err := os.MkdirTemp(dir, folderStage)
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	made := filepath.Join(stage, sweep.PlotsDir)
	if err := os.Mkdir(made, 0o777); err != nil {
		return err
	}
	drawn := 0
	for _, metric := range s.Shown {
		for _, kind := range []string{"curve", "heat"} {
			picture := usual(s, "sweep-"+kind, metric)
			if picture == nil {
				continue
			}
			drawn++
			if err := os.WriteFile(filepath.Join(made, metric+"-"+kind+".svg"), picture, 0o666); err != nil {
				return err
			}
		}
	}
	if drawn == 0 {
		return nil
	}
	return os.Rename(made, filepath.Join(dir, sweep.PlotsDir))
}

// usual draws a kind, or returns nil: not every sweep has the axes for every kind.
func usual(s *sweep.Sweep, name, metric string) []byte {
	kind, err := Find(name)
	if err != nil {
		panic("plots: " + err.Error())
	}
	chart, err := kind.Draw(&Input{Sweep: s}, Options{Metric: metric})
	if err != nil {
		return nil
	}
	var b bytes.Buffer
	if chart.Write(&b, "svg") != nil {
		return nil
	}
	return b.Bytes()
}
