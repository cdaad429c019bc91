package progress

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// screen is what a terminal shows of what was written to it.
func screen(s string) string {
	line := []rune{}
	at := 0
	for _, r := range s {
		switch {
		case r == '\r':
			at = 0
		case at == len(line):
			line = append(line, r)
			at++
		default:
			line[at] = r
			at++
		}
	}
	return strings.TrimRight(string(line), " ")
}

func TestBar(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(1e9, 0)
	b := newBar(&out, "runs", func() time.Time { return clock })
	for _, step := range []struct {
		after             time.Duration
		done, all, reused int
		want              string
	}{
		{0, 100, 200, 100, "████████████░░░░░░░░░░░░ 100 of 200 runs, 100 reused"},
		{50 * time.Millisecond, 101, 200, 100, "████████████░░░░░░░░░░░░ 100 of 200 runs, 100 reused"}, // too soon
		{10 * time.Second, 110, 200, 100, "█████████████░░░░░░░░░░░ 110 of 200 runs, 100 reused, 1m30s left"},
		{time.Hour, 120, 200, 100, "██████████████░░░░░░░░░░ 120 of 200 runs, 100 reused, 4h1m left"},
		{0, 200, 200, 100, "████████████████████████ 200 of 200 runs, 100 reused"},
	} {
		clock = clock.Add(step.after)
		b.Set(step.done, step.all, step.reused)
		if got := screen(out.String()); got != step.want {
			t.Errorf("%d of %d: %q, expected %q", step.done, step.all, got, step.want)
		}
	}
	if b.Clear(); screen(out.String()) != "" {
		t.Errorf("after Clear there is %q", screen(out.String()))
	}
}

func TestBarOfNothing(t *testing.T) {
	var out strings.Builder
	b := newBar(&out, "runs", time.Now)
	b.Set(0, 0, 0)
	if got := screen(out.String()); got != "████████████████████████ 0 of 0 runs" {
		t.Errorf("%q", got)
	}
}

// What is no terminal gets nothing.
func TestSilence(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, b := range []*Bar{New(&strings.Builder{}, "runs"), New(f, "runs")} {
		b.Set(1, 2, 0)
		b.Clear()
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("something was written to a file: %v, %v", info.Size(), err)
	}
}
