package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
)

// FragmentationKind is the kind of a file with a fragmentation study.
const FragmentationKind = "FragmentationStudy"

// Fragmentation is a fragmentation study as it is written: every workload is played under
// every scorer from every seed. docs/fragmentation.md says what is done.
type Fragmentation struct {
	APIVersion string   `yaml:"apiVersion,required"`
	Kind       string   `yaml:"kind,required"`
	Name       string   `yaml:"name"`
	Workloads  []string `yaml:"workloads,required"` // files are openb_pod_list_NAME.csv
	Scorers    []string `yaml:"scorers,required"`
	Seeds      Seeds    `yaml:"seeds,required"`
	Load       float64  `yaml:"load"` // GPUs asked for over those there are; 0: as in the file
}

// Seeds are Count numbers from First on.
type Seeds struct {
	First int64 `yaml:"first"`
	Count int   `yaml:"count,required,positive"`
}

// Bounds of a study, so that a typo does not run for a week.
const (
	maxSeeds = 10_000
	maxLoad  = 10
)

// LoadFragmentation reads a study file; scorers are the names it may use.
func LoadFragmentation(name string, scorers []string) (*Fragmentation, error) {
	f := &Fragmentation{}
	d, err := LoadDocument(name, FragmentationKind, fragmentationIs, f)
	return f.checked(d, err, scorers)
}

// ParseFragmentation decodes a study. name stands in errors. The error is an Errors.
func ParseFragmentation(name string, data []byte, scorers []string) (*Fragmentation, error) {
	f := &Fragmentation{}
	d, err := ParseDocument(name, data, FragmentationKind, fragmentationIs, f)
	return f.checked(d, err, scorers)
}

const fragmentationIs = "a fragmentation study with apiVersion, kind, workloads and scorers"

func (f *Fragmentation) checked(d *Document, err error, scorers []string) (*Fragmentation, error) {
	if err == nil {
		f.check(d, scorers)
		err = d.Err()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Fragmentation) check(d *Document, scorers []string) {
	d.distinct("workloads", f.Workloads)
	d.distinct("scorers", f.Scorers)
	for i, w := range f.Workloads {
		if w == "" || strings.ContainsAny(w, `/\`) {
			d.Fail(at("workloads", i), "%s: expected the NAME of a file openb_pod_list_NAME.csv", quote(w))
		}
	}
	for i, s := range f.Scorers {
		if !slices.Contains(scorers, s) {
			d.Fail(at("scorers", i), "unknown scorer %s: expected one of %s%s", quote(s), strings.Join(scorers, ", "), suggest.Hint(s, scorers))
		}
	}
	if f.Seeds.Count > maxSeeds {
		d.Fail(at("seeds", "count"), "%d: expected at most %d", f.Seeds.Count, maxSeeds)
	}
	if f.Load > maxLoad {
		d.Fail(at("load"), "%v: expected at most %d", f.Load, maxLoad)
	}
}

// distinct wants a list to have entries, each once.
func (d *Document) distinct(field string, list []string) {
	if len(list) == 0 {
		d.Fail(at(field), "the list is empty: expected at least one")
	}
	for i := range list {
		if slices.Contains(list[:i], list[i]) {
			d.Fail(at(field, i), "%s is listed twice", quote(list[i]))
		}
	}
}

// Title names the study in results.
func (f *Fragmentation) Title() string {
	seeds := fmt.Sprintf("seeds %d to %d", f.Seeds.First, f.Seeds.First+int64(f.Seeds.Count)-1)
	if f.Seeds.Count == 1 {
		seeds = fmt.Sprintf("seed %d", f.Seeds.First)
	}
	return strings.TrimPrefix(f.Name+" · "+seeds, " · ")
}
