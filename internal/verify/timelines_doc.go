package verify

import (
	"fmt"
	"slices"
	"strings"
)

// timelinesTable writes the cases and what came of them as Markdown: what the real control
// plane did, whether gangplan does it, and how far its times lie outside the recorded ones.
func timelinesTable(cases []*timelineCase, outcomes []Outcome) string {
	var b strings.Builder
	b.WriteString("| scenario | what the real system did | gangplan | farthest time |\n|---|---|---|---|\n")
	for i, c := range cases {
		says := string(outcomes[i].Verdict)
		if reason := outcomes[i].Reason; reason != "" {
			says = strings.TrimPrefix(reason, "a race: ")
		}
		fmt.Fprintf(&b, "| %s: %s | %s | %s | %s |\n", c.ID, strings.ReplaceAll(c.Title, "|", "/"), c.did(), says, c.farthest)
	}
	return b.String()
}

// did says in words what came of a recorded scenario.
func (c *timelineCase) did() string {
	var parts []string
	if order := c.orderOf(decisionOrder, admissionOrder); order != "" {
		parts = append(parts, "admitted "+order)
	}
	if order := c.orderOf(evictionOrder); order != "" {
		parts = append(parts, "evicted "+order)
	}
	if short := c.shortOf(); short != "" {
		parts = append(parts, short)
	}
	return strings.Join(append(parts, c.ends()), "; ")
}

// orderOf writes the first of some orders that there is, or how many there are of it.
func (c *timelineCase) orderOf(fields ...string) string {
	for _, field := range fields {
		if list, ok := c.Deterministic[field].([]any); ok {
			return shortList(list)
		}
		switch values := c.values(field); len(values) {
		case 0:
		case 1:
			list, _ := values[0].([]any)
			return shortList(list)
		default:
			return fmt.Sprintf("in %d ways", len(values))
		}
	}
	return ""
}

// shortList writes a list, without its middle if it is long.
func shortList(list []any) string {
	const most = 8
	names := counted(list)
	if len(names) > most {
		names = slices.Concat(names[:most-2], []string{"..."}, names[len(names)-1:])
	}
	return strings.Join(names, ", ")
}

// counted writes entries that follow each other as one, with their number.
func counted(list []any) (names []string) {
	for i := 0; i < len(list); {
		n := i
		for n < len(list) && list[n] == list[i] {
			n++
		}
		name := text(list[i])
		if n > i+1 {
			name += fmt.Sprintf(" (%d times)", n-i)
		}
		names, i = append(names, name), n
	}
	return names
}

// shortOf names the jobs of which not all pods were ever bound.
func (c *timelineCase) shortOf() string {
	bound, ok := c.Deterministic["max_bound"].(map[string]any)
	if !ok {
		return "bound in several splits"
	}
	var parts []string
	for _, j := range c.scenario.Jobs {
		if n := number(bound[j.Name]); n < float64(j.Pods) {
			parts = append(parts, fmt.Sprintf("%g of %d pods of %s bound", n, j.Pods, j.Name))
		}
	}
	return strings.Join(parts, ", ")
}

// ends writes the states in which the jobs were left.
func (c *timelineCase) ends() string {
	states, ok := c.Deterministic["end_state"].(map[string]any)
	if !ok {
		return fmt.Sprintf("ends in %d ways", len(c.values("end_state")))
	}
	jobs := map[string][]string{}
	var order []string
	for _, j := range c.scenario.Jobs {
		s := text(states[j.Name])
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
		jobs[s] = append(jobs[s], j.Name)
	}
	if len(order) == 1 {
		return "all " + order[0]
	}
	var parts []string
	for _, s := range order {
		parts = append(parts, strings.Join(jobs[s], ", ")+" "+s)
	}
	return strings.Join(parts, ", ")
}
