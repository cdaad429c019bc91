package policies

import (
	"reflect"
	"strings"
	"testing"
)

// Every gate changes something of the Admitter, and back.
func TestEveryGateSwitches(t *testing.T) {
	admitter := func(gates string) *kueue {
		return gangTopology.New(map[string]string{"gates": gates}).Admitter.(*kueue)
	}
	for _, name := range gateNames() {
		on, off := admitter(name+"=true"), admitter(name+"=false")
		if reflect.DeepEqual(on.rules, off.rules) && on.partial == off.partial && on.flushNow == off.flushNow && on.wakeAll == off.wakeAll &&
			reflect.DeepEqual(on.placer.preset, off.placer.preset) {
			t.Errorf("%s switches nothing", name)
		}
		if again := admitter(name + "=true," + name + "=false"); !reflect.DeepEqual(again.rules, off.rules) {
			t.Errorf("%s: the last word does not count", name)
		}
	}
}

func TestGatesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"StickyPreemptor=true":   "expected some of PrioritySortingWithinCohort",
		"PartialAdmission":       "expected PartialAdmission=true or PartialAdmission=false",
		"PartialAdmission=maybe": "expected PartialAdmission=true",
	} {
		if err := gang.Check("gates", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := gang.Check("gates", " PartialAdmission=false, TASProfileMixed=true ,"); err != nil {
		t.Error(err)
	}
}
