package scenario

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/topology"
)

// nodesFrom reads a CSV of nodes: the columns name and gpus, and as wanted count,
// gpuModel, cpu, memory and pods. A table of switches, which knows no GPUs and calls nodes
// by their ip, is read too if the scenario says the GPUs of a node. Every other column is a level, named by the header; the
// levels stand in its order unless the scenario names them.
func (r *resolver) nodesFrom(from *NodesFrom) nodeList {
	word(r, at("cluster", "from", "format"), from.Format, []string{"csv"}, true)
	list := nodeList{}
	r.input(at("cluster", "from"), from.File, from.SHA256, func(shown string, in io.Reader) {
		f := &nodeFile{name: shown, in: csv.NewReader(in), errs: &r.errs, gpus: from.GPUs}
		entries := f.read()
		if len(r.errs.list) > 0 && entries == nil {
			return
		}
		levels := cmpOr(r.File.Cluster.Levels, append(f.levels(), hostLevel))
		list = r.listedNodes(entries, levels, func(entry int, field, msg string) { f.fail(f.lines[entry], 1, field, "%s", msg) })
	})
	return list
}

// nodeFile is a CSV of nodes while it is read.
type nodeFile struct {
	name   string
	in     *csv.Reader
	errs   *problems
	gpus   int // of nodes that do not say; 0 if they must
	header []string
	lines  []int // of the entries
}

func (f *nodeFile) fail(line, column int, field, format string, args ...any) {
	f.errs.add(&Error{f.name, line, column, field, fmt.Sprintf(format, args...)})
}

// nodeColumns sets the fields of a Node that have a column of their own.
var nodeColumns = map[string]func(n *Node, s string) error{
	"name":     func(n *Node, s string) error { n.Name = s; return nil },
	"ip":       func(n *Node, s string) error { n.Name = s; return nil },
	"gpus":     func(n *Node, s string) error { return setCount(&n.GPUs, s, 0) },
	"count":    func(n *Node, s string) error { return setCount(&n.Count, s, 1) },
	"gpuModel": func(n *Node, s string) error { n.GPUModel = s; return nil },
	"model":    func(n *Node, s string) error { n.GPUModel = s; return nil },

	"nvlinkDomain": func(n *Node, s string) error { n.NVLinkDomain = s; return nil },

	"cpu":    func(n *Node, s string) error { return n.CPU.fromText(s) },
	"memory": func(n *Node, s string) error { return n.Memory.fromText(s) },
	"pods": func(n *Node, s string) error {
		var pods int
		err := setCount(&pods, s, 1)
		n.Pods = int64(pods)
		return err
	},
}

func setCount(to *int, s string, least int) error {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || int(n) < least {
		return fmt.Errorf("%s: expected a whole number of at least %d", quote(s), least)
	}
	*to = int(n)
	return nil
}

// levels returns the columns that are levels.
func (f *nodeFile) levels() []string {
	return slices.DeleteFunc(slices.Clone(f.header), func(name string) bool { return nodeColumns[name] != nil })
}

// read returns the entries, or nil if the file is no list of nodes.
func (f *nodeFile) read() []Node {
	before := len(f.errs.list)
	f.header = slices.Clone(f.record())
	if !f.headerIsGood(len(f.errs.list) == before) {
		return nil
	}
	entries := []Node{}
	for record := f.record(); record != nil && !f.errs.full(); record = f.record() {
		if len(entries) == topology.MaxNodes {
			f.fail(f.line(0), 1, "", "more than %d nodes", topology.MaxNodes)
			return nil
		}
		entries = append(entries, f.entry(record))
		f.lines = append(f.lines, f.line(0))
	}
	if len(entries) == 0 && len(f.errs.list) == before {
		f.fail(1, 1, "", "no nodes: expected rows after the header")
	}
	return entries
}

// headerIsGood checks the header. If there is none, the file is empty, or could not be
// read, which is known already.
func (f *nodeFile) headerIsGood(readable bool) bool {
	if f.header == nil {
		if readable {
			f.fail(1, 1, "", "no header: expected a CSV with the columns name and gpus")
		}
		return false
	}
	for i, name := range f.header {
		if f.header[i] = strings.TrimSpace(name); f.header[i] == "" || slices.Contains(f.header[:i], f.header[i]) {
			f.fail(1, 1, quote(name), "expected a name that no other column has")
			return false
		}
	}
	known := slices.Clone(f.header)
	if slices.Contains(known, "ip") {
		known = append(known, "name")
	}
	if f.gpus > 0 {
		known = append(known, "gpus")
	}
	for _, name := range []string{"name", "gpus"} {
		if !slices.Contains(known, name) {
			f.fail(1, 1, name, "missing column: the header has %s", strings.Join(f.header, ", "))
			return false
		}
	}
	return true
}

// record returns the next row, or nil at the end and after a mistake.
func (f *nodeFile) record() []string {
	record, err := f.in.Read()
	if e, ok := errors.AsType[*csv.ParseError](err); ok {
		f.fail(e.Line, e.Column, "", "%v", e.Err)
	} else if err != nil && err != io.EOF {
		f.fail(0, 0, "", "cannot be read: %s", reason(err))
	}
	if err != nil {
		return nil
	}
	return record
}

func (f *nodeFile) line(column int) int {
	line, _ := f.in.FieldPos(column)
	return line
}

// entry makes a Node of a row. Empty cells are fields that are not given.
func (f *nodeFile) entry(record []string) Node {
	n := Node{GPUs: f.gpus}
	for i, name := range f.header {
		s := strings.TrimSpace(record[i])
		set := nodeColumns[name]
		switch {
		case s == "":
		case set == nil:
			if n.Domains == nil {
				n.Domains = map[string]string{}
			}
			n.Domains[name] = s
		default:
			if err := set(&n, s); err != nil {
				line, column := f.in.FieldPos(i)
				f.fail(line, column, name, "%v", err)
			}
		}
	}
	return n
}
