package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/staging"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
)

// Merge gathers the cells of a study from the folders of its shards, checks every one of
// them, and puts the results together. It refuses cells that are not of the study, that
// are damaged, and a study of which one is missing, before it writes anything. The sources
// are left alone.
func (p *Plan) Merge(ctx context.Context, dir string, sources []string, parallel int) (*Sweep, error) {
	m := &merger{plan: p, cells: filepath.Join(dir, cellsDir), byID: map[string]*task{}}
	for _, t := range p.tasks {
		m.byID[t.id] = t
	}
	if err := m.list(m.cells); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, source := range sources {
		if err := m.list(filepath.Join(source, cellsDir)); err != nil {
			return nil, err
		}
	}
	if err := m.refuse(ctx, parallel); err != nil {
		return nil, err
	}
	if err := p.prepare(dir); err != nil {
		return nil, err
	}
	if err := study.Each(ctx, len(m.found), parallel, func(_ context.Context, i int) error { return m.take(m.found[i]) }); err != nil {
		return nil, err
	}
	return p.Finish(dir)
}

// merger is the state of one Merge.
type merger struct {
	plan    *Plan
	cells   string // where they go
	byID    map[string]*task
	found   []foundCell
	foreign []string // what is wrong with cells that are not of the study
}

type foundCell struct {
	task *task
	dir  string // the folder of cells it is in
}

// list notes the cells in a folder; what interrupted processes left there is none.
func (m *merger) list(cells string) error {
	entries, err := os.ReadDir(cells)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: expected the folder of a sweep, with %s in it: %w", filepath.Dir(cells), cellsDir, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if t := m.byID[e.Name()]; t != nil {
			m.found = append(m.found, foundCell{t, cells})
		} else {
			m.foreign = append(m.foreign, m.plan.foreign(filepath.Join(cells, e.Name())))
		}
	}
	return nil
}

// shownMost bounds lists in errors.
const shownMost = 10

// refuse returns an error if there is a foreign cell, a hole, or damage.
func (m *merger) refuse(ctx context.Context, parallel int) error {
	if len(m.foreign) > 0 {
		return fmt.Errorf("not of this study:\n%s", few(m.foreign))
	}
	there := map[*task]bool{}
	for _, f := range m.found {
		there[f.task] = true
	}
	var missing []string
	for i := range m.plan.cells {
		if c := &m.plan.cells[i]; !there[c.task] {
			missing = append(missing, m.plan.describe(c))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d of %s missing:\n%s", len(missing), report.Count(len(m.plan.cells), "cell"), few(missing))
	}
	return study.Each(ctx, len(m.found), parallel, func(_ context.Context, i int) error {
		f := m.found[i]
		if err := f.task.verify(f.dir); err != nil {
			return fmt.Errorf("%s: %w", f.task.cell, err)
		}
		return nil
	})
}

// few shows the first of some lines.
func few(lines []string) string {
	if more := len(lines) - shownMost; more > 0 {
		lines = append(slices.Clone(lines[:shownMost]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// take brings a copy of a cell that is elsewhere.
func (m *merger) take(f foundCell) (err error) {
	if f.dir == m.cells || f.task.verify(m.cells) == nil {
		return nil
	}
	tmp, err := staging.New(m.cells, tempPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tmp.Remove()) }()
	copied := filepath.Join(tmp.Path, f.task.id)
	if err := copyFolder(filepath.Join(f.dir, f.task.id), copied); err != nil {
		return tmp.Named(filepath.Join(m.cells, f.task.id), err)
	}
	return tmp.Named(filepath.Join(m.cells, f.task.id), f.task.place(copied, m.cells, tmp.Path))
}

func copyFolder(from, to string) error {
	if err := os.Mkdir(to, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// foreign says what is known of a cell that is not of the study.
func (p *Plan) foreign(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, sealFile))
	var s seal
	var id identity
	if err != nil || json.Unmarshal(text, &s) != nil || json.Unmarshal(s.Key, &id) != nil || !s.matches(filepath.Base(dir)) {
		return dir + ": no cell of any study, or damaged"
	}
	m := &id.Manifest
	of := "a scenario without a name"
	if m.Scenario.Name != "" {
		of = fmt.Sprintf("scenario %q", m.Scenario.Name)
	}
	what := fmt.Sprintf("%s: policy %s, seed %d of %s: ", dir, m.Label, m.Seed, of)
	for _, s := range p.settings {
		if s.manifest.Scenario.Hash != m.Scenario.Hash {
			continue
		}
		if m.Version != p.version {
			return what + fmt.Sprintf("made by gangplan %s; this is %s", m.Version, p.version)
		}
		return what + "no cell of the study has this policy, seed and `keep`"
	}
	return what + "no cell of the study has this scenario"
}

// matches reports whether the id is the hash of the key.
func (s *seal) matches(id string) bool {
	var key bytes.Buffer
	if json.Compact(&key, s.Key) != nil {
		return false
	}
	sum := sha256.Sum256(key.Bytes())
	return hex.EncodeToString(sum[:])[:idDigits] == id && s.ID == id
}
