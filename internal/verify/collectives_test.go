package verify

import (
	"strings"
	"testing"
)

// Every recording that may serve as an oracle is met to the nanosecond.
func TestCollectives(t *testing.T) {
	r := checkShipped(t, "collectives", 330)
	for _, o := range r.Results {
		if o.Verdict == Skipped && !strings.Contains(o.Reason, "no oracle") {
			t.Errorf("%s: skipped: %s", o.ID, o.Reason)
		}
	}
}

func TestCollectiveCasesFromFile(t *testing.T) {
	ring := `{"case":"a","backend":"congestion_unaware","collective":"all_reduce","topology_per_dim":["Ring"],"npus_per_dim":[4],
"bandwidth_GiBps_per_dim":[50],"link_latency_ns_per_dim":[500],"algorithm_per_dim":["ring"],"size_bytes":1024,
"endpoint_delay_ns":10,"preferred_dataset_splits":1,"time_ns":3094,"oracle_ok":true}`
	ring = strings.ReplaceAll(ring, "\n", "")
	tests := []struct{ name, text, want string }{
		{"right", ring, "1 exact"},
		{"a nanosecond off", strings.Replace(ring, "3094", "3095", 1), "1 outside"},
		{"one way", strings.NewReplacer("all_reduce", "reduce_scatter", "3094", "1552").Replace(ring), "1 exact"},
		{"the other way", strings.NewReplacer("all_reduce", "all_gather", "3094", "1552").Replace(ring), "1 exact"},
		{"memory", strings.Replace(ring, `"size`, `"local_mem_bw_GBps":3350,"size`, 1), "memory of 3350 GB/s is part"},
		{"another collective", strings.Replace(ring, "all_reduce", "all_to_all", 1), "all_to_all has no recorded form"},
		{"no oracle", strings.Replace(ring, "true", `false,"caveat":"why"`, 1), "no oracle: why"},
		{"another algorithm", strings.Replace(ring, `["ring"]`, `["x"]`, 1), "no closed form for x among 4 ranks"},
		{"chunks that wait", strings.Replace(ring, `splits":1`, `splits":4`, 1), "no closed form for [ring] in 4 chunks"},
		{"lists", strings.Replace(ring, `[500]`, `[]`, 1), ":1: expected lists of one length"},
	}
	for _, tt := range tests {
		if got := checkText(t, "collectives", tt.text); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
