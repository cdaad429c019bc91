package kube

import (
	"bytes"
	"compress/gzip"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	pod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train-0-abcde", "namespace": "ml", "uid": "u1", "resourceVersion": "41",
  "creationTimestamp": "2026-03-01T12:00:02Z", "labels": {"batch.kubernetes.io/job-name": "train", "batch.kubernetes.io/job-completion-index": "3"},
  "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u0", "controller": true}]},
 "spec": {"nodeName": "h-4", "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 8}}}]},
 "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-03-01T12:00:04Z"}]}}`
	job = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "creationTimestamp": "2026-03-01T12:00:01Z"},
 "spec": {"parallelism": 8, "completions": 16, "suspend": true}, "status": {}}`
	event = `{"apiVersion": "v1", "kind": "Event", "type": "Normal", "metadata": {"name": "e"}, "reason": "Scheduled"}`
	list  = `{"apiVersion": "v1", "kind": "List", "items": [` + pod + "," + job + "," + event + `]}`
)

func sightings(t *testing.T, text string) (all []*Sighting, ignored []Kind) {
	t.Helper()
	ignored, err := ReadWatch("w", strings.NewReader(text), func(s *Sighting) error {
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return all, ignored
}

// However the objects are printed, they are the same.
func TestWatchInEveryForm(t *testing.T) {
	oneLine := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(pod + job + event))
	z.Close()
	for name, text := range map[string]string{
		"as they are":         pod + "\n" + job + "\n" + event + "\n",
		"on one line each":    oneLine(pod) + "\n" + oneLine(job) + "\r\n" + oneLine(event),
		"one after the other": pod + job + event,
		"a list":              list,
		"an array":            "[" + pod + "," + job + "," + event + "]",
		"events":              `{"type": "ADDED", "object": ` + pod + `}{"type":"MODIFIED","object":` + job + `}{"type":"ADDED","object":` + event + `}`,
		"a mark before them":  "\xef\xbb\xbf" + list,
		"compressed":          packed.String(),
	} {
		all, ignored := sightings(t, text)
		if len(all) != 2 || len(ignored) != 1 || ignored[0] != (Kind{"Event", 1}) {
			t.Fatalf("%s: %d sightings, ignored %v", name, len(all), ignored)
		}
		p, j := all[0], all[1]
		if p.String() != "Pod/ml/train-0-abcde" || p.Version != 41 || p.Controller().UID != "u0" || !p.Is("Ready") || p.Is("Initialized") ||
			*p.Pod != (SeenPod{Node: "h-4", Phase: "Running", Rank: 3, Job: "train"}) || p.Created.Second() != 2 {
			t.Errorf("%s: the pod is %+v", name, p.Pod)
		}
		if *j.Job != (SeenJob{Suspended: true, Parallelism: 8, Completions: 16}) || j.Gone || !j.Received.IsZero() {
			t.Errorf("%s: the job is %+v", name, j.Job)
		}
	}
}

// A time of receipt stands beside the event, the object or the list, as jq or a person writes it.
func TestTimesOfReceipt(t *testing.T) {
	want := time.Date(2026, 3, 1, 12, 0, 2, 123456e3, time.UTC)
	for _, text := range []string{
		`{"at": 1772366402.123456, "type": "DELETED", "object": ` + pod + `}`,
		`{"at": "2026-03-01T12:00:02.123456Z", "object": ` + pod + `, "type": "DELETED"}`,
		`{"at": "1772366402.123456", "type": "DELETED", "object": ` + pod + `}`,
		`{"at":1772366402.123456,` + pod[1:],
		`{"at":1772366402.123456,` + list[1:],
	} {
		all, _ := sightings(t, text)
		if !all[0].Received.Equal(want) || all[0].Gone != strings.Contains(text, "DELETED") {
			t.Errorf("received %v, gone %v: %.80s", all[0].Received, all[0].Gone, text)
		}
	}
	if all, ignored := sightings(t, `{"type":"BOOKMARK","object":{}}{"type":"ERROR","object":{"kind":"Status"}}`); len(all) != 0 || len(ignored) != 2 {
		t.Errorf("bookmarks and errors: %v, ignored %v", all, ignored)
	}
}

const workload = `{"apiVersion": "kueue.x-k8s.io/VERSION", "kind": "Workload", "metadata": {"name": "job-train-1", "creationTimestamp": "2026-03-01T12:00:01Z"},
 "spec": {"active": false, "podSets": [{"name": "main", "count": 5}, {"name": "other"}]},
 "status": {"requeueState": {"count": 2, "requeueAt": "2026-03-01T12:00:09Z"}, "admission": {"podSetAssignments": [{"name": "main", "count": 3, "topologyAssignment": TOPOLOGY}, {"name": "other"}]}}}`

// Both versions of Kueue's API say where the pods go, in their ways.
func TestTopologyAssignments(t *testing.T) {
	hosts := []Host{{"h-1", 2}, {"h-22", 1}}
	for _, c := range []struct {
		version, topology string
		want              []Host
	}{
		{"v1beta1", `{"levels": ["rack", "kubernetes.io/hostname"], "domains": [{"values": ["r", "h-1"], "count": 2}, {"values": ["r", "h-22"], "count": 1}]}`, hosts},
		{"v1beta2", `{"levels": ["kubernetes.io/hostname"], "slices": [{"domainCount": 2, "valuesPerLevel": [{"prefix": "h-", "roots": ["1", "22"]}], "podCounts": [2, 1]}]}`, hosts},
		{"v1beta2", `{"levels": ["kubernetes.io/hostname"], "slices": [{"domainCount": 1, "valuesPerLevel": [{"universalValue": "h-1"}], "universalPodCount": 2},
			{"domainCount": 1, "valuesPerLevel": [{"roots": ["h-2"], "suffix": "2"}], "universalPodCount": 1}]}`, hosts},
		{"v1beta2", `{"levels": ["rack"], "slices": [{"domainCount": 1, "valuesPerLevel": [{"universalValue": "r"}], "universalPodCount": 3}]}`, nil},
	} {
		all, _ := sightings(t, strings.NewReplacer("VERSION", c.version, "TOPOLOGY", c.topology).Replace(workload))
		w := all[0].Workload
		if !slices.Equal(w.Assignments[0].Hosts, c.want) || w.Assignments[0].Pods != 3 || w.Assignments[1].Pods != 1 || w.Active || w.Requeues != 2 || w.RequeueAt.Second() != 9 {
			t.Errorf("%s %s: %+v", c.version, c.topology, w)
		}
	}
}

// What is wrong is said with its place.
func TestWatchMistakes(t *testing.T) {
	change := func(old, new string) string { return "\n\n" + strings.Replace(pod, old, new, 1) }
	for _, c := range []struct{ text, want string }{
		{"name: train\n", `w:1:1: expected a JSON object, as kubectl get -o json prints it, but this begins with 'n'`},
		{pod + "\n  17", `w:6:3: expected a JSON object, as kubectl get -o json prints it, but this begins with '1'`},
		{pod + "\n" + pod[:300], `w:6:1: the object that begins here does not end: the file was cut off`},
		{change(`"nodeName": "h-4"`, `"nodeName": h-4`), `w:6:23: not valid JSON: invalid character 'h' looking for beginning of value`},
		{change(`"nodeName": "h-4"`, `"nodeName": 4`), `w:6:23: Pod: spec.nodeName: expected a text, not a number`},
		{change(`"nodeName": "h-4"`, `"nodeName": -4.5e3`), `w:6:23: Pod: spec.nodeName: expected a text, not a number`},
		{change(`"nodeName": "h-4"`, `"nodeName": {"a": 1}`), `w:6:23: Pod: spec.nodeName: expected a text, not an object`},
		{change(`"phase": "Running", "conditions": [`, `"conditions": "none", "other": [`), `w:7:27: Pod: status.conditions: expected a list, not a text`},
		{change(`"kind": "Pod", `, ``), `w:3:1: expected a Kubernetes object, with apiVersion and kind, or an event of a watch, with type and object`},
		{change(`"name": "train-0-abcde", `, ``), `w:3:1: Pod: metadata.name is missing`},
		{change(`"creationTimestamp": "2026-03-01T12:00:02Z", `, ``), `w:3:1: Pod/ml/train-0-abcde: metadata.creationTimestamp is missing: expected a time such as 2025-06-01T12:00:00Z`},
		{change(`2026-03-01T12:00:02Z`, `yesterday`), `w:4:24: Pod/ml/train-0-abcde: metadata.creationTimestamp "yesterday": expected a time such as 2025-06-01T12:00:00Z`},
		{change(`, "lastTransitionTime": "2026-03-01T12:00:04Z"`, ``), `w:3:1: Pod/ml/train-0-abcde: status.conditions: Ready has no lastTransitionTime, and nobody noted the time of receipt`},
		{`{"type": "ADED", "object": ` + pod + `}`, `w:1:2: type: "ADED": expected one of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR (did you mean ADDED?)`},
		{`{"type": "ADDED", "object": {"kind": "Pod"}}`, `w:1:29: object: expected a Kubernetes object: apiVersion or kind is missing`},
		{`{"type": "ADDED", "object":` + "\n" + strings.Replace(pod, "12:00:02", "25:00:02", 1) + "}", `w:3:24: Pod/ml/train-0-abcde: metadata.creationTimestamp "2026-03-01T25:00:02Z": expected`},
		{`{"at": "noon", "type": "ADDED", "object": ` + pod + `}`, `w:1:8: at: "noon": expected a time of receipt: seconds since 1970, or such as 2025-06-01T12:00:00.123Z`},
		{`{"at": -5, "type": "ADDED", "object": ` + pod + `}`, `w:1:8: at: -5: expected`},
		{`{"apiVersion": "v1", "kind": "List", "items": [3]}`, `w:1:48: expected a Kubernetes object`},
		{strings.Repeat("[", 9) + strings.Repeat("]", 9), `w:1:6: expected a Kubernetes object, not lists in lists in lists`},
		{strings.NewReplacer("VERSION", "v1beta2", "TOPOLOGY", `{"levels": ["kubernetes.io/hostname"], "slices": [{"domainCount": 3, "valuesPerLevel": [{"roots": ["a"]}], "universalPodCount": 1}]}`).Replace(workload),
			`w:1:1: Workload/job-train-1: topologyAssignment.slices[0]: not as many values or pod counts as its domainCount, 3`},
		{"\x1f\x8bnot really", `w:1:1: cannot be unpacked`},
	} {
		_, err := ReadWatch("w", strings.NewReader(c.text), func(*Sighting) error { return nil })
		if e, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(e.Error(), c.want) {
			t.Errorf("%.60q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func FuzzWatch(f *testing.F) {
	for _, text := range []string{pod, job, list, event, workload, `{"at": 5, "type": "ADDED", "object": ` + pod + `}`, "[[]]", `{"a`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ReadWatch("w", strings.NewReader(text), func(s *Sighting) error {
			if s.Name == "" || s.Created.IsZero() && s.CreationTimestamp == "" || s.Line < 1 || s.Column < 1 {
				t.Errorf("a sighting that is none: %+v", s)
			}
			return nil
		})
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			t.Errorf("%v is no error with a place", err)
		}
	})
}

// Objects that are alike have places of their own, on lines and in columns.
func TestWatchPlacesOfItems(t *testing.T) {
	all, _ := sightings(t, `{"apiVersion": "v1", "kind": "List", "items": [`+"\n  "+job+",\n\n"+job+", "+job+`]}`)
	var places [][2]int
	for _, s := range all {
		places = append(places, [2]int{s.Line, s.Column})
	}
	// A job is two lines long; behind its last come a comma and a blank.
	lastLine := len(job) - strings.LastIndex(job, "\n") - 1
	if want := [][2]int{{2, 3}, {5, 1}, {6, lastLine + 3}}; !slices.Equal(places, want) {
		t.Errorf("items at %v, want %v", places, want)
	}
}
