package fragmentation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gangplan/gangplan/traces"
)

// published reads a workload of the study, or skips.
func published(t testing.TB, list string) *Workload {
	t.Helper()
	shared := os.Getenv("GANGPLAN_SHARED")
	if shared == "" {
		t.Skip("GANGPLAN_SHARED is not set: the openb node and pod lists are not shipped")
	}
	data := filepath.Join(shared, "traces", "openb-v2023")
	nodes, err := traces.OpenOpenbNodes(filepath.Join(data, "openb_node_list_gpu_node.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	pods, err := traces.OpenOpenbPods(filepath.Join(data, list))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	w, err := NewWorkload(nodes, pods)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func BenchmarkRun(b *testing.B) {
	for _, policy := range Policies() {
		b.Run(policy, func(b *testing.B) {
			w := published(b, "openb_pod_list_default.csv")
			b.ResetTimer()
			for range b.N {
				w.Run(policy, 42, 1.3)
			}
		})
	}
}
