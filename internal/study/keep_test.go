package study

import (
	"strings"
	"testing"

	"github.com/gangplan/gangplan/report"
)

func TestKeep(t *testing.T) {
	for word, want := range map[string]Options{
		"auto": {Record: true, RecordMost: autoMost}, "always": {Record: true}, "never": {},
	} {
		if got, err := Keep(word); err != nil || got != want {
			t.Errorf("%s: %+v, %v", word, got, err)
		}
	}
	if _, err := Keep("alway"); err == nil || !strings.Contains(err.Error(), `not "alway" (did you mean always?)`) {
		t.Errorf("error %v", err)
	}
}

// A run with too many transitions keeps none of them, and its run directory says so; one with
// just as many as are allowed keeps all.
func TestTooManyTransitionsAreDropped(t *testing.T) {
	all := runAll(t, Options{Record: true}, "gang")[0]
	for _, c := range []struct {
		most    int
		dropped bool
	}{{len(all.Transitions), false}, {len(all.Transitions) - 1, true}, {1, true}, {0, false}} {
		o := runAll(t, Options{Record: true, RecordMost: c.most}, "gang")
		kept := len(o[0].Transitions)
		if o[0].Dropped != c.dropped || c.dropped && o[0].Transitions != nil || !c.dropped && kept != len(all.Transitions) {
			t.Errorf("at most %d of %d: %d are kept, dropped %v", c.most, len(all.Transitions), kept, o[0].Dropped)
		}
		if o[0].Result.Digest != all.Result.Digest {
			t.Errorf("at most %d: another digest", c.most)
		}
		warnings, err := Save(t.TempDir(), report.Manifest{}, o)
		if warned := strings.Contains(strings.Join(warnings, "\n"), "gang: the decisions were too many to be kept"); err != nil || warned != c.dropped {
			t.Errorf("at most %d: warnings %q, %v", c.most, warnings, err)
		}
	}
}
