package traces

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/workloads"
)

// This file reads and writes what the pods of a job ask of each other: LEVEL or
// LEVEL:WEIGHT for affinity, LEVEL:SKEW or LEVEL:SKEW:soft for spreading.

// affinity is a field that holds terms of pod affinity.
func affinity(name string, at func(*job) *[]workloads.PodTerm) field[job] {
	set := func(c *context, j *job, s string) error {
		*at(j) = nil
		for item := range strings.SplitSeq(s, "|") {
			level, weight, weighted := strings.Cut(item, ":")
			n, ok := within(weight, 100)
			if level == "" || weighted && !ok {
				return fmt.Errorf("%s is no term of pod affinity: expected LEVEL, or LEVEL:WEIGHT with a weight from 1 to 100", quote(item))
			}
			level, err := c.name(level)
			if err != nil {
				return err
			}
			*at(j) = append(*at(j), workloads.PodTerm{Level: level, Weight: n})
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
			items = append(items, item)
		}
		return strings.Join(items, "|")
	}
	return field[job]{name, list, set, get}
}

// within reads a whole number from 1 to a limit.
func within(s string, most int32) (int32, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err == nil && n >= 1 && int32(n) <= most
}

func setSpread(c *context, j *job, s string) error {
	j.Spread = nil
	for item := range strings.SplitSeq(s, "|") {
		level, rest, _ := strings.Cut(item, ":")
		skew, kind, hasKind := strings.Cut(rest, ":")
		n, ok := within(skew, workloads.MaxPods)
		if level == "" || !ok || hasKind && kind != "soft" {
			return fmt.Errorf("%s is no topology spread constraint: expected LEVEL:SKEW, or LEVEL:SKEW:soft", quote(item))
		}
		level, err := c.name(level)
		if err != nil {
			return err
		}
		j.Spread = append(j.Spread, workloads.SpreadConstraint{Level: level, MaxSkew: n, Soft: hasKind})
	}
	return nil
}

func getSpread(j *job) string {
	var items []string
	for _, s := range j.Spread {
		item := s.Level + ":" + strconv.Itoa(int(s.MaxSkew))
		if s.Soft {
			item += ":soft"
		}
		items = append(items, item)
	}
	return strings.Join(items, "|")
}
