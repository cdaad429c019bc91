package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestFabricCommands(t *testing.T) {
	tests := []struct {
		args string
		code int
		want string
	}{
		{"fabric allreduce --profile h100-ndr --nodes 4 --size 1GiB", 0, "   1073741824        5842.41     183.78     356.08  nic"},
		{"fabric allreduce --profile h100-ndr --nodes 4 --size 1G", 0, "   1073741824        5842.41     183.78     356.08  nic"},
		{"fabric allreduce --nodes 1 --gpus 1", 0, "-          -  none"},
		{"fabric allreduce --nodes 1 --nvls=false --size 16GiB", 0, "366.69"},
		{"fabric allreduce --profile meta-24k --nodes 800 --size 1GiB --algorithm tree", 0, "# all_reduce: 6400 ranks on 800 nodes of meta-24k, tree between nodes"},
		{"fabric allgather --profile gb200-nvl72 --nodes 2 --sweep", 0, "  17179869184 "},
		{"fabric reducescatter --nodes 2", 0, "# reduce_scatter: 16 ranks"},
		{"fabric allreduce --nodes 4 -o csv", 0, "1073741824,5842406,183.7"},
		{"fabric allreduce --nodes 4 -o json", 0, `"bottleneck": "nic"`},
		// 36 trays are two racks, which exchange over the NICs of 18 trays each; 18 are one rack
		{"fabric allreduce --profile gb200-nvl72 --nodes 18 --size 16GiB", 0, "# all_reduce: 72 ranks on 18 nodes of gb200-nvl72"},
		{"fabric allreduce --profile gb200-nvl72 --nodes 18 --size 16GiB", 0, "nvlink\n"},
		// in random order most edges of the ring leave their pod, which carries a seventh of that
		{"fabric allreduce --profile meta-24k --nodes 800 --order random", 0, "pod\n"},
		{"fabric models", 0, "tensor x pipeline 4x8: 4.412 GB per rank"},
		{"fabric allreduce --order sorted", 2, `unknown order "sorted"`},
		{"fabric allreduce -o yaml", 2, `unknown output "yaml"`},
		{"fabric profiles", 0, "legacy-25g\n"},
		{"fabric allreduce --profile h100", 2, `unknown profile "h100"`},
		{"fabric allreduce --nodes 0", 2, "expected at least one"},
		{"fabric allreduce --size lots", 2, `size "lots": expected a number of bytes`},
		{"fabric allreduce --size 0", 2, `size "0": expected a number of bytes`},
		{"fabric allreduce --algorithm rings", 2, "did you mean ring?"},
	}
	for _, tt := range tests {
		var out, errOut bytes.Buffer
		code := execute(t.Context(), strings.Fields(tt.args), nil, &out, &errOut)
		if code != tt.code || !strings.Contains(out.String()+errOut.String(), tt.want) {
			t.Errorf("%s: exit %d, want %d with %q:\n%s%s", tt.args, code, tt.code, tt.want, out.String(), errOut.String())
		}
	}
}
