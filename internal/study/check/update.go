package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gangplan/gangplan/internal/staging"
	"github.com/gangplan/gangplan/report"
)

// stagePrefix begins the names of the folders in which new baselines are written before
// they are moved into place.
const stagePrefix = ".gangplan-update-"

// update makes what is measured now the baseline. Everything is written beside first; a
// file is then moved into place, so that each is always the old one or the new one.
func (c *corpus) update(ctx context.Context, o Options) (g *report.Gate, err error) {
	s, err := newStage(c.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.beside.Remove()) }()
	if err := c.play(ctx, o); err != nil {
		return nil, err
	}
	g = &report.Gate{Version: o.Version, Corpus: slash(c.dir), Updated: true, Passed: true}
	for _, e := range c.entries {
		row, err := e.update(s, o.Version)
		if err != nil {
			return nil, err
		}
		g.Scenarios = append(g.Scenarios, row)
	}
	for _, name := range c.orphans {
		s.gone = append(s.gone, filepath.Join(c.dir, name+baselineSuffix), filepath.Join(c.dir, name+recordSuffix))
		g.Scenarios = append(g.Scenarios, report.GateScenario{Name: name, File: slash(filepath.Join(c.dir, name+baselineSuffix)), Baseline: "removed"})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return g, s.publish()
}

// update stages the files of a scenario that are not as they were, and says what changed.
func (e *entry) update(s *stage, version string) (report.GateScenario, error) {
	next := newBaseline(e, version)
	g := report.GateScenario{Name: e.name, File: slash(e.file), Baseline: e.become(next)}
	if problem := e.problem(); problem != "" {
		if g.Fresh = true; e.baseline != nil {
			g.Notes = append(g.Notes, problem)
		}
		e.baseline = nil
	}
	g.Policies = e.judgePolicies()
	if g.Baseline == unchanged {
		return g, nil
	}
	if err := s.add(e.beside(recordSuffix), e.pack()); err != nil {
		return g, err
	}
	return g, s.add(e.beside(baselineSuffix), next.write(e.name))
}

const unchanged = "unchanged"

// become says what happens to the baseline. Another version of gangplan alone is no reason
// to write it anew.
func (e *entry) become(next *baseline) string {
	if e.baseline == nil {
		return "new"
	}
	old := *e.baseline
	old.Version = next.Version
	switch {
	case !bytes.Equal(old.write(e.name), next.write(e.name)):
		return "rewritten"
	case e.recordProblem() != "":
		return "as it was, its record rewritten"
	}
	return unchanged
}

// pack is the record of all runs.
func (e *entry) pack() []byte {
	var tapes []tape
	for i := range e.policies {
		for k, r := range e.policies[i].runs {
			tapes = append(tapes, tape{e.policies[i].Label, e.seeds[k], r.tape})
		}
	}
	return packTapes(tapes)
}

// stage is a folder with files that wait for being moved into place.
type stage struct {
	beside *staging.Folder
	files  []string // where they go, in this order
	gone   []string // what is removed at last
}

// newStage makes the folder, and takes away those that an update left behind that was killed.
func newStage(dir string) (*stage, error) {
	if err := staging.SweepAway(dir, stagePrefix); err != nil {
		return nil, err
	}
	beside, err := staging.New(dir, stagePrefix)
	return &stage{beside: beside}, err
}

// add writes a file beside the one it will replace.
func (s *stage) add(file string, content []byte) error {
	f, err := os.OpenFile(s.place(file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return s.beside.Named(file, err)
	}
	_, err = f.Write(content)
	s.files = append(s.files, file)
	return s.beside.Named(file, errors.Join(err, f.Sync(), f.Close()))
}

// place is where a file waits.
func (s *stage) place(file string) string { return filepath.Join(s.beside.Path, filepath.Base(file)) }

// publish moves all files into place. The record of a scenario goes before its baseline: a
// record of other runs is noticed, and no verdict depends on it.
func (s *stage) publish() error {
	for i, file := range s.files {
		if err := os.Rename(s.place(file), file); err != nil {
			return fmt.Errorf("%w (%d of %d files were replaced before)", s.beside.Named(file, err), i, len(s.files))
		}
	}
	for _, file := range s.gone {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
