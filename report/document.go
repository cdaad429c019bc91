package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gangplan/gangplan/sim"
)

// Document is a comparison: what `run` and `demo` answer. Only Runs is always there.
type Document struct {
	Version     string   `json:"version,omitempty"`
	Scenario    string   `json:"scenario,omitempty"`
	EndSeconds  float64  `json:"end_seconds,omitempty"` // the latest end, up to which all runs are accounted for
	Assumptions []string `json:"assumptions,omitempty"` // what the inputs did not say
	Warnings    []string `json:"warnings,omitempty"`
	Runs        []Run    `json:"runs"`
	Trades      []Trade  `json:"trades,omitempty"` // of each run after the first against it, where asked for
}

// Run is what is told of one run.
type Run struct {
	Policy     string    `json:"policy"` // the label of the choice, unique within a document
	Seed       uint64    `json:"seed"`
	Digest     string    `json:"digest"`          // 16 hex digits
	EndSeconds float64   `json:"end_seconds"`     // the run's own end
	Tiers      []string  `json:"tiers,omitempty"` // levels above the host, lowest first, where there is a fabric
	Metrics    Values    `json:"metrics"`
	Verdicts   []Verdict `json:"verdicts"`
}

// Verdict is one verdict on a run, its jobs by the ids of their source.
type Verdict struct {
	Kind      string   `json:"kind"`
	TimeNanos int64    `json:"time_ns"`
	Jobs      []string `json:"jobs"`
	Detail    string   `json:"detail"`
}

// NewRun measures a run. Nil books are the run's own; see Measure.
func NewRun(label string, r *sim.Result, b *Books) Run {
	return Run{Policy: label, Seed: r.Seed, Digest: hexDigest(r.Digest), EndSeconds: float64(r.End) / 1e9,
		Tiers: tiersOf(r), Metrics: Measure(r, b), Verdicts: verdicts(r)}
}

func hexDigest(d sim.Digest) string { return fmt.Sprintf("%016x", uint64(d)) }

func verdicts(r *sim.Result) []Verdict {
	out := make([]Verdict, len(r.Findings))
	for i, f := range r.Findings {
		out[i] = Verdict{Kind: f.Kind.String(), TimeNanos: f.Time, Jobs: make([]string, len(f.Jobs)), Detail: f.Detail}
		for k, j := range f.Jobs {
			out[i].Jobs[k] = r.Config.Jobs[j].ID
		}
	}
	return out
}

// Value is one metric of one run. Null values have Number 0: a quantile that lands on a
// job that never started, or a statistic of no jobs.
type Value struct {
	Name   string
	Number float64
	Null   bool
}

// Values are the metrics of one run, in the order of the registry. In JSON they are one
// object in that order, numbers in the shortest form that reads back to the same float.
type Values []Value

// Get returns a metric's value, and false if it is null or not there.
func (vs Values) Get(name string) (float64, bool) {
	at, known := position[name]
	if known && at < len(vs) && vs[at].Name == name { // the usual case: vs is what Measure returned
		return vs[at].Number, !vs[at].Null
	}
	for i := range vs {
		if vs[i].Name == name {
			return vs[i].Number, !vs[i].Null
		}
	}
	return 0, false
}

// text returns the value as JSON writes it, and "" for null.
func (v Value) text() string {
	if v.Null {
		return ""
	}
	b, err := json.Marshal(v.Number)
	if err != nil {
		panic("report: " + v.Name + ": " + err.Error()) // not a finite number
	}
	return string(b)
}

// MarshalJSON writes the values as an object.
func (vs Values) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, v := range vs {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(v.Name)
		if err != nil {
			return nil, err
		}
		b = append(append(b, name...), ':')
		if v.Null {
			b = append(b, "null"...)
		} else {
			b = append(b, v.text()...)
		}
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object of numbers and nulls in its own order.
func (vs *Values) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("metrics: expected an object")
	}
	*vs = nil
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var number *float64
		if err := d.Decode(&number); err != nil {
			return fmt.Errorf("metric %v: %w", name, err)
		}
		v := Value{Name: name.(string), Null: number == nil}
		if number != nil {
			v.Number = *number
		}
		*vs = append(*vs, v)
	}
	return nil
}

// WriteJSON writes v indented, with a newline at the end and without escaping <, > and &.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
