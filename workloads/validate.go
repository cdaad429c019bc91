package workloads

import (
	"fmt"
	"math"

	"github.com/gangplan/gangplan/topology"
)

// The limits of what a job may say. They keep every sum of two times below 2^63 and a
// job's work (milli-GPU x ns) below 2^92, so that the 128-bit accounts of 2^35 such jobs
// cannot overflow. Nothing real comes near them.
const (
	MaxTime     = 100 * 365 * 24 * 3600 * int64(1e9) // ns, of any one time: 100 years
	MaxGPUs     = 1_000_000                          // whole GPUs of one job
	MaxPods     = 1_000_000                          // pods of one job
	MaxQuantity = 1 << 60                            // milli-cores or bytes of one job
	MaxStep     = 24 * 3600 * int64(1e9)             // ns of computation of one training step
	MaxGradient = 1 << 50                            // bytes all-reduced in one step
)

// FieldError says which field of a job is wrong, named as in a scenario file, and what
// was expected. A reader adds where the job came from.
type FieldError struct {
	Field   string
	Problem string
}

// Error returns "field: problem".
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// wrong returns a *FieldError as an error.
func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Validate returns a *FieldError if no simulation could run the job: a time, count or
// quantity that is negative or beyond the limits, no pods, more required than there are,
// or a contradiction. A job without PodSets is judged by its GPUs; Shape comes later.
func Validate(j *Job) error {
	if err := validateNumbers(j); err != nil {
		return err
	}
	if j.CheckpointInterval > 0 && j.Duration/j.CheckpointInterval > maxCheckpoints {
		return wrong("checkpoint.interval", "%d ns means more than a million checkpoints", j.CheckpointInterval)
	}
	if err := validatePodSets(j.PodSets); err != nil {
		return err
	}
	if n := j.Pods(); j.Completions != 0 && (len(j.PodSets) != 1 || j.Completions < n || int64(j.Completions)/int64(max(n, 1)) > maxCheckpoints) {
		return wrong("completions", "%d: expected one PodSet, and at least its %d pods", j.Completions, n)
	}
	if err := validateRestarts(j); err != nil {
		return err
	}
	return validateModel(j.Model)
}

func validateRestarts(j *Job) error {
	for i, r := range j.Restarts {
		field := fmt.Sprintf("restarts[%d]", i)
		err := firstWrong(
			limit{field + ".time", r.Time, 0, MaxTime, "ns"},
			limit{field + ".ready", r.Ready, 0, MaxTime, "ns"},
			limit{field + ".rank", int64(r.Rank), AllPods, int64(j.Pods()) - 1, "of a pod"},
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// maxCheckpoints bounds the checkpoints a job's work can take: more are a mistake, and
// each is an event.
const maxCheckpoints = 1_000_000

func validateNumbers(j *Job) error {
	return firstWrong(
		limit{"submit", j.Submit, 0, MaxTime, "ns"},
		limit{"duration", j.Duration, 0, MaxTime, "ns"},
		limit{"gpus", int64(j.GPUs), 0, MaxGPUs, "GPUs"},
		limit{"time_limit", j.TimeLimit, 0, MaxTime, "ns"},
		limit{"admitted_limit", j.AdmittedLimit, 0, MaxTime, "ns"},
		limit{"checkpoint.interval", j.CheckpointInterval, 0, MaxTime, "ns"},
		limit{"checkpoint.cost", j.CheckpointCost, 0, MaxTime, "ns"},
		limit{"startup", j.Startup, math.MinInt64, MaxTime, "ns"},
		limit{"image_bytes", j.ImageBytes, 0, MaxQuantity, "bytes"},
	)
}

// limit is a field's value and the range it must lie in.
type limit struct {
	field          string
	value, low, up int64
	unit           string
}

func firstWrong(limits ...limit) error {
	for _, l := range limits {
		if l.value < l.low || l.value > l.up {
			return wrong(l.field, "%d %s: expected %d to %d", l.value, l.unit, l.low, l.up)
		}
	}
	return nil
}

func validatePodSets(sets []PodSet) error {
	if sets == nil {
		return nil
	}
	var total topology.Resources
	var pods int64
	for i := range sets {
		field := fmt.Sprintf("podsets[%d]", i)
		if err := validatePodSet(field, &sets[i]); err != nil {
			return err
		}
		if k := indexOf(sets[:i], sets[i].Name); k >= 0 {
			return wrong(field+".name", "%q is the name of podsets[%d] too", sets[i].Name, k)
		}
		if err := addRequests(field, &total, &sets[i]); err != nil {
			return err
		}
		pods += int64(sets[i].Count)
	}
	if err := firstWrong(limit{"podsets", pods, 1, MaxPods, "pods"}); err != nil {
		return err
	}
	return validateGroups(sets)
}

func indexOf(sets []PodSet, name string) int {
	for i := range sets {
		if sets[i].Name == name {
			return i
		}
	}
	return -1
}

func validatePodSet(field string, p *PodSet) error {
	err := firstWrong(
		limit{field + ".count", int64(p.Count), 0, MaxPods, "pods"},
		limit{field + ".min_count", int64(p.MinCount), 0, int64(p.Count), "pods"},
		limit{field + ".never_ready", int64(p.NeverReady), 0, int64(p.Count), "pods"},
	)
	if err != nil {
		return err
	}
	return validateTopology(field, p)
}

// requestLimits bounds the sum of each resource over a job's pods.
var requestLimits = topology.Resources{
	topology.GPU:    MaxGPUs * topology.Milli,
	topology.CPU:    MaxQuantity,
	topology.Memory: MaxQuantity,
	topology.Pods:   MaxQuantity,
}

// addRequests adds what the pods of a set ask for to the job's total, unless that would
// be negative or pass a limit.
func addRequests(field string, total *topology.Resources, p *PodSet) error {
	for r := range topology.NumResources {
		request, left := p.Request[r], requestLimits[r]-total[r]
		if request < 0 {
			return wrong(field+".request", "%s: %d: expected 0 or more", r, request)
		}
		if p.Count > 0 && request > left/int64(p.Count) {
			return wrong(field+".request", "%s: %d for each of %d pods: expected at most %d for all pods of a job",
				r, request, p.Count, requestLimits[r])
		}
		total[r] += request * int64(p.Count)
	}
	return nil
}

func validateModel(m *ModelProfile) error {
	if m == nil {
		return nil
	}
	return firstWrong(
		limit{"model.gradient_bytes", m.GradientBytes, 0, MaxGradient, "bytes"},
		limit{"model.compute", m.Compute, 1, MaxStep, "ns"},
		limit{"model.overlap", m.OverlapMilli, 0, 1000, "thousandths"},
		limit{"model.tensor", int64(m.Tensor), 0, MaxGPUs, "GPUs"},
		limit{"model.pipeline", int64(m.Pipeline), 0, MaxGPUs, "stages"},
	)
}
