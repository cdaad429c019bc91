package traces

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/gangplan/gangplan/traces/kube"
)

// maxObjects is the size of a file of Kubernetes objects, in bytes. Such a file is held in
// memory, and may be one line.
const maxObjects = 1 << 28

// looksLikeKubernetes tells objects by their first fields, in YAML or JSON.
func looksLikeKubernetes(head []byte) bool {
	return bytes.Contains(head, []byte("apiVersion:")) || bytes.Contains(head, []byte(`"apiVersion":`))
}

// readKubernetes reads the objects that make pods as jobs: Workloads of Kueue if there are
// some, since they say what happened, else Pods, Jobs and controllers of replicas.
func readKubernetes(src *source, o Options) ([]job, error) {
	src.limit.most = maxObjects
	d := &kube.Dump{}
	if err := d.Add(src.name, src); err != nil {
		return nil, objectError(err)
	}
	var jobs []job
	if len(d.Workloads) > 0 {
		list, warnings, err := d.Jobs(nil)
		if err != nil {
			return nil, objectError(err)
		}
		jobs, src.warnings = list, append(src.warnings, warnings...)
	} else {
		m, err := d.Manifests(kube.ManifestOptions{Duration: o.Duration})
		if err != nil {
			return nil, objectError(err)
		}
		jobs, src.budgets, src.warnings = m.Jobs, m.Budgets, append(src.warnings, m.Warnings...)
	}
	src.warnings = append(src.warnings, leftOut(d)...)
	return jobs, nil
}

// leftOut says what the objects have that nobody reads, once each.
func leftOut(d *kube.Dump) (warnings []string) {
	if list := d.NotModelled(); len(list) > 0 {
		warnings = append(warnings, "not modelled: "+strings.Join(list, ", "))
	}
	var kinds []string
	for _, k := range d.Ignored {
		kinds = append(kinds, fmt.Sprintf("%d %s", k.Count, k.Name))
	}
	if len(kinds) > 0 {
		warnings = append(warnings, "objects that make no pods were left out: "+strings.Join(kinds, ", "))
	}
	return warnings
}

// objectError makes an error about objects one of traces, the first where there are several.
func objectError(err error) error {
	if list, ok := errors.AsType[kube.Errors](err); ok {
		err = list[0]
	}
	if e, ok := errors.AsType[*kube.Error](err); ok {
		return &Error{e.File, e.Line, e.Column, e.Field, e.Msg}
	}
	return err
}
