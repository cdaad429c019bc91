package clusterimport

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/traces/kube"
)

// place is where a part of the scenario comes from.
type place struct {
	field string
	from  *kube.Object
	path  kube.Path
}

// from notes where a part of the scenario comes from: a field of it, and positions and fields
// within.
func (im *importer) from(o *kube.Object, path kube.Path, field string, steps ...any) {
	for _, s := range steps {
		if i, ok := s.(int); ok {
			field += "[" + strconv.Itoa(i) + "]"
		} else {
			field += fmt.Sprint(".", s)
		}
	}
	im.places = append(im.places, place{field, o, path})
}

// ours are fields of a scenario that objects have under another name.
var ours = map[string]kube.Path{
	"strategy": kube.At("spec", "queueingStrategy"), "admissionMode": kube.At("spec", "admissionScope", "admissionMode"),
	"fairWeight": kube.At("spec", "fairSharing", "weight"), "name": kube.At("metadata", "name"), "parent": kube.At("spec", "parentName"),
}

// locate gives the mistakes of a scenario the places of the objects they come from.
func (im *importer) locate(err error) error {
	list, ok := errors.AsType[scenario.Errors](err)
	if !ok {
		return err
	}
	for _, e := range list {
		if at, ok := im.placeOf(e); ok {
			e.File, e.Line, e.Column, e.Field = at.File, at.Line, at.Column, at.Field
		}
	}
	return list
}

// placeOf finds the place that says most of a field.
func (im *importer) placeOf(e *scenario.Error) (*kube.Error, bool) {
	var best *place
	for i := range im.places {
		p := &im.places[i]
		if rest, ok := strings.CutPrefix(e.Field, p.field); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && (best == nil || len(p.field) > len(best.field)) {
			best = p
		}
	}
	if best == nil {
		return im.placeOfJob(e)
	}
	path := best.path
	for i, step := range strings.FieldsFunc(e.Field[len(best.field):], func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		n, bad := strconv.Atoi(step)
		switch other, ok := ours[step]; {
		case bad == nil:
			path = path.To(n)
		case ok && i == 0 && path == nil:
			path = other
		case i == 0 && path == nil:
			path = kube.At("spec", step)
		default:
			path = path.To(step)
		}
	}
	return best.from.Fail(path, ""), true
}

var jobRow = regexp.MustCompile(`^job ".*" \(row (\d+)\): `)

// placeOfJob finds the Workload that a mistake of the trace is about.
func (im *importer) placeOfJob(e *scenario.Error) (*kube.Error, bool) {
	m := jobRow.FindStringSubmatch(e.Msg)
	if m == nil {
		return nil, false
	}
	row, _ := strconv.ParseInt(m[1], 10, 64)
	for i := range im.Jobs {
		if im.Jobs[i].Row != row {
			continue
		}
		if o := im.workload(im.Jobs[i].ID); o != nil {
			e.Msg = e.Msg[len(m[0]):]
			return o.Fail(nil, ""), true
		}
	}
	return nil, false
}

// workload returns the object of a job.
func (im *importer) workload(id string) *kube.Object {
	for i := range im.dump.Workloads {
		if o := &im.dump.Workloads[i].Object; o.Namespace+"/"+o.Name == id {
			return o
		}
	}
	return nil
}
