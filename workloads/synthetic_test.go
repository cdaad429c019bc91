package workloads

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/topology"
)

func generate(t *testing.T, s Synthetic) []Job {
	t.Helper()
	jobs, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != s.Jobs {
		t.Fatalf("%d jobs, want %d", len(jobs), s.Jobs)
	}
	return jobs
}

func llm(jobs int) Synthetic {
	return Synthetic{Mix: "llm", Jobs: jobs, Load: 0.8, ClusterGPUs: 2048, NodeGPUs: 8, Seed: 1}
}

func deepLearning(jobs int) Synthetic {
	return Synthetic{Mix: "deep-learning", Jobs: jobs, Load: 0.8, ClusterGPUs: 512, NodeGPUs: 8, Seed: 1}
}

// gpuSeconds returns the work of all jobs and of those with at least the given GPUs.
func gpuSeconds(jobs []Job, atLeast int32) (all, large float64) {
	for i := range jobs {
		work := float64(jobs[i].GPUs) * float64(jobs[i].Duration) / 1e9
		all += work
		if jobs[i].GPUs >= atLeast {
			large += work
		}
	}
	return all, large
}

// The first jobs of a seed, for whoever changes the generator by accident.
func TestGenerateGolden(t *testing.T) {
	var b strings.Builder
	for _, j := range generate(t, llm(8)) {
		model := "none"
		if j.Model != nil {
			model = j.Model.Name
		}
		fmt.Fprintf(&b, "%s row %d at %d ms for %d ms: %s, %s\n",
			j.ID, j.Row, j.Submit/1e6, j.Duration/1e6, sketch(j.PodSets), model)
	}
	const want = `j-000001 row 1 at 57694 ms for 75028857 ms: workers 2x8, llama-3-8b
j-000002 row 2 at 114107 ms for 17843531 ms: workers 1x8, gpt-2-large
j-000003 row 3 at 157164 ms for 538459 ms: workers 1x4, llama-3-8b
j-000004 row 4 at 313074 ms for 367085 ms: workers 2x8, llama-3-8b
j-000005 row 5 at 339040 ms for 11145922 ms: workers 1x4, gpt-2-large
j-000006 row 6 at 340092 ms for 1047842 ms: workers 1x8, gpt-2-large
j-000007 row 7 at 658363 ms for 1780488 ms: workers 1x8, bert-large
j-000008 row 8 at 865475 ms for 763415 ms: workers 1x8, llama-3-8b
`
	if got := b.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// A checksum of longer workloads catches what the first eight jobs do not show.
func TestGenerateChecksum(t *testing.T) {
	h := fnv.New64a()
	for _, s := range []Synthetic{llm(3000), deepLearning(3000)} {
		for _, j := range generate(t, s) {
			fmt.Fprintln(h, j.ID, j.Submit, j.Duration, j.GPUs, j.CheckpointInterval)
		}
	}
	if got := h.Sum64(); got != 0xa364dddea840aed9 {
		t.Errorf("checksum = %#016x", got)
	}
}

func TestGenerateTwiceIsTheSame(t *testing.T) {
	if !reflect.DeepEqual(generate(t, llm(3000)), generate(t, llm(3000))) {
		t.Error("the same seed drew different jobs")
	}
	other := llm(3000)
	other.Seed = 2
	if reflect.DeepEqual(generate(t, llm(3000)), generate(t, other)) {
		t.Error("another seed drew the same jobs")
	}
}

func TestGeneratedJobsAreValidAndSorted(t *testing.T) {
	for _, s := range []Synthetic{llm(3000), deepLearning(3000)} {
		jobs := generate(t, s)
		for i := range jobs {
			j := &jobs[i]
			if err := Validate(j); err != nil {
				t.Fatalf("%s: %v", j.ID, err)
			}
			if j.Startup != StartupFromTiming || j.Carried {
				t.Fatalf("%s: startup %d, carried %v", j.ID, j.Startup, j.Carried)
			}
			if j.Submit%1e6 != 0 || j.Duration%1e6 != 0 {
				t.Fatalf("%s: %d and %d are no whole milliseconds", j.ID, j.Submit, j.Duration)
			}
			if j.TotalGPUs() != int64(j.GPUs)*topology.Milli {
				t.Fatalf("%s: %d GPUs in pods of %d", j.ID, j.GPUs, j.TotalGPUs())
			}
			if (j.CheckpointInterval > 0) != (j.GPUs >= gangGPUs) || (j.Model == nil) != (j.GPUs == 1) {
				t.Fatalf("%s of %d GPUs: checkpoints every %d, model %v", j.ID, j.GPUs, j.CheckpointInterval, j.Model)
			}
		}
		sorted := slices.Clone(jobs)
		Sort(sorted)
		if !reflect.DeepEqual(jobs, sorted) {
			t.Errorf("%s is not sorted", s.Mix)
		}
	}
}

// Common random numbers: whatever the load, the same jobs arrive, only sooner or later.
func TestLoadChangesOnlySubmissions(t *testing.T) {
	base := generate(t, llm(2500))
	busy := llm(2500)
	busy.Load = 1.6
	sameButSubmit(t, base, generate(t, busy))
	late := llm(2500)
	late.StartHour = 15
	sameButSubmit(t, base, generate(t, late))
}

// And however many are drawn, the first ones are the same.
func TestMoreJobsKeepTheFirstOnes(t *testing.T) {
	sameButSubmit(t, generate(t, llm(1500)), generate(t, llm(4000))[:1500])
}

// sameButSubmit checks that jobs differ in submission and in nothing else.
func sameButSubmit(t *testing.T, a, b []Job) {
	t.Helper()
	moved := 0
	for i := range a {
		if a[i].Submit != b[i].Submit {
			moved++
		}
		b[i].Submit = a[i].Submit
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Fatalf("job %d became %+v, was %+v", i, b[i], a[i])
		}
	}
	if moved == 0 {
		t.Error("no submission moved")
	}
}

func TestNodeSizeChangesOnlyPods(t *testing.T) {
	a := generate(t, llm(1100))
	small := llm(1100)
	small.NodeGPUs = 4
	b := generate(t, small)
	for i := range a {
		b[i].PodSets = a[i].PodSets
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("the node size changed more than the pods")
	}
}

// Twice the load halves the span, to the millisecond.
func TestOfferedLoadIsExact(t *testing.T) {
	for _, load := range []float64{0.1, 0.8, 1, 1.7} {
		s := deepLearning(2000)
		s.Load = load
		jobs := generate(t, s)
		span, err := s.span(jobs)
		if err != nil {
			t.Fatal(err)
		}
		work, _ := gpuSeconds(jobs, 0)
		offered := work / (float64(s.ClusterGPUs) * float64(span) / 1e3)
		if math.Abs(offered-load) > 1e-9*load+load/float64(span) {
			t.Errorf("load %v offers %v", load, offered)
		}
		last := jobs[len(jobs)-1].Submit / 1e6
		if last >= int64(span) || last < int64(span)*9/10 {
			t.Errorf("load %v: the last job comes at %d of %d ms", load, last, span)
		}
	}
}

// A third of the GPU-hours, 33 % within 2, in gangs of 32 to 512 GPUs: whatever the seed,
// from 5000 jobs on.
func TestGangShare(t *testing.T) {
	for seed := range uint64(12) {
		for _, n := range []int{5000, 6500} {
			s := llm(n)
			s.Seed = seed
			jobs := generate(t, s)
			all, gangs := gpuSeconds(jobs, gangGPUs)
			if share := gangs / all; share < 0.31 || share > 0.35 {
				t.Errorf("seed %d, %d jobs: gangs have %.4f of the GPU-hours", seed, n, share)
			}
		}
	}
}

func TestGangsFillWholeHosts(t *testing.T) {
	sizes := map[int32]int{}
	for _, j := range generate(t, llm(2048)) {
		if j.GPUs < gangGPUs {
			continue
		}
		sizes[j.GPUs]++
		if want := fmt.Sprintf("workers %dx8", j.GPUs/8); sketch(j.PodSets) != want {
			t.Errorf("%s: %s, want %s", j.ID, sketch(j.PodSets), want)
		}
	}
	want := map[int32]int{32: 80, 64: 28, 128: 10, 256: 4, 512: 2}
	if !reflect.DeepEqual(sizes, want) {
		t.Errorf("two blocks hold the gangs %v, want %v", sizes, want)
	}
}

// On a small cluster gangs shrink to half of it and run longer: their work stays.
func TestGangsAreCappedToHalfTheCluster(t *testing.T) {
	whole := generate(t, llm(5000))
	for _, c := range []struct {
		cluster int64
		largest int32
	}{{1023, 256}, {200, 64}, {64, 32}, {24, 8}, {2, 1}, {1, 1}} {
		s := llm(5000)
		s.ClusterGPUs = c.cluster
		var largest int32
		for i, j := range generate(t, s) {
			largest = max(largest, j.GPUs)
			if int64(j.GPUs)*j.Duration != int64(whole[i].GPUs)*whole[i].Duration {
				t.Fatalf("%d GPUs: the work of %s changed", c.cluster, j.ID)
			}
		}
		if largest != c.largest {
			t.Errorf("%d GPUs: the largest gang has %d, want %d", c.cluster, largest, c.largest)
		}
	}
}

func TestDeepLearningDurations(t *testing.T) {
	var durations []int64
	for _, j := range generate(t, deepLearning(10_240)) {
		durations = append(durations, j.Duration/second)
	}
	slices.Sort(durations)
	p50, p99 := durations[len(durations)/2], durations[len(durations)*99/100]
	if p50 < 850 || p50 > 950 {
		t.Errorf("median %d s, want about 900", p50)
	}
	if p99 < 230_000 || p99 > 270_000 {
		t.Errorf("99th percentile %d s, want about 250000", p99)
	}
	if durations[0] < 1 || durations[len(durations)-1] > maxSynthetic/second {
		t.Errorf("durations from %d to %d s", durations[0], durations[len(durations)-1])
	}
}

// As many jobs arrive from 10:00 to 22:00 as the weights say.
func TestArrivalsFollowTheDay(t *testing.T) {
	var dayShare float64
	for h := 10; h < 22; h++ {
		dayShare += float64(hourWeights[h]) / 24_000
	}
	for _, startHour := range []int{0, 9} {
		s := deepLearning(20_000)
		s.StartHour = startHour
		var inDay, whole int
		jobs := generate(t, s)
		days := jobs[len(jobs)-1].Submit / day * day // whole days only
		for _, j := range jobs {
			if j.Submit >= days {
				continue
			}
			whole++
			if h := (j.Submit/hour + int64(startHour)) % 24; h >= 10 && h < 22 {
				inDay++
			}
		}
		if got := float64(inDay) / float64(whole); math.Abs(got-dayShare) > 0.015 {
			t.Errorf("from %d:00: %.3f of the jobs arrive by day, want %.3f", startHour, got, dayShare)
		}
	}
}

// Gaps of a Poisson process vary as much as their mean: e^-1 of them are longer.
func TestGapsAreExponential(t *testing.T) {
	s := deepLearning(1)
	var sum, longer float64
	const n = 20_000
	for i := range n {
		g := float64(s.gap(i)) / gapUnit
		sum += g
		if g > 1 {
			longer++
		}
	}
	if math.Abs(sum/n-1) > 0.03 || math.Abs(longer/n-1/math.E) > 0.015 {
		t.Errorf("gaps have the mean %.3f and %.3f of them are longer", sum/n, longer/n)
	}
}

func TestOneJob(t *testing.T) {
	s := deepLearning(1)
	if j := generate(t, s)[0]; j.ID != "j-000001" || j.Row != 1 {
		t.Errorf("the only job is %+v", j)
	}
}

func TestGenerateRefuses(t *testing.T) {
	cases := []struct {
		field   string
		problem string
		change  func(*Synthetic)
	}{
		{"mix", `"hpc": expected deep-learning or llm`, func(s *Synthetic) { s.Mix = "hpc" }},
		{"jobs", "0 jobs: expected 1 to 10000000", func(s *Synthetic) { s.Jobs = 0 }},
		{"jobs", "expected", func(s *Synthetic) { s.Jobs = MaxSyntheticJobs + 1 }},
		{"load", "0: expected a finite number above 0", func(s *Synthetic) { s.Load = 0 }},
		{"load", "NaN", func(s *Synthetic) { s.Load = math.NaN() }},
		{"load", "Inf", func(s *Synthetic) { s.Load = math.Inf(1) }},
		{"load", "more than 100 years", func(s *Synthetic) { s.Load = 1e-12 }},
		{"cluster_gpus", "0 GPUs", func(s *Synthetic) { s.ClusterGPUs = 0 }},
		{"node_gpus", "-1 GPUs", func(s *Synthetic) { s.NodeGPUs = -1 }},
		{"start_hour", "24 h: expected 0 to 23", func(s *Synthetic) { s.StartHour = 24 }},
	}
	for _, c := range cases {
		s := llm(100)
		c.change(&s)
		jobs, err := s.Generate()
		var field *FieldError
		if jobs != nil || !errors.As(err, &field) {
			t.Errorf("%s %q: %d jobs, %v", c.field, c.problem, len(jobs), err)
			continue
		}
		if field.Field != c.field || !strings.Contains(field.Problem, c.problem) {
			t.Errorf("got %q, want %s: ...%s...", err, c.field, c.problem)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	s := llm(10_000)
	for b.Loop() {
		if _, err := s.Generate(); err != nil {
			b.Fatal(err)
		}
	}
}
