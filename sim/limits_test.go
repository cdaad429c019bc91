package sim

import "testing"

// A client with 20 calls a second and 30 at once: thirty now, then one every 50 ms, and what
// is not used comes back.
func TestLimiterIsATokenBucket(t *testing.T) {
	l := limiter{Client: Client{QPS: 20, Burst: 30}}
	at := int64(5e9)
	for i := range 30 {
		if got := l.next(at); got != at {
			t.Fatalf("call %d of the burst comes at %d", i, got)
		}
	}
	for i := range int64(34) {
		if got, want := l.next(at), at+(i+1)*50e6; got != want {
			t.Fatalf("call %d after the burst comes at %d, want %d", i, got, want)
		}
	}
	if got := l.next(at + 1800e6); got != at+1800e6 {
		t.Errorf("two tokens came back by then, and the call comes at %d", got)
	}
	if got := l.all(31, at+60e9); got != at+60e9+50e6 {
		t.Errorf("a full bucket: the last of 31 comes at %d", got)
	}
	if none := (&limiter{}); none.all(1000, at) != at {
		t.Error("a client without a limit waits")
	}
}
