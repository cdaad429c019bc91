package record

import (
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 412e6, time.UTC)

func notes(w *Watched) string { return strings.Join(w.Notes, "\n") }

// A clock that is behind shows itself, since nothing is seen before it is there; one that is
// ahead makes all news old, which only the objects' own seconds can date.
func TestClocksOfTheOneWhoWatches(t *testing.T) {
	behind := read(t, sample(), all(play(sample(), noon, form{receipt: true, skew: -3400 * time.Millisecond})))
	if d := differences(sample(), behind, 400*msec); d != "" || !strings.Contains(notes(behind), "is behind the cluster's by") {
		t.Errorf("behind: %s\nnotes %q", d, behind.Notes)
	}
	if behind.Coarse["train"] {
		t.Error("behind: the times count as whole seconds")
	}
	ahead := read(t, sample(), all(play(sample(), noon, form{receipt: true, skew: 30 * time.Second})))
	if d := differences(sample(), ahead, 1000*msec); d != "" || !strings.Contains(notes(ahead), "2 of 2 jobs had been there for a while") {
		t.Errorf("ahead: %s\nnotes %q", d, ahead.Notes)
	}
	if !ahead.Coarse["train"] || !ahead.Coarse["single"] {
		t.Error("ahead: the times do not count as whole seconds")
	}
}

// lines returns the lines of kubectl's output that were printed from a time on, and for each
// object before that the last one, as a list that a watch begins with.
func watchedFrom(text string, at time.Time) string {
	var list, rest []string
	last := map[string]int{}
	for line := range strings.Lines(text) {
		stamp, _, _ := strings.Cut(strings.TrimPrefix(line, `{"at":`), ",")
		d, err := time.ParseDuration(stamp + "s")
		if err != nil {
			panic(err)
		}
		uid := line[strings.Index(line, `"uid":"`+kindOf(line)):]
		uid, _, _ = strings.Cut(uid[7:], `"`)
		if int64(d) >= at.UnixNano() {
			rest = append(rest, line)
			continue
		}
		line = strings.Replace(line, stamp, at.Format(`"`+time.RFC3339Nano+`"`), 1)
		if i, ok := last[uid]; ok {
			list[i] = line
			continue
		}
		last[uid], list = len(list), append(list, line)
	}
	return strings.Join(list, "") + strings.Join(rest, "")
}

// kindOf finds the kind of the object in an event.
func kindOf(line string) string {
	for _, kind := range []string{"Workload", "Pod", "Job"} {
		if strings.Contains(line, `"kind":"`+kind+`","metadata"`) {
			return kind
		}
	}
	return ""
}

// A watch that begins late knows of what was before only what the objects still say.
func TestWatchThatBeginsLate(t *testing.T) {
	text := all(play(sample(), noon, form{receipt: true}))
	late := read(t, sample(), watchedFrom(text, noon.Add(5*time.Second)))
	if d := differences(sample(), late, 1000*msec); d != "" {
		t.Error(d)
	}
	if !late.Coarse["train"] || !strings.Contains(notes(late), "2 of 2 jobs had been there for a while") {
		t.Errorf("coarse %v, notes %q", late.Coarse, late.Notes)
	}
	later := read(t, sample(), watchedFrom(text, noon.Add(14*time.Second)))
	train := later.job("train")
	if len(train.Admissions) != 1 || len(train.Evictions) != 0 || train.State != Finished || later.job("single").Finished[0]/1e9 != 11 {
		t.Errorf("after 14 seconds: %+v", train)
	}
}

// Whoever watches twice, or again after a watch ended, sees the same things more than once.
func TestWatchTwice(t *testing.T) {
	text := all(play(sample(), noon, form{receipt: true}))
	for name, twice := range map[string]string{
		"the same again":  text + text,
		"a second watch":  text + watchedFrom(text, noon.Add(9*time.Second)),
		"a second, first": watchedFrom(text, noon.Add(time.Millisecond)) + text,
	} {
		got := read(t, sample(), twice)
		if d := differences(sample(), got, 2*msec); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Somebody who watches only some kinds is told what else there is to watch.
func TestKindsThatAreMissing(t *testing.T) {
	out := play(sample(), noon, form{receipt: true})
	for kind, want := range map[string]string{"Pod": "the record has no pods", "Job": "the record has no Jobs",
		"Workload": "Jobs have a queue, but the record has no Workloads"} {
		var some strings.Builder
		for k, text := range out {
			if k != kind {
				some.Write(text.Bytes())
			}
		}
		got := read(t, sample(), some.String()+`{"apiVersion":"v1","kind":"ConfigMap"}{"type":"ERROR","object":{}}`)
		for _, note := range []string{want, "1 ConfigMap", "the server ended a watch with an error"} {
			if !strings.Contains(notes(got), note) {
				t.Errorf("without %s: notes %q do not say %q", kind, got.Notes, note)
			}
		}
		if train := got.job("train"); kind != "Workload" && (train.State != Finished || len(train.Admissions) != 2) {
			t.Errorf("without %s: %+v", kind, got.job("train"))
		}
	}
}
