package scenario

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// Resolve makes a scenario of a file. The files it names are found from the folder dir.
// The error is an Errors.
func (f *File) Resolve(dir string) (*Scenario, error) { return f.ResolveSharing(dir, nil) }

// ResolveSharing is Resolve of one of several scenarios of a folder, which share the traces
// that they read.
func (f *File) ResolveSharing(dir string, t *Traces) (*Scenario, error) {
	return f.resolve(func(name string) (string, io.ReadCloser, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		r, err := os.Open(name)
		return name, r, err
	}, t)
}

// ResolveFS is Resolve with the folder dir of a file system, such as an embedded one.
func (f *File) ResolveFS(fsys fs.FS, dir string) (*Scenario, error) {
	return f.resolve(func(name string) (string, io.ReadCloser, error) {
		name = slashpath.Join(dir, name)
		r, err := fsys.Open(name)
		return name, r, err
	}, nil)
}

// folder is where the files are that a scenario file names.
func folder(name string) string { return filepath.Dir(name) }

// opener opens a file by the name a scenario gives it and returns the name it has for us.
type opener func(name string) (string, io.ReadCloser, error)

// resolver is the state of one Resolve.
type resolver struct {
	*File
	open   opener
	traces *Traces // nil: every trace is read
	errs   problems
	out    Scenario

	// jobNodes is the cluster before scale.cluster: what is said in terms of the cluster,
	// as a load or the shape of jobs is, must not change when the cluster grows.
	jobNodes *topology.Cluster
	cluster  *topology.Cluster

	gpus   []int64 // milli-GPU by model; nil until needed
	models map[modelOn]*workloads.ModelProfile
}

func (f *File) resolve(open opener, t *Traces) (*Scenario, error) {
	r := &resolver{File: f, open: open, traces: t}
	r.out = Scenario{Name: f.Name, Config: &sim.Config{Seed: 1}}
	if f.Seed != nil {
		r.out.Config.Seed = *f.Seed
	}
	for _, what := range r.NotModelled {
		r.assume("not modelled: %s", what)
	}
	r.resolveTiming()
	r.resolveReadiness()
	r.resolveQuotaCheck()
	r.resolveBudgets()
	r.resolveLimits()
	if i := r.kueueVersion(); r.Kueue != "" {
		r.out.kueue = kueueVersions[i].version
	}
	r.resolvePolicies()
	if r.resolveCluster() {
		r.resolveFabric()
		r.resolveQueues()
		r.checkLevels()
		r.resolveWorkload()
		r.resolveEvents()
	}
	if err := r.errs.err(r.name); err != nil {
		return nil, err
	}
	id := r.identify()
	r.out.Hash, r.out.Demand = id.hash(), id.demand().hash()
	return &r.out, nil
}

// fail adds a mistake at the value of a path.
func (r *resolver) fail(p path, format string, args ...any) {
	e := &Error{File: r.name, Field: p.String(), Msg: fmt.Sprintf(format, args...)}
	if n := r.find(p); n != nil {
		e.File, e.Line, e.Column = r.nameOf(n), n.Line, n.Column
	}
	r.errs.add(e)
}

func (r *resolver) warn(format string, args ...any) {
	r.out.Warnings = append(r.out.Warnings, fmt.Sprintf(format, args...))
}

// assume notes an assumption, once.
func (r *resolver) assume(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(r.out.Assumptions, s) {
		r.out.Assumptions = append(r.out.Assumptions, s)
	}
}

// word looks up a word in a table of all there are. Empty is the first of them.
func word[T any](r *resolver, p path, got string, names []string, values ...T) T {
	if i := slices.Index(names, cmp.Or(got, names[0])); i >= 0 {
		return values[i]
	}
	r.fail(p, "%s: expected %s%s", quote(got), strings.Join(names, " or "), suggest.Hint(got, names))
	return values[0]
}

// oneOf reports which of several alternatives is given, and fails unless it is exactly
// one.
func (r *resolver) oneOf(p path, names []string, given ...bool) (string, bool) {
	first := slices.Index(given, true)
	if first < 0 {
		r.fail(p, "missing: expected one of %s", strings.Join(names, ", "))
		return "", false
	}
	for i := first + 1; i < len(given); i++ {
		if given[i] {
			r.fail(p.to(names[i]), "there is %s already: expected one of %s", names[first], strings.Join(names, ", "))
			return "", false
		}
	}
	return names[first], true
}

// input opens the file of a value that has a file and may have its checksum, and hands it to
// read, which gets the name for errors. What it read is listed among the inputs.
func (r *resolver) input(p path, name, checksum string, read func(shown string, in io.Reader)) {
	shown, file, err := r.open(name)
	if err != nil {
		r.fail(p.to("file"), "%s cannot be read: %s", quote(name), reason(err))
		return
	}
	defer file.Close()
	sum := sha256.New()
	in := io.TeeReader(file, sum)
	before := len(r.errs.list)
	if read(shown, in); len(r.errs.list) > before && checksum == "" {
		return
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		r.fail(p.to("file"), "%s cannot be read: %s", quote(name), reason(err))
		return
	}
	got := hex.EncodeToString(sum.Sum(nil))
	if problem := compareChecksums(name, checksum, got); problem != "" {
		r.errs.list = r.errs.list[:before] // what is wrong in a file that is not the one meant
		r.fail(p.to("sha256"), "%s", problem)
		return
	}
	r.out.Inputs = append(r.out.Inputs, Input{name, got})
}

var hexSHA256 = regexp.MustCompile("^(sha256:)?[0-9a-f]{64}$")

// compareChecksums says what is wrong with the checksum of a file, "" if nothing is.
func compareChecksums(name, want, got string) string {
	switch {
	case want == "" || strings.TrimPrefix(want, "sha256:") == got:
		return ""
	case !hexSHA256.MatchString(want):
		return quote(want) + ": expected the 64 hexadecimal digits that sha256sum prints"
	}
	return fmt.Sprintf("%s has the checksum %s: it is not the file that is meant, or not all of it", quote(name), got)
}
