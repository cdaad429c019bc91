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
