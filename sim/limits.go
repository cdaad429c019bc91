package sim

// Clients are the rate limits of those who call the API server. The zero value of one has
// no limit.
type Clients struct {
	JobController Client // creates pods, and takes the finalizers of those that ended away
	Kueue         Client // lifts the gates of pods with a topology assignment
	Scheduler     Client // binds pods
}

// Client may make Burst calls at once and QPS in a second.
type Client struct{ QPS, Burst int64 }

// limiter is a token bucket of a Client, kept as the time at which it is full again.
type limiter struct {
	Client
	full int64
}

// next takes a token and returns when there is one for a call that is due at a time.
func (l *limiter) next(at int64) int64 {
	if l.QPS <= 0 {
		return at
	}
	token := 1e9 / l.QPS
	l.full = max(l.full, at) + token
	return max(at, l.full-max(1, l.Burst)*token)
}

// all takes n tokens from a time on, and returns when the last is there.
func (l *limiter) all(n int32, at int64) int64 {
	last := at
	for range n {
		last = l.next(at)
	}
	return last
}

// limiters are those of a run.
type limiters struct{ jobs, kueue, scheduler limiter }

func newLimiters(c *Clients) limiters {
	return limiters{limiter{Client: c.JobController}, limiter{Client: c.Kueue}, limiter{Client: c.Scheduler}}
}
