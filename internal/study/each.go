package study

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f for 0 to n-1, several at a time: parallel of them, or GOMAXPROCS if that is
// 0 or more. Each call writes only what belongs to its number, so that nothing depends on
// how many run at a time. The error is that of the smallest number that failed. Calls behind
// it are not made, and those under way are told by the Err of their context, not by its Done.
func Each(ctx context.Context, n, parallel int, f func(ctx context.Context, i int) error) error {
	failures := make([]error, n)
	var next, failed atomic.Int64
	failed.Store(int64(n))
	var workers sync.WaitGroup
	for range min(n, slots(parallel)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < failed.Load(); i = next.Add(1) - 1 {
				own := &turn{ctx, i, &failed}
				if failures[i] = own.Err(); failures[i] == nil {
					failures[i] = f(own, int(i))
				}
				if failures[i] != nil {
					lower(&failed, i)
				}
			}
		})
	}
	workers.Wait()
	if first := failed.Load(); first < int64(n) {
		return failures[first]
	}
	return nil
}

func slots(parallel int) int {
	n := runtime.GOMAXPROCS(0)
	if parallel > 0 {
		n = min(n, parallel)
	}
	return n
}

// lower makes a number at most i.
func lower(n *atomic.Int64, i int64) {
	for old := n.Load(); i < old; old = n.Load() {
		if n.CompareAndSwap(old, i) {
			return
		}
	}
}

// turn is the context of one call: over when the whole is, or when one before it failed.
type turn struct {
	context.Context
	i      int64
	failed *atomic.Int64
}

// Err returns why the call need not go on, if it need not.
func (t *turn) Err() error {
	if err := t.Context.Err(); err != nil {
		return err
	}
	if t.failed.Load() < t.i {
		return context.Canceled
	}
	return nil
}
