package clusterimport

import (
	"strings"
	"time"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/traces/kube"
)

// readConfiguration reads Kueue's own configuration.
func (im *importer) readConfiguration() {
	c := im.dump.Configuration
	if c == nil {
		return
	}
	im.readReadiness(c)
	if a := c.T.AdmissionFairSharing; a != nil {
		out := scenario.AdmissionFairSharing{UsageSamplingInterval: duration(a.UsageSamplingInterval)}
		out.UsageHalfLifeTime = new(duration(a.UsageHalfLifeTime)) // Kueue forgets at once where there is none
		for _, name := range sorted(a.ResourceWeights) {
			if kube.ResourceOf(name) == kube.NoUnit {
				im.once("resource weight is not modelled: %s", "resource weights are not modelled: %s", name)
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

func (im *importer) hasUsageFairness() bool {
	return im.dump.Configuration != nil && im.dump.Configuration.T.AdmissionFairSharing != nil
}

// isOld reports whether a configuration is of v1beta1, in which things have to be switched on.
func isOld(c *kube.Item[kube.Configuration]) bool {
	return strings.HasSuffix(c.APIVersion, "/v1beta1")
}

// readReadiness reads waitForPodsReady, with the defaults of its version.
func (im *importer) readReadiness(c *kube.Item[kube.Configuration]) {
	w := c.T.WaitForPodsReady
	if w == nil || isOld(c) && !w.Enable {
		return
	}
	out := scenario.WaitForPodsReady{Timeout: duration(w.Timeout), BlockAdmission: w.BlockAdmission}
	if isOld(c) {
		const usual = scenario.Duration(5 * time.Minute)
		if w.Timeout == "" {
			out.Timeout = usual
		}
		if w.BlockAdmission == nil {
			out.BlockAdmission = new(true)
		}
	}
	if w.RecoveryTimeout != "" {
		out.RecoveryTimeout = new(duration(w.RecoveryTimeout))
	}
	if s := w.RequeuingStrategy; s != nil {
		out.RequeuingStrategy = scenario.RequeuingStrategy{Timestamp: s.Timestamp, BackoffBaseSeconds: wide(s.BackoffBaseSeconds),
			BackoffMaxSeconds: wide(s.BackoffMaxSeconds), BackoffLimitCount: s.BackoffLimitCount}
	}
	im.file.WaitForPodsReady = &out
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	return new(int64(*n))
}

// duration reads a duration as Go writes it; it has been checked.
func duration(text string) scenario.Duration {
	d, _ := time.ParseDuration(text)
	return scenario.Duration(d)
}

func (im *importer) fairSharing(c *kube.Item[kube.Configuration], params map[string]string) {
	f := c.T.FairSharing
	if f == nil || isOld(c) && !f.Enable {
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
		if name == quotaCheckGate {
			continue
		}
		text := name + "=false"
		if c.FeatureGates[name] {
			text = name + "=true"
		}
		if d.Check("gates", text) != nil {
			im.once("feature gate is not modelled: %s", "feature gates are not modelled: %s", name)
			continue
		}
		known = append(known, text)
	}
	if len(known) > 0 {
		params["gates"] = strings.Join(known, ",")
	}
}
