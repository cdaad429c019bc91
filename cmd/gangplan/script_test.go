package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gangplan": main})
}

// TestScript tells the stories of testdata/script. Beside testscript's own commands:
//
//	exits CODE COMMAND...     runs a command that must exit so; see exits
//	parses FORMAT POLICY...   wants stdout to be a result of these policies in a format
//	digest NAME               sets $NAME to the digest of the first run in the JSON on stdout
//
// $SHIPPED is the folder testdata of the repository.
func TestScript(t *testing.T) {
	shipped, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SHIPPED", shipped)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "parses": parses, "digest": digest},
	})
}

// exits holds every command to what the exit codes promise: with 0 nothing is on stderr;
// with 1 nothing either, the answer is on stdout; with 2 only stderr has something.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, failed := 0, new(exec.ExitError)
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	out, errOut := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	switch {
	case got != want:
		ts.Fatalf("exit code %d, want %d", got, want)
	case want <= exitFailed && errOut != "":
		ts.Fatalf("exit code %d with something on stderr", want)
	case want == exitUsage && out != "":
		ts.Fatalf("bad input, and yet something on stdout")
	case want == exitUsage && !strings.HasPrefix(errOut, "gangplan: "):
		ts.Fatalf("bad input, and stderr does not begin with the name of the program")
	}
}

// resultDocument is what JSON and YAML results must have.
type resultDocument struct {
	Version    string   `json:"version"`
	EndSeconds *float64 `json:"end_seconds"`
	Runs       []struct {
		Policy   string              `json:"policy"`
		Seed     *uint64             `json:"seed"`
		Digest   string              `json:"digest"`
		Metrics  map[string]*float64 `json:"metrics"`
		Verdicts []struct {
			Kind string `json:"kind"`
		} `json:"verdicts"`
	} `json:"runs"`
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{16}$`)

func parses(ts *testscript.TestScript, _ bool, args []string) {
	text, policies := ts.ReadFile("stdout"), args[1:]
	var got []string
	switch args[0] {
	case "json":
		got = policiesOfJSON(ts, []byte(text))
	case "yaml":
		var v any
		ts.Check(yaml.Unmarshal([]byte(text), &v))
		asJSON, err := json.Marshal(v)
		ts.Check(err)
		got = policiesOfJSON(ts, asJSON)
	case "csv":
		records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		ts.Check(err)
		if !slices.Equal(records[0][:3], []string{"policy", "seed", "digest"}) {
			ts.Fatalf("the header begins with %q", records[0][:3])
		}
		for _, r := range records[1:] {
			got = append(got, r[0])
		}
	case "markdown":
		got = policiesOfMarkdown(ts, text)
	case "table", "wide":
		header := strings.Split(text, "\n")[2]
		got = strings.Fields(header)
	default:
		ts.Fatalf("parses: what is %q?", args[0])
	}
	if !slices.Equal(got, policies) {
		ts.Fatalf("the runs are %q, want %q", got, policies)
	}
}

func policiesOfJSON(ts *testscript.TestScript, text []byte) (names []string) {
	var d resultDocument
	ts.Check(json.Unmarshal(text, &d))
	if d.Version == "" || d.EndSeconds == nil {
		ts.Fatalf("no version or end")
	}
	for _, r := range d.Runs {
		utilisation := r.Metrics["utilisation"]
		if r.Seed == nil || !hexDigest.MatchString(r.Digest) || r.Verdicts == nil || utilisation == nil || len(r.Metrics) < 50 {
			ts.Fatalf("%s: seed, digest, metrics or verdicts are missing: %+v", r.Policy, r)
		}
		names = append(names, r.Policy)
	}
	return names
}

// policiesOfMarkdown reads the head of a table all of whose rows are as wide.
func policiesOfMarkdown(ts *testscript.TestScript, text string) (names []string) {
	table, _, _ := strings.Cut(text, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	for _, row := range rows {
		if strings.Count(row, "|") != strings.Count(rows[0], "|") {
			ts.Fatalf("a row of another width: %s", row)
		}
	}
	if !strings.HasPrefix(rows[1], "|:--|") {
		ts.Fatalf("no line under the head: %s", rows[1])
	}
	for _, cell := range strings.Split(strings.Trim(rows[0], "|"), "|")[2:] {
		names = append(names, strings.TrimSpace(cell))
	}
	return names
}

func digest(ts *testscript.TestScript, _ bool, args []string) {
	var d resultDocument
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &d))
	ts.Setenv(args[0], d.Runs[0].Digest)
}

// Every command has help, and says how it is used, what it is for and what its flags do.
func TestHelpOfEveryCommand(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		var out, errOut strings.Builder
		path := strings.Fields(c.CommandPath())
		code := execute(t.Context(), append(path[1:], "--help"), strings.NewReader(""), &out, &errOut)
		if code != exitOK || errOut.Len() != 0 || !strings.Contains(out.String(), "Usage:\n  "+c.CommandPath()) {
			t.Errorf("%s --help: exit code %d: %s%s", c.CommandPath(), code, out.String(), errOut.String())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: --%s does not say what it does", c.CommandPath(), f.Name)
			}
		})
		if c.Short == "" {
			t.Errorf("%s does not say what it is for", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
}
