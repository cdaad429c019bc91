package plots

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gangplan/gangplan/internal/study/sweep"
)

// listing is what is in a folder.
func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// The usual plots of a sweep are those that its axes allow; the folder is as new as the
// sweep, and nothing of an interrupted try is left.
func TestWriteUsual(t *testing.T) {
	dir := t.TempDir()
	left, old := filepath.Join(dir, folderStage+"1"), time.Now().Add(-48*time.Hour)
	if err := errors.Join(os.Mkdir(left, 0o777), os.Chtimes(left, old, old)); err != nil {
		t.Fatal(err)
	}
	wait := func(at []int) float64 { return float64(60 * (1 + at[0])) }
	two := swept("wait.p95_seconds", wait, numbers("racks", "", 2, 4), numbers("load", "", 1, 2), words("policy", "gang"))
	one := falling()
	none := swept("wait.p95_seconds", wait, words("policy", "gang", "per-pod"), numbers("seed", "", 1, 2))
	for _, c := range []struct {
		in    *Input
		plots string
	}{{two, "wait.p95_seconds-curve.svg wait.p95_seconds-heat.svg"}, {one, "wait.p95_seconds-curve.svg"}, {none, ""}} {
		if err := WriteUsual(dir, c.in.Sweep); err != nil {
			t.Fatal(err)
		}
		if c.plots == "" {
			wants(t, "what is left", listing(t, dir), "")
			continue
		}
		wants(t, "the folder", listing(t, dir), sweep.PlotsDir)
		wants(t, "the plots", listing(t, filepath.Join(dir, sweep.PlotsDir)), c.plots)
	}
	if err := WriteUsual(filepath.Join(dir, "absent"), two.Sweep); err == nil {
		t.Error("plots were written to a folder that there is not")
	}
}
