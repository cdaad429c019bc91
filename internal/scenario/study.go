package scenario

import (
	"fmt"
	"os"
	"reflect"
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
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, Errors{{File: name, Msg: "cannot be read: " + reason(err)}}
	}
	return ParseFragmentation(name, data, scorers)
}

// ParseFragmentation decodes a study. name stands in errors. The error is an Errors.
func ParseFragmentation(name string, data []byte, scorers []string) (*Fragmentation, error) {
	root, err := document(name, data)
	if err != nil {
		return nil, err
	}
	f := &Fragmentation{}
	r := &resolver{File: &File{name: name, root: root}}
	d := newDecoder(r.File)
	if d.checkHeader(root, FragmentationKind, "a fragmentation study with apiVersion, kind, workloads and scorers"); len(d.errs.list) == 0 {
		d.decode(root, reflect.ValueOf(f).Elem())
	}
	if err := d.errs.err(name); err != nil {
		return nil, err
	}
	f.check(r, scorers)
	if err := r.errs.err(name); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Fragmentation) check(r *resolver, scorers []string) {
	r.distinct("workloads", f.Workloads)
	r.distinct("scorers", f.Scorers)
	for i, w := range f.Workloads {
		if w == "" || strings.ContainsAny(w, `/\`) {
			r.fail(at("workloads", i), "%s: expected the NAME of a file openb_pod_list_NAME.csv", quote(w))
		}
	}
	for i, s := range f.Scorers {
		if !slices.Contains(scorers, s) {
			r.fail(at("scorers", i), "unknown scorer %s: expected one of %s%s", quote(s), strings.Join(scorers, ", "), suggest.Hint(s, scorers))
		}
	}
	if f.Seeds.Count > maxSeeds {
		r.fail(at("seeds", "count"), "%d: expected at most %d", f.Seeds.Count, maxSeeds)
	}
	if f.Load > maxLoad {
		r.fail(at("load"), "%v: expected at most %d", f.Load, maxLoad)
	}
}

// distinct wants a list to have entries, each once.
func (r *resolver) distinct(field string, list []string) {
	if len(list) == 0 {
		r.fail(at(field), "the list is empty: expected at least one")
	}
	for i := range list {
		if slices.Contains(list[:i], list[i]) {
			r.fail(at(field, i), "%s is listed twice", quote(list[i]))
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
