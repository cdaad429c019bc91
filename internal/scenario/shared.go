package scenario

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gangplan/gangplan/traces"
	"github.com/gangplan/gangplan/workloads"
)

// Traces keeps the traces that several scenarios of a folder read, so that each is read
// and hashed once. It can be used by several goroutines.
type Traces struct {
	mu   sync.Mutex
	read map[traceKey]*sharedTrace
}

type traceKey struct {
	file, sha256, format, zone string
	arrivalsOnly               bool
	duration                   Duration
}

// sharedTrace is a trace and the hash of its file. Its jobs must not be changed.
type sharedTrace struct {
	mu    sync.Mutex // held while it is read
	trace *traces.Trace
	input Input
}

func (t *Traces) of(key traceKey) *sharedTrace {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read == nil {
		t.read = map[traceKey]*sharedTrace{}
	}
	if t.read[key] == nil {
		t.read[key] = &sharedTrace{}
	}
	return t.read[key]
}

// trace returns a trace whose jobs may be changed, or nil.
func (r *resolver) trace(p path, given *Trace, format string, zone *time.Location) *traces.Trace {
	if r.traces == nil {
		return r.readTrace(p, given, format, zone)
	}
	key := traceKey{file: given.File, sha256: given.SHA256, format: format, arrivalsOnly: given.ArrivalsOnly, duration: given.Duration}
	if zone != nil {
		key.zone = zone.String()
	}
	s := r.traces.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trace == nil {
		t := r.readTrace(p, given, format, zone)
		if t == nil {
			return nil
		}
		s.trace, s.input = t, r.out.Inputs[len(r.out.Inputs)-1]
	} else {
		r.out.Inputs = append(r.out.Inputs, s.input)
	}
	own := *s.trace
	own.Jobs = ownJobs(s.trace.Jobs)
	return &own
}

// ownJobs copies jobs as deep as a scenario changes them.
func ownJobs(jobs []workloads.Job) []workloads.Job {
	own := slices.Clone(jobs)
	for i := range own {
		own[i].PodSets = slices.Clone(own[i].PodSets)
	}
	return own
}

func (r *resolver) readTrace(p path, given *Trace, format string, zone *time.Location) *traces.Trace {
	var out *traces.Trace
	before := len(r.errs.list)
	r.input(p, given.File, given.SHA256, func(shown string, in io.Reader) {
		t, err := traces.Read(in, shown, format, traces.Options{Location: zone, ArrivalsOnly: given.ArrivalsOnly, Duration: int64(given.Duration)})
		if err != nil {
			r.traceError(p.to("file"), err)
			return
		}
		out = t
	})
	if len(r.errs.list) > before {
		return nil
	}
	return out
}
