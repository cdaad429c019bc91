package traces

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

const openbHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

// Rows as they are in the published list, but for the last.
const openbRows = openbHeader +
	"openb-pod-0000,12000,16384,1,1000,,LS,Running,0,12537496,0\n" +
	"openb-pod-0001,6000,12288,1,460,V100M16|V100M32|V100M32,LS,Running,427061,12902960,427063\n" +
	"openb-pod-0002,4000,0,0,0,,BE,Pending,427100,427194,\n" +
	"openb-pod-0003,64000,262144,8,1000,,BE,Failed,427000,427220,427001\n"

func readOpenbText(t *testing.T, text string, o Options) (*Trace, error) {
	t.Helper()
	return Read(strings.NewReader(text), "pods.csv", "auto", o)
}

func TestOpenbPods(t *testing.T) {
	tr, err := readOpenbText(t, openbRows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Format != "openb" || len(tr.Jobs) != 3 {
		t.Fatalf("%s with %d jobs", tr.Format, len(tr.Jobs))
	}
	share := tr.Jobs[2]
	if share.ID != "openb-pod-0001" || share.Row != 2 || share.Submit != 427061e9 || share.Duration != (12902960-427063)*1e9 || share.Tenant != "LS" {
		t.Errorf("%+v", share)
	}
	p := share.PodSets[0]
	if p.Request != (topology.Resources{460, 6000, 12288 << 20, 1}) || !slices.Equal(p.Models, []string{"V100M16", "V100M32"}) || p.Count != 1 {
		t.Errorf("%+v", p)
	}
	if g := tr.Jobs[1].PodSets[0].Request[topology.GPU]; g != 8000 {
		t.Errorf("eight GPUs are %d", g)
	}
	if !strings.Contains(strings.Join(tr.Warnings, "\n"), "1 of 4 rows were never scheduled") {
		t.Errorf("warnings %v", tr.Warnings)
	}
}

func TestOpenbArrivalsOnly(t *testing.T) {
	tr, err := readOpenbText(t, openbRows, Options{ArrivalsOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Jobs) != 4 || tr.Jobs[0].Duration != workloads.MaxTime {
		t.Errorf("%d jobs, the first of %d", len(tr.Jobs), tr.Jobs[0].Duration)
	}
	five := "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,500\nb,1,1,2,1000\n"
	if tr, err = readOpenbText(t, five, Options{ArrivalsOnly: true}); err != nil {
		t.Fatal(err)
	}
	if len(tr.Jobs) != 2 || tr.Jobs[1].Submit != 1e9 || tr.Jobs[1].ID != "b" {
		t.Errorf("without times: %+v", tr.Jobs)
	}
}

func TestOpenbErrors(t *testing.T) {
	row := func(s string) string { return openbHeader + s + "\n" }
	for _, c := range []struct{ text, want string }{
		{"name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,500\n", "pods.csv:2:1: deletion_time: missing"},
		{row("a,1,1,1,500,,LS,Running,0,5,9"), "pods.csv:2:27: deletion_time: 5 is before scheduled_time 9"},
		{row("a,1,1,2,500,,LS,Running,0,5,1"), "pods.csv:2:9: gpu_milli: 500 of each of 2 GPUs"},
		{row("a,-1,1,1,500,,LS,Running,0,5,1"), `pods.csv:2:3: cpu_milli: "-1": expected a whole number`},
		{row("a,1,1,1,0.5,,LS,Running,0,5,1"), `pods.csv:2:9: gpu_milli: "0.5": expected a whole number`},
		{row(",1,1,1,500,,LS,Running,0,5,1"), "pods.csv:2:1: name: missing"},
		{row("a,1,1,1,500,,LS,Running,0,x,1"), "deletion_time"},
		{strings.Replace(openbHeader, "qos", "qoz", 1), "did you mean qos?"},
	} {
		_, err := readOpenbText(t, c.text, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

func TestOpenbNodes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nodes.csv")
	const text = "sn,cpu_milli,memory_mib,gpu,model\nopenb-node-0000,64000,262144,2,P100\nopenb-node-0001,32000,262144,0,\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	nodes, err := OpenOpenbNodes(path)
	if err != nil {
		t.Fatal(err)
	}
	want := topology.Node{Name: "openb-node-0000", GPUModel: "P100", Allocatable: topology.Resources{2000, 64000, 262144 << 20, 1001}}
	if len(nodes) != 2 || nodes[0].Name != want.Name || nodes[0].GPUModel != want.GPUModel || nodes[0].Allocatable != want.Allocatable {
		t.Errorf("%+v", nodes)
	}
	if nodes[1].Allocatable[topology.GPU] != 0 || nodes[1].GPUModel != "" {
		t.Errorf("%+v", nodes[1])
	}
}

// The whole published list, with the numbers its documentation states.
func TestOpenbPublished(t *testing.T) {
	shared := os.Getenv("GANGPLAN_SHARED")
	if shared == "" {
		t.Skip("GANGPLAN_SHARED is not set: the openb lists are not shipped")
	}
	data := filepath.Join(shared, "traces", "openb-v2023")
	pods, err := OpenOpenbPods(filepath.Join(data, "openb_pod_list_default.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	var gpu, part int
	var total int64
	for _, p := range pods {
		if p.GPUs > 0 {
			gpu++
		}
		if p.Milli > 0 && p.Milli < 1000 {
			part++
		}
		total += int64(p.GPUs) * int64(p.Milli)
	}
	if len(pods) != 8152 || gpu != 7064 || part != 3078 || total != 6086800 {
		t.Errorf("%d pods, %d with GPUs, %d with a part, %d milli", len(pods), gpu, part, total)
	}
	nodes, err := OpenOpenbNodes(filepath.Join(data, "openb_node_list_all_node.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != 1523 {
		t.Errorf("%d nodes", len(nodes))
	}
	tr, err := Open(filepath.Join(data, "openb_pod_list_default.csv"), "", Options{})
	if err != nil || len(tr.Jobs) != 8152-897 {
		t.Errorf("%d jobs, %v", len(tr.Jobs), err)
	}
}
