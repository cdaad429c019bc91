package clusterimport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/traces/kube"
)

// note is a sentence, or one about several things of which there may be thousands.
type note struct {
	text      string
	one, many string // what is said of one thing, or of many, with %s where their names go
	names     []string
}

// note adds a sentence about what is not as in the cluster, once.
func (im *importer) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, n := range im.notes {
		if n.text == text {
			return
		}
	}
	im.notes = append(im.notes, &note{text: text})
}

// about adds a thing to a note about things of its kind.
func (im *importer) about(one, many, name string) {
	for _, n := range im.notes {
		if n.many == many {
			n.names = append(n.names, name)
			return
		}
	}
	im.notes = append(im.notes, &note{one: one, many: many, names: []string{name}})
}

// sentences writes the notes in the order in which they came up.
func (im *importer) sentences() (list []string) {
	for _, n := range im.notes {
		if n.names == nil {
			list = append(list, n.text)
			continue
		}
		list = append(list, strings.Replace(kube.Count(len(n.names), n.one, n.many), "%s", kube.Few(n.names), 1))
	}
	return list
}

// once is about, but for a thing that may come up again.
func (im *importer) once(one, many, name string) {
	for _, n := range im.notes {
		if n.many == many && slices.Contains(n.names, name) {
			return
		}
	}
	im.about(one, many, name)
}
