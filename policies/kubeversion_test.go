package policies

import "testing"

// A version decides what the parameters for single changes leave to it.
func TestKubernetesVersions(t *testing.T) {
	d, _ := Lookup("per-pod")
	for _, c := range []struct {
		params          map[string]string
		early, compared bool
	}{
		{nil, true, false},
		{map[string]string{"kubernetes": "1.32"}, false, false},
		{map[string]string{"kubernetes": "1.34"}, true, false},
		{map[string]string{"kubernetes": "1.36"}, true, true},
		{map[string]string{"kubernetes": "1.36", "balance": "outcome"}, true, false},
		{map[string]string{"kubernetes": "1.32", "backoff": "early", "balance": "change"}, true, true},
		{map[string]string{"backoff": "late"}, false, false},
	} {
		k := d.New(c.params).Binder.(*kube)
		if k.early != c.early || k.profile.Balanced.Compared != c.compared {
			t.Errorf("%v: early %v, compared %v", c.params, k.early, k.profile.Balanced.Compared)
		}
	}
}
