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
	if len(c.Jobs) == 1 {
		if where, ok := strings.CutPrefix(text(c.Jobs[0]["template"]), endless); ok {
			return c.endlessVariants(where)
		}
	}
	return []*scenarioCase{c}
}

// endless starts the templates of jobs that a queue never runs out of: 400 of them.
const endless = "endless one-GPU jobs in "

// endlessVariants puts the jobs into all the queues named, or into one queue after the
// other where it says "only"; what is read is what they hold after the first instant.
func (c *scenarioCase) endlessVariants(where string) []*scenarioCase {
	groups := [][]string{strings.Split(where, ",")}
	if strings.Contains(where, " only") {
		groups = nil
		for _, part := range strings.Split(strings.ReplaceAll(where, "then ", ""), ", ") {
			groups = append(groups, []string{strings.TrimSuffix(part, " only")})
		}
	}
	var out []*scenarioCase
	for _, queues := range groups {
		v := *c
		v.Jobs = nil
		for _, q := range queues {
			v.Jobs = append(v.Jobs, map[string]any{"template": q + "-{k}", "k": "0..399", "submit": c.Jobs[0]["submit"],
				"duration": c.Jobs[0]["duration"], "pods": 1.0, "gpus_per_pod": 1.0, "queue": q})
		}
		v.Config = maps.Clone(c.Config)
		v.Config["horizon"] = 1.0
		if len(groups) > 1 {
			v.ID += "/" + queues[0]
			v.Expect = map[string]any{queues[0] + "_max": c.Expect[queues[0]+"_max"]}
		}
		out = append(out, &v)
	}
	return out
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
		out = append(out, v.variants()...)
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
