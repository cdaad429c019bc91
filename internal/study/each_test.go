package study

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

func TestEach(t *testing.T) {
	for _, parallel := range []int{0, 1, 7} {
		got := make([]int, 100)
		if err := Each(t.Context(), len(got), parallel, func(_ context.Context, i int) error { got[i]++; return nil }); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(got, func(n int) bool { return n != 1 }) {
			t.Errorf("calls by number: %v", got)
		}
	}
	if err := Each(t.Context(), 0, 0, func(context.Context, int) error { return errors.New("called") }); err != nil {
		t.Error(err)
	}
}

// A failure ends what is behind it and nothing before; the first by number is told.
func TestEachFails(t *testing.T) {
	for range 50 {
		finished := make([]bool, 40)
		err := Each(t.Context(), len(finished), 4, func(ctx context.Context, i int) error {
			if i == 13 || i == 17 {
				return fmt.Errorf("call %d", i)
			}
			if i == 14 {
				for ctx.Err() == nil {
					runtime.Gosched()
				}
				return ctx.Err()
			}
			finished[i] = true
			return nil
		})
		if err == nil || err.Error() != "call 13" {
			t.Fatal(err)
		}
		if slices.Contains(finished[:13], false) {
			t.Fatalf("calls before the failure were not made: %v", finished)
		}
	}
}

func TestEachCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	called := 0
	err := Each(ctx, 10, 1, func(context.Context, int) error {
		if called++; called == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || called != 3 {
		t.Errorf("%v after %d calls", err, called)
	}
}
