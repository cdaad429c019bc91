package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
)

// The files beside a scenario NAME.yaml.
const (
	scenarioSuffix = ".yaml"
	baselineSuffix = ".baseline.yaml"
	recordSuffix   = ".transitions.gz"
)

// baseline is what the runs of a scenario measured when somebody last agreed to it.
type baseline struct {
	APIVersion string       `yaml:"apiVersion,required"`
	Kind       string       `yaml:"kind,required"`
	Version    string       `yaml:"gangplan,required"` // that measured
	Hash       string       `yaml:"scenario,required"`
	Demand     string       `yaml:"demand,required"` // hash of the nodes and jobs alone
	Seeds      []uint64     `yaml:"seeds,required"`
	Policies   []basePolicy `yaml:"policies,required"`
}

// basePolicy is one policy. Lists have an entry for each seed.
type basePolicy struct {
	Label       string              `yaml:"label,required"`
	Policy      string              `yaml:"policy,required"`
	Parameters  map[string]string   `yaml:"parameters"` // those that are not left at their defaults
	Digests     []string            `yaml:"digests,required"`
	Transitions []int               `yaml:"transitions,required"` // how many
	Metrics     map[string][]string `yaml:"metrics,required"`

	values map[string][]value
}

// value is a number, or null.
type value struct {
	number float64
	null   bool
}

const (
	baselineKind = "Baseline"
	nullText     = "none" // YAML's own null reads like a forgotten value
)

// loadBaseline reads a baseline, nil if there is none. The error is a scenario.Errors.
func loadBaseline(file string) (*baseline, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	b := &baseline{}
	d, err := scenario.LoadDocument(file, baselineKind, "a baseline, as check --update writes it where there is none", b)
	if err != nil {
		return nil, err
	}
	b.check(d)
	return b, d.Err()
}

// check reads the numbers, and wants each list to have an entry for each seed.
func (b *baseline) check(d *scenario.Document) {
	if len(b.Seeds) == 0 {
		d.Fail([]any{"seeds"}, "the list is empty: expected at least one")
	}
	if len(b.Policies) == 0 {
		d.Fail([]any{"policies"}, "the list is empty: expected at least one")
	}
	for i := range b.Policies {
		p := &b.Policies[i]
		at := func(steps ...any) []any { return append([]any{"policies", i}, steps...) }
		b.checkLength(d, at("digests"), len(p.Digests))
		b.checkLength(d, at("transitions"), len(p.Transitions))
		for k, text := range p.Digests {
			if _, err := strconv.ParseUint(text, 16, 64); err != nil || len(text) != 16 {
				d.Fail(at("digests", k), "%q: expected 16 hexadecimal digits", text)
			}
		}
		p.values = map[string][]value{}
		for _, name := range slices.Sorted(maps.Keys(p.Metrics)) {
			b.checkLength(d, at("metrics", name), len(p.Metrics[name]))
			for k, text := range p.Metrics[name] {
				v, err := parseValue(text)
				if err != nil {
					d.Fail(at("metrics", name, k), "%v", err)
				}
				p.values[name] = append(p.values[name], v)
			}
		}
	}
}

func (b *baseline) checkLength(d *scenario.Document, at []any, n int) {
	if n != len(b.Seeds) {
		d.Fail(at, "%s: expected %d, one for each seed", report.Count(n, "value"), len(b.Seeds))
	}
}

func parseValue(text string) (value, error) {
	if text == nullText {
		return value{null: true}, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return value{}, fmt.Errorf("%q: expected a number, or none", text)
	}
	return value{number: v}, nil
}

// text is the shortest that reads back as the same number.
func (v value) text() string {
	if v.null {
		return nullText
	}
	return strconv.FormatFloat(v.number, 'g', -1, 64)
}

// newBaseline is the baseline of what was just measured.
func newBaseline(e *entry, version string) *baseline {
	b := &baseline{APIVersion: scenario.APIVersion, Kind: baselineKind, Version: release(version),
		Hash: "sha256:" + e.scenario.Hash, Demand: "sha256:" + e.scenario.Demand, Seeds: e.seeds}
	for i := range e.policies {
		p := &e.policies[i]
		out := basePolicy{Label: p.Label, Policy: p.Name, Parameters: given(p.PolicyChoice), values: p.values()}
		for _, r := range p.runs {
			out.Digests = append(out.Digests, hexDigest(r.digest))
			out.Transitions = append(out.Transitions, r.transitions)
		}
		b.Policies = append(b.Policies, out)
	}
	return b
}

// given are the parameters of a policy that are not left at their defaults.
func given(c scenario.PolicyChoice) map[string]string {
	defaults := c.Declaration.Complete(nil)
	out := map[string]string{}
	for name, v := range c.Declaration.Complete(c.Params) {
		if v != defaults[name] {
			out[name] = v
		}
	}
	return out
}

func hexDigest(d sim.Digest) string { return fmt.Sprintf("%016x", uint64(d)) }

// release is a version if it is that of a release, and devel if it is that of a commit: a
// commit cannot know its own version.
func release(version string) string {
	if strings.HasPrefix(version, "v") && !strings.ContainsAny(version, "-+") {
		return version
	}
	return "devel"
}

// write returns the baseline as it is committed. Every metric has a line, so that a
// difference between two baselines reads as a list of what changed.
func (b *baseline) write(name string) []byte {
	w := &yamlText{}
	w.line("# What the runs of %s measure. Written by `gangplan check --update`: read the difference before you commit it.", name+scenarioSuffix)
	w.line("apiVersion: %s\nkind: %s\ngangplan: %s", b.APIVersion, b.Kind, quoted(b.Version))
	w.line("scenario: %s\ndemand: %s", quoted(b.Hash), quoted(b.Demand))
	w.line("seeds: %s", flow(b.Seeds, func(s uint64) string { return strconv.FormatUint(s, 10) }))
	w.line("policies:")
	for i := range b.Policies {
		p := &b.Policies[i]
		w.line("- label: %s\n  policy: %s", quoted(p.Label), quoted(p.Policy))
		if len(p.Parameters) > 0 {
			w.line("  parameters:")
		}
		for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
			w.line("    %s: %s", name, quoted(p.Parameters[name]))
		}
		w.line("  digests: %s", flow(p.Digests, quoted))
		w.line("  transitions: %s", flow(p.Transitions, strconv.Itoa))
		w.line("  metrics:")
		for _, name := range p.names() {
			w.line("    %s: %s", name, flow(p.values[name], value.text))
		}
	}
	return w.b
}

// names are those of its metrics: in the order of the registry, then those it does not have.
func (p *basePolicy) names() (names []string) {
	for _, m := range report.Metrics() {
		if _, ok := p.values[m.Name]; ok {
			names = append(names, m.Name)
		}
	}
	return append(names, p.unknown()...)
}

// unknown are the metrics that gangplan does not have any more.
func (p *basePolicy) unknown() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if _, ok := report.LookupMetric(name); !ok {
			names = append(names, name)
		}
	}
	return names
}

type yamlText struct{ b []byte }

func (w *yamlText) line(format string, args ...any) {
	w.b = append(fmt.Appendf(w.b, format, args...), '\n')
}

// quoted is a string as JSON has it, which YAML reads as it is.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("check: " + err.Error()) // every string can be written
	}
	return string(b)
}

func flow[T any](list []T, text func(T) string) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = text(list[i])
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
