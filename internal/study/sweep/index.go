package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gangplan/gangplan/report"
)

// What is in the folder of a sweep. docs/sweeps.md has the formats.
const (
	indexFile = "sweep.json"
	cellsDir  = "cells"

	apiVersion = "gangplan/v1alpha1"
	indexKind  = "Sweep"
)

// Sweep is a finished sweep: sweep.json, read back.
type Sweep struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Name       string   `json:"name,omitempty"`
	Version    string   `json:"version"` // of gangplan
	Axes       []Axis   `json:"axes"`
	Shown      []string `json:"shown"` // the metrics that the study asks for, or the usual ones
	Cells      []Cell   `json:"cells"` // in the order of the study: the last axis changes fastest

	Assumptions []string `json:"assumptions"`
	Warnings    []string `json:"warnings"`
}

// Axis is one axis of a sweep. Every sweep has an axis of policies, unless some other axis
// sets them.
type Axis struct {
	Name    string    `json:"name"`
	Paths   []string  `json:"paths"`          // of the fields of the scenario that it sets
	Unit    string    `json:"unit,omitempty"` // of the numbers: "s", "B" or none
	Values  []string  `json:"values"`
	Numbers []float64 `json:"numbers,omitempty"` // of the values, if all of them are numbers
}

// Cell is one run of a sweep. Its metrics are those of the registry, its GPU-hours kept on
// to the latest end of all cells that have the same `until`; summary.json in its folder has
// them at its own end.
type Cell struct {
	ID         string        `json:"id"`
	At         []int         `json:"at"`     // the position of its value on each axis
	Values     []string      `json:"values"` // the same as they are written
	Policy     string        `json:"policy"` // the label
	Seed       uint64        `json:"seed"`
	Digest     string        `json:"digest"`
	EndSeconds float64       `json:"end_seconds"` // its own end
	Verdicts   int           `json:"verdicts"`
	Metrics    report.Values `json:"metrics"`

	Dir string `json:"-"` // a run directory for report.OpenRun
}

// Is reports whether a folder holds a finished sweep.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, indexFile))
	return err == nil
}

// Read reads a finished sweep. The error is fs.ErrNotExist where there is none, and says
// what is wrong with one that is damaged.
func Read(dir string) (*Sweep, error) {
	path := filepath.Join(dir, indexFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: expected a finished sweep: %w", dir, err)
	}
	if err != nil {
		return nil, err
	}
	s := &Sweep{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s: damaged: %w", path, err)
	}
	if s.Kind != indexKind || s.APIVersion != apiVersion {
		return nil, fmt.Errorf("%s: expected apiVersion %s and kind %s, got %q and %q", path, apiVersion, indexKind, s.APIVersion, s.Kind)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: damaged: %w", path, err)
	}
	for i := range s.Cells {
		s.Cells[i].Dir = filepath.Join(dir, cellsDir, s.Cells[i].ID)
	}
	return s, nil
}

// check wants axes and cells that fit each other.
func (s *Sweep) check() error {
	if len(s.Cells) == 0 {
		return fmt.Errorf("cells: the list is empty")
	}
	for i := range s.Axes {
		if a := &s.Axes[i]; a.Numbers != nil && len(a.Numbers) != len(a.Values) {
			return fmt.Errorf("axis %s: %s, and %s", a.Name, report.Count(len(a.Values), "value"), report.Count(len(a.Numbers), "number"))
		}
	}
	for i := range s.Cells {
		if err := s.checkCell(&s.Cells[i]); err != nil {
			return fmt.Errorf("cell %d: %w", i, err)
		}
	}
	return nil
}

// checkCell wants a cell to be on the axes.
func (s *Sweep) checkCell(c *Cell) error {
	switch n := len(s.Axes); {
	case len(c.At) != n:
		return fmt.Errorf("at: %s, expected %d, one for each axis", report.Count(len(c.At), "number"), n)
	case len(c.Values) != n:
		return fmt.Errorf("values: %s, expected %d, one for each axis", report.Count(len(c.Values), "value"), n)
	}
	for i, k := range c.At {
		if k < 0 || k >= len(s.Axes[i].Values) || s.Axes[i].Values[k] != c.Values[i] {
			return fmt.Errorf("%q is not on the axis %s", c.Values[i], s.Axes[i].Name)
		}
	}
	if !isID(c.ID) {
		return fmt.Errorf("%q is no id of a cell", c.ID)
	}
	return nil
}

// Axis returns the position of the axis that has a name, or that sets the field of a path
// alone; -1 if there is none.
func (s *Sweep) Axis(name string) int {
	return slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == name || slices.Equal(a.Paths, []string{name}) })
}

// idDigits is the length of a cell's id: 128 bits of a SHA-256 in hex.
const idDigits = 32

func isID(s string) bool {
	return len(s) == idDigits && !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'f')
	})
}
