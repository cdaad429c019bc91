package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// story is a comparison written down by hand that has something to say in every group of
// the table: a policy that hangs, one that evicts, and one that does well.
func story() *Document {
	perPod := handmade(8, 64)
	perPod.Policy, perPod.Digest, perPod.End = "per-pod", 0x0123456789abcdef, 10*hour
	for j := range 5 {
		finished(&perPod.Jobs[j], int64(j)*700, 2*3600)
		perPod.Jobs[j].AllReduce, perPod.Jobs[j].Step = 1_900_000, 1_240_000
	}
	perPod.Books.Move(0, ledger.NoDemand, ledger.Held, 20_000)
	perPod.Books.Move(0, ledger.NoDemand, ledger.BlockedInsufficient, 4_000)
	perPod.Books.Move(0, ledger.NoDemand, ledger.Running, 32_000)
	perPod.Books.Advance(10 * hour)
	perPod.Books.Settle(0, &ledger.Stretch{Milli: 32_000, Useful: 8 * hour, Unshared: 8 * hour, Wall: 10 * hour})
	perPod.Findings = []sim.Finding{{Kind: sim.Deadlock, Time: 3*hour + 25*60*sec, Jobs: []int32{5, 6, 7, 2, 1},
		Detail: "these jobs hold GPUs, none has all its pods, and nothing is due that could change it"}}

	gang := handmade(8, 64)
	gang.Digest, gang.End = 0xfedcba9876543210, 9*hour
	for j := range gang.Jobs {
		finished(&gang.Jobs[j], int64(j)*400+3, 3600)
		gang.Jobs[j].Requeues, gang.Jobs[j].Evictions[sim.CausePodsReady] = 2, 2
		gang.Jobs[j].AllReduce, gang.Jobs[j].Step = 1_450_000, 1_120_000
	}
	gang.Books.Move(0, ledger.NoDemand, ledger.Held, 5_000)
	gang.Books.Move(0, ledger.NoDemand, ledger.BlockedBackoff, 9_000)
	gang.Books.Move(0, ledger.NoDemand, ledger.BlockedQuota, 3_000)
	gang.Books.Move(0, ledger.NoDemand, ledger.Running, 40_000)
	gang.Books.Advance(10 * hour)
	gang.Books.Settle(0, &ledger.Stretch{Milli: 40_000, Useful: 9 * hour, Unshared: 9 * hour, Wall: 10 * hour})
	gang.Findings = []sim.Finding{
		{Kind: sim.Livelock, Time: 600 * sec, Jobs: []int32{3}, Detail: "evicted three times"},
		{Kind: sim.Livelock, Time: 900 * sec, Jobs: []int32{4}, Detail: "evicted three times"},
		{Kind: sim.NeverFits, Time: 0, Jobs: []int32{0}, Detail: "asks for more than there is"},
	}

	topo := handmade(8, 64)
	topo.Policy, topo.Digest, topo.End = "gang-topology", 0x1, 8*hour
	for j := range topo.Jobs {
		finished(&topo.Jobs[j], int64(j)*100, 3000)
		topo.Jobs[j].AllReduce, topo.Jobs[j].Step = 1_000_000, 1_000_000
	}
	topo.Books.Move(0, ledger.NoDemand, ledger.BlockedTopology, 2_000)
	topo.Books.Move(0, ledger.NoDemand, ledger.Running, 50_000)
	topo.Books.Advance(10 * hour)
	topo.Books.Settle(0, &ledger.Stretch{Milli: 50_000, Useful: 10 * hour, Unshared: 10 * hour, Wall: 10 * hour})

	return &Document{Version: "v0.1.0", Scenario: "demo", EndSeconds: 36_000,
		Assumptions: []string{"a node has 16 CPU and 128 GiB of memory per GPU, a pod asks for 12 CPU and 96 GiB per GPU, because the trace has none"},
		Warnings:    []string{"3 rows of the trace ask for no GPU"},
		Runs:        []Run{NewRun("per-pod", perPod, nil), NewRun("gang", gang, nil), NewRun("gang-topology", topo, nil)}}
}

func TestRenderGoldens(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			var b strings.Builder
			if err := Render(&b, format, story()); err != nil {
				t.Fatal(err)
			}
			golden(t, "story."+format, b.String())
		})
	}
}

// A table keeps to the terminal, however many policies there are and whatever they are
// called; one policy alone may not fit.
func TestTableKeepsToTheTerminal(t *testing.T) {
	d := story()
	for _, label := range []string{"per-pod/pack", "gang strategy=StrictFIFO", "easy-backfill", "kai"} {
		r := d.Runs[1]
		r.Policy = label
		d.Runs = append(d.Runs, r)
	}
	var b strings.Builder
	if err := Render(&b, "table", d); err != nil {
		t.Fatal(err)
	}
	golden(t, "many.table", b.String())
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > terminal {
			t.Errorf("%d columns: %s", n, line)
		}
		if strings.TrimRight(line, " \n")+"\n" != line {
			t.Errorf("blanks at the end of %q", line)
		}
	}
}
