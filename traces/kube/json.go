package kube

import (
	"encoding/json"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// jsonReader makes of JSON the nodes that the YAML library would make, ten times as fast and an
// item at a time: a dump of ten thousand nodes is a quarter of a gigabyte.
type jsonReader struct {
	name string
	text string
	dry  bool // only looks whether it is JSON

	pos, line, begin int // begin is where the line begins
	depth            int
	each             func(*yaml.Node) error // gets every document, and every item of a list
}

const maxNesting = 1000

// unread are the lists that make up most of what an API server prints of an object, and of
// which nobody reads anything.
var unread = map[string]bool{"managedFields": true, "images": true}

// isJSON returns what is wrong with a text that is no JSON, else nil. Documents may follow
// each other, with --- between them or not.
func isJSON(name, text string) *Error {
	j := &jsonReader{name: name, text: text, dry: true, line: 1}
	if err := j.documents(); err != nil {
		return err.(*Error)
	}
	return nil
}

// readJSON calls each with what the text has.
func readJSON(name, text string, each func(*yaml.Node) error) error {
	j := &jsonReader{name: name, text: text, line: 1, each: each}
	return j.documents()
}

func (j *jsonReader) fail(format string, args ...any) error {
	return &Error{File: j.name, Line: j.line, Column: j.pos - j.begin + 1, Msg: "not JSON: " + fmt.Sprintf(format, args...)}
}

// space skips what is between values.
func (j *jsonReader) space() {
	for ; j.pos < len(j.text); j.pos++ {
		switch j.text[j.pos] {
		case ' ', '\t', '\r':
		case '\n':
			j.line++
			j.begin = j.pos + 1
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end.
func (j *jsonReader) peek() byte {
	if j.pos < len(j.text) {
		return j.text[j.pos]
	}
	return 0
}

func (j *jsonReader) documents() error {
	for {
		j.space()
		for j.pos == j.begin && strings.HasPrefix(j.text[j.pos:], "---") {
			j.pos += len("---")
			j.space()
		}
		if j.pos == len(j.text) {
			return nil
		}
		if c := j.peek(); c != '{' && c != '[' {
			return j.fail("expected an object in braces, got %s", j.seen())
		}
		n, err := j.value(true)
		if err != nil {
			return err
		}
		if err := j.emit(n); err != nil {
			return err
		}
	}
}

func (j *jsonReader) emit(n *yaml.Node) error {
	if j.dry {
		return nil
	}
	return j.each(n)
}

// seen shows what is next, for errors.
func (j *jsonReader) seen() string {
	if j.pos >= len(j.text) {
		return "the end of the file"
	}
	word, _, _ := strings.Cut(j.text[j.pos:min(len(j.text), j.pos+20)], "\n")
	return quote(word)
}

func (j *jsonReader) node(kind yaml.Kind, tag, value string, at int) *yaml.Node {
	if j.dry {
		return nil
	}
	n := &yaml.Node{Kind: kind, Tag: tag, Value: value, Line: j.line, Column: at - j.begin + 1}
	if tag == "!!str" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// value reads a value. Items of the list of a document are not kept but handed on.
func (j *jsonReader) value(document bool) (*yaml.Node, error) {
	at := j.pos
	switch c := j.peek(); {
	case c == '{':
		return j.object(document)
	case c == '[':
		return j.list(false)
	case c == '"':
		s, err := j.str()
		return j.node(yaml.ScalarNode, "!!str", s, at), err
	case c == '-' || c >= '0' && c <= '9':
		return j.number()
	}
	for _, word := range []struct{ text, tag string }{{"true", "!!bool"}, {"false", "!!bool"}, {"null", "!!null"}} {
		if strings.HasPrefix(j.text[j.pos:], word.text) {
			j.pos += len(word.text)
			return j.node(yaml.ScalarNode, word.tag, word.text, at), nil
		}
	}
	return nil, j.fail("expected a value, got %s", j.seen())
}

// enter counts the nesting.
func (j *jsonReader) enter() error {
	j.pos++
	if j.depth++; j.depth > maxNesting {
		return j.fail("nested more than %d times", maxNesting)
	}
	return nil
}

// next skips a comma. It reports whether another value follows before the closing byte.
func (j *jsonReader) next(first bool, closing byte) (bool, error) {
	j.space()
	if j.peek() == closing {
		j.pos++
		j.depth--
		return false, nil
	}
	if first {
		return true, nil
	}
	if j.peek() != ',' {
		return false, j.fail("expected a comma or %c, got %s", closing, j.seen())
	}
	j.pos++
	j.space()
	return true, nil
}

func (j *jsonReader) object(document bool) (*yaml.Node, error) {
	n := j.node(yaml.MappingNode, "!!map", "", j.pos)
	if err := j.enter(); err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		if more, err := j.next(first, '}'); !more || err != nil {
			return n, err
		}
		if j.peek() != '"' {
			return nil, j.fail("expected the name of a field in quotes, got %s", j.seen())
		}
		at := j.pos
		name, err := j.str()
		if err != nil {
			return nil, err
		}
		key := j.node(yaml.ScalarNode, "!!str", name, at)
		if j.space(); j.peek() != ':' {
			return nil, j.fail("expected a colon, got %s", j.seen())
		}
		j.pos++
		j.space()
		value, err := j.member(name, document)
		if err != nil {
			return nil, err
		}
		if n != nil && value != nil {
			n.Content = append(n.Content, key, value)
		}
	}
}

// member reads the value of a field; nil if nobody reads it.
func (j *jsonReader) member(name string, document bool) (*yaml.Node, error) {
	isList := j.peek() == '['
	if isList && document && name == "items" {
		return j.list(true)
	}
	if isList && unread[name] && !j.dry {
		j.dry = true
		_, err := j.value(false)
		j.dry = false
		return nil, err
	}
	return j.value(false)
}

// list reads a list, whose items are handed on where they are documents.
func (j *jsonReader) list(documents bool) (*yaml.Node, error) {
	n := j.node(yaml.SequenceNode, "!!seq", "", j.pos)
	if err := j.enter(); err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		if more, err := j.next(first, ']'); !more || err != nil {
			return n, err
		}
		item, err := j.value(false)
		if err == nil && documents {
			err = j.emit(item)
		} else if n != nil {
			n.Content = append(n.Content, item)
		}
		if err != nil {
			return nil, err
		}
	}
}

// str reads a text in quotes.
func (j *jsonReader) str() (string, error) {
	escaped := false
	for i := j.pos + 1; i < len(j.text); i++ {
		switch c := j.text[i]; {
		case c == '"':
			raw := j.text[j.pos : i+1]
			if !escaped {
				j.pos = i + 1
				return raw[1 : len(raw)-1], nil
			}
			var s string
			if json.Unmarshal([]byte(raw), &s) != nil {
				return "", j.fail("%s has an escape that there is not", quote(raw))
			}
			j.pos = i + 1
			return s, nil
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return "", j.fail("a text in quotes that does not end in its line")
		}
	}
	return "", j.fail("a text in quotes that does not end")
}

func (j *jsonReader) number() (*yaml.Node, error) {
	at := j.pos
	for j.pos < len(j.text) && strings.IndexByte("+-.eE0123456789", j.text[j.pos]) >= 0 {
		j.pos++
	}
	text, tag := j.text[at:j.pos], "!!int"
	if strings.ContainsAny(text, ".eE") {
		tag = "!!float"
	}
	if !isNumber(text) {
		j.pos = at
		return nil, j.fail("%s is no number", quote(text))
	}
	return j.node(yaml.ScalarNode, tag, text, at), nil
}

// isNumber reports whether a text is a number of JSON.
func isNumber(s string) bool {
	digits := func() bool {
		n := len(s)
		s = strings.TrimLeft(s, "0123456789")
		return len(s) < n
	}
	s = strings.TrimPrefix(s, "-")
	whole := s
	if !digits() || whole[0] == '0' && len(whole)-len(s) > 1 {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		if s = rest; !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		return digits() && s == ""
	}
	return s == ""
}
