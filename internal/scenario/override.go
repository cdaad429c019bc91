package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"

	"gopkg.in/yaml.v3"
)

// Override lays a value over one field of a scenario before it is decoded, so that what is
// wrong with it is said as of any other value, with its own place.
//
// Path is that of the errors: names joined by dots and positions in lists in brackets, as
// in cluster.synthetic.racks or workload.jobs[0].gpus. In brackets there may also be the
// name of an entry, as in queues[research].quota.gpu, or a key that has dots in it.
// Mappings on the way are made where they are missing; entries of lists are not. The value
// null leaves the field out. The path `policy` stands for the policies to be run, one or a
// list: labels or names of the scenario's, or mappings with their parameters.
type Override struct {
	Path, Value Value // the path is a text
}

// Value is a value as it is written in YAML, and where.
type Value struct {
	file string
	node *yaml.Node
}

// ParseValue reads one YAML value from somewhere without lines, such as a flag. origin
// stands in errors. The error is an Errors.
func ParseValue(origin, text string) (Value, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		e := syntaxError(origin, err)
		e.Line = 0
		return Value{}, Errors{e}
	}
	if len(doc.Content) == 0 {
		return Value{}, Errors{{File: origin, Msg: "empty: expected a value"}}
	}
	each(doc.Content[0], func(n *yaml.Node) { n.Line, n.Column = 0, 0 })
	return Value{origin, doc.Content[0]}, nil
}

// Set makes an override of two texts from one origin, such as a flag.
func Set(origin, path, value string) (Override, error) {
	v, err := ParseValue(origin, value)
	return Override{Value{origin, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path}}, v}, err
}

// Join makes one override of several of one field, whose value is the list of theirs.
func Join(overrides []Override) Override {
	first := overrides[0]
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: first.Value.node.Line, Column: first.Value.node.Column}
	for _, o := range overrides {
		list.Content = append(list.Content, o.Value.node)
	}
	return Override{first.Path, Value{first.Value.file, list}}
}

// each visits a node and all below it; aliases are not followed.
func each(n *yaml.Node, do func(n *yaml.Node)) {
	do(n)
	for _, c := range n.Content {
		each(c, do)
	}
}

// String returns the value on one line: a text as it is, without quotes.
func (v Value) String() string {
	n := target(v.node)
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	flat := (&copier{}).copy(n)
	each(flat, func(n *yaml.Node) {
		n.Style |= yaml.FlowStyle
		n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	})
	b, err := yaml.Marshal(flat)
	if err != nil {
		return kindOf(n)
	}
	return strings.Join(strings.Fields(string(b)), " ")
}

// target returns what an alias stands for, else the node itself.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// copier copies nodes, each once. An alias leads to the copy of what it led to.
type copier struct {
	done map[*yaml.Node]*yaml.Node
	note func(from, to *yaml.Node) // if not nil, it hears of each copy
}

func (c *copier) copy(n *yaml.Node) *yaml.Node {
	if n == nil || c.done[n] != nil {
		return c.done[n]
	}
	if c.done == nil {
		c.done = map[*yaml.Node]*yaml.Node{}
	}
	to := *n
	c.done[n] = &to
	if c.note != nil {
		c.note(n, &to)
	}
	to.Alias = c.copy(n.Alias)
	to.Content = make([]*yaml.Node, len(n.Content))
	for i := range n.Content {
		to.Content[i] = c.copy(n.Content[i])
	}
	return &to
}

// With returns the file under some overrides, each laid over what those before it made;
// those of the policies to be run come last. f must have been parsed; it does not change.
// The error is an Errors.
func (f *File) With(overrides ...Override) (*File, error) {
	out := &File{name: f.name, foreign: map[*yaml.Node]string{}}
	maps.Copy(out.foreign, f.foreign)
	whole := copier{note: func(from, to *yaml.Node) {
		if name, ok := f.foreign[from]; ok {
			out.foreign[to] = name
		}
	}}
	out.root = whole.copy(f.root)
	d := newDecoder(out)
	for _, last := range []bool{false, true} {
		for i := range overrides {
			if l := (&layer{decoder: d, given: &overrides[i]}); last == (l.given.Path.String() == policyPath) {
				l.lay()
			}
		}
	}
	if err := out.decodeWith(d); err != nil {
		return nil, err
	}
	return out, nil
}

// Fingerprint returns the SHA-256, in hex, of all that the file says but for its name, its
// policies and its seed. It is finer than a Scenario's Hash: files that differ in what makes
// no difference differ here too, and nothing that may make one is left out.
func (f *File) Fingerprint() string {
	said := *f
	said.Name, said.Policies, said.Seed = "", nil, nil
	text, err := json.Marshal(&said)
	if err != nil {
		panic("scenario: a file cannot be written: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// nameOf returns the file that a node stands in.
func (f *File) nameOf(n *yaml.Node) string {
	if name, ok := f.foreign[n]; ok {
		return name
	}
	return f.name
}
