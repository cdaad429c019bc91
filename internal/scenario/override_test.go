package scenario

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// overrides reads a mapping of paths and values as overrides that stand in study.yaml.
func overrides(t *testing.T, text string) []Override {
	root, err := document("study.yaml", []byte(text), "overrides")
	if err != nil {
		t.Fatal(err)
	}
	var list []Override
	for i := 0; i < len(root.Content); i += 2 {
		list = append(list, Override{Value{"study.yaml", root.Content[i]}, Value{"study.yaml", root.Content[i+1]}})
	}
	return list
}

// with lays the first part of a text over the second and returns what the file says then.
func with(t *testing.T, text string) string {
	given, scenario, _ := strings.Cut(text, "===\n")
	f, err := Parse("s.yaml", []byte(withHeader(scenario)))
	if err != nil {
		return errorText(err, "")
	}
	before := written(t, f)
	changed, err := f.With(overrides(t, given)...)
	if err == nil {
		_, err = changed.Resolve("testdata/files")
	}
	if now := written(t, f); now != before {
		t.Errorf("the file itself has changed to\n%s", now)
	}
	if err != nil {
		return errorText(err, "")
	}
	return written(t, changed)
}

// written is a file without what withHeader adds.
func written(t *testing.T, f *File) string {
	b, err := yaml.Marshal(f.root)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(withHeader(""), line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// What an override says is what the file would say.
func TestWithHash(t *testing.T) {
	resolve := func(text string, set ...[2]string) *Scenario {
		t.Helper()
		f, err := Parse("s.yaml", []byte(withHeader(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range set {
			o, err := Set("--set", s[0], s[1])
			if err != nil {
				t.Fatal(err)
			}
			if f, err = f.With(o); err != nil {
				t.Fatal(err)
			}
		}
		s, err := f.Resolve("testdata/files")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	plain := resolve("seed: 7")
	changed := resolve("seed: 7", [2]string{"waitForPodsReady.timeout", "2m"}, [2]string{"cluster.synthetic.racks", "3"})
	direct := resolve("seed: 7\nwaitForPodsReady: {timeout: 120}\ncluster: {synthetic: {racks: 3, hosts: 2, gpus: 8}}")
	if changed.Hash != direct.Hash || changed.Hash == plain.Hash {
		t.Errorf("hash %s with overrides, %s if written so, %s without", changed.Hash, direct.Hash, plain.Hash)
	}
	if got := resolve("seed: 7", [2]string{"seed", "9"}); got.Hash != plain.Hash || got.Config.Seed != 9 {
		t.Errorf("seed %d and hash %s; the seed is no part of the hash %s", got.Config.Seed, got.Hash, plain.Hash)
	}
}

// A fingerprint depends on what a file says, however it is written, and not on who plays it.
func TestFingerprint(t *testing.T) {
	of := func(text string) string {
		t.Helper()
		f, err := Parse("s.yaml", []byte(withHeader(text)))
		if err != nil {
			t.Fatal(err)
		}
		return f.Fingerprint()
	}
	plain := of("until: 90m")
	for text, same := range map[string]bool{
		"until: 1h30m": true, "horizon: 5400": true, "name: x\nseed: 4\npolicies: [gang]\nuntil: 90m": true,
		"until: 91m": false, "until: 90m\nsample: 10m": false, "until: 90m\ntiming: kubernetes": false,
	} {
		if (of(text) == plain) != same {
			t.Errorf("%q: the same is %v, expected %v", text, !same, same)
		}
	}
}

func TestValueString(t *testing.T) {
	for text, want := range map[string]string{
		"'5m'":                         "5m",
		"null":                         "null",
		"{name: gang, ties: random}":   "{name: gang, ties: random}",
		"- a\n- b: 1 # why\n  c: [x]":  "[a, {b: 1, c: [x]}]",
		"{name: &a gang, as: *a}":      "{name: &a gang, as: *a}",
		"a: |\n  two\n  lines\nb: 'x'": `{a: "two\nlines\n", b: 'x'}`,
	} {
		v, err := ParseValue("--set", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := v.String(); got != want {
			t.Errorf("%q is shown as %q, expected %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":      "--set: empty: expected a value",
		"[1, 2": "--set: not valid YAML: did not find expected ',' or ']'",
	} {
		if _, err := ParseValue("--set", text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}

// Nothing that can be written as a path or a value makes With panic or accept nonsense.
func FuzzWith(f *testing.F) {
	f.Add("waitForPodsReady.timeout", "5m")
	f.Add("workload.jobs[a].gpus", "16")
	f.Add("policy", "{name: gang, as: x}")
	f.Add("cluster..x[", "&a [*a]")
	base, err := Parse("s.yaml", []byte(withHeader("policies: [gang, {name: gang, as: b}]\ntiming: kubernetes")))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		o, err := Set("--set", path, value)
		if err != nil {
			return
		}
		changed, err := base.With(o)
		if err == nil {
			_, err = changed.Resolve("testdata/files")
		}
		if errs, ok := err.(Errors); err != nil && (!ok || len(errs) == 0) {
			t.Errorf("%s=%s: not a list of errors: %v", path, value, err)
		}
		_ = o.Value.String()
	})
}
