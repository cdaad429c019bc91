package clusterimport

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/traces/kube"
)

// readConfiguration reads Kueue's own configuration.
func (im *importer) readConfiguration() {
	if im.dump.Configuration == nil {
		return
	}
	c := &im.dump.Configuration.T
	if w := c.WaitForPodsReady; w != nil && (w.Enable == nil || *w.Enable) {
		out := scenario.WaitForPodsReady{Timeout: im.duration(w.Timeout), BlockAdmission: w.BlockAdmission}
		if w.RecoveryTimeout != "" {
			out.RecoveryTimeout = new(im.duration(w.RecoveryTimeout))
		}
		if s := w.RequeuingStrategy; s != nil {
			out.RequeuingStrategy = scenario.RequeuingStrategy{Timestamp: s.Timestamp, BackoffBaseSeconds: s.BackoffBaseSeconds,
				BackoffMaxSeconds: s.BackoffMaxSeconds, BackoffLimitCount: s.BackoffLimitCount}
		}
		im.file.WaitForPodsReady = &out
	}
	if a := c.AdmissionFairSharing; a != nil {
		out := scenario.AdmissionFairSharing{UsageSamplingInterval: im.duration(a.UsageSamplingInterval)}
		if a.UsageHalfLifeTime != "" {
			out.UsageHalfLifeTime = new(im.duration(a.UsageHalfLifeTime))
		}
		for _, name := range sorted(a.ResourceWeights) {
			if kube.ResourceOf(name) == kube.NoUnit {
				im.note("resource weights of %s are not modelled", name)
				continue
			}
			if out.ResourceWeights == nil {
				out.ResourceWeights = map[string]float64{}
			}
			out.ResourceWeights[kube.ResourceOf(name).String()] = a.ResourceWeights[name]
		}
		im.file.AdmissionFairSharing = &out
	}
}

// duration reads a duration as Go writes it; one that is none is noted.
func (im *importer) duration(text string) scenario.Duration {
	d, err := time.ParseDuration(text)
	if err != nil && text != "" {
		im.note("the configuration's duration %q is none", text)
	}
	return scenario.Duration(d)
}

func (im *importer) fairSharing(c *kube.Configuration, params map[string]string) {
	f := c.FairSharing
	if f == nil || f.Enable != nil && !*f.Enable {
		return
	}
	params["fairSharing"] = "on"
	if len(f.PreemptionStrategies) == 1 {
		params["fairStrategies"] = f.PreemptionStrategies[0]
	}
}

// gates keeps the feature gates that gangplan knows.
func (im *importer) gates(c *kube.Configuration, params map[string]string) {
	var known []string
	d, _ := policies.Lookup("gang")
	for _, name := range sorted(c.FeatureGates) {
		text := name + "=false"
		if c.FeatureGates[name] {
			text = name + "=true"
		}
		if d.Check("gates", text) != nil {
			im.note("the feature gate %s is not modelled", name)
			continue
		}
		known = append(known, text)
	}
	if len(known) > 0 {
		params["gates"] = strings.Join(known, ",")
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
