package scenario

import (
	"maps"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/quota"
	"github.com/gangplan/gangplan/topology"
)

// LocalQueue is a name under which jobs are sent to a ClusterQueue.
type LocalQueue struct {
	Name         string   `yaml:"name,required"`
	ClusterQueue string   `yaml:"clusterQueue,required"`
	FairWeight   *float64 `yaml:"fairWeight"` // 1 if nil
}

// AdmissionFairSharing orders the LocalQueues of a ClusterQueue by what they used.
type AdmissionFairSharing struct {
	UsageHalfLifeTime     *Duration          `yaml:"usageHalfLifeTime"`
	UsageSamplingInterval Duration           `yaml:"usageSamplingInterval,positive"`
	ResourceWeights       map[string]float64 `yaml:"resourceWeights"`
}

const usageBased = "UsageBasedAdmissionFairSharing"

// Kueue's sampling interval; a week is what its documentation sets as the half-life.
const (
	defaultSampling = 300e9
	defaultHalfLife = 168 * 3600e9
)

func (r *resolver) resolveLocalQueues() {
	var names []string
	for i := range r.out.Config.Queues {
		names = append(names, r.out.Config.Queues[i].Name)
	}
	for i := range r.LocalQueues {
		l, p := &r.LocalQueues[i], at("localQueues", i)
		if !slices.Contains(names, l.ClusterQueue) {
			r.fail(p.to("clusterQueue"), "%s: there is no such queue%s", quote(l.ClusterQueue), suggest.Hint(l.ClusterQueue, names))
		}
		if slices.Contains(names, l.Name) || slices.ContainsFunc(r.LocalQueues[:i], func(o LocalQueue) bool { return o.Name == l.Name }) {
			r.fail(p.to("name"), "%s is the name of another queue too", quote(l.Name))
		}
		r.out.Config.Locals = append(r.out.Config.Locals, quota.LocalQueue{Name: l.Name, ClusterQueue: l.ClusterQueue, Weight: weightOf(l.FairWeight)})
	}
	r.resolveUsageFairness()
}

func (r *resolver) resolveUsageFairness() {
	f := r.AdmissionFairSharing
	if f == nil {
		return
	}
	u := sim.UsageFairness{HalfLife: int64(or(f.UsageHalfLifeTime, defaultHalfLife)), Interval: defaultSampling, Weights: [quota.Resources]float64{1, 1, 1, 1}}
	if f.UsageSamplingInterval > 0 {
		u.Interval = int64(f.UsageSamplingInterval)
	}
	short := []string{"gpu", "cpu", "memory", "pods"}
	for k := range u.Weights {
		long := topology.Resource(k).String()
		if w, ok := f.ResourceWeights[short[k]]; ok {
			u.Weights[k] = w
		}
		if w, ok := f.ResourceWeights[long]; ok {
			u.Weights[k] = w
		}
		short = append(short, long)
	}
	for _, name := range slices.Sorted(maps.Keys(f.ResourceWeights)) {
		if !slices.Contains(short, name) {
			r.fail(at("admissionFairSharing", "resourceWeights", name), "expected one of %s%s", strings.Join(short[:quota.Resources], ", "), suggest.Hint(name, short))
		}
	}
	r.out.Config.Usage = u
}
