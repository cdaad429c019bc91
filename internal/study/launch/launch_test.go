package launch

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yamlv3 "gopkg.in/yaml.v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// six is six shards of a study whose name a shell has to be told about.
func six() *Job {
	return &Job{Name: "ready", Study: "my study.yaml", Out: "results", Shards: 6, CPUs: 2, Retry: 3,
		Image: "registry/gangplan:1", Memory: "2Gi", Queue: "research", Namespace: "ml", Claim: "traces",
		Partition: "gpu", Workers: 4, Module: "example.com/gangplan", Version: "v1.2.3"}
}

func written(t *testing.T, j *Job, format string) string {
	t.Helper()
	var b strings.Builder
	if err := j.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		got, path := written(t, six(), format), filepath.Join("testdata", format)
		if os.Getenv("GANGPLAN_UPDATE") != "" {
			if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (make golden writes it anew):\n%s", format, diff)
		}
	}
}

// jobs decodes the Kubernetes objects of a launcher, strictly: a field that the API does
// not know is an error.
func jobs(t *testing.T, text string) []batchv1.Job {
	t.Helper()
	var list []batchv1.Job
	for _, document := range strings.Split(text, "\n---\n") {
		var j batchv1.Job
		if err := yaml.UnmarshalStrict([]byte(document), &j); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if j.APIVersion != "batch/v1" || j.Kind != "Job" {
			t.Fatalf("%s %s, expected a Job of batch/v1", j.APIVersion, j.Kind)
		}
		list = append(list, j)
	}
	return list
}

func TestIndexedJob(t *testing.T) {
	list := jobs(t, written(t, six(), "indexed-job"))
	if len(list) != 2 {
		t.Fatalf("%d jobs, expected the shards and the merge", len(list))
	}
	shards, merge := list[0], list[1]
	spec := shards.Spec
	if *spec.CompletionMode != batchv1.IndexedCompletion || *spec.Completions != 6 || *spec.Parallelism != 6 || *spec.BackoffLimitPerIndex != 3 || spec.BackoffLimit != nil {
		t.Errorf("the shards are %+v", spec)
	}
	if shards.Labels["kueue.x-k8s.io/queue-name"] != "research" || !*spec.Suspend || shards.Namespace != "ml" {
		t.Errorf("Kueue would not take %+v", shards.ObjectMeta)
	}
	if !*merge.Spec.Suspend || merge.Namespace != "ml" || merge.Labels != nil {
		t.Errorf("the merge would start by itself: %+v", merge)
	}
	for i, want := range [][]string{six().Shard(), six().Merge()} {
		pod := list[i].Spec.Template.Spec
		c := pod.Containers[0]
		if pod.RestartPolicy != corev1.RestartPolicyNever || c.Image != "registry/gangplan:1" || !slices.Equal(c.Command, want) {
			t.Errorf("the pod is %+v", pod)
		}
		if c.Resources.Requests.Cpu().Value() != 2 || c.Resources.Requests.Memory().Value() != 2<<30 {
			t.Errorf("it asks for %v", c.Resources.Requests)
		}
		if pod.Volumes[0].PersistentVolumeClaim.ClaimName != "traces" || c.VolumeMounts[0].Name != pod.Volumes[0].Name || c.WorkingDir != c.VolumeMounts[0].MountPath {
			t.Errorf("it does not run where the claim is: %+v", pod)
		}
	}
}

// Without Kueue the job starts at once.
func TestIndexedJobWithoutQueue(t *testing.T) {
	j := six()
	j.Queue, j.Namespace = "", ""
	shards := jobs(t, written(t, j, "indexed-job"))[0]
	if *shards.Spec.Suspend || shards.Labels != nil || shards.Namespace != "" {
		t.Errorf("%+v", shards)
	}
}

func TestStrictDecodingIsStrict(t *testing.T) {
	text := strings.Replace(written(t, six(), "indexed-job"), "completionMode:", "completionmood:", 1)
	var j batchv1.Job
	if err := yaml.UnmarshalStrict([]byte(strings.Split(text, "\n---\n")[0]), &j); err == nil {
		t.Error("a field that there is not was decoded")
	}
}

// A workflow runs every shard with its own index, and the merge needs all of them.
func TestGithubMatrix(t *testing.T) {
	var workflow struct {
		On   string
		Jobs map[string]struct {
			Needs    string
			Strategy struct{ Matrix struct{ Shard []int } }
			Steps    []struct {
				Run  string
				Uses string
				With map[string]string
			}
		}
	}
	if err := yamlv3.Unmarshal([]byte(written(t, six(), "github-matrix")), &workflow); err != nil {
		t.Fatal(err)
	}
	shard, merge := workflow.Jobs["shard"], workflow.Jobs["merge"]
	if !slices.Equal(shard.Strategy.Matrix.Shard, []int{0, 1, 2, 3, 4, 5}) || merge.Needs != "shard" {
		t.Errorf("%+v", workflow)
	}
	if got := shard.Steps[3].Run; got != "gangplan sweep -f 'my study.yaml' --out results --shard ${{ matrix.shard }}/6 --parallel 2" {
		t.Errorf("a shard runs %s", got)
	}
	if got := merge.Steps[4].Run; got != "gangplan sweep merge -f 'my study.yaml' --out results shards/*" {
		t.Errorf("the merge runs %s", got)
	}
	if !strings.HasSuffix(shard.Steps[2].Run, "@v1.2.3") {
		t.Errorf("it installs %s", shard.Steps[2].Run)
	}
}

func TestTag(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "v1.2.3", "devel": "latest", "v0.0.0-2026-abc+dirty": "latest"} {
		if got := (&Job{Version: version}).Tag(); got != want {
			t.Errorf("%s is installed as %s, expected %s", version, got, want)
		}
	}
}

// The scripts are scripts, whatever the names are.
func TestScriptsParse(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for _, study := range []string{"study.yaml", "it's a $study \"file\".yaml", "a;b.yaml"} {
		for _, format := range []string{"slurm", "xargs"} {
			j := six()
			j.Study = study
			c := exec.Command(bash, "-n")
			c.Stdin = strings.NewReader(written(t, j, format))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s of %s: %v\n%s", format, study, err, out)
			}
		}
	}
}

// The line of xargs gives each index once to the command, tries it again, and merges only
// when all went well.
func TestXargsRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for _, c := range []struct {
		fails string // tries of shard 3 that fail
		want  string // lines, sorted
		ok    bool
	}{
		{"1", "merge shard0 shard1 shard2 shard3 shard3 shard4 shard5", true},
		{"99", "shard0 shard1 shard2 shard3 shard3 shard3 shard3 shard4 shard5", false},
	} {
		dir := t.TempDir()
		// A command that writes down what it was asked for.
		fake := "#!/bin/bash\n" + `if [ "$2" = merge ]; then echo merge >> log; exit; fi
i=${7%/6}
[ "$3" = "my study.yaml" ] || exit 9
echo shard$i >> log
if [ $i = 3 ] && [ $(grep -c shard3 log) -le ` + c.fails + ` ]; then exit 1; fi
`
		if err := os.WriteFile(filepath.Join(dir, "gangplan"), []byte(fake), 0o777); err != nil {
			t.Fatal(err)
		}
		run := exec.Command(bash, "-c", written(t, six(), "xargs"))
		run.Dir, run.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		if (err == nil) != c.ok {
			t.Errorf("%v\n%s", err, out)
		}
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		lines := strings.Fields(string(log))
		slices.Sort(lines)
		if got := strings.Join(lines, " "); got != c.want {
			t.Errorf("it ran %s, expected %s", got, c.want)
		}
	}
}

func TestName(t *testing.T) {
	for study, want := range map[string]string{
		"readiness timeout": "readiness-timeout", "A/B: 50 %": "a-b-50", "": "sweep", "äö": "sweep",
		strings.Repeat("long ", 20): "long-long-long-long-long-long-long-long-long-long-long-lo",
	} {
		got := Name(study)
		if got != want || Name(got) != got {
			t.Errorf("%q is called %q, expected %q", study, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for want, change := range map[string]func(*Job){
		"0 shards":           func(j *Job) { j.Shards = 0 },
		"0 processors":       func(j *Job) { j.CPUs = 0 },
		"0 shards at a time": func(j *Job) { j.Workers = 0 },
		"-1 retries":         func(j *Job) { j.Retry = -1 },
		`"My_Job"`:           func(j *Job) { j.Name = "My_Job" },
		`"a b"`:              func(j *Job) { j.Namespace = "a b" },
		"control characters": func(j *Job) { j.Study = "a\nrm -rf b" },
	} {
		j := six()
		change(j)
		var b bytes.Buffer
		if err := j.Write(&b, "slurm"); err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0 {
			t.Errorf("%v and %q, expected %q and nothing", err, b.String(), want)
		}
	}
	if err := six().Write(&bytes.Buffer{}, "slrum"); err == nil || !strings.Contains(err.Error(), "did you mean slurm?") {
		t.Errorf("%v", err)
	}
}
