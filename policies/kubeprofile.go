package policies

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/topology"
)

// This file reads the parameters of profile custom: kube-scheduler configured otherwise
// than by default. Their texts are NAME=NUMBER, with commas between.

const onlyCustom = "custom"

// customParams are heeded with profile custom only.
var customParams = []Param{
	{Name: "fit", Doc: "strategy of NodeResourcesFit in profile custom", Only: onlyCustom,
		Values: []string{"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"}, Default: "LeastAllocated"},
	{Name: "resources", Doc: "resources of NodeResourcesFit and their weights", Only: onlyCustom,
		Syntax: "such as gpu=5,cpu=1,memory=1", Default: "cpu=1,memory=1", parse: func(s string) error { _, err := parseResources(s); return err }},
	{Name: "shape", Doc: "of RequestedToCapacityRatio: utilisation in percent = score from 0 to 10", Only: onlyCustom,
		Syntax: "such as 0=0,80=10,100=5", Default: "0=0,100=10", parse: func(s string) error { _, err := parseShape(s); return err }},
	{Name: "weights", Doc: "weights of score plugins that differ from kube-scheduler's", Only: onlyCustom,
		Syntax: "such as NodeResourcesFit=5,PodTopologySpread=0", parse: func(s string) error { _, err := parseWeights(s); return err }},
}

// customProfile is the profile that the parameters describe. They were checked.
func customProfile(s Settings) *stage.Profile {
	p := stage.SpreadProfile()
	p.Fit.Strategy = map[string]stage.Strategy{"MostAllocated": stage.MostAllocated,
		"RequestedToCapacityRatio": stage.RequestedToCapacityRatio}[s.Get("fit")]
	p.Fit.Resources = must(parseResources(s.Get("resources")))
	p.Fit.Shape = must(parseShape(s.Get("shape")))
	p.Weights = must(parseWeights(s.Get("weights")))
	return p
}

func must[T any](v T, err error) T {
	if err != nil {
		panic("policies: " + err.Error())
	}
	return v
}

// eachPair calls f for every NAME=NUMBER of a list; numbers are from 0 to most.
func eachPair(list string, most int64, f func(name string, number int64) error) error {
	if list == "" {
		return nil
	}
	for pair := range strings.SplitSeq(list, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(pair), "=")
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || number < 0 || number > most {
			return fmt.Errorf("%q: expected NAME=NUMBER with a number from 0 to %d", pair, most)
		}
		if err := f(name, number); err != nil {
			return err
		}
	}
	return nil
}

// parseResources reads weights from 1 to 100, as kube-scheduler bounds them.
func parseResources(list string) (out []stage.Weighted, err error) {
	known := map[string]topology.Resource{"gpu": topology.GPU, "cpu": topology.CPU, "memory": topology.Memory}
	err = eachPair(list, 100, func(name string, weight int64) error {
		r, ok := known[name]
		if !ok || weight == 0 {
			return fmt.Errorf("%q: expected gpu, cpu or memory with a weight from 1 to 100", name)
		}
		for _, other := range out {
			if other.Resource == r {
				return fmt.Errorf("%s is there twice", name)
			}
		}
		out = append(out, stage.Weighted{Resource: r, Weight: weight})
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("expected at least one of gpu, cpu and memory with a weight")
	}
	return out, err
}

// parseShape reads points whose utilisation rises from at least 0 to at most 100.
func parseShape(list string) (out stage.Shape, err error) {
	err = eachPair(list, 10, func(name string, score int64) error {
		at, err := strconv.ParseInt(name, 10, 64)
		if err != nil || at < 0 || at > 100 {
			return fmt.Errorf("%q: expected a utilisation from 0 to 100", name)
		}
		if n := len(out); n > 0 && out[n-1].Utilization >= at {
			return fmt.Errorf("%d after %d: expected utilisations that rise", at, out[n-1].Utilization)
		}
		out = append(out, stage.Point{Utilization: at, Score: score})
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("expected at least one point")
	}
	return out, err
}

func parseWeights(list string) (stage.Weights, error) {
	out := stage.DefaultWeights
	err := eachPair(list, 100, func(name string, weight int64) error {
		var names []string
		for p := range stage.NumPlugins {
			if p.String() == name {
				out[p] = weight
				return nil
			}
			names = append(names, p.String())
		}
		return fmt.Errorf("unknown plugin %q: expected some of %s", name, strings.Join(names, ", "))
	})
	return out, err
}
