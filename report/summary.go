package report

import (
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/sim/ledger"
)

// Summary is summary.json: the run at its own end. Sums are decimal strings because they exceed
// what JSON readers keep exactly.
type Summary struct {
	Run
	EndNanos int64        `json:"end_ns"`
	AtRisk   string       `json:"at_risk_milli_gpu_ns"`
	Reserved string       `json:"quota_reserved_unused_milli_gpu_ns"`
	Taken    int64        `json:"quota_reserved_unused_milli_gpu"` // standing so at the end
	Models   []ModelBooks `json:"gpu_models"`

	Fragmentation *Fragmentation `json:"fragmentation,omitempty"`
	Waiting       []Waiting      `json:"waiting,omitempty"`
}

// ModelBooks is the books of one GPU model.
type ModelBooks struct {
	Model    string         `json:"model"`
	Accounts []AccountBooks `json:"accounts"`
	Running  int64          `json:"running_milli_gpu"` // still running at the end; its time is settled
}

// AccountBooks is one account of a model.
type AccountBooks struct {
	Account string `json:"account"`
	Sum     string `json:"milli_gpu_ns"`
	Held    int64  `json:"milli_gpu"` // standing in the account at the end
}

func newSummary(label string, r *sim.Result) *Summary {
	s := &Summary{Run: NewRun(label, r, nil), EndNanos: r.End, AtRisk: decimal(r.AtRisk),
		Reserved: decimal(r.Reserved), Taken: r.ReservedRate, Models: make([]ModelBooks, r.Books.Models()), Fragmentation: newFragmentation(r), Waiting: newWaiting(r)}
	for m := range s.Models {
		rates := r.Books.Rates(m)
		s.Models[m] = ModelBooks{Model: r.Config.Cluster.Models[m], Running: rates[ledger.Running]}
		for a := range ledger.NumAccounts {
			s.Models[m].Accounts = append(s.Models[m].Accounts, AccountBooks{a.String(), decimal(r.Books.Sum(m, a)), rates[a]})
		}
	}
	return s
}

// Waiting is what the scheduler says of jobs that are still queued at the end.
type Waiting struct {
	Message string `json:"message"`
	Jobs    int    `json:"jobs"`  // how many hear it
	First   string `json:"first"` // the first of them
}

// newWaiting lists the messages, each once, in the order of their first jobs.
func newWaiting(r *sim.Result) []Waiting {
	var list []Waiting
	at := map[string]int{}
	for j := range r.Jobs {
		message := r.Jobs[j].Message
		if message == "" {
			continue
		}
		i, ok := at[message]
		if !ok {
			i = len(list)
			at[message] = i
			list = append(list, Waiting{Message: message, First: r.Config.Jobs[j].ID})
		}
		list[i].Jobs++
	}
	return list
}
