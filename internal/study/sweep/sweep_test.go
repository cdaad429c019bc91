package sweep

import (
	"runtime"
	"testing"
)

const small = `matrix: {policy: [gang, random], cluster.synthetic.racks: [1, 2], seed: 1..3}` + "\n"

// One worker or many, in one go or shard by shard: the same bytes.
func TestDeterminismOfWorkers(t *testing.T) {
	want := finished(t, planOf(t, small), 1)
	if len(files(t, want)) < 12*5 {
		t.Fatalf("only %d files", len(files(t, want)))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	same(t, want, finished(t, planOf(t, small), 8))
}
