package traces

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
	"pgregory.net/rapid"
)

func TestJSONL(t *testing.T) {
	tr := mustOpen(t, "testdata/podsets.jsonl")
	want := []workloads.Job{
		{ID: "total", Row: 17, GPUs: 3, Carried: true, Startup: workloads.StartupFromTiming},
		{ID: "flat", Row: 2, Duration: 60e9, Priority: -3, Startup: workloads.StartupFromTiming,
			PodSets: []workloads.PodSet{{Name: "workers", Count: 2, Request: request(250, 0, 1024)}}},
		{ID: "mpi", Row: 1, Submit: 1_500_000_000, Duration: 600e9, Queue: "hpc", Startup: workloads.StartupFromTiming,
			PodSets: []workloads.PodSet{
				{Name: "launcher", Count: 1, Request: request(0, 2000, 0)},
				{Name: "worker", Count: 4, Request: request(8000, 0, 96<<30), Models: []string{"A100", "H100"},
					Topology: workloads.TopologyRequest{Mode: workloads.TopologyPreferred, Level: "rack"}}}},
	}
	for i := range want {
		if !reflect.DeepEqual(tr.Jobs[i], want[i]) {
			t.Errorf("job\n got %+v\nwant %+v", tr.Jobs[i], want[i])
		}
	}
}

func TestJSONLErrors(t *testing.T) {
	const begin = `{"id":"a","submit_seconds":0,"duration_seconds":1,` // 51 bytes
	all := strings.Join(slotNames, ", ")
	inPods := strings.Join(slotNames[firstPodSlot:], ", ")
	for _, c := range []struct{ text, want string }{
		{`{`, "t:1:2: the line ends inside the object"},
		{`{}`, "t:1:1: id: missing"},
		{`[]`, "t:1:1: expected an object of fields in braces"},
		{`{"id":"a",}`, "t:1:11: not JSON: invalid character '}' looking for beginning of object key string"},
		{`{"id":"a"} {}`, "t:1:12: something after the object: expected one object a line"},
		{`{"id" "a"}`, `t:1:7: not JSON: invalid character '"' after object key`},
		{`{'id':1}`, `t:1:2: not JSON: invalid character '\''`},
		{`{"id":nope}`, `t:1:7: not JSON: invalid character 'o' in literal null (expecting 'u')`},
		{"{\"id\":\"\xff\"}", "t:1:1: the line is not UTF-8"},
		{`{"id":17}`, "t:1:7: id: expected text in quotes"},
		{`{"id":{}}`, "t:1:7: id: expected text in quotes"},
		{`{"id":"a","id":"b"}`, "t:1:11: id: the field is there twice"},
		{`{"id":"a","submit_seconds":"0"}`, "t:1:28: submit_seconds: expected a number without quotes"},
		{`{"id":"a","submit_seconds":1e3}`, `t:1:28: submit_seconds: "1e3" is not a number: expected seconds as digits, such as 0.5`},
		{`{"id":"a","submit_seconds": -1}`, `t:1:29: submit_seconds: -1 is negative: expected 0 or more seconds`},
		{`{"id":"a","submit_seconds":NaN}`, `t:1:28: not JSON: invalid character 'N' looking for beginning of value`},
		{`{"ID":"a"}`, "t:1:2: ID: unknown field (did you mean id?)"},
		{`{"pod_sets":[]}`, "t:1:2: pod_sets: unknown field (did you mean podsets?)"},
		{`{"started":true}`, "t:1:2: started: unknown field: expected some of " + all + ", podsets"},
		{begin + `"gpus":-8}`, "t:1:58: gpus: -8 is negative: expected 0 or more GPUs"},
		{begin + `"queue":"q"}`, "t:1:1: gpus: missing: expected gpus, or pods and gpus_per_pod"},
		{begin + `"pods":2}`, "t:1:1: gpus_per_pod: missing"},
		{begin + `"pods":2,"gpus_per_pod":2,"gpus":8}`, "t:1:84: gpus: 8 contradicts the pods, which ask for 4"},
		{begin + `"pods":2,"gpus_per_pod":1,"gpu_models":["A",7]}`, `t:1:95: gpu_models: expected a list of texts such as ["A100", "H100"], none empty or with a |`},
		{begin + `"pods":2,"gpus_per_pod":1,"gpu_models":"A"}`, `t:1:90: gpu_models: expected a list of texts such as ["A100", "H100"]`},
		{begin + `"pods":2,"gpus_per_pod":1,"memory_per_pod":"1Gi"}`, `t:1:94: memory_per_pod: "1Gi" is no amount of memory: expected KiB, MiB, GiB, TiB or bytes without a unit (did you mean GiB?)`},
		{begin + `"pods":2,"gpus_per_pod":1,"memory_per_pod":true}`, `t:1:94: memory_per_pod: expected bytes as a number, or text such as "96GiB"`},
		{begin + `"gpus":1,"carried":"true"}`, "t:1:70: carried: expected true or false"},
		{begin + `"podsets":{}}`, "t:1:61: podsets: expected a list of objects in brackets"},
		{begin + `"podsets":[7]}`, "t:1:62: expected an object of fields in braces"},
		{begin + `"podsets":[]}`, "t:1:1: gpus: missing: expected gpus, or pods and gpus_per_pod"},
		{begin + `"podsets":[{"pods":1}]}`, "t:1:62: gpus_per_pod: missing"},
		{begin + `"podsets":[{"queue":"q"}]}`, "t:1:63: queue: unknown field: expected some of " + inPods},
		{begin + `"podsets":[{"pods":1,"pods":1}]}`, "t:1:72: pods: the field is there twice"},
		{begin + `"podsets":[{"pods":1,"gpus_per_pod":1},{"pods":2,"gpus_per_pod":1}]}`, `t:1:61: podset: "workers" is the name of podsets[0] too`},
		{begin + `"podsets":[{"pods":1,"gpus_per_pod":1}],"podsets":[]}`, "t:1:91: podsets: the field is there twice"},
		{begin + `"podsets":[{"pods":1,"gpus_per_pod":1}],"node":"n"}`, "t:1:91: node: fields of pods belong into podsets, where there is one"},
		{begin + `"node":"n","podsets":[{"pods":1,"gpus_per_pod":1}]}`, "t:1:62: podsets: fields of pods stand beside it: expected them inside, or no podsets"},
	} {
		wantError(t, c.text, "jsonl", c.want)
	}
}

func TestJSONLCountsLines(t *testing.T) {
	good := `{"id":"a","submit_seconds":0,"duration_seconds":1,"gpus":1}`
	wantError(t, good+"\r\n\r\n  \n"+good+"\n{\"id\":1}\n", "jsonl", "t:5:7: id: expected text in quotes")
	if got := len(mustRead(t, good+"\r\n\n"+good, "jsonl").Jobs); got != 2 {
		t.Errorf("%d jobs, want 2", got)
	}
}

func TestWriteJSONL(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSONL(&b, mustOpen(t, "testdata/podsets.jsonl").Jobs); err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"total","row":17,"submit_seconds":0,"duration_seconds":0,"gpus":3,"carried":true}
{"id":"flat","row":2,"submit_seconds":0,"duration_seconds":60,"priority":-3,"pods":2,"gpus_per_pod":0.25,"memory_per_pod":"1KiB"}
{"id":"mpi","row":1,"submit_seconds":1.5,"duration_seconds":600,"queue":"hpc","podsets":[{"pods":1,"gpus_per_pod":0,"podset":"launcher","cpus_per_pod":2},{"pods":4,"gpus_per_pod":8,"podset":"worker","memory_per_pod":"96GiB","gpu_models":["A100","H100"],"topology":"preferred:rack"}]}
`
	if b.String() != want {
		t.Errorf("got\n%s", &b)
	}
}

func TestWriteJSONLRefusesWhatItCannotSay(t *testing.T) {
	j := mustOpen(t, "testdata/podsets.jsonl").Jobs[2]
	j.PodSets[1].Models = []string{" A100"}
	var b bytes.Buffer
	err := WriteJSONL(&b, []workloads.Job{j})
	if err == nil || err.Error() != `job "mpi" (row 1) cannot be written: it has more than the format can say` || b.Len() > 0 {
		t.Errorf("error %v, written %q", err, &b)
	}
}

// everyField is a job that uses all there is of a job and a PodSet.
func everyField() workloads.Job {
	m, _ := workloads.LookupModel(workloads.ModelNames()[0])
	return workloads.Job{
		ID: "all", Row: 9, Submit: 1, Duration: 2, GPUs: 6, Queue: "q", Tenant: "t", Priority: 1,
		TimeLimit: 3, AdmittedLimit: 8, Completions: 9, PlainPods: true, Termination: workloads.AtOnce, Tolerate: 5, Restarts: []workloads.Restart{{Time: 5, Rank: workloads.AllPods, Ready: 6}, {Time: 7, Rank: 2}}, CheckpointInterval: 4, CheckpointCost: 5, Startup: 6, Image: "i", ImageBytes: 7, Model: m, Carried: true,
		Namespace: "ns", Labels: map[string]string{"k": "v"}, NoPreempt: true,
		Affinity: []workloads.PodTerm{{Level: "rack"}, {Level: "zone", Weight: 7, Of: &workloads.PodSelector{Namespaces: []string{"a"}}}}, AntiAffinity: []workloads.PodTerm{{Level: "host", Weight: 100}},
		Spread: []workloads.SpreadConstraint{{Level: "rack", MaxSkew: 2}, {Level: "zone", MaxSkew: 1, Soft: true, MinDomains: 2, Taints: true, AllNodes: true, Of: &workloads.PodSelector{}}},
		PodSets: []workloads.PodSet{{Name: "n", Count: 3, MinCount: 2, Request: request(2000, 1, 0), None: [topology.NumResources]bool{topology.Memory: true}, Models: []string{"A"},
			Topology: workloads.TopologyRequest{Mode: workloads.TopologyRequired, Level: "l",
				Slices: [workloads.MaxSliceLayers]workloads.Slice{{Level: "l", Size: 3}}}, NeverReady: 1, Node: "n",
			NodeSelector: []topology.Requirement{{Key: "k", Operator: topology.In, Values: []string{"v"}}},
			NodeAffinity: topology.NodeAffinity{Required: []topology.Term{{{Key: "k", Operator: topology.Exists}}},
				Preferred: []topology.PreferredTerm{{Weight: 1, Term: topology.Term{{Key: "k", Operator: topology.Lt, Values: []string{"7"}}}}}},
			Tolerations: []topology.Toleration{{Key: "k", Value: "v", Effect: "NoSchedule"}, {Exists: true}}}},
	}
}

// TestEveryFieldIsExpressed fails when a field is added to a job or a PodSet that the
// formats do not know: set it in everyField and add it to fields.go.
func TestEveryFieldIsExpressed(t *testing.T) {
	j := everyField()
	for _, v := range []reflect.Value{reflect.ValueOf(j), reflect.ValueOf(j.PodSets[0])} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("everyField does not set %s.%s", v.Type(), v.Type().Field(i).Name)
			}
		}
	}
	checkRoundTrip(t, []workloads.Job{j}, WriteCSV, "csv")
	checkRoundTrip(t, []workloads.Job{j}, WriteJSONL, "jsonl")
}

func TestWritingForgivesDifferencesThatMeanNothing(t *testing.T) {
	j := everyField()
	j.Startup = -77
	j.PodSets[0].Models = []string{}
	var b bytes.Buffer
	if err := WriteJSONL(&b, []workloads.Job{j, {ID: "none", Row: 1, PodSets: []workloads.PodSet{}}}); err != nil {
		t.Fatal(err)
	}
	if j.PodSets[0].Models == nil {
		t.Error("the caller's job was changed")
	}
}

// anyName is a name as clusters have them, and as they do not.
var anyName = rapid.OneOf(rapid.StringMatching(`[a-z0-9-]{0,12}`), rapid.StringMatching(`[ -~é€"',:|\\]{0,8}`))

// anyPodSet draws pods that ask for GPUs, CPU and memory.
func anyPodSet(name string) *rapid.Generator[workloads.PodSet] {
	return rapid.Custom(func(t *rapid.T) workloads.PodSet {
		p := workloads.PodSet{Name: name, Count: rapid.Int32Range(1, 100).Draw(t, "count"), Node: anyName.Draw(t, "node")}
		p.MinCount = rapid.Int32Range(0, p.Count).Draw(t, "min")
		p.NeverReady = rapid.Int32Range(0, p.Count).Draw(t, "never ready")
		p.Request = request(rapid.Int64Range(0, 8000).Draw(t, "gpu"), rapid.Int64Range(0, 1e6).Draw(t, "cpu"), rapid.Int64Range(0, 1<<40).Draw(t, "memory"))
		p.Models = rapid.SliceOfN(rapid.StringMatching(`[A-Z0-9]{1,5}`), 1, 3).Draw(t, "models")
		p.Topology.Mode = workloads.TopologyMode(rapid.IntRange(0, 4).Draw(t, "mode"))
		anySlices(t, &p)
		if p.Topology.Mode == workloads.TopologyPreferred || p.Topology.Mode == workloads.TopologyRequired {
			p.Topology.Level = rapid.StringMatching(`[a-z:]{1,5}`).Draw(t, "level")
		}
		return p
	})
}

// anySlices draws layers of slices, of which those with a mode of slices only have one.
func anySlices(t *rapid.T, p *workloads.PodSet) {
	layers := rapid.IntRange(0, workloads.MaxSliceLayers).Draw(t, "layers")
	if p.Topology.Mode == workloads.TopologySliceOnly {
		layers = max(1, layers)
	}
	if p.Topology.Mode == workloads.TopologyNone {
		layers = 0
	}
	for i := range layers {
		size := int32(1) << (workloads.MaxSliceLayers - i)
		p.Topology.Slices[i] = workloads.Slice{Level: rapid.StringMatching(`[a-z:]{1,5}`).Draw(t, "slice level"), Size: size}
		if p.Count%size != 0 {
			p.Count *= size
		}
	}
}

// anyJob draws a job of up to maxSets PodSets; without PodSets it has a total of GPUs.
func anyJob(maxSets int) *rapid.Generator[workloads.Job] {
	times := rapid.Int64Range(0, workloads.MaxTime)
	return rapid.Custom(func(t *rapid.T) workloads.Job {
		j := workloads.NewJob("j"+anyName.Draw(t, "id"), rapid.Int64Range(0, 100).Draw(t, "row"))
		j.Submit, j.Duration, j.TimeLimit = times.Draw(t, "submit"), times.Draw(t, "duration"), times.Draw(t, "limit")
		j.CheckpointInterval, j.CheckpointCost = max(times.Draw(t, "interval"), j.Duration/1_000_000+1), times.Draw(t, "cost")
		j.Startup = rapid.Int64Range(-1, 1e12).Draw(t, "startup")
		j.Queue, j.Tenant, j.Image = anyName.Draw(t, "queue"), anyName.Draw(t, "tenant"), anyName.Draw(t, "image")
		j.Priority, j.ImageBytes = rapid.Int32().Draw(t, "priority"), rapid.Int64Range(0, 1<<50).Draw(t, "image bytes")
		j.Carried = rapid.Bool().Draw(t, "carried")
		for i := range rapid.IntRange(0, maxSets).Draw(t, "sets") {
			name := []string{"workers", "rest", "other"}[i]
			j.PodSets = append(j.PodSets, anyPodSet(name).Draw(t, name))
		}
		if j.PodSets == nil {
			j.GPUs = rapid.Int32Range(0, 1000).Draw(t, "gpus")
		}
		return j
	})
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(anyJob(3), 1, 5).Draw(t, "jobs")
		workloads.Sort(jobs)
		checkRoundTrip(t, jobs, WriteJSONL, "jsonl")
	})
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(anyJob(1), 1, 5).Draw(t, "jobs")
		for i := range jobs { // CSV does not keep outer blanks
			for _, s := range []*string{&jobs[i].ID, &jobs[i].Queue, &jobs[i].Tenant, &jobs[i].Image} {
				*s = strings.TrimSpace(*s)
			}
			for k := range jobs[i].PodSets {
				jobs[i].PodSets[k].Node = strings.TrimSpace(jobs[i].PodSets[k].Node)
			}
		}
		workloads.Sort(jobs)
		checkRoundTrip(t, jobs, WriteCSV, "csv")
	})
}

func BenchmarkJSONL(b *testing.B) {
	var text bytes.Buffer
	if err := WriteJSONL(&text, mustRead(b, phillyText(20_000), "").Jobs); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		mustRead(b, text.String(), "jsonl")
	}
}

func BenchmarkWriteCSV(b *testing.B) {
	jobs := mustRead(b, phillyText(20_000), "").Jobs
	for b.Loop() {
		if err := WriteCSV(&bytes.Buffer{}, jobs); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzJSONL(f *testing.F) {
	text, err := os.ReadFile("testdata/podsets.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"id":"a","submit_seconds":0,"duration_seconds":1,"gpus":1,"queue":"\u0000\ud800"}`))
	f.Add([]byte(`{"id":"a","podsets":[{"pods":1,"gpu_models":["A"]},{}]}` + "\r\n\n{"))
	f.Add([]byte("\ufeff{\"id\":[[[[[[{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if tr := checkInput(t, data, "jsonl"); tr != nil {
			checkRoundTrip(t, tr.Jobs, WriteJSONL, "jsonl")
		}
	})
}
