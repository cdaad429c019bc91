package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/policies"
)

const own = "../../../testdata/corpus"

// gangplan gates itself: nothing in its corpus differs from the baseline, and every policy that
// is registered has one. What is meant to change is accepted by `make golden`.
func TestOwnCorpus(t *testing.T) {
	c, err := open(own, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.entries) < 8 || len(c.orphans) > 0 {
		t.Errorf("%d scenarios, orphans %v", len(c.entries), c.orphans)
	}
	var covered []string
	jobs := 0
	for _, e := range c.entries {
		if e.baseline == nil {
			t.Errorf("%s has no baseline", e.name)
			continue
		}
		if problem := e.recordProblem(); problem != "" {
			t.Errorf("the record of %s is %s", e.name, problem)
		}
		for _, p := range e.baseline.Policies {
			covered = append(covered, p.Policy)
		}
		jobs = max(jobs, len(e.scenario.Config.Jobs))
		if text := get(t, own, e.name+scenarioSuffix); !strings.HasPrefix(text, "# Guards ") {
			t.Errorf("%s does not say what it guards", e.name)
		}
	}
	for _, name := range policies.Names() {
		if !slices.Contains(covered, name) {
			t.Errorf("the policy %s is in no baseline of the corpus: `make golden` measures it", name)
		}
	}
	if jobs < 2000 {
		t.Errorf("the largest scenario has %d jobs", jobs)
	}
	if testing.Short() {
		return
	}
	if g := run(t, own, Options{}); !g.Passed {
		t.Errorf("what is meant to change is accepted by `go run ./cmd/gangplan check testdata/corpus --update`, and the commit says why:\n%s", text(t, g, own))
	}
}

// What the corpus costs in every clone: each change of behaviour adds the files it changes.
func TestOwnCorpusIsSmall(t *testing.T) {
	var total int64
	err := filepath.WalkDir(own, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 200<<10 {
			t.Errorf("%s has %d bytes", path, info.Size())
		}
		total += info.Size()
		return err
	})
	if err != nil || total > 640<<10 {
		t.Errorf("%d bytes in all, %v", total, err)
	}
}
