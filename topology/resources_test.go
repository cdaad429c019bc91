package topology

import "testing"

func TestResourcesArithmetic(t *testing.T) {
	a := Resources{GPU: 8000, CPU: 100, Memory: 10, Pods: 3}
	b := Resources{GPU: 1000, CPU: 10, Memory: 1, Pods: 1}
	if got, want := a.Minus(b.Times(2)), (Resources{6000, 80, 8, 1}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := a.Minus(b).Plus(b); got != a {
		t.Errorf("got %v, want %v", got, a)
	}
}

// A request of nothing is satisfied by whatever is left, even by less than nothing.
func TestResourcesFit(t *testing.T) {
	free := Resources{GPU: 2500, CPU: 40, Memory: -5, Pods: 110}
	tests := []struct {
		request Resources
		count   int64
	}{
		{Resources{GPU: 1000}, 2},
		{Resources{GPU: 1000, CPU: 40}, 1},
		{Resources{GPU: 1000, CPU: 41}, 0},
		{Resources{Memory: 1}, 0},
		{Resources{Pods: 1}, 110},
		{Resources{}, NoLimit},
	}
	for _, tt := range tests {
		if got := tt.request.CountIn(&free); got != tt.count {
			t.Errorf("%v: count %d, want %d", tt.request, got, tt.count)
		}
		if got := tt.request.FitsIn(&free); got != (tt.count > 0) {
			t.Errorf("%v: fits %v, but count %d", tt.request, got, tt.count)
		}
	}
}

func TestResourceNames(t *testing.T) {
	want := []string{"nvidia.com/gpu", "cpu", "memory", "pods"}
	for r := range NumResources {
		if r.String() != want[r] {
			t.Errorf("resource %d is %q", r, r)
		}
	}
}
