package sweep

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseShard(t *testing.T) {
	for _, c := range []struct{ text, env, want string }{
		{"", "", "0/0"},
		{"0/6", "", "0/6"},
		{"5/6", "", "5/6"},
		{"0/1", "", "0/1"},
		{"6/6", "", "counted from 0"},
		{"-1/6", "", "counted from 0"},
		{"1/0", "", "counted from 0"},
		{"1", "", "expected i/n"},
		{"a/b", "", "expected i/n"},
		{"auto/6", "JOB_COMPLETION_INDEX=3", "3/6"},
		{"auto/6", "SLURM_ARRAY_TASK_ID=4", "4/6"},
		{"auto/6", "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=4", "4/6"}, // one task submitted again
		{"auto/6", "SLURM_ARRAY_TASK_ID=6", `$SLURM_ARRAY_TASK_ID is "6", expected 0 to 5`},
		{"auto/6", "JOB_COMPLETION_INDEX=x", `$JOB_COMPLETION_INDEX is "x"`},
		{"auto/6", "", "neither $JOB_COMPLETION_INDEX nor $SLURM_ARRAY_TASK_ID is set"},
		{"auto/x", "JOB_COMPLETION_INDEX=3", "expected i/n"},
		{"auto", "JOB_COMPLETION_INDEX=3 GANGPLAN_SHARDS=8", "3/8"},
		{"auto", "JOB_COMPLETION_INDEX=3 GANGPLAN_SHARDS=all", `$GANGPLAN_SHARDS is "all"`},
		{"auto", "JOB_COMPLETION_INDEX=3", "expected the number of shards"},
		{"auto", "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=6 SLURM_ARRAY_TASK_MIN=0", "0/6"},
		{"auto", "SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_COUNT=6 SLURM_ARRAY_TASK_MIN=1", "5/6"},
		{"auto", "SLURM_ARRAY_TASK_ID=10 SLURM_ARRAY_TASK_COUNT=6 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=2", "5/6"},
		{"auto", "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=6 SLURM_ARRAY_TASK_MIN=0", "task 9 is none of the 6"},
		{"auto", "SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_COUNT=6 SLURM_ARRAY_TASK_MIN=0", `$SLURM_ARRAY_TASK_ID is "x"`},
		{"auto", "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=6 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=0", `$SLURM_ARRAY_TASK_STEP is "0"`},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		s, err := ParseShard(c.text, func(name string) string { return env[name] })
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%q with %q: %s, expected %s", c.text, c.env, got, c.want)
		}
	}
}

// The shards of a sweep have every run once, and cost about the same.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Plan{}
		var most, all float64
		for i := range rapid.IntRange(1, 200).Draw(t, "runs") {
			cost := float64(rapid.IntRange(1, 1000).Draw(t, "cost"))
			p.tasks = append(p.tasks, &task{id: string(rune(i)), of: &setting{cost: cost}})
			most, all = max(most, cost), all+cost
		}
		p.sort()
		n := rapid.IntRange(1, len(p.tasks)).Draw(t, "shards")
		seen := map[*task]bool{}
		for i := range n {
			var sum float64
			for _, task := range p.part(Shard{i, n}) {
				if seen[task] {
					t.Fatalf("%s is in two shards", task.id)
				}
				seen[task] = true
				sum += task.of.cost
			}
			if mean := all / float64(n); sum > mean+most || sum < mean-most {
				t.Fatalf("shard %d of %d costs %v, where the mean is %v and the dearest run %v", i, n, sum, mean, most)
			}
		}
		if len(seen) != len(p.tasks) {
			t.Fatalf("%d of %d runs are in a shard", len(seen), len(p.tasks))
		}
	})
}
