package traces

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/topology"
	"github.com/gangplan/gangplan/workloads"
)

// This file reads and writes what kube-scheduler knows of pods beside what they need: their
// labels, whether they preempt, and what they ask of other pods. Terms are LEVEL or
// LEVEL:WEIGHT for affinity, LEVEL:SKEW with options for spreading, each with @SELECTOR at
// its end where other pods are meant than those of the job. A selector is conditions as in
// node affinity, with NAMESPACE;NAMESPACE# before them where others are meant than the own;
// *# is all. @- is no pod at all.

func setLabels(c *context, j *job, s string) error {
	j.Labels = map[string]string{}
	for part := range strings.SplitSeq(s, "|") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" {
			return fmt.Errorf("%s is no label: expected KEY=VALUE such as app=web", quote(part))
		}
		key, err := c.name(key)
		if err != nil {
			return err
		}
		if j.Labels[key], err = c.name(value); err != nil {
			return err
		}
	}
	return nil
}

func getLabels(j *job) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(j.Labels)) {
		parts = append(parts, key+"="+j.Labels[key])
	}
	return strings.Join(parts, "|")
}

// The preemption policies of Kubernetes.
const (
	preempts = "PreemptLowerPriority"
	never    = "Never"
)

func setPreemption(_ *context, j *job, s string) error {
	if s != preempts && s != never {
		return fmt.Errorf("%s is no preemption policy: expected %s or %s", quote(s), preempts, never)
	}
	j.NoPreempt = s == never
	return nil
}

func getPreemption(j *job) string {
	if j.NoPreempt {
		return never
	}
	return ""
}

// affinity is a field that holds terms of pod affinity.
func affinity(name string, at func(*job) *[]workloads.PodTerm) field[job] {
	set := func(c *context, j *job, s string) error {
		*at(j) = nil
		for item := range strings.SplitSeq(s, "|") {
			term, err := podTerm(c, item)
			if err != nil {
				return err
			}
			*at(j) = append(*at(j), term)
		}
		return nil
	}
	get := func(j *job) string {
		var items []string
		for _, t := range *at(j) {
			item := t.Level
			if t.Weight > 0 {
				item += ":" + strconv.Itoa(int(t.Weight))
			}
			items = append(items, item+selectorText(t.Of))
		}
		return strings.Join(items, "|")
	}
	return field[job]{name, list, set, get}
}

func podTerm(c *context, item string) (t workloads.PodTerm, err error) {
	text, of, selects := strings.Cut(item, "@")
	level, weight, weighted := strings.Cut(text, ":")
	n, ok := within(weight, 100)
	if level == "" || weighted && !ok {
		return t, fmt.Errorf("%s is no term of pod affinity: expected LEVEL, or LEVEL:WEIGHT with a weight from 1 to 100", quote(item))
	}
	t.Weight = n
	if t.Level, err = c.name(level); err == nil && selects {
		t.Of, err = podSelector(c, of)
	}
	return t, err
}

// podSelector reads which pods a term means.
func podSelector(c *context, s string) (*workloads.PodSelector, error) {
	out := &workloads.PodSelector{}
	namespaces, conditions, named := strings.Cut(s, "#")
	if !named {
		namespaces, conditions = "", s
	}
	for n := range strings.SplitSeq(namespaces, ";") {
		n, err := c.name(n)
		if err != nil {
			return nil, err
		}
		if named {
			out.Namespaces = append(out.Namespaces, n)
		}
	}
	if out.None = conditions == "-"; conditions == "" || out.None {
		return out, nil
	}
	term, err := nodeTerm(c, conditions)
	out.Match = term
	return out, err
}

func selectorText(s *workloads.PodSelector) string {
	if s == nil {
		return ""
	}
	text := "@"
	if len(s.Namespaces) > 0 {
		text += strings.Join(s.Namespaces, ";") + "#"
	}
	if s.None {
		return text + "-"
	}
	return text + nodeTermText(topology.Term(s.Match))
}

// within reads a whole number from 1 to a limit.
func within(s string, most int32) (int32, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err == nil && n >= 1 && int32(n) <= most
}

func setSpread(c *context, j *job, s string) error {
	j.Spread = nil
	for item := range strings.SplitSeq(s, "|") {
		constraint, err := spreadConstraint(c, item)
		if err != nil {
			return err
		}
		j.Spread = append(j.Spread, constraint)
	}
	return nil
}

func spreadConstraint(c *context, item string) (out workloads.SpreadConstraint, err error) {
	text, of, selects := strings.Cut(item, "@")
	parts := strings.Split(text, ":")
	ok := len(parts) > 1 && parts[0] != ""
	if ok {
		out.MaxSkew, ok = within(parts[1], workloads.MaxPods)
	}
	for _, option := range parts[min(2, len(parts)):] {
		ok = ok && spreadOption(&out, option)
	}
	if !ok {
		return out, fmt.Errorf("%s is no topology spread constraint: expected LEVEL:SKEW, with :soft, :min=DOMAINS, :taints or :all-nodes after it", quote(item))
	}
	if out.Level, err = c.name(parts[0]); err == nil && selects {
		out.Of, err = podSelector(c, of)
	}
	return out, err
}

func spreadOption(s *workloads.SpreadConstraint, option string) (ok bool) {
	min, isMin := strings.CutPrefix(option, "min=")
	switch {
	case isMin:
		s.MinDomains, ok = within(min, workloads.MaxPods)
		return ok
	case option == "soft":
		s.Soft = true
	case option == "taints":
		s.Taints = true
	case option == "all-nodes":
		s.AllNodes = true
	case option == "default":
		s.Default = true
	default:
		return false
	}
	return true
}

func getSpread(j *job) string {
	var items []string
	for _, s := range j.Spread {
		item := s.Level + ":" + strconv.Itoa(int(s.MaxSkew))
		for _, option := range []struct {
			set  bool
			text string
		}{{s.Soft, ":soft"}, {s.MinDomains > 0, ":min=" + strconv.Itoa(int(s.MinDomains))}, {s.Taints, ":taints"}, {s.AllNodes, ":all-nodes"}, {s.Default, ":default"}} {
			if option.set {
				item += option.text
			}
		}
		items = append(items, item+selectorText(s.Of))
	}
	return strings.Join(items, "|")
}
