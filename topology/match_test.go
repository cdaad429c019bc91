package topology

import "testing"

func TestNodeAffinity(t *testing.T) {
	spot := Requirement{Key: "spot", Operator: Exists}
	newer := Requirement{Key: "gen", Operator: Gt, Values: []string{"8"}}
	a := NodeAffinity{
		Required:  []Term{{}, {spot, newer}, {{Key: "zone", Operator: In, Values: []string{"a"}}}},
		Preferred: []PreferredTerm{{7, Term{spot}}, {30, Term{newer}}, {100, nil}},
	}
	for _, c := range []struct {
		labels  map[string]string
		allowed bool
		score   int64
	}{
		{map[string]string{"spot": "", "gen": "9"}, true, 37},
		{map[string]string{"spot": "", "gen": "8"}, false, 7},
		{map[string]string{"zone": "a"}, true, 0},
		{nil, false, 0}, // an empty term holds nowhere
	} {
		if got := a.Allows(c.labels); got != c.allowed {
			t.Errorf("%v allowed: %v", c.labels, got)
		}
		if got := a.Score(c.labels); got != c.score {
			t.Errorf("%v scores %d, want %d", c.labels, got, c.score)
		}
	}
	if none := (&NodeAffinity{}); !none.Allows(nil) || none.Score(nil) != 0 {
		t.Error("no affinity is in the way")
	}
}

func TestProblemsOfRequirements(t *testing.T) {
	for _, c := range []struct {
		r    Requirement
		want string // the field
	}{
		{Requirement{"a", In, []string{""}}, ""},
		{Requirement{"a", Exists, nil}, ""},
		{Requirement{"a", Lt, []string{"-7"}}, ""},
		{Requirement{"", Exists, nil}, "key"},
		{Requirement{"a", NotIn, nil}, "values"},
		{Requirement{"a", DoesNotExist, []string{"b"}}, "values"},
		{Requirement{"a", Gt, []string{"1", "2"}}, "values"},
		{Requirement{"a", Gt, []string{"many"}}, "values"},
	} {
		if field, problem := c.r.Problem(); field != c.want || (problem == "") != (c.want == "") {
			t.Errorf("%+v: %q %q, want %q", c.r, field, problem, c.want)
		}
	}
}
