package verify

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// variants returns the case once per configuration variant, and once per number of pods
// where a job lists several; each with the expectations that name it.
func (c *scenarioCase) variants() []*scenarioCase {
	if list, ok := c.Config["variants"].([]any); ok {
		return c.configVariants(list)
	}
	for i, job := range c.Jobs {
		if counts := strings.Split(text(job["pods"]), "|"); len(counts) > 1 {
			return c.podVariants(i, counts)
		}
	}
	return []*scenarioCase{c}
}

func (c *scenarioCase) configVariants(list []any) []*scenarioCase {
	var out []*scenarioCase
	for _, raw := range list {
		settings, _ := raw.(map[string]any)
		v := *c
		v.Config = maps.Clone(c.Config)
		delete(v.Config, "variants")
		maps.Copy(v.Config, settings)
		label := ""
		for _, l := range labelsOf(settings) {
			if _, ok := c.Expect[l].(map[string]any); ok {
				label = l
			}
		}
		v.only(label)
		out = append(out, &v)
	}
	return out
}

// labelsOf lists how expectations may name a variant.
func labelsOf(settings map[string]any) []string {
	var labels, values []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		value := settings[key]
		labels = append(labels, fmt.Sprintf("%s=%v", key, value), fmt.Sprint(value))
		if value == true {
			labels = append(labels, key)
		}
		values = append(values, fmt.Sprint(value))
	}
	slices.Reverse(values)
	labels = append(labels, strings.Join(values, ","))
	switch settings["priority_sorting_within_cohort"] {
	case true:
		labels = append(labels, "sorting on")
	case false:
		labels = append(labels, "sorting off")
	}
	return labels
}

func (c *scenarioCase) podVariants(job int, counts []string) []*scenarioCase {
	var out []*scenarioCase
	for _, count := range counts {
		v := *c
		v.Jobs = slices.Clone(c.Jobs)
		v.Jobs[job] = maps.Clone(c.Jobs[job])
		if n, err := strconv.ParseFloat(count, 64); err == nil {
			v.Jobs[job]["pods"] = n
		}
		v.only("ask " + count)
		out = append(out, &v)
	}
	return out
}

// only keeps the expectations of a variant.
func (c *scenarioCase) only(label string) {
	c.ID += "/" + label
	own, _ := c.Expect[label].(map[string]any)
	c.Expect = map[string]any{}
	maps.Copy(c.Expect, own)
}
