package traces

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// A slot is the position of a field among all: jobFields, then podFields.

// slotNames are the names of all fields, by slot, and slots the way back.
var slotNames, slots = nameSlots()

// firstPodSlot is the slot of podFields[0].
var firstPodSlot = len(jobFields)

func nameSlots() (names []string, slots map[string]int) {
	slots = map[string]int{}
	for _, f := range jobFields {
		names = append(names, f.name)
	}
	for _, f := range podFields {
		names = append(names, f.name)
	}
	for i, name := range names {
		slots[name] = i
	}
	return names, slots
}

// formAt returns the form of a slot's values.
func formAt(slot int) form {
	if slot < firstPodSlot {
		return jobFields[slot].form
	}
	return podFields[slot-firstPodSlot].form
}

// draft is a job while its fields are read.
type draft struct {
	job  job
	pod  podSet   // the pods whose fields are being read
	sets []podSet // those that have been read
	seen uint64   // a bit per slot with a value
}

// podSlots are the bits of podFields.
var podSlots = (uint64(1)<<len(podFields) - 1) << firstPodSlot

func newDraft(row int64) draft {
	return draft{job: workloads.NewJob("", row), pod: emptyPodSet()}
}

// emptyPodSet is a PodSet before its fields are read.
func emptyPodSet() podSet {
	return podSet{Name: workloads.WorkersPodSet, Request: topology.Resources{topology.Pods: 1}}
}

// has reports whether a field has been given.
func (d *draft) has(name string) bool { return d.seen&(1<<slots[name]) != 0 }

// put sets a field from its text, which must not be empty. The error is a *fieldError.
func (d *draft) put(c *context, slot int, s string) error {
	d.seen |= 1 << slot
	var err error
	if slot < firstPodSlot {
		err = jobFields[slot].set(c, &d.job, s)
	} else {
		err = podFields[slot-firstPodSlot].set(c, &d.pod, s)
	}
	if err != nil {
		return &fieldError{slotNames[slot], err.Error()}
	}
	return nil
}

// require returns a *fieldError that names the first field without a value.
func (d *draft) require(names ...string) error {
	for _, name := range names {
		if !d.has(name) {
			return &fieldError{name, "missing"}
		}
	}
	return nil
}

// closePodSet adds the pods whose fields were read to the job and begins anew. The error
// is a *fieldError.
func (d *draft) closePodSet() error {
	if err := d.require("pods", "gpus_per_pod"); err != nil {
		return err
	}
	d.sets = append(d.sets, d.pod)
	d.pod = emptyPodSet()
	d.seen &^= podSlots
	return nil
}

// finish returns the job once all its fields are read, if they make sense together. The
// error is a *fieldError.
func (d *draft) finish() (job, error) {
	if err := d.require("id", "submit_seconds", "duration_seconds"); err != nil {
		return job{}, err
	}
	if d.seen&podSlots != 0 {
		if err := d.closePodSet(); err != nil {
			return job{}, err
		}
	}
	if d.sets == nil && !d.has("gpus") {
		return job{}, &fieldError{"gpus", "missing: expected gpus, or pods and gpus_per_pod"}
	}
	d.job.PodSets = d.sets
	if err := workloads.Validate(&d.job); err != nil {
		return job{}, inOurWords(err)
	}
	if total := d.job.TotalGPUs(); d.sets != nil && d.has("gpus") && total != topology.Milli*int64(d.job.GPUs) {
		return job{}, &fieldError{"gpus", fmt.Sprintf("%d contradicts the pods, which ask for %s", d.job.GPUs, devices.format(total))}
	}
	return d.job, nil
}

// inOurWords turns an error of workloads.Validate, which names a job's fields as scenario
// files do, into one that names the field of a trace.
func inOurWords(err error) error {
	e, ok := err.(*workloads.FieldError)
	if !ok {
		return &fieldError{"", err.Error()}
	}
	field := e.Field
	if i := strings.Index(field, ".slices"); i >= 0 {
		field = "slices"
	}
	name := field[strings.LastIndexByte(field, '.')+1:]
	for _, w := range [...]struct{ theirs, ours string }{
		{"count", "pods"}, {"podsets", "pods"}, {"min_count", "min_pods"}, {"name", "podset"}, {"image_bytes", "image_size"},
	} {
		if name == w.theirs {
			name = w.ours
		}
	}
	if name == "request" {
		name = requestField(e.Problem)
	}
	return &fieldError{name, e.Problem}
}

// requestField names the field of the resource with which the problem of a request begins.
func requestField(problem string) string {
	resource, _, _ := strings.Cut(problem, ":")
	switch resource {
	case topology.GPU.String():
		return "gpus_per_pod"
	case topology.CPU.String():
		return "cpus_per_pod"
	case topology.Memory.String():
		return "memory_per_pod"
	}
	return "pods"
}

// written returns the texts of a job's own fields, by slot.
func written(j *job) []string {
	texts := make([]string, len(slotNames))
	for i := range jobFields {
		texts[i] = jobFields[i].get(j)
	}
	return texts
}

// writePods fills in the texts of a PodSet's fields, by slot.
func writePods(texts []string, p *podSet) {
	for i := range podFields {
		texts[firstPodSlot+i] = podFields[i].get(p)
	}
}

// checkReadBack returns an error if the job that a reader would make of its texts is not
// the job itself, so that a job which a format cannot express is never written as another.
// The texts are its own fields, then one slice per PodSet unless the first has them too.
func checkReadBack(j *job, texts ...[]string) error {
	back, err := readBack(j, texts)
	if err != nil {
		return unwritable(j, err.Error())
	}
	if !reflect.DeepEqual(back, plain(*j)) {
		return unwritable(j, "it has more than the format can say")
	}
	return nil
}

func readBack(j *job, texts [][]string) (job, error) {
	c := newContext(Options{Model: func(name string) (*workloads.ModelProfile, bool) {
		return j.Model, j.Model != nil && j.Model.Name == name
	}})
	d := newDraft(j.Row)
	for i, set := range texts {
		for slot, s := range set {
			if s == "" {
				continue
			}
			if err := d.put(c, slot, s); err != nil {
				return job{}, err
			}
		}
		if i > 0 {
			if err := d.closePodSet(); err != nil {
				return job{}, err
			}
		}
	}
	return d.finish()
}

func unwritable(j *job, why string) error {
	return fmt.Errorf("job %q (row %d) cannot be written: %s", j.ID, j.Row, why)
}

// plain returns a job without the differences that mean nothing.
func plain(j job) job {
	if j.Startup < 0 {
		j.Startup = workloads.StartupFromTiming
	}
	if len(j.PodSets) == 0 {
		j.PodSets = nil
	}
	for i := range j.PodSets {
		if j.PodSets[i].Models != nil && len(j.PodSets[i].Models) == 0 {
			sets := append([]podSet(nil), j.PodSets...)
			sets[i].Models = nil
			j.PodSets = sets
		}
	}
	return j
}
