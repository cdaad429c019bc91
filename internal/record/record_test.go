package record

import "testing"

func TestMostBoundIsTheHighestStep(t *testing.T) {
	j := Job{Steps: []Step{{1, 3}, {2, 7}, {3, 2}}}
	if j.MaxBound() != 7 || j.FinalBound() != 2 {
		t.Errorf("most %d, last %d; want 7, 2", j.MaxBound(), j.FinalBound())
	}
	if (&Job{}).FinalBound() != 0 {
		t.Error("a job without pods has some bound")
	}
}
