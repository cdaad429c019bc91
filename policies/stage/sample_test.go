package stage

import (
	"math/rand"
	"testing"
)

// scan is a sample by looking at one node after another. A rating of NotFeasible bars a node.
func scan(ratings []int32, from int32, enough int) (node, next int32) {
	best, n := int32(NotFeasible), int32(len(ratings))
	node, next = -1, from
	for looked, found := int32(0), 0; looked < n && found < enough; looked++ {
		at := next
		next = (next + 1) % n
		if ratings[at] == NotFeasible {
			continue
		}
		found++
		if ratings[at] > best || ratings[at] == best && at < node {
			best, node = ratings[at], at
		}
	}
	return node, next
}

// classesOf files nodes by their rating; each rating is split into two classes.
func classesOf(ratings []int32) []sampled {
	type key struct{ rating, half int32 }
	at := map[key]int{}
	var classes []sampled
	for n, rating := range ratings {
		k := key{rating, int32(n*7) % 3 / 2}
		if rating == NotFeasible {
			continue
		}
		if _, ok := at[k]; !ok {
			at[k] = len(classes)
			classes = append(classes, sampled{rating, make([]uint64, (len(ratings)+63)/64)})
		}
		classes[at[k]].nodes[n>>6] |= 1 << (n & 63)
	}
	return classes
}

func TestSampleAgainstScan(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 100, 127, 128, 129, 200, 1000} {
		r := rand.New(rand.NewSource(int64(n)))
		for step := range 500 {
			ratings := make([]int32, n)
			full := r.Intn(11) // of ten nodes
			for i := range ratings {
				if ratings[i] = int32(r.Intn(3)); r.Intn(10) < full {
					ratings[i] = NotFeasible
				}
			}
			from, enough := int32(r.Intn(n)), 1+r.Intn(n)
			wantNode, wantNext := scan(ratings, from, enough)
			node, next := goBy(classesOf(ratings), int32(n), from, enough)
			if node != wantNode || next != wantNext {
				t.Fatalf("%d nodes, step %d: %d of them from node %d on: node %d and next %d, want %d and %d", n, step, enough, from, node, next, wantNode, wantNext)
			}
		}
	}
}
