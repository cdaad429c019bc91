package traces

import (
	"fmt"
	"strings"

	"github.com/gangplan/gangplan/topology"
)

// setNodeSelector reads labels that a node must have, as in pool=spot|gen=h100.
func setNodeSelector(c *context, p *podSet, s string) error {
	p.NodeSelector = nil
	for part := range strings.SplitSeq(s, "|") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" {
			return fmt.Errorf("%s is no label: expected KEY=VALUE such as pool=spot", quote(part))
		}
		key, err := c.name(key)
		if err == nil {
			value, err = c.name(value)
		}
		if err != nil {
			return err
		}
		p.NodeSelector = append(p.NodeSelector, topology.Requirement{Key: key, Operator: topology.In, Values: []string{value}})
	}
	return nil
}

func getNodeSelector(p *podSet) string {
	var parts []string
	for _, r := range p.NodeSelector {
		parts = append(parts, r.Key+"="+strings.Join(r.Values, ","))
	}
	return strings.Join(parts, "|")
}

// everyTaint stands for the key of a toleration of them all.
const everyTaint = "*"

// setTolerations reads tolerations, KEY=VALUE or KEY whatever the value, with :EFFECT if
// it is only of one; * is every key.
func setTolerations(c *context, p *podSet, s string) error {
	p.Tolerations = nil
	for part := range strings.SplitSeq(s, "|") {
		rest, effect, hasEffect := strings.Cut(part, ":")
		key, value, hasValue := strings.Cut(rest, "=")
		if key == "" || hasEffect && effect == "" || key == everyTaint && hasValue {
			return fmt.Errorf("%s is no toleration: expected KEY=VALUE:EFFECT, KEY:EFFECT, KEY or *", quote(part))
		}
		if hasEffect && effect != "NoSchedule" && effect != "NoExecute" && effect != "PreferNoSchedule" {
			return fmt.Errorf("%s: expected the effect NoSchedule, NoExecute or PreferNoSchedule", quote(part))
		}
		t := topology.Toleration{Effect: effect, Exists: !hasValue}
		var err error
		if key != everyTaint {
			t.Key, err = c.name(key)
		}
		if err == nil {
			t.Value, err = c.name(value)
		}
		if err != nil {
			return err
		}
		p.Tolerations = append(p.Tolerations, t)
	}
	return nil
}

func getTolerations(p *podSet) string {
	var parts []string
	for _, t := range p.Tolerations {
		part := t.Key
		if part == "" {
			part = everyTaint
		}
		if !t.Exists {
			part += "=" + t.Value
		}
		if t.Effect != "" {
			part += ":" + t.Effect
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "|")
}
