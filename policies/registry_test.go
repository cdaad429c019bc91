package policies

import (
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
)

func TestEveryPolicyIsDeclaredWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range All() {
		if d.Name == "" || d.Name != strings.ToLower(d.Name) || strings.ContainsAny(d.Name, " _") || seen[d.Name] {
			t.Errorf("%q is no name for a policy, or taken", d.Name)
		}
		seen[d.Name] = true
		if d.Doc == "" || strings.HasSuffix(d.Doc, ".") {
			t.Errorf("%s: the doc is one sentence without a full stop, got %q", d.Name, d.Doc)
		}
		if found, ok := Lookup(d.Name); !ok || found != d {
			t.Errorf("%s is not found by its name", d.Name)
		}
		checkParams(t, d)
	}
	if _, ok := Lookup("no-such-policy"); ok || len(seen) == 0 {
		t.Error("a policy that does not exist is found, or there is none")
	}
}

func checkParams(t *testing.T, d *Declaration) {
	seen := map[string]bool{}
	for _, p := range d.Params {
		if p.Name == "" || p.Doc == "" || seen[p.Name] {
			t.Errorf("%s: parameter %q has no name, no doc, or a name that is taken", d.Name, p.Name)
		}
		seen[p.Name] = true
		if len(p.Values) > 0 && !slices.Contains(p.Values, p.Default) {
			t.Errorf("%s: the default of %s is %q, none of its values", d.Name, p.Name, p.Default)
		}
		for _, v := range p.Values {
			if err := d.Check(p.Name, v); err != nil {
				t.Errorf("%s: %v", d.Name, err)
			}
		}
	}
}

func TestNamesAreInTheOrderOfTheList(t *testing.T) {
	for i, name := range Names() {
		if All()[i].Name != name {
			t.Errorf("name %d is %s, the policy %s", i, name, All()[i].Name)
		}
	}
	if len(Names()) != len(All()) {
		t.Error("there are more or fewer names than policies")
	}
}

func TestCheckRefuses(t *testing.T) {
	gang, _ := Lookup("gang")
	for _, c := range []struct{ name, value, want string }{
		{"no-such", "x", `policy gang has no parameter "no-such"`},
		{"profile", "x", `profile is "x", expected one of spread, pack, random, dot-product, gpu-clustering, gpu-packing, best-fit, fgd`},
	} {
		if err := gang.Check(c.name, c.value); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v, want %s", c.name, c.value, err, c.want)
		}
	}
	topology, _ := Lookup("gang-topology")
	if err := topology.Check("level", "any name"); err != nil {
		t.Errorf("a level may have any name here: %v", err)
	}
}

func TestSettingsHaveDefaults(t *testing.T) {
	d := &Declaration{Name: "x", Params: []Param{{Name: "a", Default: "1"}, {Name: "b", Default: "2"}}}
	s := Settings{d, map[string]string{"b": "3"}}
	if s.Get("a") != "1" || s.Get("b") != "3" {
		t.Errorf("a is %s, b is %s", s.Get("a"), s.Get("b"))
	}
	defer func() {
		if recover() == nil {
			t.Error("a parameter that is not declared does not panic")
		}
	}()
	s.Get("c")
}

// Every value of every parameter makes a policy that plays a small scenario to its end.
func TestEveryParameterValueRuns(t *testing.T) {
	for _, d := range All() {
		for _, p := range d.Params {
			for _, v := range p.Values {
				cfg := steady(t, 64, 200, 60, nil)
				e, err := sim.New(cfg, d.New(map[string]string{p.Name: v}), nil)
				if err != nil {
					t.Fatal(err)
				}
				r := e.Run()
				if r.Policy != d.Name || !finishedAll(r) {
					t.Errorf("%s with %s=%s: policy %s, findings %v", d.Name, p.Name, v, r.Policy, r.Findings)
				}
			}
		}
	}
}

func finishedAll(r *sim.Result) bool {
	return !slices.ContainsFunc(r.Jobs, func(j sim.JobRow) bool { return j.State != sim.Finished })
}

// A policy is made anew for each run: two runs of two policies from one declaration do
// not meet.
func TestPoliciesShareNothing(t *testing.T) {
	for _, d := range All() {
		cfg := steady(t, 64, 300, 90, nil)
		want := engine(t, d, cfg, nil).Run().Digest
		a, b := engine(t, d, cfg, nil), engine(t, d, cfg, nil)
		for moreA, moreB := true, true; moreA || moreB; {
			moreA, moreB = a.Step(), b.Step()
		}
		if x, y := a.Finish().Digest, b.Finish().Digest; x != want || y != want {
			t.Errorf("%s: %x and %x side by side, %x alone", d.Name, x, y, want)
		}
	}
}
