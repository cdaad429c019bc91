package policies

import "github.com/gangplan/gangplan/sim"

// gate is waitForPodsReady's blockAdmission: the scheduler admits nobody while a gang that
// it admitted is not ready.
type gate struct {
	on      bool
	unready []bool // per job: admitted and not ready yet
	waits   int
}

func (g *gate) reset(v sim.View) {
	g.on = v.PodsReady().Enabled && v.PodsReady().BlockAdmission
	g.unready, g.waits = make([]bool, v.Jobs()), 0
}

func (g *gate) closed() bool { return g.on && g.waits > 0 }

func (g *gate) admitted(j int32) {
	g.unready[j] = true
	g.waits++
}

// opens notes that a job is ready or gone, and reports whether that opened the gate.
func (g *gate) opens(j int32) bool {
	if !g.unready[j] {
		return false
	}
	g.unready[j] = false
	g.waits--
	return g.on && g.waits == 0
}
