package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
)

// The means of some samples, by hand.
func TestFragmentationMetrics(t *testing.T) {
	r := decade()
	vs := Measure(r, nil)
	for name, want := range map[string]float64{
		"gpus.stranded":                   3,
		"fragmentation.stranded_mean":     0.5,
		"fragmentation.unusable_mean":     1.5005,
		"fragmentation.largest_gang_mean": 6.5005,
		"fragmentation.fgd_mean":          1001.0 / 21_000,
	} {
		if got := get(t, vs, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// In a cluster of hosts only, hosts stand for the level above them; without samples there
// are no means, and without a free GPU no share of them.
func TestFragmentationMetricsWithout(t *testing.T) {
	r := decade()
	r.Config.Cluster.Levels = []string{"host"}
	r.Samples = []sim.Sample{{Largest: []int64{2000, 5000}, Unusable: []int64{1000}}}
	vs := Measure(r, nil)
	if got := get(t, vs, "fragmentation.largest_gang_mean"); got != 2 {
		t.Errorf("largest gang %v, want that of the host", got)
	}
	if got := get(t, vs, "fragmentation.unusable_mean"); got != 1 {
		t.Errorf("unusable %v, want that of the host", got)
	}
	if v, ok := vs.Get("fragmentation.fgd_mean"); ok {
		t.Errorf("a share of nothing is %v", v)
	}
	r.Samples = nil
	vs = Measure(r, nil)
	for _, m := range fragmentationMetrics {
		if v, ok := vs.Get(m.Name); ok {
			t.Errorf("%s is %v without samples", m.Name, v)
		}
	}
}

// summary.json tells the levels apart, and has no part for a result that was not run.
func TestFragmentationSummary(t *testing.T) {
	text := jsonText(t, newFragmentation(decade()))
	for _, want := range []string{`"samples": 2`, `"largest_gang_mean_milli_gpu": 6500`, `"unusable_mean_milli_gpu": 1500`, `"unusable_milli_gpu": 3000`,
		`"free_milli_gpu": 7000`, `"fgd_milli_gpu": 500`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	r := decade()
	r.Samples = nil
	if text := jsonText(t, newFragmentation(r)); !strings.Contains(text, `"largest_gang_mean_milli_gpu": null`) {
		t.Errorf("means without samples: %s", text)
	}
	if b, err := json.Marshal(newSummary("x", handmade(1, 8))); err != nil || strings.Contains(string(b), "fragmentation\"") {
		t.Errorf("%s, %v", b, err)
	}
}

// The series has a row for each value, in a fixed order.
func TestSeriesTable(t *testing.T) {
	r := decade()
	table := wholeTable(seriesTable, &Record{Result: r})
	metrics, levels, values := table.Strings(1), table.Strings(2), table.Int64s(3)
	var got []string
	for row := range table.Rows() {
		got = append(got, fmt.Sprintf("%d %s %s %d", table.Int64s(0)[row]/hour, metrics[row], levels[row], values[row]))
	}
	want := []string{"0 free  12000", "0 fgd  0", "0 largest_gang  12000",
		"0 largest_gang rack 8000", "0 unusable rack 0", "0 largest_gang host 8000", "0 unusable host 0",
		"8 free  9000", "8 fgd  1001", "8 largest_gang  7000",
		"8 largest_gang rack 5001", "8 unusable rack 3001", "8 largest_gang host 4000", "8 unusable host 1000"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	r.Samples = nil
	if seriesTable.rows(&Record{Result: r}) >= 0 {
		t.Error("a series without samples")
	}
}

// A run that takes samples has one more file.
func TestSeriesFile(t *testing.T) {
	r, _ := play(t, "gang", func(cfg *sim.Config) { cfg.SampleEvery = 60 * sec }, gridlock()...)
	if len(r.Samples) < 2 {
		t.Fatalf("%d samples", len(r.Samples))
	}
	dir := t.TempDir()
	mustWrite(t, dir, Record{Label: "gang", Result: r})
	want := []string{"gang/jobs.parquet", "gang/ledger.parquet", "gang/manifest.json", "gang/queues.parquet", "gang/series.parquet", "gang/summary.json"}
	if got := slices.Sorted(maps.Keys(files(t, dir))); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}
