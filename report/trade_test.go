package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gangplan/gangplan/sim"
)

// Three jobs: A waits 100 s less and runs 40 s longer, B waits the same and runs 50 s
// longer, C waits 50 s less and runs as long; D finishes under one policy only.
func tradedRuns() (base, other *sim.Result) {
	base, other = handmade(5, 8), handmade(5, 8)
	for j, t := range []struct{ wait, run, wait2, run2, gpus int64 }{{200, 100, 100, 140, 8}, {10, 50, 10, 100, 1}, {90, 60, 40, 60, 40}, {0, 10, 0, 0, 8}} {
		finished(&base.Jobs[j], t.wait, t.run)
		if t.run2 > 0 {
			finished(&other.Jobs[j], t.wait2, t.run2)
		}
		base.Jobs[j].GPUs, other.Jobs[j].GPUs = t.gpus*1000, t.gpus*1000
	}
	base.Jobs[4].Carried, other.Jobs[4].Carried = true, true
	return base, other
}

func TestTrade(t *testing.T) {
	base, other := tradedRuns()
	trade := NewTrade("required", base, "preferred", other)
	want := map[string]TradeClass{
		"1 GPU":     {Jobs: 1, WorseOff: 1, BreakEven: Spread{50, 50, 50, 50}, Sooner: Spread{-50, -50, -50, -50}},
		"2 to 8":    {Jobs: 1, Unfinished: 1, BetterOff: 1, WaitsLess: Spread{100, 100, 100, 100}, BreakEven: Spread{40, 40, 40, 40}, Sooner: Spread{60, 60, 60, 60}},
		"33 to 128": {Jobs: 1, BetterOff: 1, WaitsLess: Spread{50, 50, 50, 50}, Sooner: Spread{50, 50, 50, 50}},
		"all": {Jobs: 3, Unfinished: 1, BetterOff: 2, WorseOff: 1, WaitsLess: Spread{50, 0, 50, 100},
			BreakEven: Spread{30, 0, 40, 50}, Sooner: Spread{20, -50, 50, 60}},
	}
	if len(trade.Classes) != len(want) {
		t.Errorf("%d classes: %+v", len(trade.Classes), trade.Classes)
	}
	for _, got := range trade.Classes {
		w := want[got.GPUs]
		w.GPUs = got.GPUs
		if got != w {
			t.Errorf("%s: %+v, want %+v", got.GPUs, got, w)
		}
	}
	back := NewTrade("preferred", other, "required", base)
	if all := back.Classes[len(back.Classes)-1]; all.BetterOff != 1 || all.WorseOff != 2 || all.WaitsLess.P50 != -50 {
		t.Errorf("the other way round: %+v", all)
	}
}

// A run traded against itself gives and gets nothing; a document without trades says nothing.
func TestTradeRenders(t *testing.T) {
	base, other := tradedRuns()
	doc := &Document{Runs: []Run{NewRun("required", base, nil)}}
	for _, format := range Formats() {
		var without, with bytes.Buffer
		doc.Trades = nil
		if err := Render(&without, format, doc); err != nil {
			t.Fatal(err)
		}
		doc.Trades = []Trade{NewTrade("required", base, "preferred", other)}
		if err := Render(&with, format, doc); err != nil {
			t.Fatal(err)
		}
		word := map[string]string{"json": `"break_even_seconds"`, "yaml": "break_even_seconds:", "csv": ""}
		w, special := word[format]
		if !special {
			w = "break-even wait"
		}
		if w != "" && (strings.Contains(without.String(), w) || !strings.Contains(with.String(), w)) {
			t.Errorf("%s: %s", format, with.String())
		}
		if w == "" && without.String() != with.String() {
			t.Errorf("%s has something to say of trades", format)
		}
	}
	text, err := json.Marshal(NewTrade("a", base, "b", base))
	if err != nil || strings.Contains(string(text), `"better_off":1`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestSizeClasses(t *testing.T) {
	for milli, want := range map[int64]string{0: "1 GPU", 500: "1 GPU", 1000: "1 GPU", 1001: "2 to 8", 8000: "2 to 8", 9000: "9 to 32",
		128_000: "33 to 128", 512_000: "129 to 512", 513_000: "more than 512"} {
		if got := className(classOf(milli)); got != want {
			t.Errorf("%d milli-GPU: %s, want %s", milli, got, want)
		}
	}
}
