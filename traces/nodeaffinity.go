package traces

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/topology"
)

// This file reads and writes node affinity: terms with | between them, each of conditions
// with & between them, as in zone=a;b&gen>8|!spot. A term with :WEIGHT at its end is
// preferred, the others are required.

func setNodeAffinity(c *context, p *podSet, s string) error {
	p.NodeAffinity = topology.NodeAffinity{}
	for item := range strings.SplitSeq(s, "|") {
		text, weight, weighted := strings.Cut(item, ":")
		n, ok := within(weight, 100)
		if weighted && !ok {
			return fmt.Errorf("%s is no term of node affinity: expected a weight from 1 to 100 after the colon", quote(item))
		}
		term, err := nodeTerm(c, text)
		if err != nil {
			return err
		}
		if weighted {
			p.NodeAffinity.Preferred = append(p.NodeAffinity.Preferred, topology.PreferredTerm{Weight: n, Term: term})
		} else {
			p.NodeAffinity.Required = append(p.NodeAffinity.Required, term)
		}
	}
	return nil
}

func nodeTerm(c *context, text string) (term topology.Term, err error) {
	for part := range strings.SplitSeq(text, "&") {
		r := requirement(part)
		if field, problem := r.Problem(); problem != "" {
			return nil, fmt.Errorf("%s is no condition on a label: expected KEY=A;B, KEY!=A;B, KEY>N, KEY<N, KEY or !KEY: its %s: %s", quote(part), field, problem)
		}
		if r.Key, err = c.name(r.Key); err != nil {
			return nil, err
		}
		for i := range r.Values {
			if r.Values[i], err = c.name(r.Values[i]); err != nil {
				return nil, err
			}
		}
		term = append(term, r)
	}
	return term, nil
}

// requirement reads one condition; its mistakes show in what it says.
func requirement(s string) topology.Requirement {
	at := strings.IndexAny(s, "=<>")
	switch {
	case at < 0 && strings.HasPrefix(s, "!"):
		return topology.Requirement{Key: s[1:], Operator: topology.DoesNotExist}
	case at < 0:
		return topology.Requirement{Key: s, Operator: topology.Exists}
	case s[at] == '>':
		return topology.Requirement{Key: s[:at], Operator: topology.Gt, Values: []string{s[at+1:]}}
	case s[at] == '<':
		return topology.Requirement{Key: s[:at], Operator: topology.Lt, Values: []string{s[at+1:]}}
	}
	values := strings.Split(s[at+1:], ";")
	if key, not := strings.CutSuffix(s[:at], "!"); not {
		return topology.Requirement{Key: key, Operator: topology.NotIn, Values: values}
	}
	return topology.Requirement{Key: s[:at], Operator: topology.In, Values: values}
}

func getNodeAffinity(p *podSet) string {
	var items []string
	for _, t := range p.NodeAffinity.Required {
		items = append(items, nodeTermText(t))
	}
	for _, t := range p.NodeAffinity.Preferred {
		items = append(items, nodeTermText(t.Term)+":"+strconv.Itoa(int(t.Weight)))
	}
	return strings.Join(items, "|")
}

func nodeTermText(t topology.Term) string {
	var parts []string
	for _, r := range t {
		switch r.Operator {
		case topology.Exists:
			parts = append(parts, r.Key)
		case topology.DoesNotExist:
			parts = append(parts, "!"+r.Key)
		default:
			sign := map[topology.Operator]string{topology.In: "=", topology.NotIn: "!=", topology.Gt: ">", topology.Lt: "<"}[r.Operator]
			parts = append(parts, r.Key+sign+strings.Join(r.Values, ";"))
		}
	}
	return strings.Join(parts, "&")
}
