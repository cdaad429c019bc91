// Package launch writes what starts the shards of a sweep on the engines that people
// already run: a Kubernetes Indexed Job, a Slurm array, xargs, a GitHub matrix. All of
// them run the same command line with another shard, try it again when it fails, and merge
// when all shards are done.
package launch

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/gangplan/gangplan/internal/suggest"
)

// Job is what is to be launched.
type Job struct {
	Name   string // letters, digits and dashes; see Name
	Study  string // the study's file, as the shards find it
	Out    string // the folder the shards share
	Shards int
	CPUs   int // runs at a time in each shard
	Retry  int // how many more times a shard is tried

	Image     string // Kubernetes: the container's image
	Memory    string // Kubernetes: of a shard, a quantity
	Queue     string // Kubernetes: the LocalQueue of Kueue; "" is none
	Namespace string // Kubernetes: "" is the current one
	Claim     string // Kubernetes: the volume claim that holds the study and gets the results
	Partition string // Slurm: "" is the default
	Workers   int    // xargs: shards at a time
	Module    string // GitHub: what `go install` builds
	Version   string // GitHub: of gangplan
}

//go:embed *.tmpl
var files embed.FS

// engines are the launchers and their templates.
var engines = []struct{ name, file string }{
	{"indexed-job", "indexed-job.yaml.tmpl"}, {"slurm", "slurm.sh.tmpl"}, {"xargs", "xargs.sh.tmpl"}, {"github-matrix", "github-matrix.yaml.tmpl"},
}

// Formats are the names of the engines.
func Formats() []string {
	names := make([]string, len(engines))
	for i := range engines {
		names[i] = engines[i].name
	}
	return names
}

// CheckFormat says what is wrong with the name of an engine.
func CheckFormat(format string) error {
	if slices.Contains(Formats(), format) {
		return nil
	}
	return fmt.Errorf("unknown launcher %q, expected one of %s%s", format, strings.Join(Formats(), ", "), suggest.Hint(format, Formats()))
}

// Write writes the launcher for an engine.
func (j *Job) Write(w io.Writer, format string) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	if err := j.check(); err != nil {
		return err
	}
	file := engines[slices.Index(Formats(), format)].file
	t := template.Must(template.New(file).Funcs(functions).ParseFS(files, file))
	var b bytes.Buffer // nothing is written of a launcher that fails half way
	if err := t.Execute(&b, j); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// check wants what every engine needs to be of use.
func (j *Job) check() error {
	switch {
	case j.Shards < 1:
		return fmt.Errorf("%d shards: expected at least 1", j.Shards)
	case j.CPUs < 1:
		return fmt.Errorf("%d processors: expected at least 1", j.CPUs)
	case j.Workers < 1:
		return fmt.Errorf("%d shards at a time: expected at least 1", j.Workers)
	case j.Retry < 0:
		return fmt.Errorf("%d retries: expected 0 or more", j.Retry)
	case strings.ContainsFunc(j.Study+j.Out+j.Claim, unicode.IsControl):
		return fmt.Errorf("%q, %q, %q: expected names without control characters", j.Study, j.Out, j.Claim)
	case j.Namespace != "" && Name(j.Namespace) != j.Namespace:
		return fmt.Errorf("the namespace %q: expected small letters, digits and dashes", j.Namespace)
	case Name(j.Name) != j.Name:
		return fmt.Errorf("the name %q: expected at most %d small letters, digits and dashes, such as %s", j.Name, longestName, Name(j.Name))
	}
	return nil
}

// longestName leaves room for a suffix within the 63 letters of a name in Kubernetes.
const longestName = 63 - len("-merge")

// Name makes a job's name of that of a study.
func Name(study string) string {
	words := strings.FieldsFunc(strings.ToLower(study), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := strings.Join(words, "-")
	name = strings.TrimRight(name[:min(len(name), longestName)], "-")
	if name == "" {
		return "sweep"
	}
	return name
}

// Shard is the command line of a shard that finds out itself which one it is.
func (j *Job) Shard() []string { return j.ShardOf("auto") }

// ShardOf is the command line of the shard of an index, which an engine may fill in.
func (j *Job) ShardOf(index string) []string {
	return []string{"gangplan", "sweep", "-f", j.Study, "--out", j.Out, "--shard", fmt.Sprintf("%s/%d", index, j.Shards), "--parallel", fmt.Sprint(j.CPUs)}
}

// Tag is the version as `go install` takes it: a build without one is taken for the latest.
func (j *Job) Tag() string {
	if !strings.HasPrefix(j.Version, "v") || strings.Contains(j.Version, "+") {
		return "latest"
	}
	return j.Version
}

// Merge is the command line that puts the results together.
func (j *Job) Merge() []string {
	return []string{"gangplan", "sweep", "merge", "-f", j.Study, "--out", j.Out}
}

var functions = template.FuncMap{
	"yaml":    quoteYAML,
	"shell":   quoteShell,
	"line":    shellLine,
	"last":    func(n int) int { return n - 1 },
	"indices": indices,
	"runs":    func(j *Job, command []string) any { return pod{j, command} },
}

// pod is a job and what its container runs.
type pod struct {
	*Job
	Command []string
}

func indices(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return strings.Join(list, ", ")
}

// quoteYAML writes a text, or a list of them, in JSON, which is YAML.
func quoteYAML(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// quoteShell quotes a word for a shell unless it needs none. What an engine fills in,
// $1 or ${{ }}, is left to it.
func quoteShell(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+"
	rest := strings.NewReplacer("$1", "", "${{ matrix.shard }}", "").Replace(s)
	if s != "" && strings.Trim(rest, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteShell(w)
	}
	return strings.Join(quoted, " ")
}
