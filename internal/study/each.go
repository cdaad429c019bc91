package study

import (
	"context"
	"runtime"
	"sync"
)

// Each calls f for 0 to n-1, several at a time: parallel of them, or GOMAXPROCS if that is
// 0 or more. Each call writes only what belongs to its number, so that nothing depends on
// how many run at a time. The error is that of the smallest number that failed; calls behind
// it are not made, and the context of those under way ends.
func Each(ctx context.Context, n, parallel int, f func(ctx context.Context, i int) error) error {
	e := &each{failed: n, failures: make([]error, n), cancel: make([]context.CancelFunc, n)}
	var workers sync.WaitGroup
	for range min(n, slots(parallel)) {
		workers.Go(func() {
			for own, i := e.begin(ctx); i >= 0; own, i = e.begin(ctx) {
				err := own.Err()
				if err == nil {
					err = f(own, i)
				}
				e.end(i, err)
			}
		})
	}
	workers.Wait()
	if e.failed < n {
		return e.failures[e.failed]
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

// each is what the workers of one Each share.
type each struct {
	mu       sync.Mutex
	next     int // the first call that was not begun
	failed   int // the first that failed; the number of calls if none did
	failures []error
	cancel   []context.CancelFunc // of those under way
}

// begin takes the next call and makes its context, or returns -1 if there is none to make.
func (e *each) begin(ctx context.Context) (context.Context, int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.next
	if i >= e.failed {
		return nil, -1
	}
	e.next++
	own, cancel := context.WithCancel(ctx)
	e.cancel[i] = cancel
	return own, i
}

// end notes how a call ended. One that failed ends those behind it.
func (e *each) end(i int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancel[i]()
	if e.failures[i] = err; err == nil || i > e.failed {
		return
	}
	for _, cancel := range e.cancel[i+1 : e.next] {
		cancel()
	}
	e.failed = i
}
