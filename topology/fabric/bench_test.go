package fabric

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkPlacement is one departure and one arrival on 12,800 hosts, 102,400 GPUs, with
// 5,000 jobs; a share of them is scattered over the cluster. Uplinks are full, as the
// profile has them (blocks 2:1), or strongly oversubscribed (racks 4:1, blocks 8:1 of that), where scattered jobs
// fill them and slow each other in one component.
func BenchmarkPlacement(b *testing.B) {
	for _, up := range []struct {
		name   string
		levels map[string]Level
	}{
		{"profile", nil},
		{"oversubscribed", map[string]Level{"rack": {4, 1, 0, 0}, "block": {8, 1, 0, 0}}},
	} {
		for _, percent := range []int{0, 5, 20} {
			b.Run(fmt.Sprintf("uplinks=%s/scattered=%d%%", up.name, percent), func(b *testing.B) { benchPlacement(b, up.levels, percent) })
		}
	}
}

// benchPlaces makes places for jobs: one to four neighbouring hosts, or eight anywhere.
func benchPlaces(hosts, percent, count int) [][]Pod {
	r := rand.New(rand.NewPCG(1, 1))
	places := make([][]Pod, count)
	for k := range places {
		n := 1 + r.IntN(4)
		first := r.IntN(hosts - n)
		for i := range n {
			places[k] = append(places[k], Pod{int32(first + i), 8000})
		}
		if r.IntN(100) < percent {
			places[k] = places[k][:0]
			for range 8 {
				places[k] = append(places[k], Pod{int32(r.IntN(hosts)), 8000})
			}
			slices.SortFunc(places[k], func(a, b Pod) int { return int(a.Node - b.Node) })
		}
	}
	return places
}

func benchPlacement(b *testing.B, levels map[string]Level, percent int) {
	p, _ := Lookup("h100-efa")
	f := compile(b, p, regular(b, "block rack host", 25, 16, 32), levels)
	const jobs = 5000
	places := benchPlaces(len(f.cluster.Nodes), percent, 20_000)
	scratch, c := NewScratch(f), NewContention(f, jobs)
	step := Step{Compute: 567e6, Hidden: 189e6}
	var l Load
	place := func(job int32, at int) {
		f.Load(scratch, places[at], Traffic{Bytes: 16e9}, &l)
		c.Add(job, &l, step)
	}
	for j := range int32(jobs) {
		place(j, int(j))
	}
	c.Solve()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		j := int32(uint32(i) * 2654435761 % jobs)
		c.Remove(j)
		place(j, i%len(places))
		c.Solve()
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/change")
}
