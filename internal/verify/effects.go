package verify

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/policies"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/testdata"
)

var effects = Suite{
	Name: "effects",
	Doc:  "published effects of placement and network on training, each a scenario: the ratio of two jobs inside what is claimed",
	Run:  runEffects,
}

// effect is a published effect: a job of a scenario over another, of the same scenario or of
// another, with contention as it is there or as said.
type effect struct {
	ID        string  `json:"id"`
	What      string  `json:"what"`
	Measure   string  `json:"measure"` // step, or exchange: without the computation
	Job       jobRef  `json:"job"`
	Over      jobRef  `json:"over"`
	Published float64 `json:"published"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Claim     string  `json:"claim"`
	Source    string  `json:"source"`
}

type jobRef struct {
	Scenario   string `json:"scenario"`
	ID         string `json:"id"`
	Contention string `json:"contention"`
}

// shown is an effect beside what the model makes of it.
type shown struct {
	effect
	model float64
}

func runEffects(o Options) ([]Outcome, error) {
	rows, err := showEffects(o)
	out := make([]Outcome, len(rows))
	for i := range rows {
		out[i] = rows[i].outcome()
	}
	return out, err
}

// showEffects plays every effect. Scenarios stand beside the file of cases.
func showEffects(o Options) ([]shown, error) {
	files, shipped := fs.FS(testdata.Effects), mustRead("effects/effects.jsonl")
	folder := "effects"
	if o.Cases != "" {
		files, folder = os.DirFS(filepath.Dir(o.Cases)), "."
	}
	p := player{files: files, folder: folder, runs: map[jobRef]*sim.Result{}}
	var rows []shown
	err := eachLine(o.Cases, shipped, func(line []byte) error {
		row := shown{}
		if err := readCase(line, &row.effect); err != nil {
			return err
		}
		if row.ID == "" || row.Measure != "step" && row.Measure != "exchange" || !(row.Low <= row.High) {
			return fmt.Errorf("expected an id, the measure step or exchange, and low up to high")
		}
		a, err := p.nanos(row.Job, row.Measure)
		if err != nil {
			return fmt.Errorf("%s: %w", row.ID, err)
		}
		b, err := p.nanos(row.Over, row.Measure)
		if err != nil {
			return fmt.Errorf("%s: %w", row.ID, err)
		}
		row.model = a / b
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

func mustRead(name string) []byte {
	data, err := testdata.Effects.ReadFile(name)
	if err != nil {
		panic("verify: " + err.Error())
	}
	return data
}

// player runs scenarios, each once.
type player struct {
	files  fs.FS
	folder string
	runs   map[jobRef]*sim.Result // by scenario and contention
}

func (p *player) play(ref jobRef) (*sim.Result, error) {
	ref.ID = ""
	if r := p.runs[ref]; r != nil {
		return r, nil
	}
	text, err := fs.ReadFile(p.files, filepath.ToSlash(filepath.Join(p.folder, ref.Scenario)))
	if err != nil {
		return nil, err
	}
	file, err := scenario.Parse(ref.Scenario, text)
	if err != nil {
		return nil, err
	}
	if ref.Contention != "" && file.Fabric != nil {
		file.Fabric.Contention = ref.Contention
	}
	s, err := file.ResolveFS(p.files, p.folder)
	if err != nil {
		return nil, err
	}
	d, _ := policies.Lookup(s.Policies[0].Name)
	e, err := sim.New(s.Config, d.New(s.Policies[0].Params), nil)
	if err != nil {
		return nil, err
	}
	r := e.Run()
	p.runs[ref] = r
	return r, nil
}

// nanos is the step of a job, or what it exchanges in one, averaged over its running time.
func (p *player) nanos(ref jobRef, measure string) (float64, error) {
	r, err := p.play(ref)
	if err != nil {
		return 0, err
	}
	for j := range r.Jobs {
		spec, row := &r.Config.Jobs[j], &r.Jobs[j]
		if spec.ID != ref.ID {
			continue
		}
		if row.Finish < 0 || spec.Model == nil || r.Config.Fabric == nil {
			return 0, fmt.Errorf("%s: job %s does not finish, or trains no model", ref.Scenario, ref.ID)
		}
		ideal := r.Config.Fabric.BestTime(spec.GPUsByPod(), sim.TrafficOf(spec.Model))
		if measure == "exchange" {
			return float64(ideal) * float64(row.AllReduce) / 1e6, nil
		}
		return float64(spec.Model.StepNanos(ideal)) * float64(row.Finish-row.FirstStart) / float64(row.Work), nil
	}
	return 0, fmt.Errorf("%s: no job %s", ref.Scenario, ref.ID)
}

func (s *shown) outcome() Outcome {
	o := Outcome{ID: s.ID, Verdict: Within, Error: s.model/s.Published - 1,
		Reason: fmt.Sprintf("%.2f, published %.2f, claimed %s", s.model, s.Published, s.Claim)}
	if !(s.model >= s.Low && s.model <= s.High) {
		o.Verdict, o.Want, o.Got = Outside, s.Published, s.model
	}
	return o
}

// EffectsTable writes what the suite effects compares as Markdown.
func EffectsTable(o Options) (string, error) {
	rows, err := showEffects(o)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| published effect | published | model | claimed | scenario |\n|---|---|---|---|---|\n")
	for i := range rows {
		s := &rows[i]
		file := s.Job.Scenario
		if s.Over.Scenario != file {
			file += ", " + s.Over.Scenario
		}
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %s | %s |\n", s.What, s.Published, s.model, s.Claim, file)
	}
	return b.String(), nil
}
