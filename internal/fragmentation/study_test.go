package fragmentation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
)

// lists writes a folder with a small cluster and one workload, named small.
func lists(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	nodes, pods := "sn,cpu_milli,memory_mib,gpu,model\n", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
	for i := range 6 {
		nodes += fmt.Sprintf("node-%d,32000,131072,4,T4\n", i)
	}
	for i := range 40 {
		pods += fmt.Sprintf("pod-%02d,%d,4096,1,%d,\n", i, 1000*(1+i%7), 300+100*(i%8))
	}
	for name, text := range map[string]string{NodeList: nodes, PodList("small"): pods} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestStudyIsTheMeanOfItsRuns(t *testing.T) {
	folder := lists(t)
	s := &Study{Workloads: []string{"small"}, Policies: []string{"fgd", "best-fit"}, Seeds: []int64{3, 4}, Ratio: 1.3}
	curves, err := s.Play(context.Background(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(curves) != 2 || curves[1].Policy != "best-fit" || curves[1].Workload != "small" {
		t.Fatalf("%d curves: %+v", len(curves), curves)
	}
	w, err := Open(folder, PodList("small"))
	if err != nil {
		t.Fatal(err)
	}
	want := Means([][]Point{w.Run("best-fit", 3, 1.3).Points(), w.Run("best-fit", 4, 1.3).Points()})
	if !reflect.DeepEqual(curves[1].Points, want) {
		t.Errorf("%v, want %v", curves[1].Points, want)
	}
	if p, ok := curves[0].At(50); !ok || p.Allocated < 45 || p.Allocated > 51 {
		t.Errorf("at 50%%: %+v %v", p, ok)
	}
	if _, ok := curves[0].At(131); ok {
		t.Error("there is something at 131%")
	}
}

func TestMeans(t *testing.T) {
	got := Means([][]Point{{{1, 10, 2, 4}, {3, 30, 1, 1}}, {{1, 20, 4, 8}}, {{2, 5, 5, 5}}})
	want := []Point{{1, 15, 3, 6}, {2, 5, 5, 5}, {3, 30, 1, 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Means(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

func TestStudyErrors(t *testing.T) {
	s := &Study{Workloads: []string{"large"}, Policies: []string{"fgd"}, Seeds: []int64{1}}
	if _, err := s.Play(context.Background(), lists(t)); err == nil || !strings.Contains(err.Error(), PodList("large")) {
		t.Errorf("a workload that is not there: %v", err)
	}
	if _, err := s.Play(context.Background(), t.TempDir()); err == nil || !strings.Contains(err.Error(), NodeList) {
		t.Errorf("an empty folder: %v", err)
	}
	s.Workloads = []string{"small"}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := s.Play(stopped, lists(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestParallel(t *testing.T) {
	var sum atomic.Int64
	Parallel(1000, func(i int) { sum.Add(int64(i)) })
	if sum.Load() != 999*1000/2 {
		t.Errorf("sum %d", sum.Load())
	}
}
