package sim

import (
	"fmt"

	"github.com/gangplan/gangplan/sim/devices"
	"github.com/gangplan/gangplan/topology"
)

// This file keeps which GPUs of a node its pods have, in scenarios where some pod asks for
// a part of one or the policy rates nodes by their GPUs. In all others a node's free
// milli-GPU say everything, and there is no state here.

// gpuKinds is the number of kinds of GPU pods: those with a part of a GPU, then by the
// number of GPUs.
const gpuKinds = devices.Max + 1

func kindOf(mask devices.Mask, milli int32) int {
	if milli < devices.Whole {
		return 0
	}
	return mask.Len()
}

// shareGPUs prepares the state if the policy wants it or any PodSet asks for a part of a
// GPU.
func (w *world) shareGPUs(shared bool) error {
	for s := range w.sets {
		r := w.sets[s].request[topology.GPU]
		ask, ok := devices.NewAsk(r)
		if !ok {
			return fmt.Errorf("job %q: a pod asks for %d milli-GPU: expected a part of one GPU or whole GPUs", w.cfg.Jobs[w.sets[s].job].ID, r)
		}
		w.sets[s].ask = ask
		shared = shared || ask.Count > 0 && ask.Milli < devices.Whole
	}
	if !shared {
		return nil
	}
	nodes := w.cfg.Cluster.Nodes
	whole := make([]devices.Set, len(nodes))
	w.gpus = make([]devices.Set, len(nodes))
	w.gpuPods = make([][gpuKinds]uint16, len(nodes))
	for n := range nodes {
		have := nodes[n].Allocatable[topology.GPU] / topology.Milli
		if have > devices.Max {
			return fmt.Errorf("node %q has %d GPUs: at most %d where pods ask for a part of one", nodes[n].Name, have, devices.Max)
		}
		whole[n] = devices.NewSet(int(have))
		w.gpus[n] = whole[n]
	}
	w.nodes.planes[Physical].index.ShareGPUs(w.gpus)
	w.nodes.planes[Empty].index.ShareGPUs(whole)
	return nil
}

// giveGPUs gives a pod GPUs of a node; 0 lets the engine choose those with the least free
// that suffice.
func (e *Engine) giveGPUs(p, node int32, mask devices.Mask) {
	if e.gpus == nil {
		return
	}
	ask, free := e.sets[e.pods[p].set].ask, &e.gpus[node]
	e.must(free.Fits(ask), "a node was given parts of GPUs that it has not in one piece")
	if mask == 0 {
		mask = free.Best(ask)
	}
	e.must(mask.Len() == int(ask.Count) && free.With(ask.Milli)&mask == mask, "a pod was given GPUs that are not free")
	e.returnGPUs(node, mask, -ask.Milli)
	e.pods[p].gpus = mask
}

// returnGPUs gives so many milli of each GPU of a mask back, or takes them again.
func (e *Engine) returnGPUs(node int32, mask devices.Mask, milli int32) {
	if e.gpus == nil || mask == 0 {
		return
	}
	e.gpus[node].Take(mask, -milli)
	if milli < 0 {
		e.gpuPods[node][kindOf(mask, -milli)]++
	} else {
		e.gpuPods[node][kindOf(mask, milli)]--
	}
}

// AssumeGPUs is Assume with the GPUs of the node that the pod gets, for scenarios that
// share GPUs; Assume alone takes those with the least free that suffice.
func (tx *Tx) AssumeGPUs(pod, node int32, gpus devices.Mask) {
	e := tx.e
	e.must(e.pods[pod].state == PodPending, "assume a pod that is not pending")
	e.assumeGPUs(pod, node, gpus)
	tx.do(op{kind: opAssume, a: pod, b: node})
}

// Ask returns the GPUs one pod of a PodSet asks for.
func (v View) Ask(set int32) devices.Ask { return v.e.sets[set].ask }

// GPUs returns what is free of each GPU, by node; nil where no pod asks for a part of one.
// The slice is the engine's own. It does not know of nodes that are down.
func (v View) GPUs() []devices.Set { return v.e.gpus }

// GPUPods returns the kinds of pods with GPUs on a node, a bit each: bit 0 for a part of a
// GPU, bit n for n GPUs. It is 0 where GPUs are not kept apart.
func (v View) GPUPods(node int32) (kinds uint32) {
	if v.e.gpuPods == nil {
		return 0
	}
	for k, n := range v.e.gpuPods[node] {
		if n > 0 {
			kinds |= 1 << k
		}
	}
	return kinds
}

// GPUsOf returns the GPUs of its node that a pod has, where they are shared.
func (v View) GPUsOf(pod int32) devices.Mask { return v.e.pods[pod].gpus }
