package traces

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// The openb formats are the two kinds of CSV of Alibaba's cluster-trace-gpu-v2023: pods,
// of which each is a job of its own, and nodes. Four of the pod lists have no times, and
// no columns beyond gpu_milli.

var (
	openbPodRequired  = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}
	openbPodColumns   = append(slices.Clone(openbPodRequired), "gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time")
	openbNodeRequired = []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"}
)

// Unknown is a time that an openb file does not give.
const Unknown = -1

// OpenbPod is a row of a pod list.
type OpenbPod struct {
	Name    string
	Row     int64
	CPU     int64 // milli-cores
	Memory  int64 // bytes
	GPUs    int32
	Milli   int32  // of each GPU; 1000 unless GPUs is 1
	Spec    string // GPU models it accepts, with | between them; empty accepts all
	QoS     string
	Phase   string // at the end of the trace
	Created int64  // seconds from the start of the trace, or Unknown, as the two below
	Deleted int64
	Bound   int64 // Unknown: never scheduled
}

// Models returns the GPU models a pod accepts, each once. nil accepts all.
func (p *OpenbPod) Models() []string {
	var models []string
	for m := range strings.SplitSeq(p.Spec, "|") {
		if m != "" && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	return models
}

// OpenOpenbPods reads a pod list, in its order.
func OpenOpenbPods(path string) ([]OpenbPod, error) {
	var pods []OpenbPod
	err := readOpenbFile(path, func(src *source) (err error) {
		pods, err = readOpenbPods(src)
		return err
	})
	return pods, err
}

// OpenOpenbNodes reads a node list, in its order. Nodes have a path of no domains and take
// openbPodsPerNode pods.
func OpenOpenbNodes(path string) ([]topology.Node, error) {
	var nodes []topology.Node
	err := readOpenbFile(path, func(src *source) (err error) {
		nodes, err = readOpenbNodes(src)
		return err
	})
	return nodes, err
}

func readOpenbFile(path string, read func(*source) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	src, err := newSource(f, path)
	if err != nil {
		return err
	}
	return read(src)
}

func looksLikeOpenb(head []byte) bool { return headerHas(head, openbPodRequired...) }

// readOpenb reads a pod list as jobs of one pod each. A pod runs from when it was
// scheduled until it was deleted; the rows never scheduled have no run time and are left
// out. With ArrivalsOnly all rows stay, and run for good.
func readOpenb(src *source, o Options) ([]job, error) {
	rows, err := readOpenbPods(src)
	if err != nil {
		return nil, err
	}
	jobs := make([]job, 0, len(rows))
	for i := range rows {
		p := &rows[i]
		if !o.ArrivalsOnly && p.Deleted == Unknown {
			return nil, src.errorAt(i+2, 1, "deletion_time", "missing: a list without times can only be read as arrivals only")
		}
		if !o.ArrivalsOnly && p.Bound == Unknown {
			continue
		}
		jobs = append(jobs, p.job(o.ArrivalsOnly))
	}
	if left := len(rows) - len(jobs); left > 0 {
		src.warnings = append(src.warnings, fmt.Sprintf("%d of %d rows were never scheduled and have no run time: left out", left, len(rows)))
	}
	return jobs, nil
}

// job is the pod as a job. Where there are no times the rows come a second apart.
func (p *OpenbPod) job(forever bool) job {
	const second = int64(1e9)
	j := workloads.NewJob(p.Name, p.Row)
	j.Submit = (p.Row - 1) * second
	if p.Created != Unknown {
		j.Submit = p.Created * second
	}
	j.Duration = workloads.MaxTime
	if !forever {
		j.Duration = (p.Deleted - p.Bound) * second
	}
	set := emptyPodSet()
	set.Count, set.Models = 1, p.Models()
	set.Request[topology.GPU] = int64(p.GPUs) * int64(p.Milli)
	set.Request[topology.CPU], set.Request[topology.Memory] = p.CPU, p.Memory
	j.Tenant, j.PodSets = p.QoS, []podSet{set}
	return j
}

func readOpenbPods(src *source) ([]OpenbPod, error) {
	var pods []OpenbPod
	err := eachOpenbRow(src, openbPodColumns, openbPodRequired, func(r *openbRow) error {
		p := OpenbPod{Name: r.text("name"), Row: int64(len(pods)) + 1,
			CPU: r.number("cpu_milli", workloads.MaxQuantity), Memory: r.number("memory_mib", workloads.MaxQuantity>>20) << 20,
			GPUs: int32(r.number("num_gpu", workloads.MaxGPUs)), Milli: int32(min(topology.Milli, r.number("gpu_milli", 1<<20))),
			Spec: r.text("gpu_spec"), QoS: r.text("qos"), Phase: r.text("pod_phase"),
			Created: r.time("creation_time"), Deleted: r.time("deletion_time"), Bound: r.time("scheduled_time")}
		if p.Bound != Unknown && p.Deleted < p.Bound {
			r.fail("deletion_time", "%d is before scheduled_time %d", p.Deleted, p.Bound)
		}
		if p.GPUs == 0 {
			p.Milli, p.Spec = 0, ""
		} else if p.GPUs > 1 && p.Milli != topology.Milli {
			r.fail("gpu_milli", "%d of each of %d GPUs: expected %d, only one GPU can be shared", p.Milli, p.GPUs, topology.Milli)
		}
		pods = append(pods, p)
		return r.err
	})
	return pods, err
}

// openbPodsPerNode is the limit of the study that uses this trace; it never binds.
const openbPodsPerNode = 1001

func readOpenbNodes(src *source) ([]topology.Node, error) {
	var nodes []topology.Node
	err := eachOpenbRow(src, openbNodeRequired, openbNodeRequired, func(r *openbRow) error {
		nodes = append(nodes, topology.Node{Name: r.text("sn"), GPUModel: r.text("model"), Allocatable: topology.Resources{
			topology.GPU: r.number("gpu", workloads.MaxGPUs) * topology.Milli, topology.CPU: r.number("cpu_milli", workloads.MaxQuantity),
			topology.Memory: r.number("memory_mib", workloads.MaxQuantity>>20) << 20, topology.Pods: openbPodsPerNode}})
		return r.err
	})
	return nodes, err
}

// openbRow is the row that is being read. Its readers return zero values once one failed;
// err is the first failure.
type openbRow struct {
	t      *csvTable
	c      *context
	record []string
	err    error
}

func eachOpenbRow(src *source, known, required []string, f func(*openbRow) error) error {
	t, err := newCSVTable(src, known)
	if err != nil {
		return err
	}
	if err := t.requireColumns(required...); err != nil {
		return err
	}
	r := openbRow{t: t, c: newContext(Options{})}
	for {
		if r.record, err = t.next(); err != nil || r.record == nil {
			return err
		}
		if err := f(&r); err != nil {
			return t.place(err)
		}
	}
}

func (r *openbRow) fail(field, format string, args ...any) {
	if r.err == nil {
		r.err = &fieldError{field, fmt.Sprintf(format, args...)}
	}
}

// text returns a value, empty where the file has no such column. The first column of a
// file, the name, must not be empty.
func (r *openbRow) text(field string) string {
	at := r.t.column(field)
	if at < 0 {
		return ""
	}
	s, err := r.c.name(strings.TrimSpace(r.record[at]))
	if err != nil {
		r.fail(field, "%v", err)
	} else if s == "" && (field == "name" || field == "sn") {
		r.fail(field, "missing")
	}
	return s
}

func (r *openbRow) number(field string, most int64) int64 {
	s := strings.TrimSpace(r.record[r.t.column(field)])
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > most {
		r.fail(field, "%s: expected a whole number from 0 to %d", quote(s), most)
		return 0
	}
	return n
}

// time returns seconds, or Unknown where there is no such column or no value.
func (r *openbRow) time(field string) int64 {
	at := r.t.column(field)
	if at < 0 || strings.TrimSpace(r.record[at]) == "" {
		return Unknown
	}
	return r.number(field, workloads.MaxTime/1e9)
}
