package policies

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/sim"
)

// In a single StrictFIFO queue less quota never admits more: who is admitted while nobody
// leaves is a beginning of the queue, and the shorter the less there is.
func TestLessQuotaNeverAdmitsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := turnsConfig(t, 1000, 0)
		cfg.Locals, cfg.Queues[0].UsageBased, cfg.Until = nil, false, 1e9
		cfg.Jobs = nil
		for i := range rapid.IntRange(1, 20).Draw(t, "jobs") {
			j := job(string(rune('a'+i)), 0, int32(rapid.IntRange(1, 4).Draw(t, "pods")), 1, 1)
			j.Duration, j.Priority, j.Row, j.Queue = 100e9, int32(rapid.IntRange(0, 2).Draw(t, "priority")), int64(i), "q"
			cfg.Jobs = append(cfg.Jobs, j)
		}
		before := admittedOf(cfg, 40)
		for quota := int64(39); quota >= 0; quota-- {
			now := admittedOf(cfg, quota)
			for j := range now {
				if now[j] && !before[j] {
					t.Fatalf("job %d is admitted with %d GPUs of quota, and not with one more", j, quota)
				}
			}
			before = now
		}
	})
}

// admittedOf returns which jobs are admitted within the first second.
func admittedOf(cfg *sim.Config, gpus int64) []bool {
	cfg.Queues[0].Groups[0].Flavors[0].Quota[0].Nominal = gpus * 1000
	e, err := sim.New(cfg, gang.New(map[string]string{"strategy": "StrictFIFO", "partialAdmission": "off"}), nil)
	if err != nil {
		panic(err)
	}
	out := make([]bool, len(cfg.Jobs))
	for j, row := range e.Run().Jobs {
		out[j] = row.FirstAdmit >= 0
	}
	return out
}
