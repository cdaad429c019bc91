package scenario

import (
	"cmp"
	"reflect"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/workloads"
)

// The defaults of Kueue's waitForPodsReady.
const (
	defaultBackoffSeconds = 60
	defaultBackoffMax     = 3600 // s
)

// resolveTiming takes the preset and lays over it what is given beside.
func (r *resolver) resolveTiming() {
	c := r.out.Config
	c.Timing = word(r, at("timing", "preset"), r.Timing.Preset, []string{"instant", "kubernetes"}, sim.Instant, sim.Kubernetes)
	changed := overlay(reflect.ValueOf(&c.Timing).Elem(), reflect.ValueOf(r.Timing))
	if s := c.Timing.Start; s.InitMin > s.InitMax {
		r.fail(at("timing", "start"), "initMin is %s: expected at most initMax, %s", Duration(s.InitMin), Duration(s.InitMax))
	}
	if j := r.Timing.Jitter; j != nil && *j < 1000 {
		r.fail(at("timing", "jitter"), "expected 1, for none, or more")
	}
	if o := c.Timing.SecondOffset; o >= 1e9 {
		r.fail(at("timing", "secondOffset"), "%s: expected less than 1s", Duration(o))
	}
	creations := []string{"burst", "slow-start", "interleaved"}
	preset := creations[0]
	if c.Timing.Name == sim.Kubernetes.Name {
		preset = creations[1]
	}
	c.Creation = word(r, at("podCreation"), cmp.Or(r.PodCreation, preset), creations, sim.Burst, sim.SlowStart, sim.Interleaved)
	if changed {
		c.Timing.Name += " (changed)"
	}
}

// overlay sets the fields of dst that are not nil in src and reports whether there are
// any. The fields of both have the same names.
func overlay(dst, src reflect.Value) bool {
	changed := false
	for i := range src.NumField() {
		from := src.Field(i)
		if from.Kind() != reflect.Pointer || from.IsNil() {
			continue
		}
		to := dst.FieldByName(src.Type().Field(i).Name)
		if to.Kind() == reflect.Struct {
			changed = overlay(to, from.Elem()) || changed
			continue
		}
		to.Set(from.Elem().Convert(to.Type()))
		changed = true
	}
	return changed
}

// resolveReadiness reads waitForPodsReady and the notice.
func (r *resolver) resolveReadiness() {
	if w := r.WaitForPodsReady; w != nil {
		p := &r.out.Config.PodsReady
		p.Enabled = true
		preset := &kueueVersions[r.kueueVersion()]
		p.Timeout = cmp.Or(int64(w.Timeout), preset.timeout)
		if preset.recovery {
			p.RecoveryTimeout = p.Timeout
		}
		p.RecoveryTimeout = int64(or(w.RecoveryTimeout, Duration(p.RecoveryTimeout)))
		p.BlockAdmission = or(w.BlockAdmission, preset.block)
		p.FromCreation = word(r, at("waitForPodsReady", "requeuingStrategy", "timestamp"), w.RequeuingStrategy.Timestamp,
			[]string{"Eviction", "Creation"}, false, true)
		p.BackoffBase = r.seconds("backoffBaseSeconds", or(w.RequeuingStrategy.BackoffBaseSeconds, defaultBackoffSeconds))
		p.BackoffMax = r.seconds("backoffMaxSeconds", or(w.RequeuingStrategy.BackoffMaxSeconds, defaultBackoffMax))
		p.BackoffLimit = or(w.RequeuingStrategy.BackoffLimitCount, -1)
	}
	if n := r.Notice; n != nil {
		r.out.Config.Notice = sim.Notice{
			After:  int64(n.After),
			Action: word(r, at("notice", "action"), n.Action, []string{"kill", "restart"}, sim.Kill, sim.Restart),
		}
	}
}

// or returns what p points to, or the default.
func or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// seconds turns a whole number of seconds of the requeuing strategy into ns.
func (r *resolver) seconds(field string, n int64) int64 {
	const most = workloads.MaxTime / 1e9
	if n < 0 || n > most {
		r.fail(at("waitForPodsReady", "requeuingStrategy", field), "%d: expected 0 to %d seconds", n, most)
		return 0
	}
	return n * 1e9
}

// resolveLimits reads when a run ends and when a job starves. Endless sources of work
// would be refused here unless there is an until; there are none so far.
func (r *resolver) resolveLimits() {
	r.out.Config.Until = int64(r.Until)
	if r.out.Config.SampleEvery = int64(r.Sample); r.Sample != 0 && r.Sample < shortestSample {
		r.fail(at("sample"), "%s: expected at least %s", r.Sample, shortestSample)
	} else if r.Sample != 0 && r.Until/r.Sample > mostSamples {
		r.fail(at("sample"), "%s: expected at most %d samples until %s", r.Sample, mostSamples, r.Until)
	}
	r.out.Config.StarvationAfter = sim.DefaultStarvationAfter
	if r.Starvation != nil {
		r.out.Config.StarvationAfter = int64(r.Starvation.After)
	}
}

// shortestSample and mostSamples keep the rows of a long run within reason.
const (
	shortestSample = Duration(1e9)
	mostSamples    = 2_000_000
)
