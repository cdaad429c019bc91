// Package policies holds the scheduling policies. Each is one file: two controllers put
// together from the stages, and one declaration that feeds the registry, the listing,
// validation, completion and the docs.
package policies

import (
	"fmt"
	"strings"

	"github.com/gangplan/gangplan/sim"
)

// Declaration is all the rest of gangplan knows of a policy.
type Declaration struct {
	Name   string
	Doc    string // one sentence
	Params []Param
	build  func(s Settings) sim.Policy
}

// New makes the policy for one run. Parameters that are not given have their defaults.
func (d *Declaration) New(given map[string]string) sim.Policy {
	p := d.build(Settings{d, given})
	p.Name = d.Name
	return p
}

// Param is one setting of a policy.
type Param struct {
	Name, Doc string
	Values    []string // what it may be; empty for a text of its own kind, or a level
	Level     bool     // it names a level of the cluster
	Default   string
	Syntax    string // of a text of its own kind
	Only      string // the profile that heeds it; empty: all
	parse     func(value string) error
}

// all lists the declarations in the order they are shown.
var all = []*Declaration{&perPod, &gang, &gangTopology}

// All returns every policy.
func All() []*Declaration { return all }

// Lookup returns the policy of a name.
func Lookup(name string) (*Declaration, bool) {
	for _, d := range all {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// Names returns the names of all policies.
func Names() []string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}

// Check reports whether a parameter exists and may have the value.
func (d *Declaration) Check(name, value string) error {
	for _, p := range d.Params {
		if p.Name == name {
			return p.check(value)
		}
	}
	return fmt.Errorf("policy %s has no parameter %q", d.Name, name)
}

func (p *Param) check(value string) error {
	if p.parse != nil {
		if err := p.parse(value); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if len(p.Values) == 0 {
		return nil
	}
	for _, v := range p.Values {
		if v == value {
			return nil
		}
	}
	return fmt.Errorf("%s is %q, expected one of %s", p.Name, value, strings.Join(p.Values, ", "))
}

// Unheeded returns the name of a parameter, of those given, that the profile chosen does
// not heed, and the profile that would.
func (d *Declaration) Unheeded(given map[string]string) (name, profile string) {
	for _, p := range d.Params {
		if _, ok := given[p.Name]; ok && p.Only != "" && p.Only != (Settings{d, given}).Get("profile") {
			return p.Name, p.Only
		}
	}
	return "", ""
}

// Settings are the parameters of one policy, defaults filled in.
type Settings struct {
	d     *Declaration
	given map[string]string
}

// Get returns a declared parameter.
func (s Settings) Get(name string) string {
	if v, ok := s.given[name]; ok {
		return v
	}
	for _, p := range s.d.Params {
		if p.Name == name {
			return p.Default
		}
	}
	panic("policies: " + s.d.Name + " declares no parameter " + name)
}

// Complete returns the parameters with the defaults of those not given.
func (d *Declaration) Complete(given map[string]string) map[string]string {
	all := make(map[string]string, len(d.Params))
	for _, p := range d.Params {
		all[p.Name] = Settings{d, given}.Get(p.Name)
	}
	return all
}
