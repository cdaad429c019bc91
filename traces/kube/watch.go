package kube

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gangplan/gangplan/internal/suggest"
)

// This file reads what kubectl prints while it watches: objects as they were, again and
// again.

// Sighting is an object as it was seen once.
type Sighting struct {
	File         string
	Line, Column int
	Received     time.Time // when kubectl printed it; zero if nobody noted that
	Gone         bool      // it was deleted, and this is the last of it
	Kind         string
	Metadata
	Version    uint64    // grows with every change of any object; 0 if it is not known
	Created    time.Time // to the second
	Terminated time.Time // when its deletion was asked for, to the second; zero if it was not

	Conditions []SeenCondition
	Pod        *SeenPod // one of the four, as Kind says
	Job        *SeenJob
	Workload   *SeenWorkload
	Node       *SeenNode
}

// String names the object as kubectl does.
func (s *Sighting) String() string {
	return (&Object{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}).String()
}

// Controller returns the owner that made the object, or nil.
func (s *Sighting) Controller() *Owner {
	for i := range s.OwnerReferences {
		if o := &s.OwnerReferences[i]; o.Controller {
			return o
		}
	}
	return nil
}

// Condition returns a condition of the object, or nil.
func (s *Sighting) Condition(name string) *SeenCondition {
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == name {
			return c
		}
	}
	return nil
}

// Is reports whether a condition of the object holds.
func (s *Sighting) Is(name string) bool {
	c := s.Condition(name)
	return c != nil && c.True
}

// SeenCondition is a condition and since when it is so, to the second; zero if that is not
// known.
type SeenCondition struct {
	Type   string
	True   bool
	Reason string
	Since  time.Time
}

// The types of the events of a watch. Bookmarks say that nothing happened; an error that the
// server ended the watch.
var eventTypes = []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"}

// entry is what stands at the top of a stream: an object, a list of some, or an event with
// its object. The time of receipt is not kubectl's; a filter adds it.
type entry struct {
	At         json.RawMessage
	Type       string
	Object     json.RawMessage
	APIVersion string
	Kind       string
	Items      []json.RawMessage
}

// watchReader is the state of ReadWatch.
type watchReader struct {
	each    func(*Sighting) error
	ignored []Kind
}

// ReadWatch reads what `kubectl get --watch -o json` prints, and what `--output-watch-events`
// and a filter that adds the time of receipt as "at" make of it: JSON values one after the
// other, which may be objects, lists and events of any kinds in any order. A file may be
// compressed with gzip. Every Pod, batch Job, Kueue Workload and Node is handed on; other
// kinds are counted. The error is an *Error or that of each.
func ReadWatch(name string, r io.Reader, each func(*Sighting) error) (ignored []Kind, err error) {
	plain, err := unpacked(name, r)
	if err != nil {
		return nil, err
	}
	w, in := &watchReader{each: each}, newValues(name, plain)
	for {
		v, err := in.next()
		if errors.Is(err, io.EOF) {
			return w.ignored, nil
		}
		if err == nil {
			err = w.value(v, time.Time{}, 0)
		}
		if err != nil {
			return nil, err
		}
	}
}

// unpacked returns the text of a file without compression and byte order mark.
func unpacked(name string, r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(2); bytes.Equal(head, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, &Error{name, 1, 1, "", "cannot be unpacked: " + err.Error()}
		}
		b = bufio.NewReader(z)
	}
	if head, _ := b.Peek(3); string(head) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	return b, nil
}

// maxDepth bounds the nesting of lists in lists.
const maxDepth = 4

// value takes one value: an array as what is in it.
func (w *watchReader) value(v value, received time.Time, depth int) error {
	if depth > maxDepth {
		return v.fail(0, "", "expected a Kubernetes object, not lists in lists in lists")
	}
	if v.text[0] == '[' {
		var items []json.RawMessage
		if err := v.decode(&items, ""); err != nil {
			return err
		}
		return w.items(v, items, received, depth)
	}
	var e entry
	if err := v.decode(&e, ""); err != nil {
		return err
	}
	at, err := v.received(e.At, received)
	switch {
	case err != nil:
		return err
	case e.Object != nil:
		return w.event(v, &e, at)
	case e.APIVersion == "" || e.Kind == "":
		return v.fail(0, "", "expected a Kubernetes object, with apiVersion and kind, or an event of a watch, with type and object")
	case e.Items != nil && strings.HasSuffix(e.Kind, "List"):
		return w.items(v, e.Items, at, depth)
	}
	return w.object(v, &e, at, false)
}

func (w *watchReader) items(v value, items []json.RawMessage, received time.Time, depth int) error {
	rest := v // what follows the last item: a long list is gone through once
	for _, text := range items {
		item := rest.part(text)
		rest = rest.after(item)
		if text[0] != '{' && text[0] != '[' {
			return item.fail(0, "", "expected a Kubernetes object")
		}
		if err := w.value(item, received, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// event takes an event of a watch.
func (w *watchReader) event(v value, e *entry, received time.Time) error {
	if !slices.Contains(eventTypes, e.Type) {
		return v.fail(bytes.Index(v.text, []byte(`"type"`)), "type", "%q: expected one of %s%s", e.Type,
			strings.Join(eventTypes, ", "), suggest.Hint(e.Type, eventTypes))
	}
	if e.Type == "BOOKMARK" || e.Type == "ERROR" {
		w.ignore(strings.ToLower(e.Type))
		return nil
	}
	object := v.part(e.Object)
	var inner entry
	if err := object.decode(&inner, "object"); err != nil {
		return err
	}
	if inner.APIVersion == "" || inner.Kind == "" {
		return object.fail(0, "object", "expected a Kubernetes object: apiVersion or kind is missing")
	}
	return w.object(object, &inner, received, e.Type == "DELETED")
}

func (w *watchReader) ignore(kind string) {
	i := slices.IndexFunc(w.ignored, func(k Kind) bool { return k.Name == kind })
	if i < 0 {
		i = len(w.ignored)
		w.ignored = append(w.ignored, Kind{Name: kind})
	}
	w.ignored[i].Count++
}

// received reads a time of receipt: seconds since 1970, as jq's now, or a time as Kubernetes
// writes it, with or without a fraction. Without one it is that of the list around.
func (v value) received(text json.RawMessage, around time.Time) (time.Time, error) {
	if text == nil {
		return around, nil
	}
	word := strings.Trim(string(text), `"`)
	if t, err := time.Parse(time.RFC3339Nano, word); err == nil {
		return t, nil
	}
	if s, err := strconv.ParseFloat(word, 64); err == nil && s > 0 && s < 1<<33 {
		whole, rest := math.Modf(s)
		return time.Unix(int64(whole), int64(math.Round(rest*1e6))*1e3).UTC(), nil
	}
	return around, v.fail(bytes.Index(v.text, text), "at", "%s: expected a time of receipt: seconds since 1970, or such as 2025-06-01T12:00:00.123Z", text)
}

// object takes one object.
func (w *watchReader) object(v value, e *entry, received time.Time, gone bool) error {
	group, _, _ := strings.Cut(e.APIVersion, "/")
	read := readers[e.Kind+"."+group]
	if read == nil {
		w.ignore(e.Kind)
		return nil
	}
	s := &Sighting{File: v.file, Line: v.line, Column: v.column, Received: received, Gone: gone, Kind: e.Kind}
	if err := read(v, s); err != nil {
		return err
	}
	return w.each(s)
}

// readers are the kinds that are read, by kind and API group.
var readers = map[string]func(value, *Sighting) error{
	"Pod.v1": readPod, "Job.batch": readJob, "Workload.kueue.x-k8s.io": readWorkload, "Node.v1": readNode,
}

// head fills in what all kinds have.
func (s *Sighting) head(v value, m *Metadata, conditions []Condition) (err error) {
	s.Metadata = *m
	if m.Name == "" {
		return v.fail(0, s.Kind, "metadata.name is missing")
	}
	s.Version, _ = strconv.ParseUint(m.ResourceVersion, 10, 64)
	if s.Created, err = v.time(s, "metadata.creationTimestamp", m.CreationTimestamp); err != nil {
		return err
	}
	if m.DeletionTimestamp != "" {
		if s.Terminated, err = v.time(s, "metadata.deletionTimestamp", m.DeletionTimestamp); err != nil {
			return err
		}
		if grace := m.DeletionGracePeriodSeconds; grace != nil {
			s.Terminated = s.Terminated.Add(-time.Duration(*grace) * time.Second)
		}
	}
	for _, c := range conditions {
		seen := SeenCondition{Type: c.Type, True: c.Status == "True", Reason: c.Reason}
		if c.LastTransitionTime != "" {
			if seen.Since, err = v.time(s, "status.conditions: "+c.Type, c.LastTransitionTime); err != nil {
				return err
			}
		} else if s.Received.IsZero() {
			return v.fail(0, s.String(), "status.conditions: %s has no lastTransitionTime, and nobody noted the time of receipt", cmp.Or(c.Type, "a condition"))
		}
		s.Conditions = append(s.Conditions, seen)
	}
	return nil
}

// time reads a time of an object.
func (v value) time(s *Sighting, field, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err == nil {
		return t, nil
	}
	if text == "" {
		return t, v.fail(0, s.String(), "%s is missing: expected a time such as 2025-06-01T12:00:00Z", field)
	}
	return t, v.fail(bytes.Index(v.text, []byte(strconv.Quote(text))), s.String(), "%s %q: expected a time such as 2025-06-01T12:00:00Z", field, text)
}
