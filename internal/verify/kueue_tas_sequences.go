package verify

import (
	"fmt"

	"github.com/gangplan/gangplan/testdata"
)

var kueueTASSequences = Suite{
	Name: "kueue-tas-sequences",
	Doc:  "the same, workload after workload on one cluster, with releases in between",
	Run:  runKueueTASSequences,
}

// tasSequence is one line of the table. Every place step is a case of its own.
type tasSequence struct {
	tasCluster
	Steps []tasStep `json:"steps"`
}

type tasStep struct {
	Op       string       `json:"op"`
	Job      string       `json:"job"`
	Requests []tasRequest `json:"requests"`
	Expected tasAnswer    `json:"expected"`
}

func runKueueTASSequences(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.KueueTASSequences, func(line []byte) error {
		var c tasSequence
		if err := readCase(line, &c); err != nil {
			return err
		}
		w, err := newTASWorld(&c.tasCluster)
		if err != nil {
			return err
		}
		outcome, err := w.play(&c)
		out = append(out, outcome)
		return err
	})
	return out, err
}

// play goes through a sequence. It is equal only if every step is; the first that is not
// is told.
func (w *tasWorld) play(c *tasSequence) (Outcome, error) {
	result := Outcome{ID: c.ID, Verdict: Equal}
	held := map[string][]*tasAnswer{}
	requests := map[string][]tasRequest{}
	for i := range c.Steps {
		step := &c.Steps[i]
		switch step.Op {
		case "release":
			for _, a := range held[step.Job] {
				w.book(a, requests[step.Job], -1)
			}
			delete(held, step.Job)
		case "place":
			got, err := w.place(step.Requests)
			if err != nil {
				return result, err
			}
			if o := compareTAS(fmt.Sprintf("step %d", i), &step.Expected, got); o.Verdict == Outside {
				result.Verdict, result.Want, result.Got = Outside, o.Want, o.Got
				result.Reason = o.ID + " (" + step.Job + "): " + o.Reason
				return result, nil
			}
			requests[step.Job] = step.Requests
			held[step.Job] = append(held[step.Job], got)
			w.book(got, step.Requests, 1)
		default:
			return result, fmt.Errorf("step %d: op %q is not known", i, step.Op)
		}
	}
	return result, nil
}

// book takes what an admitted workload holds, or with by = -1 gives it back: the pods'
// requests and a pod slot each.
func (w *tasWorld) book(a *tasAnswer, requests []tasRequest, by int64) {
	for i, p := range a.PodSets {
		pod := podOf(&requests[i])
		for _, d := range p.Domains {
			w.take(w.leafOf(d.Values), pod.Times(by*int64(d.Count)))
		}
	}
}
