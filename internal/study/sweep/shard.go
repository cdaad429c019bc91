package sweep

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of Of parts of a sweep, counted from 0. The zero value is all of it.
type Shard struct {
	Index, Of int
}

// all reports whether the shard is the whole sweep.
func (s Shard) all() bool { return s.Of <= 1 }

// String writes the shard as ParseShard reads it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// ShardsVariable is the environment variable with the number of shards for engines that
// tell a process only which one it is.
const ShardsVariable = "GANGPLAN_SHARDS"

const expectedShard = "expected i/n, counted from 0, as in 0/6 to 5/6; or auto/6, or auto, which take i from the job index of Kubernetes or Slurm"

// ParseShard reads i/n, or auto/n or auto: then the index is what an engine says to its
// tasks, JOB_COMPLETION_INDEX or SLURM_ARRAY_TASK_ID, and with auto the number is also
// Slurm's or that of ShardsVariable. No text is the whole sweep. getenv is os.Getenv.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	if text == "auto" {
		return autoShard(getenv)
	}
	index, of, found := strings.Cut(text, "/")
	n, err := strconv.Atoi(of)
	if !found || err != nil || n < 1 {
		return Shard{}, fmt.Errorf("--shard %q: %s", text, expectedShard)
	}
	if index == "auto" {
		return engineIndex(n, getenv)
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("--shard %q: %s", text, expectedShard)
	}
	return Shard{i, n}, nil
}

// The variables that engines set.
const (
	kubernetesIndex = "JOB_COMPLETION_INDEX"
	slurmIndex      = "SLURM_ARRAY_TASK_ID"
	slurmCount      = "SLURM_ARRAY_TASK_COUNT"
	slurmFirst      = "SLURM_ARRAY_TASK_MIN"
	slurmStep       = "SLURM_ARRAY_TASK_STEP"
)

// engineIndex takes the index of one of n shards from the engine.
func engineIndex(n int, getenv func(string) string) (Shard, error) {
	for _, name := range []string{kubernetesIndex, slurmIndex} {
		text := getenv(name)
		if text == "" {
			continue
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= n {
			return Shard{}, fmt.Errorf("--shard auto/%d: $%s is %q, expected 0 to %d", n, name, text, n-1)
		}
		return Shard{i, n}, nil
	}
	return Shard{}, fmt.Errorf("--shard auto/%d: neither $%s nor $%s is set", n, kubernetesIndex, slurmIndex)
}

// autoShard takes index and number from the environment. A Slurm array need not begin
// with 0.
func autoShard(getenv func(string) string) (Shard, error) {
	if text := getenv(ShardsVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return Shard{}, fmt.Errorf("--shard auto: $%s is %q, expected the number of shards", ShardsVariable, text)
		}
		return engineIndex(n, getenv)
	}
	if getenv(slurmCount) == "" {
		return Shard{}, fmt.Errorf("--shard auto: expected the number of shards, as in --shard auto/6 or $%s", ShardsVariable)
	}
	var numbers [4]int
	for i, name := range []string{slurmIndex, slurmFirst, slurmStep, slurmCount} {
		text := getenv(name)
		if text == "" && name == slurmStep {
			text = "1"
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || i >= 2 && n < 1 {
			return Shard{}, fmt.Errorf("--shard auto: $%s is %q, expected a number", name, text)
		}
		numbers[i] = n
	}
	index, of := (numbers[0]-numbers[1])/numbers[2], numbers[3]
	if index < 0 || index >= of {
		return Shard{}, fmt.Errorf("--shard auto: task %d is none of the %d from %d on", numbers[0], of, numbers[1])
	}
	return Shard{index, of}, nil
}

// part returns the tasks of a shard: every n-th of those sorted by cost, so that all
// shards cost about the same.
func (p *Plan) part(s Shard) []*task {
	if s.all() {
		return p.tasks
	}
	var part []*task
	for i := s.Index; i < len(p.tasks); i += s.Of {
		part = append(part, p.tasks[i])
	}
	return part
}
