package size

import (
	"slices"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/stats"
)

// Answer is what Find found.
type Answer struct {
	Version    string   `json:"version,omitempty"`
	Scenario   string   `json:"scenario,omitempty"`
	Field      string   `json:"field"`
	From       string   `json:"from"`
	To         string   `json:"to"`
	Count      int      `json:"values"` // between them
	Targets    []string `json:"targets"`
	Confidence float64  `json:"confidence,omitempty"` // of several seeds
	Share      float64  `json:"share,omitempty"`
	Needed     int      `json:"seeds_needed,omitempty"` // that must meet the targets
	Seeds      []uint64 `json:"seeds"`
	Policies   []Found  `json:"policies"`

	Assumptions []string `json:"assumptions"`
	Warnings    []string `json:"warnings"`

	question *Question
}

// Found is the answer for one policy.
type Found struct {
	Policy   string   `json:"policy"`
	Met      bool     `json:"met"`    // some value looked at meets the targets
	Answer   []string `json:"answer"` // the first that does, one per field that moves; null if none
	Monotone bool     `json:"monotone"`
	// Of an answer behind which some value does not meet the targets: the value from which
	// on all that were looked at do.
	Steady     []string `json:"steady_from,omitempty"`
	Confidence float64  `json:"confidence,omitempty"` // that was reached by the answer, over several seeds

	Curve     []Point  `json:"curve"`
	Levels    []Level  `json:"levels"` // one per metric of a target
	Sentences []string `json:"sentences"`

	answer, steady int // positions in Curve; -1 if there is none
}

// Level says where a metric does not change: stays within 1 %.
type Level struct {
	Metric  string   `json:"metric"`
	Plateau []string `json:"plateau_from"` // from this value on; null if it changes up to the last
	Flat    []Flat   `json:"flat"`         // stretches before

	plateau int // position in Curve; the last value if it changes up to there
}

// Flat is a stretch of at least three values looked at.
type Flat struct {
	From []string `json:"from"`
	To   []string `json:"to"`

	from int // position in Curve
}

// AllMet reports whether every policy has an answer.
func (a *Answer) AllMet() bool {
	return !slices.ContainsFunc(a.Policies, func(f Found) bool { return !f.Met })
}

func newAnswer(q *Question, s *scenario.Scenario, need int) *Answer {
	a := &Answer{Scenario: s.Name, Field: q.Field, From: label(q.Values[0]), To: label(q.Values[len(q.Values)-1]), Count: len(q.Values),
		Seeds: q.Seeds, question: q,
		Assumptions: append([]string{}, s.Assumptions...), Warnings: append([]string{}, s.Warnings...)}
	for _, t := range q.Targets {
		a.Targets = append(a.Targets, t.String())
	}
	if len(q.Seeds) > 1 {
		a.Confidence, a.Share, a.Needed = q.Confidence, q.Share, need
	}
	if a.Seeds == nil {
		a.Seeds = []uint64{s.Config.Seed}
	}
	return a
}

// found puts together what the search has seen.
func (s *search) found() *Found {
	f := &Found{Policy: s.label, Monotone: s.monotone(), Curve: []Point{}, answer: -1, steady: -1}
	first, steady := s.first(), s.steady()
	for i, p := range s.points {
		if p == nil {
			continue
		}
		at := len(f.Curve)
		if i == first {
			f.answer = at
		}
		if i == steady {
			f.steady = at
		}
		f.Curve = append(f.Curve, *p)
	}
	f.conclude(s.q)
	s.warn(f)
	return f
}

// conclude fills in what follows from the curve.
func (f *Found) conclude(q *Question) {
	if f.answer >= 0 {
		best := &f.Curve[f.answer]
		f.Met, f.Answer = true, best.Values
		if n := len(best.Seeds); n > 1 {
			f.Confidence = 1 - stats.BinomialTail(n, best.SeedsMet, q.Share)
		}
	}
	if !f.Monotone && f.steady >= 0 {
		f.Steady = f.Curve[f.steady].Values
	}
	for _, metric := range q.asked() {
		f.Levels = append(f.Levels, f.level(metric))
	}
	f.Sentences = f.sentences(q)
}

// level finds where a metric does not change.
func (f *Found) level(metric string) Level {
	last := len(f.Curve) - 1
	l := Level{Metric: metric, plateau: last}
	for l.plateau > 0 && same(metric, &f.Curve[last], &f.Curve[l.plateau-1]) {
		l.plateau--
	}
	if l.plateau < last {
		l.Plateau = f.Curve[l.plateau].Values
	}
	l.Flat = flats(metric, f.Curve[:l.plateau])
	return l
}

// flats finds the longest stretches, from the first value on, that stay as they begin.
func flats(metric string, curve []Point) []Flat {
	out := []Flat{}
	for from := 0; from < len(curve); {
		to := from
		for to+1 < len(curve) && same(metric, &curve[from], &curve[to+1]) {
			to++
		}
		if to-from >= 2 {
			out = append(out, Flat{curve[from].Values, curve[to].Values, from})
		}
		from = to + 1
	}
	return out
}

// warn notes what makes the answer worth less than it seems.
func (s *search) warn(f *Found) {
	first, last := &f.Curve[0], &f.Curve[len(f.Curve)-1]
	if !s.q.JobsVary && first.Seeds[0].demand != last.Seeds[0].demand {
		s.warnings = append(s.warnings, "the jobs change with "+s.q.Field+" too: what is compared is not the same demand"+s.hint())
	}
	if n := len(first.Seeds); n > 1 {
		if !slices.ContainsFunc(f.Curve, func(p Point) bool { return p.differs() }) {
			s.warnings = append(s.warnings, "the seed changes nothing in this scenario: one is enough, and the confidence is that of nothing random")
		}
	}
}

// hint says what to vary instead of the size of a cluster that its jobs are drawn for.
func (s *search) hint() string {
	if s.q.Field == Nodes {
		return ""
	}
	return "; a synthetic load is that of the cluster as it is written, so vary " + Nodes + " or scale.cluster"
}

// differs reports whether the seeds of a point made different runs.
func (p *Point) differs() bool {
	return slices.ContainsFunc(p.Seeds, func(s Seed) bool { return s.Digest != p.Seeds[0].Digest })
}
