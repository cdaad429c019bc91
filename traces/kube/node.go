package kube

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// resolved returns what an alias stands for. Chains end: an anchor is before its aliases.
func resolved(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// member is a field of a mapping.
type member struct{ key, value *yaml.Node }

// members returns the fields of a mapping, those of merge keys (<<) last and only where it has
// none of the name itself.
func members(n *yaml.Node) []member {
	out := make([]member, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() != "!!merge" {
			out = append(out, member{n.Content[i], n.Content[i+1]})
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == "!!merge" {
			out = merge(out, resolved(n.Content[i+1]), maxMerges)
		}
	}
	return out
}

// maxMerges bounds merges in merges.
const maxMerges = 4

func merge(out []member, from *yaml.Node, depth int) []member {
	switch {
	case depth == 0:
	case from.Kind == yaml.SequenceNode:
		for _, c := range from.Content {
			out = merge(out, resolved(c), depth-1)
		}
	case from.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(from.Content); i += 2 {
			key := from.Content[i]
			if key.ShortTag() == "!!merge" {
				out = merge(out, resolved(from.Content[i+1]), depth-1)
			} else if !slices.ContainsFunc(out, func(m member) bool { return m.key.Value == key.Value }) {
				out = append(out, member{key, from.Content[i+1]})
			}
		}
	}
	return out
}

// child returns the value of a mapping's field, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	n = resolved(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	merges := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return resolved(n.Content[i+1])
		}
		merges = merges || n.Content[i].ShortTag() == "!!merge"
	}
	if merges {
		for _, m := range members(n) {
			if m.key.Value == key {
				return resolved(m.value)
			}
		}
	}
	return nil
}

// find returns the value at a path, or what is nearest above it.
func find(n *yaml.Node, p Path) *yaml.Node {
	for _, step := range p {
		var next *yaml.Node
		switch step := step.(type) {
		case string:
			next = child(n, step)
		case int:
			if n.Kind == yaml.SequenceNode && step < len(n.Content) {
				next = resolved(n.Content[step])
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || isNull(n) {
		return ""
	}
	return n.Value
}

// fingerprint is a number that two values share if they say the same, in whatever order their
// fields are, and with or without null. Values that cannot be told from all others, since
// they are too deep or stand for too much, share theirs.
func fingerprint(n *yaml.Node, budget *int) uint64 {
	n = resolved(n)
	if *budget--; *budget < 0 || n == nil {
		return 0
	}
	h := fnv.New64a()
	switch n.Kind {
	case yaml.ScalarNode:
		io.WriteString(h, "s"+n.Value)
	case yaml.SequenceNode:
		io.WriteString(h, "l")
		for _, c := range n.Content {
			writeNumber(h, fingerprint(c, budget))
		}
	case yaml.MappingNode:
		fields := slices.DeleteFunc(members(n), func(m member) bool { return isNull(resolved(m.value)) })
		slices.SortStableFunc(fields, func(a, b member) int { return cmp.Compare(a.key.Value, b.key.Value) })
		for _, m := range fields {
			io.WriteString(h, "k"+m.key.Value+"\x00")
			writeNumber(h, fingerprint(m.value, budget))
		}
	}
	return h.Sum64()
}

func writeNumber(w io.Writer, x uint64) {
	var b [8]byte
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
	w.Write(b[:])
}

// detached is a copy without status and without what keeps the text alive that it is from. Of
// what stands for too much there is only a part.
func detached(n *yaml.Node, budget *int) *yaml.Node {
	n = resolved(n)
	if *budget--; *budget < 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Line: n.Line, Column: n.Column}
	}
	out := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: strings.Clone(n.Value), Line: n.Line, Column: n.Column}
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			out.Content = append(out.Content, detached(c, budget))
		}
	}
	if n.Kind == yaml.MappingNode {
		for _, m := range members(n) {
			if key := m.key.Value; key != "status" && key != "managedFields" {
				out.Content = append(out.Content, detached(m.key, budget), detached(m.value, budget))
			}
		}
	}
	return out
}
