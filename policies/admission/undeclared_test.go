package admission

import (
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim/quota"
)

var plainNames = &Names{
	Flavor:   func(int32) string { return "f" },
	Resource: func(r int) string { return [...]string{"nvidia.com/gpu", "cpu", "memory", "pods"}[r] },
	Amount:   func(int, int64) string { return "some" },
	Taint:    func(int32) string { return "{}" },
	Set:      func(s int32) string { return [...]string{"main", "side"}[s] },
}

// What a queue does not list is blocked with Kueue's words, if the rules say so: of several
// resources the first by name is named. Pods that are not listed, and resources that nobody
// asks for, block nobody.
func TestUndeclaredResources(t *testing.T) {
	for _, c := range []struct {
		request quota.Amounts
		want    string
	}{
		{quota.Amounts{1, 0, 0, 1}, ""},
		{quota.Amounts{1, 5, 7, 1}, "couldn't assign flavors to pod set main: resource cpu unavailable in ClusterQueue"},
		{quota.Amounts{0, 0, 7, 1}, "couldn't assign flavors to pod set main: resource memory unavailable in ClusterQueue"},
		{quota.Amounts{9, 0, 7, 1}, "couldn't assign flavors to pod set main: resource memory unavailable in ClusterQueue"},
	} {
		for _, block := range []bool{false, true} {
			k := one(gpus(4), Workload{Sets: []PodSet{{Count: 1, Request: c.request}}})
			k.Rules.BlockUndeclared = block
			var a Assignment
			k.Nominate(0, &a)
			want := c.want
			if !block {
				want = ""
			}
			message := a.Message(plainNames)
			if strings.Contains(message, "unavailable") != (want != "") || want != "" && (message != want || a.Mode != NoFit || a.Sets[0].Assigned()) {
				t.Errorf("%v, block %v: %v %q, want %q", c.request, block, a.Mode, message, want)
			}
		}
	}
}

// A PodSet that is blocked ends the assignment; fewer pods of it do not help.
func TestUndeclaredEndsTheAssignment(t *testing.T) {
	k := one(gpus(8), Workload{Sets: []PodSet{
		{Count: 2, Request: quota.Amounts{1}}, {Count: 4, Min: 1, Request: quota.Amounts{1, 1}}, {Count: 1, Request: quota.Amounts{1}}}})
	k.Rules.BlockUndeclared = true
	e := k.Cycle([]int32{0})[0]
	if e.Mode != NoFit || len(e.Sets) != 2 || !e.Sets[0].Assigned() || e.Sets[1].Count != 4 || e.Status != Waiting {
		t.Errorf("%+v", e)
	}
}
