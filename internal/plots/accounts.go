package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/report/figure"
	"github.com/gangplan/gangplan/sim/ledger"
)

// amounts are GPU-hours, or other amounts, by account.
type amounts [ledger.NumAccounts]float64

func (a *amounts) sum() (s float64) {
	for _, v := range a {
		s += v
	}
	return s
}

// band is one or more accounts that are drawn as one.
type band struct {
	name     string
	color    figure.Color
	accounts []ledger.Account
}

func (b *band) of(a *amounts) (s float64) {
	for _, account := range b.accounts {
		s += a[account]
	}
	return s
}

var (
	blue   = figure.Color{R: 0, G: 114, B: 178}
	sky    = figure.Color{R: 86, G: 180, B: 233}
	green  = figure.Color{R: 0, G: 158, B: 115}
	red    = figure.Color{R: 213, G: 94, B: 0}
	orange = figure.Color{R: 230, G: 159, B: 0}
	purple = figure.Color{R: 190, G: 100, B: 150}
	light  = figure.Color{R: 224, G: 224, B: 224}
	dark   = figure.Color{R: 95, G: 95, B: 95}
)

// bandsOf are the bands to draw for some amounts, from the ground up: what runs, what is
// held and does not run, what is free and blocked, what nobody wants, what is down. Bands
// that are empty everywhere are left out; reasons of blocking that are small everywhere
// become one.
func bandsOf(all []amounts) []band {
	stalls, held := figure.Shades(sky, 2), figure.Shades(orange, 3)
	bands := []band{
		{"useful", blue, []ledger.Account{ledger.Useful}},
		{"stall, placement", stalls[0], []ledger.Account{ledger.StallLocality}},
		{"stall, neighbours", stalls[1], []ledger.Account{ledger.StallContention}},
		{"checkpoints", green, []ledger.Account{ledger.Checkpoint}},
		{"work thrown away", red, []ledger.Account{ledger.Lost}},
		{"held, gang incomplete", held[0], []ledger.Account{ledger.Held}},
		{"held, starting", held[1], []ledger.Account{ledger.Starting}},
		{"held, terminating", held[2], []ledger.Account{ledger.Terminating}},
	}
	bands = append(bands, blockedBands(all)...)
	bands = append(bands, band{"free, nobody waits", light, []ledger.Account{ledger.NoDemand}}, band{"down", dark, []ledger.Account{ledger.Down}})
	return slices.DeleteFunc(bands, func(b band) bool {
		return !slices.ContainsFunc(all, func(a amounts) bool { return b.of(&a) > 0 })
	})
}

// blockedBands are at most four reasons, and the rest of them together.
func blockedBands(all []amounts) []band {
	const most, least = 4, 0.005
	var large []band
	rest := band{name: "free, other reasons"}
	for a := ledger.BlockedReserved; a < ledger.NoDemand; a++ {
		b := band{name: "free, " + strings.TrimPrefix(a.String(), "blocked_"), accounts: []ledger.Account{a}}
		if slices.ContainsFunc(all, func(x amounts) bool { return x[a] > least*x.sum() }) {
			large = append(large, b)
		} else {
			rest.accounts = append(rest.accounts, a)
		}
	}
	total := func(b band) (s float64) {
		for i := range all {
			s += b.of(&all[i])
		}
		return s
	}
	for len(large) > most {
		smallest := slices.IndexFunc(large, func(b band) bool {
			return !slices.ContainsFunc(large, func(other band) bool { return total(other) < total(b) })
		})
		rest.accounts = append(rest.accounts, large[smallest].accounts...)
		large = slices.Delete(large, smallest, smallest+1)
	}
	large = append(large, rest)
	for i, color := range figure.Shades(purple, len(large)) {
		large[i].color = color
	}
	return large
}

// booksOf returns the GPU-hours of a run by account, kept on to an end as the tables do. It
// reports false, and gives those at the run's own end, if it still ran jobs then.
func booksOf(r *Run, endNanos int64) (hours amounts, kept bool) {
	metrics, err := r.Summary.KeptOn(endNanos)
	if err != nil {
		metrics = r.Summary.Metrics
	}
	for a := range ledger.NumAccounts {
		hours[a], _ = metrics.Get("gpu_hours." + a.String())
	}
	return hours, err == nil
}

// accountNamed is the inverse of Account.String; -1 for a name that there is not.
func accountNamed(name string) int {
	for a := range ledger.NumAccounts {
		if a.String() == name {
			return int(a)
		}
	}
	return -1
}

// heldIdle is what is held and does not run.
func heldIdle(a *amounts) float64 { return a[ledger.Held] + a[ledger.Starting] + a[ledger.Terminating] }

// ledgerBars draws one bar per run.
func ledgerBars(in *Input, _ *Options) (*figure.Chart, error) {
	end := int64(0)
	for i := range in.Runs {
		end = max(end, in.Runs[i].Summary.EndNanos)
	}
	all := make([]amounts, len(in.Runs))
	bars := &figure.Bars{}
	var short []string
	for i := range in.Runs {
		var kept bool
		if all[i], kept = booksOf(&in.Runs[i], end); !kept {
			short = append(short, in.Runs[i].Label)
		}
		bars.Categories = append(bars.Categories, in.Runs[i].Label)
	}
	for _, b := range bandsOf(all) {
		layer := figure.Layer{Name: b.name, Color: b.color}
		for i := range all {
			layer.Values = append(layer.Values, b.of(&all[i]))
			layer.Texts = append(layer.Texts, percent(b.of(&all[i])/max(all[i].sum(), 1e-300)))
		}
		bars.Layers = append(bars.Layers, layer)
	}
	c := &figure.Chart{Title: ledgerTitle(in.Runs, all), Height: 2 + float64(0.62*float64(max(3, len(all)))),
		Caption: "All GPU-hours of the cluster up to " + report.Span(float64(end)/1e9) + ", each in one account.",
		Panels:  []figure.Panel{{X: figure.Axis{Label: "GPU-hours"}, Bars: bars}}}
	if len(short) > 0 {
		c.Caption += " Up to an end of its own, at which jobs still ran: " + joined(short) + "."
	}
	return c, nil
}

// ledgerTitle tells what part is useful, and what part is held idle.
func ledgerTitle(runs []Run, all []amounts) string {
	var useful, held []said
	for i := range all {
		capacity := all[i].sum()
		if capacity == 0 {
			return "No GPU-hours"
		}
		u, h := all[i][ledger.Useful]/capacity, heldIdle(&all[i])/capacity
		useful = append(useful, said{runs[i].Label, percent(u), -u})
		held = append(held, said{runs[i].Label, percent(h), h})
	}
	return fmt.Sprintf("Useful: %s. Held by jobs that do not run: %s", telling(useful), telling(held))
}
