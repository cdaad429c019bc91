package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gangplan/gangplan/topology/fabric"
)

// The published table of Lingjun's switches is a cluster with a fabric: switches of the lowest
// level are told apart by the whole path, 119 groups of one to eight hosts, although there
// are only 48 names.
func TestLingjunSwitches(t *testing.T) {
	shared := os.Getenv("GANGPLAN_SHARED")
	if shared == "" {
		t.Skip("GANGPLAN_SHARED does not name the folder with traces")
	}
	f, err := Parse("lingjun.yaml", []byte(withHeader(`
cluster: {from: {file: topo.csv, gpus: 8}}
fabric: {profile: a100-hdr, levels: {ASW: {oversubscription: 2}, PSW: {oversubscription: 4}}}
`)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Resolve(filepath.Join(shared, "traces", "lingjun-2023"))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Config.Cluster
	if want := []string{"DSW", "PSW", "ASW", "host"}; !slices.Equal(c.Levels, want) || len(c.Nodes) != 847 {
		t.Fatalf("levels %v, %d hosts", c.Levels, len(c.Nodes))
	}
	names := map[string]bool{}
	for l, want := range []int32{1, 3, 119} {
		first, last := c.DomainsAt(int32(l))
		if last-first != want {
			t.Errorf("%d of level %s, want %d", last-first, c.Levels[l], want)
		}
		for d := first; l == 2 && d < last; d++ {
			hosts := c.Domains[d].Last - c.Domains[d].First
			if hosts < 1 || hosts > 8 {
				t.Errorf("%d hosts under %s", hosts, c.Domains[d].Name)
			}
			names[c.Domains[d].Name] = true
			p := s.Config.Fabric.Profile()
			if got, want := s.Config.Fabric.Uplink(d), float64(hosts)*float64(p.NICs)*p.NICGBps*p.NetEfficiency/2; got != want {
				t.Errorf("uplink of %s is %v, want %v", c.Domains[d].Name, got, want)
			}
		}
	}
	if len(names) != 48 {
		t.Errorf("%d names of switches, want 48", len(names))
	}
	// A gang of two groups under different switches of the middle level leaves both.
	psw, _ := c.DomainsAt(1)
	pods := []fabric.Pod{{Node: c.Domains[psw].First, GPUs: 8000}, {Node: c.Domains[psw+1].First, GPUs: 8000}}
	cost := s.Config.Fabric.AllReduce(fabric.NewScratch(s.Config.Fabric), pods, 1e9)
	if cost.Nanos <= 0 {
		t.Errorf("an all-reduce over two switches costs %v", cost)
	}
}
