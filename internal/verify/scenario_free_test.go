package verify

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Two nodes of 4 GPUs, a pod of 3 until 10 s and one of 2 from 5 s on.
const freeCase = `{"id": "free", "policy": ["pod-default/pack"], "cluster": {"nodes": [{"name": "a", "gpus": 4}, {"name": "b", "gpus": 4}]},
"queues": {"default": {"quota_gpus": 8}}, "jobs": [
{"id": "x", "submit": 0, "pods": 1, "gpus_per_pod": 3, "duration": 10},
{"id": "y", "submit": 5, "pods": 1, "gpus_per_pod": 2, "duration": 100}], "config": {}, "expect": {}}`

func TestFreeAt(t *testing.T) {
	var c scenarioCase
	if err := json.Unmarshal([]byte(freeCase), &c); err != nil {
		t.Fatal(err)
	}
	r, err := c.run("pod-default/pack")
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int64]string{0: "[1000 4000]", 4: "[1000 4000]", 5: "[1000 2000]", 10: "[4000 2000]", 105: "[4000 4000]"} {
		if got := fmt.Sprint(r.freeByNode(at * 1e9)); got != want {
			t.Errorf("after %d s %s, want %s", at, got, want)
		}
	}
	for key, want := range map[string]any{"free_gpus_at_0": 5.0, "free_gpus_at_5.5": 3.0, "free_gpus_at_99": 6.0, "largest_free_block": 2.0} {
		if got, err := r.measure(key, want); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", key, got, err, want)
		}
	}
	if _, err := r.measure("free_gpus_at_noon", 1.0); err == nil {
		t.Error("noon is a time")
	}
}
