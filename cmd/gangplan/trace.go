package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/gangplan/gangplan/internal/record"
	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/sim"
	"github.com/spf13/cobra"
)

func newTrace() *cobra.Command {
	cmd := &cobra.Command{Use: "trace", Short: "Hold what a real cluster did against the simulator"}
	cmd.AddCommand(newTraceValidate())
	return cmd
}

// validateFlags are the flags of trace validate.
type validateFlags struct {
	against   []string
	namespace string
	policy    string
	tolerance string
	seed      uint64
	seeds     int
	all       bool
	format    string
}

func newTraceValidate() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate SCENARIO --against WATCH",
		Short: "Compare a scenario with what kubectl saw the same jobs do on a cluster",
		Long: `Compare a scenario with what kubectl saw the same jobs do on a cluster.

WATCH is what these print while the jobs run, as long as all ran before the jobs came:

  kubectl get jobs      -A --watch --output-watch-events -o json
  kubectl get workloads -A --watch --output-watch-events -o json
  kubectl get pods      -A --watch --output-watch-events -o json
  kubectl get nodes        --watch --output-watch-events -o json

in one file or several. Through jq -c --unbuffered '{at: now} + .' it has the times at which
things were seen, rather than the whole seconds that objects have: docs/your-cluster-check.md
has a script. Jobs are told by their names, which are the ids of the scenario's jobs. They
are submitted when the cluster's were.

The order of admissions, evictions with their reasons, requeue counts, the most pods that
were bound, topology assignments and where each job stands at the end must be the same;
times may be off by the tolerance. Exits with 1 if anything is outside.`,
		Example: `  gangplan trace validate scenario.yaml --against watch.jsonl
  gangplan trace validate scenario.yaml --against pods.jsonl --against jobs.jsonl --namespace trial -o json`,
		Args: exactly(1, "the scenario"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.against, "against", nil, "what kubectl printed; - reads standard input; may be given several times")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the namespace whose jobs are compared; default all")
	flags.StringVar(&f.policy, "policy", "", "the policy of the scenario that the cluster has; may be left out if there is one")
	flags.StringVar(&f.tolerance, "tolerance", record.DefaultTolerance.String(), "of times: a part of the time since the job was submitted, and a time beside it")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of all randomness; default that of the scenario")
	countVar(flags, &f.seeds, "seeds", 1, 1, "how many seeds to try, one after another, until nothing is outside: for what chance decides")
	flags.BoolVar(&f.all, "all", false, "print every job, though there are many and nothing of theirs is outside")
	flags.StringVarP(&f.format, "output", "o", "table", "table or json")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("output", complete([]string{"table", "json"})))
	return cmd
}

// validation is what trace validate writes as JSON.
type validation struct {
	Version  string `json:"version"`
	Scenario string `json:"scenario"`
	Policy   string `json:"policy"`
	Record   string `json:"record"`
	*record.Comparison
}

func (f *validateFlags) run(cmd *cobra.Command, file string) error {
	tolerance, err := f.check()
	if err != nil {
		return err
	}
	s, err := load(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	choice, err := f.choose(s)
	if err != nil {
		return err
	}
	watched, err := f.watched(cmd.InOrStdin(), s)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("seed") {
		f.seed = s.Config.Seed
	}
	comparison, err := f.compare(cmd.Context(), s, choice, watched, tolerance)
	if err != nil {
		return err
	}
	v := &validation{version(), cmp.Or(s.Name, file), choice.Label, strings.Join(f.against, ", "), comparison}
	if err := f.write(cmd.OutOrStdout(), v); err != nil {
		return err
	}
	if v.Outside > 0 {
		return errFailed
	}
	return nil
}

// compare plays the scenario with one seed after another until nothing is outside, and returns
// the comparison with least outside.
func (f *validateFlags) compare(ctx context.Context, s *scenario.Scenario, choice study.Choice, w *record.Watched, tolerance record.Tolerance) (best *record.Comparison, err error) {
	seed := f.seed
	for n := uint64(0); n < uint64(f.seeds) && (best == nil || best.Outside > 0); n++ {
		if s, err = s.WithSeed(f.seed + n); err != nil {
			return nil, err
		}
		run, err := w.Replay(s.Config, tolerance, func(cfg *sim.Config) (*record.Record, error) { return observed(ctx, cfg, choice) })
		if err != nil {
			return nil, err
		}
		if c := w.Compare(run, tolerance); best == nil || c.Outside < best.Outside {
			best, seed = c, f.seed+n
		}
	}
	switch {
	case f.seeds > 1 && best.Outside == 0:
		best.Notes = append(best.Notes, fmt.Sprintf("seed %d is the first, from %d on, with which nothing is outside", seed, f.seed))
	case f.seeds > 1:
		best.Notes = append(best.Notes, fmt.Sprintf("of %d seeds from %d on, seed %d has least outside", f.seeds, f.seed, seed))
	}
	if s.Config.Timing.Name == sim.Instant.Name {
		best.Notes = append(best.Notes, "the timing of the scenario is instant, but the control plane of a cluster takes time: see timing: kubernetes")
	}
	return best, nil
}

// observed plays a policy and returns what would have been seen of it. It returns early when
// the context is done.
func observed(ctx context.Context, cfg *sim.Config, choice study.Choice) (r *record.Record, err error) {
	done := make(chan error, 1)
	go func() {
		done <- study.Guard(choice.Label, cfg.Seed, func() (err error) {
			r, err = record.FromRun(cfg, choice.New())
			return err
		})
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case err := <-done:
		return r, err
	}
}

// check checks the flags that need no file.
func (f *validateFlags) check() (tolerance record.Tolerance, err error) {
	if len(f.against) == 0 {
		return tolerance, fmt.Errorf("trace validate: expected --against and the file that kubectl's output is in")
	}
	if f.format != "table" && f.format != "json" {
		return tolerance, fmt.Errorf("unknown output format %q, expected table or json%s", f.format, suggest.Hint(f.format, []string{"table", "json"}))
	}
	if tolerance, err = record.ParseTolerance(f.tolerance); err != nil {
		return tolerance, fmt.Errorf("--tolerance: %w", err)
	}
	return tolerance, nil
}

// choose picks the policy that is compared.
func (f *validateFlags) choose(s *scenario.Scenario) (study.Choice, error) {
	if f.policy != "" {
		if err := s.Select([]string{f.policy}); err != nil {
			return study.Choice{}, err
		}
	}
	choices := study.Choices(s)
	if len(choices) != 1 {
		return study.Choice{}, fmt.Errorf("the scenario has the policies %s: expected --policy and the one that the cluster has", strings.Join(study.Labels(choices), ", "))
	}
	return choices[0], nil
}

// watched reads the record of the cluster.
func (f *validateFlags) watched(in io.Reader, s *scenario.Scenario) (*record.Watched, error) {
	w := record.Watch{Namespace: f.namespace}
	for _, name := range f.against {
		if err := readWatch(&w, name, in); err != nil {
			return nil, err
		}
	}
	var ids []string
	for i := range s.Config.Jobs {
		ids = append(ids, s.Config.Jobs[i].ID)
	}
	out, err := w.Record(ids)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(f.against, ", "), err)
	}
	return out, nil
}

func readWatch(w *record.Watch, name string, in io.Reader) error {
	if name == "-" {
		return w.Read(name, in)
	}
	file, err := os.Open(name)
	if err == nil {
		defer file.Close()
		return w.Read(name, file)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: cannot be read: %w", name, err)
}

func (f *validateFlags) write(w io.Writer, v *validation) error {
	if f.format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
	_, err := io.WriteString(w, v.text(f.all))
	return err
}
