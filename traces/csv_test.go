package traces

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

func TestCSV(t *testing.T) {
	tr := mustOpen(t, "testdata/small.csv")
	want := workloads.Job{ID: "llama", Row: 2, Submit: 60_500_000_000, Duration: 86_400e9, GPUs: 64,
		Queue: "prod", Tenant: "language", Priority: 100, Startup: workloads.StartupFromTiming}
	if !reflect.DeepEqual(tr.Jobs[2], want) {
		t.Errorf("job\n got %+v\nwant %+v", tr.Jobs[2], want)
	}
	if got := tr.Jobs[3].Duration; got != 1_800_000_000_001 {
		t.Errorf("duration %d, want every nanosecond of 1800.000000001 s", got)
	}
}

// request is what one pod asks for, in whole GPUs, milli-cores and bytes.
func request(milliGPU, milliCPU, memory int64) topology.Resources {
	return topology.Resources{topology.GPU: milliGPU, topology.CPU: milliCPU, topology.Memory: memory, topology.Pods: 1}
}

func TestCSVShapes(t *testing.T) {
	tr := mustOpen(t, "testdata/shapes.csv")
	resnet, ok := workloads.LookupModel("resnet-50")
	if !ok {
		t.Fatal("workloads does not know resnet-50")
	}
	want := []workloads.Job{
		{ID: "gang", Row: 1, Duration: 3600e9, TimeLimit: 7200e9, CheckpointInterval: 600e9,
			CheckpointCost: 12_500_000_000, Startup: 90e9, Model: resnet,
			PodSets: []workloads.PodSet{{Name: "workers", Count: 8, MinCount: 6, Request: request(8000, 96_000, 768<<30),
				Models:   []string{"H100", "H200"},
				Topology: workloads.TopologyRequest{Mode: workloads.TopologyRequired, Level: "rack"}}}},
		{ID: "share", Row: 2, Submit: 10e9, Duration: 60e9, GPUs: 1, Startup: 0,
			PodSets: []workloads.PodSet{{Name: "workers", Count: 2, Request: request(500, 1500, 512<<20),
				Topology: workloads.TopologyRequest{Mode: workloads.TopologyUnconstrained}}}},
		{ID: "pinned", Row: 3, Submit: 20e9, Duration: 60e9, Startup: workloads.StartupFromTiming,
			PodSets: []workloads.PodSet{{Name: "workers", Count: 1, Request: request(4000, 0, 1<<30), Node: "node-7",
				Topology: workloads.TopologyRequest{Mode: workloads.TopologyPreferred, Level: "block"}}}},
		{ID: "total", Row: 4, Submit: 30e9, Duration: 60e9, GPUs: 12, Startup: workloads.StartupFromTiming},
	}
	for i := range want {
		if !reflect.DeepEqual(tr.Jobs[i], want[i]) {
			t.Errorf("job\n got %+v\nwant %+v", tr.Jobs[i], want[i])
		}
	}
}

func TestCSVAcceptsWhatSpreadsheetsWrite(t *testing.T) {
	want := mustRead(t, header+"a,1,2,8\n", "").Jobs
	for name, text := range map[string]string{
		"CRLF":               "id,submit_seconds,duration_seconds,gpus\r\na,1,2,8\r\n",
		"no last newline":    "id,submit_seconds,duration_seconds,gpus\na,1,2,8",
		"blank lines":        "\n\nid,submit_seconds,duration_seconds,gpus\n\na,1,2,8\n\n\r\n\n",
		"quotes":             "\"id\",\"submit_seconds\",\"duration_seconds\",\"gpus\"\n\"a\",\"1\",\"2\",\"8\"\n",
		"blanks":             "id, submit_seconds, duration_seconds, gpus\n a, 1 ,2, 8 \n",
		"other order":        "gpus,duration_seconds,id,submit_seconds\n8,2,a,1\n",
		"empty optional":     "id,submit_seconds,duration_seconds,gpus,queue,pods,model\na,1,2,8,,,\n",
		"whole as fractions": "id,submit_seconds,duration_seconds,gpus\na,1.000,2.0,8.0\n",
	} {
		if got := mustRead(t, text, "csv").Jobs; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestCSVKeepsOddNames(t *testing.T) {
	tr := mustRead(t, header+"\"a,\"\"b\"\"\",0,1,1\nüñ€,0,1,1\n", "")
	if tr.Jobs[0].ID != `a,"b"` || tr.Jobs[1].ID != "üñ€" {
		t.Errorf("ids %q, %q", tr.Jobs[0].ID, tr.Jobs[1].ID)
	}
}

func TestCSVHeaderErrors(t *testing.T) {
	for text, want := range map[string]string{
		"id,submit_seconds,duration,gpus\n":                   "t:1:19: duration: unknown column (did you mean duration_seconds?)",
		"id,submit_seconds,runtime,gpus\n":                    "t:1:19: runtime: unknown column: expected some of " + strings.Join(slotNames, ", "),
		"id,submit_seconds,duration_seconds,gpus,id\n":        "t:1:41: id: the column is there twice",
		"id,submit_seconds,,duration_seconds\n":               "t:1:19: a column without a name: expected one of " + strings.Join(slotNames, ", "),
		"id,submit_seconds,gpus\n":                            "t:1:1: duration_seconds: missing column: the header has id, submit_seconds, gpus",
		"\nid,submit_seconds,duration_seconds,pods\n":         "t:2:1: gpus: missing column: the header has id, submit_seconds, duration_seconds, pods",
		"id,submit_seconds\"\n":                               `t:1:18: bare " in non-quoted-field`,
		"submit_seconds,\"" + strings.Repeat("\n", 4) + "id,": `t:5:4: extraneous or missing " in quoted-field`,
	} {
		wantError(t, text, "csv", want)
	}
}

func TestCSVRowErrors(t *testing.T) {
	const more = "id,submit_seconds,duration_seconds,gpus,pods,gpus_per_pod,min_pods,memory_per_pod,topology,gpu_models,model,priority,carried,never_ready,cpus_per_pod\n"
	for _, c := range []struct{ text, want string }{
		{header + "a,0,1\n", "t:2:1: 3 fields: expected 4 as in the header"},
		{header + "a,0,1,1\nb,0,1,1,1\n", "t:3:1: 5 fields: expected 4 as in the header"},
		{header + "a,0,1,1\n\"b,0,1,1\n", `t:3:10: extraneous or missing " in quoted-field`},
		{header + "a,0,1,1\n\nb,-1,1,1\n", "t:4:3: submit_seconds: -1 is negative: expected 0 or more seconds"},
		{header + "a,0,,1\n", "t:2:5: duration_seconds: missing"},
		{header + ",0,1,1\n", "t:2:1: id: missing"},
		{header + "a,0,1,\n", "t:2:7: gpus: missing: expected gpus, or pods and gpus_per_pod"},
		{header + "a,0,1e400,1\n", `t:2:5: duration_seconds: "1e400" is not a number: expected seconds as digits, such as 0.5`},
		{header + "a,9223372036.854775808,1,1\n", `t:2:3: submit_seconds: "9223372036.854775808" is too large: expected at most 3153600000 seconds`},
		{header + "a,0,1,1.5\n", `t:2:7: gpus: "1.5" is finer than one GPU`},
		{header + "a,0,1,4294967297\n", `t:2:7: gpus: "4294967297" is too large: expected at most 1000000 GPUs`},
		{header + "\xff,0,1,1\n", `t:2:1: id: "\xff" is not UTF-8`},
		{header + "\"a\nb\",0,1,1\n", `t:2:1: id: "a\nb" has a control character: expected one line of text`},
		{more + "a,0,1,,2,,,,,,,,,,\n", "t:2:10: gpus_per_pod: missing"},
		{more + "a,0,1,,,1,,,,,,,,,\n", "t:2:8: pods: missing"},
		{more + "a,0,1,8,,,,96GiB,,,,,,,\n", "t:2:9: pods: missing"},
		{more + "a,0,1,8,2,2,,,,,,,,,\n", "t:2:7: gpus: 8 contradicts the pods, which ask for 4"},
		{more + "a,0,1,,2,1,,96G,,,,,,,\n", `t:2:13: memory_per_pod: "96G" is no amount of memory: expected KiB, MiB, GiB, TiB or bytes without a unit`},
		{more + "a,0,1,,2,1,,,requird:rack,,,,,,\n", `t:2:14: topology: "requird:rack" is no topology request: expected required:LEVEL, preferred:LEVEL, unconstrained or slice-only (did you mean required?)`},
		{more + "a,0,1,,2,1,,,required,,,,,,\n", `t:2:14: topology: "required": expected required:LEVEL or preferred:LEVEL with the name of a level, or unconstrained or slice-only without`},
		{more + "a,0,1,,2,1,,,unconstrained:rack,,,,,,\n", `t:2:14: topology: "unconstrained:rack": expected required:LEVEL or preferred:LEVEL with the name of a level, or unconstrained or slice-only without`},
		{more + "a,0,1,,2,1,,,:rack,,,,,,\n", `t:2:14: topology: ":rack" is no topology request: expected required:LEVEL, preferred:LEVEL, unconstrained or slice-only`},
		{more + "a,0,1,,2,1,,,,A100||H100,,,,,\n", `t:2:15: gpu_models: "A100||H100" names an empty GPU model: expected names such as A100|H100`},
		{more + "a,0,1,1,,,,,,,resnet50,,,,\n", `t:2:15: model: "resnet50" is not a known model (did you mean resnet-50?)`},
		{more + "a,0,1,1,,,,,,,,high,,,\n", `t:2:16: priority: "high" is no priority: expected a whole number from -2147483648 to 2147483647`},
		{more + "a,0,1,1,,,,,,,,2147483648,,,\n", `t:2:16: priority: "2147483648" is no priority: expected a whole number from -2147483648 to 2147483647`},
		{more + "a,0,1,1,,,,,,,,,yes,,\n", `t:2:17: carried: "yes" is neither true nor false`},
	} {
		wantError(t, c.text, "csv", c.want)
	}
}

// TestContradictionsAreFoundAtTheirColumn covers what workloads.Validate finds: the
// message is its own.
func TestContradictionsAreFoundAtTheirColumn(t *testing.T) {
	const columns = "id,submit_seconds,duration_seconds,pods,gpus_per_pod,min_pods,never_ready,cpus_per_pod,memory_per_pod\n"
	for row, want := range map[string]string{
		"a,0,1,0,1,,,,":                       "t:2:7: pods: ",
		"a,0,1,2,1,3,,,":                      "t:2:11: min_pods: 3",
		"a,0,1,2,1,,3,,":                      "t:2:12: never_ready: 3",
		"a,0,1,1000000,2,,,,":                 "t:2:15: gpus_per_pod: nvidia.com/gpu: 2000 ",
		"a,0,1,1000000,0,,,,1048576TiB":       "t:2:20: memory_per_pod: memory: 1152921504606846976 ",
		"a,0,1,1000000,0,,,1152921504606846,": "t:2:19: cpus_per_pod: cpu: 1152921504606846000 ",
	} {
		_, err := Read(strings.NewReader(columns+row+"\n"), "t", "csv", Options{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v\n want %s...", row, err, want)
		}
	}
}

func TestModelsComeFromTheOptions(t *testing.T) {
	mine := &workloads.ModelProfile{Name: "mine", Compute: 1e6}
	o := Options{ModelNames: []string{"mine"}, Model: func(name string) (*workloads.ModelProfile, bool) {
		return mine, name == "mine"
	}}
	text := "id,submit_seconds,duration_seconds,gpus,model\na,0,1,1,"
	tr, err := Read(strings.NewReader(text+"mine\n"), "t", "", o)
	if err != nil || tr.Jobs[0].Model != mine {
		t.Errorf("error %v, want the profile of the options", err)
	}
	if _, err = Read(strings.NewReader(text+"mime\n"), "t", "", o); err == nil || !strings.Contains(err.Error(), "did you mean mine?") {
		t.Errorf("error %v", err)
	}
}

func TestRowColumnIsKept(t *testing.T) {
	tr := mustRead(t, "id,row,submit_seconds,duration_seconds,gpus\na,900,0,1,1\nb,17,0,1,1\nc,,0,1,1\n", "")
	if got := ids(tr.Jobs); got != "c b a" || tr.Jobs[0].Row != 3 || tr.Jobs[1].Row != 17 {
		t.Errorf("order %s, rows %d and %d: want rows of the column, else the number of the row", got, tr.Jobs[0].Row, tr.Jobs[1].Row)
	}
}

func TestWriteCSVWritesOnlyUsedColumns(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, mustOpen(t, "testdata/small.csv").Jobs); err != nil {
		t.Fatal(err)
	}
	const want = `id,row,submit_seconds,duration_seconds,gpus,queue,tenant,priority
bert,1,0,3600,8,research,vision,
lint,4,30,120,0,research,tools,
llama,2,60.5,86400,64,prod,language,100
notebook,3,60.5,1800.000000001,1,research,vision,-5
`
	if b.String() != want {
		t.Errorf("got\n%s", &b)
	}
}

func TestWriteCSVRefusesWhatItCannotSay(t *testing.T) {
	one := func() workloads.Job {
		j := workloads.NewJob("x", 3)
		j.PodSets = []workloads.PodSet{{Name: "workers", Count: 1, Request: request(1000, 0, 0)}}
		return j
	}
	for want, change := range map[string]func(j *workloads.Job){
		"a row of CSV holds one PodSet, the job has 2: write jsonl": func(j *workloads.Job) { j.PodSets = append(j.PodSets, j.PodSets[0]) },
		`queue: CSV cannot keep the blanks around " q"`:             func(j *workloads.Job) { j.Queue = " q" },
		`tenant: "a\nb" has a control character`:                    func(j *workloads.Job) { j.Tenant = "a\nb" },
		`id: missing`:                                               func(j *workloads.Job) { j.ID = "" },
		`it has more than the format can say`:                       func(j *workloads.Job) { j.PodSets[0].Models = []string{"A|B"} },
		`gpus: 2 contradicts the pods, which ask for 1`:             func(j *workloads.Job) { j.GPUs = 2 },
		`is not a number`:                                           func(j *workloads.Job) { j.Submit = -1 },
		`duration_seconds: "4000000000" is too large`:               func(j *workloads.Job) { j.Duration = 4e18 },
		`cannot be written: min_pods: 2`:                            func(j *workloads.Job) { j.PodSets[0].MinCount = 2 },
		`"required": expected required:LEVEL`:                       func(j *workloads.Job) { j.PodSets[0].Topology.Mode = workloads.TopologyRequired },
		`job "x" (row 3) cannot be written: it has more than`:       func(j *workloads.Job) { j.PodSets[0].Request[topology.Pods] = 2 },
	} {
		j := one()
		change(&j)
		var b bytes.Buffer
		err := WriteCSV(&b, []workloads.Job{one(), j})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v\n want %s", err, want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %q was written before the error", want, &b)
		}
	}
}

// fullDisk fails every write.
type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestFailedWritesAreReported(t *testing.T) {
	jobs := mustOpen(t, "testdata/small.csv").Jobs
	for name, write := range map[string]func(io.Writer, []workloads.Job) error{"csv": WriteCSV, "jsonl": WriteJSONL} {
		if err := write(fullDisk{}, jobs); !errors.Is(err, errFull) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, name := range []string{"small.csv", "shapes.csv"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("\ufeffid,submit_seconds,duration_seconds,gpus\r\n\"a\",0.000000001,NaN,-1\r\n"))
	f.Add([]byte(header + "a,99999999999999999999,1,1\n\n"))
	f.Add([]byte("id,id\n"))
	f.Add([]byte("\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if tr := checkInput(t, data, "csv"); tr != nil {
			checkRoundTrip(t, tr.Jobs, WriteCSV, "csv")
			checkRoundTrip(t, tr.Jobs, WriteJSONL, "jsonl")
		}
	})
}

// checkRoundTrip writes sorted jobs and reads them back.
func checkRoundTrip(t interface{ Fatalf(string, ...any) }, jobs []workloads.Job, write func(io.Writer, []workloads.Job) error, format string) {
	var b bytes.Buffer
	if err := write(&b, jobs); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	back, err := Read(bytes.NewReader(b.Bytes()), "back", format, Options{})
	if err != nil {
		t.Fatalf("%s: %v\n%s", format, err, &b)
	}
	if !reflect.DeepEqual(back.Jobs, jobs) {
		t.Fatalf("%s: read\n%+v\nwant\n%+v\nwritten\n%s", format, back.Jobs, jobs, &b)
	}
	if len(back.Warnings) > 0 {
		t.Fatalf("%s: warnings %q on what was written in order", format, back.Warnings)
	}
}
