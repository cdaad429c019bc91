package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/policies/stage"
	"github.com/gangplan/gangplan/testdata"
	"github.com/gangplan/gangplan/topology"
)

var kubeScore = Suite{
	Name: "kube-score",
	Doc:  "one pod on a few nodes: filters, score plugins and best nodes of kube-scheduler 1.34",
	Run:  runKubeScore,
}

// kubeCase is one pod and the nodes kube-scheduler was asked about.
type kubeCase struct {
	ID       string     `json:"id"`
	Kube     string     `json:"kube"`
	Profile  string     `json:"profile"`
	Nodes    []kubeNode `json:"nodes"`
	Pod      kubePod    `json:"pod"`
	Expected kubeAnswer `json:"expected"`
}

type kubeNode struct {
	Name          string    `json:"name"`
	Alloc         kubePod   `json:"alloc"`
	PodsCap       int64     `json:"pods_cap"`
	Existing      []kubePod `json:"existing"`
	Taint         string    `json:"taint"`
	Unschedulable bool      `json:"unschedulable"`
}

// kubePod is a request, or what a node offers.
type kubePod struct {
	CPU    int64 `json:"cpu_m"`
	Memory int64 `json:"mem_mi"`
	GPU    int64 `json:"gpu"`
}

// kubeAnswer is what kube-scheduler says: Err only if no node is feasible.
type kubeAnswer struct {
	Feasible   []string             `json:"feasible"`
	Infeasible map[string][]string  `json:"infeasible,omitempty"`
	Scores     map[string]kubeRated `json:"scores,omitempty"`
	Best       []string             `json:"best,omitempty"`
	Err        string               `json:"err,omitempty"`
}

type kubeRated struct {
	Total   int64            `json:"total"`
	Plugins map[string]int64 `json:"plugins"`
}

var kubeProfiles = map[string]func() *stage.Profile{
	"default":            stage.SpreadProfile,
	"most-allocated-gpu": stage.PackProfile,
}

func runKubeScore(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.KubeScore, func(line []byte) error {
		outcome, err := checkKubeScore(line)
		out = append(out, outcome)
		return err
	})
	return out, err
}

// checkKubeScore compares one case. A field that is not modelled makes it skipped: the
// answer might hang on it.
func checkKubeScore(line []byte) (Outcome, error) {
	var c kubeCase
	if err := readCase(line, &c); err != nil {
		return Outcome{}, err
	}
	strict := json.NewDecoder(bytes.NewReader(line))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(kubeCase)); err != nil {
		return Outcome{ID: c.ID, Verdict: Skipped, Reason: err.Error()}, nil
	}
	profile, ok := kubeProfiles[c.Profile]
	if !ok {
		return Outcome{ID: c.ID, Verdict: Skipped, Reason: fmt.Sprintf("profile %q is not known", c.Profile)}, nil
	}
	got, want := scheduleKube(&c, profile()), c.Expected
	difference := kubeDifference(&want, &got)
	if difference == "" {
		return Outcome{ID: c.ID, Verdict: Equal}, nil
	}
	return Outcome{ID: c.ID, Verdict: Outside, Reason: difference, Want: want, Got: got}, nil
}

// kubeDifference names the first part of two answers that is not the same.
func kubeDifference(want, got *kubeAnswer) string {
	for _, part := range []struct {
		name      string
		want, got any
	}{
		{"feasible", want.Feasible, got.Feasible},
		{"infeasible", want.Infeasible, got.Infeasible},
		{"scores", want.Scores, got.Scores},
		{"best", want.Best, got.Best},
		{"err", want.Err, got.Err},
	} {
		a, b := asJSON(part.want), asJSON(part.got)
		if a != b {
			return fmt.Sprintf("%s: want %s, got %s", part.name, a, b)
		}
	}
	return ""
}

// asJSON writes a value with the keys of its maps sorted.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// scheduleKube does what one scheduling cycle does, without choosing among the best.
func scheduleKube(c *kubeCase, p *stage.Profile) kubeAnswer {
	answer := kubeAnswer{Feasible: []string{}}
	demand := stage.NewDemand(c.Pod.resources(1))
	var feasible []*kubeNode
	var loads []stage.Load
	var refusals []stage.Refusal
	for i := range c.Nodes {
		n := &c.Nodes[i]
		load := n.load()
		if r := n.filter(&demand, &load); r != 0 {
			refusals = append(refusals, r)
			if answer.Infeasible == nil {
				answer.Infeasible = map[string][]string{}
			}
			answer.Infeasible[n.Name] = r.Texts()
			continue
		}
		feasible, loads = append(feasible, n), append(loads, load)
		answer.Feasible = append(answer.Feasible, n.Name)
	}
	slices.Sort(answer.Feasible)
	if len(feasible) == 0 {
		answer.Err = stage.Explain(len(c.Nodes), refusals)
		return answer
	}
	answer.rate(p, &demand, feasible, loads)
	return answer
}

// rate fills in the scores of the feasible nodes and which are best.
func (a *kubeAnswer) rate(p *stage.Profile, d *stage.Demand, nodes []*kubeNode, loads []stage.Load) {
	a.Scores = map[string]kubeRated{}
	taints := make([]int64, len(nodes))
	for i, n := range nodes {
		taints[i] = stage.SoftTaints(n.taints(), nil)
	}
	stage.NormalizeTaints(taints)
	var highest int64
	for i, n := range nodes {
		plugins := map[string]int64{
			stage.TaintToleration.String():  p.Weights[stage.TaintToleration] * taints[i],
			stage.NodeResourcesFit.String(): p.Weights[stage.NodeResourcesFit] * p.Fit.Score(d, &loads[i]),
			stage.ImageLocality.String():    0,
		}
		if !p.Balanced.Skips(d) {
			plugins[stage.BalancedAllocation.String()] = p.Weights[stage.BalancedAllocation] * p.Balanced.Score(d, &loads[i])
		}
		var total int64
		for _, s := range plugins {
			total += s
		}
		a.Scores[n.Name] = kubeRated{total, plugins}
		if total > highest || a.Best == nil {
			highest, a.Best = total, nil
		}
		if total == highest {
			a.Best = append(a.Best, n.Name)
		}
	}
	slices.Sort(a.Best)
}

func (r kubePod) resources(pods int64) topology.Resources {
	return topology.Resources{topology.GPU: r.GPU * topology.Milli, topology.CPU: r.CPU, topology.Memory: r.Memory << 20, topology.Pods: pods}
}

func (n *kubeNode) load() stage.Load {
	l := stage.Load{Offers: n.Alloc.resources(n.PodsCap)}
	for _, e := range n.Existing {
		d := stage.NewDemand(e.resources(1))
		l.Add(&d)
	}
	return l
}

func (n *kubeNode) taints() []topology.Taint {
	if n.Taint == "" {
		return nil
	}
	return []topology.Taint{{Key: "key", Effect: n.Taint}}
}

// filter runs the filter plugins in order, until one refuses.
func (n *kubeNode) filter(d *stage.Demand, l *stage.Load) stage.Refusal {
	if n.Unschedulable {
		return stage.NodeUnschedulable
	}
	if _, hard := stage.HardTaint(n.taints()); hard {
		return stage.NodeTaint
	}
	return stage.FilterResources(d, l)
}
