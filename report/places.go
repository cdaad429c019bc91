package report

import (
	"strings"

	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// stallAccounts are the accounts that are split by what bound the exchange of a step.
var stallAccounts = []ledger.Account{ledger.StallLocality, ledger.StallContention}

var placeDocs = [sim.NumPlaces]string{
	sim.PlaceNVLink: "inside the NVLink domain",
	sim.PlaceNIC:    "at the NICs",
	sim.PlaceTier1:  "at uplinks of the first level above the host",
	sim.PlaceTier2:  "at uplinks of the second level above the host",
	sim.PlaceTier3:  "at uplinks of the third level above the host and beyond",
}

// places are those that can bind; nothing can be lost at none.
func places() []sim.Place {
	var list []sim.Place
	for p := sim.PlaceNVLink; p < sim.NumPlaces; p++ {
		list = append(list, p)
	}
	return list
}

// placeMetrics declares both stalls by place; those of one stall add up to its account.
func placeMetrics() []Metric {
	var ms []Metric
	for _, a := range stallAccounts {
		for _, p := range places() {
			ms = append(ms, Metric{"gpu_hours." + a.String() + "." + p.String(), "GPU-hours", Lower, true,
				"of gpu_hours." + a.String() + ", what was bound " + placeDocs[p],
				func(f *facts) (float64, bool) { return hours(stallsOf(f.run, a)[p]), true }})
		}
	}
	return ms
}

func stallsOf(r *sim.Result, a ledger.Account) [sim.NumPlaces]ledger.Uint128 {
	if a == ledger.StallLocality {
		return r.Stalls.Locality
	}
	return r.Stalls.Contention
}

// placeRows are the rows under a stall.
func placeRows(a ledger.Account) []row {
	var rows []row
	for _, p := range places() {
		r := named("  at "+p.String(), "gpu_hours."+a.String()+"."+p.String(), writeHours).onlyIfAny()
		r.better = Neutral // the sum above has the arrow
		rows = append(rows, r)
	}
	return rows
}

// tiersOf lists the levels of a run with a fabric that a place is named by, lowest first.
func tiersOf(r *sim.Result) []string {
	if r.Config.Fabric == nil {
		return nil
	}
	var tiers []string
	levels := r.Config.Cluster.Levels
	for p := sim.PlaceTier1; p < sim.NumPlaces && len(tiers) < len(levels)-1; p++ {
		tiers = append(tiers, p.Name(levels))
	}
	return tiers
}

// withTiers names the level in a label that speaks of a tier.
func (c *context) withTiers(label string) string {
	for i, level := range c.tiers {
		tier := (sim.PlaceTier1 + sim.Place(i)).String()
		if before, ok := strings.CutSuffix(label, tier); ok {
			return before + level + " uplinks"
		}
	}
	return label
}

// bottleneck names what bound a job's exchange for most of its running time; "" for a job
// that exchanges nothing.
func (j *jobView) bottleneck() string {
	if j.bounds == nil {
		return ""
	}
	p, ok := j.bounds.Bottleneck()
	if !ok {
		return ""
	}
	return p.Name(j.levels)
}

// stalledFields are the GPU-hours a job lost, by place; null without a fabric.
func stalledFields() []field[*jobView] {
	var fs []field[*jobView]
	for _, p := range places() {
		fs = append(fs, float("stalled_"+p.String()+"_gpu_hours", "GPU-hours",
			"of both stalls, what was bound "+placeDocs[p]+"; null without a fabric",
			func(j *jobView) (float64, bool) {
				if j.bounds == nil {
					return 0, false
				}
				return hours(j.bounds.Stalled[p]), true
			}))
	}
	return fs
}
