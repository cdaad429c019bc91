package plots

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/staging"
	"github.com/gangplan/gangplan/internal/study/sweep"
)

const folderStage = ".plots-"

// WriteUsual draws, for every metric that a sweep shows, its curve along an axis and, if
// there is a second one, its heat map: METRIC-curve.svg and METRIC-heat.svg in the folder
// plots of the sweep's. What cannot be drawn of this sweep is left out. The folder is
// replaced as a whole, and there is none if nothing can be drawn.
func WriteUsual(dir string, s *sweep.Sweep) error {
	if err := staging.SweepAway(dir, folderStage); err != nil {
		return err
	}
	stage, err := staging.New(dir, folderStage)
	if err != nil {
		return err
	}
	defer stage.Remove()
	made, final := filepath.Join(stage.Path, sweep.PlotsDir), filepath.Join(dir, sweep.PlotsDir)
	if err := os.Mkdir(made, 0o777); err != nil {
		return stage.Named(final, err)
	}
	drawn, err := drawUsual(made, s)
	switch {
	case err != nil:
		return stage.Named(final, err)
	case drawn == 0:
		return os.RemoveAll(final)
	}
	return stage.Named(final, staging.Replace(made, final))
}

// drawUsual draws what can be drawn of a sweep into a folder, and counts it.
func drawUsual(dir string, s *sweep.Sweep) (drawn int, err error) {
	for _, metric := range s.Shown {
		for _, kind := range []string{"curve", "heat"} {
			picture := usual(s, "sweep-"+kind, metric)
			if picture == nil {
				continue
			}
			drawn++
			if err := os.WriteFile(filepath.Join(dir, metric+"-"+kind+".svg"), picture, 0o666); err != nil {
				return drawn, err
			}
		}
	}
	return drawn, nil
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
