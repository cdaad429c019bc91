package traces

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gangplan/gangplan/workloads"
)

// The jsonl format has one object a line, with the fields of fields.go as keys. A job with
// several PodSets has them as a list of objects under podSetsKey, each with the keys of
// podFields, and none of these keys beside it. null is a field that is not given.

const podSetsKey = "podsets"

func looksLikeJSONL(head []byte) bool { return head[0] == '{' }

// readJSONL reads gangplan's own JSON lines. Blank lines do not count.
func readJSONL(src *source, o Options) ([]job, error) {
	c := newContext(o)
	var jobs []job
	for line := 1; ; line++ {
		b, err := src.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, src.broken(line, err)
		}
		if len(bytes.TrimSpace(b)) > 0 {
			j, err := parseLine(c, src, b, line, int64(len(jobs))+1)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, j)
		}
		if err == io.EOF {
			return jobs, nil
		}
	}
}

// parser reads the object of one line, token by token, so that it knows the place of
// whatever it does not like. encoding/json's own decoding does not tell.
type parser struct {
	context *context
	src     *source
	text    []byte
	line    int
	dec     *json.Decoder
	at      int   // where the last token began, in bytes
	keys    []int // by slot: 1 + where its value began, 0 if it is not there
	sets    int   // where the list of PodSets began, or the one being read, or -1
	draft   draft
}

// parseLine makes a job of a line.
func parseLine(c *context, src *source, text []byte, line int, row int64) (job, error) {
	p := &parser{context: c, src: src, text: text, line: line, dec: json.NewDecoder(bytes.NewReader(text)),
		keys: make([]int, len(slotNames)), sets: -1, draft: newDraft(row)}
	if !utf8.Valid(text) {
		return job{}, src.errorAt(line, 1, "", "the line is not UTF-8")
	}
	p.dec.UseNumber()
	if err := p.object(p.jobKey); err != nil {
		return job{}, err
	}
	p.at = p.start()
	if _, err := p.dec.Token(); err != io.EOF {
		return job{}, p.wrong("", "something after the object: expected one object a line")
	}
	j, err := p.draft.finish()
	return j, p.place(err)
}

// object reads an object, its opening brace included, and hands every key to member,
// which reads the value.
func (p *parser) object(member func(key string) error) error {
	if err := p.open('{', "", "expected an object of fields in braces"); err != nil {
		return err
	}
	for p.dec.More() {
		key, err := p.token()
		if err != nil {
			return err
		}
		if err := member(key.(string)); err != nil { // the decoder knows that keys are strings
			return err
		}
	}
	_, err := p.token()
	return err
}

// jobKey reads the value of a key of a job.
func (p *parser) jobKey(key string) error {
	if key == podSetsKey {
		return p.podSets()
	}
	slot, ok := slots[key]
	if !ok {
		known := append(slices.Clone(slotNames), podSetsKey)
		return p.unknown(key, known)
	}
	if slot >= firstPodSlot && p.sets >= 0 {
		return p.wrong(key, "fields of pods belong into %s, where there is one", podSetsKey)
	}
	return p.member(key, slot)
}

// podSetKey reads the value of a key of a PodSet.
func (p *parser) podSetKey(key string) error {
	slot, ok := slots[key]
	if !ok || slot < firstPodSlot {
		return p.unknown(key, slotNames[firstPodSlot:])
	}
	return p.member(key, slot)
}

func (p *parser) unknown(key string, known []string) error {
	return p.wrong(quoteOdd(key), "unknown field%s", hintOrAll(key, known))
}

// podSets reads the list of PodSets.
func (p *parser) podSets() error {
	if p.sets >= 0 {
		return p.wrong(podSetsKey, "the field is there twice")
	}
	if p.draft.seen&podSlots != 0 {
		return p.wrong(podSetsKey, "fields of pods stand beside it: expected them inside, or no %s", podSetsKey)
	}
	if err := p.open('[', podSetsKey, "expected a list of objects in brackets"); err != nil {
		return err
	}
	list := p.at
	for p.dec.More() {
		p.sets = p.start()
		if err := p.object(p.podSetKey); err != nil {
			return err
		}
		if err := p.draft.closePodSet(); err != nil {
			return p.place(err)
		}
		clear(p.keys[firstPodSlot:])
	}
	p.sets = list
	_, err := p.token()
	return err
}

// member reads the value of a field.
func (p *parser) member(key string, slot int) error {
	if p.keys[slot] > 0 {
		return p.wrong(key, "the field is there twice")
	}
	s, err := p.value(key, formAt(slot))
	if err != nil {
		return err
	}
	p.keys[slot] = 1 + p.at
	if s == "" {
		return nil
	}
	return p.place(p.draft.put(p.context, slot, s))
}

// expectations say what a value of each form looks like.
var expectations = [...]string{
	text:   `expected text in quotes`,
	number: `expected a number without quotes`,
	memory: `expected bytes as a number, or text such as "96GiB"`,
	list:   `expected a list of texts such as ["A100", "H100"]`,
	flag:   `expected true or false`,
}

// value reads a value of a form and returns its text, empty for null.
func (p *parser) value(key string, f form) (string, error) {
	t, err := p.token()
	if err != nil {
		return "", err
	}
	switch t := t.(type) {
	case nil:
		return "", nil
	case string:
		if f == text || f == memory {
			return t, nil
		}
	case json.Number:
		if f == number || f == memory {
			return t.String(), nil
		}
	case bool:
		if f == flag {
			return fmt.Sprint(t), nil
		}
	case json.Delim:
		if f == list && t == '[' {
			return p.list(key)
		}
	}
	return "", p.wrong(key, "%s", expectations[f])
}

// list reads a list of texts after its opening bracket and joins them as in CSV.
func (p *parser) list(key string) (string, error) {
	begin := p.at
	var items []string
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return "", err
		}
		s, ok := t.(string)
		if !ok || s == "" || strings.Contains(s, "|") {
			return "", p.wrong(key, "%s, none empty or with a |", expectations[list])
		}
		items = append(items, s)
	}
	_, err := p.token()
	p.at = begin
	return strings.Join(items, "|"), err
}

// open reads an opening brace or bracket.
func (p *parser) open(d json.Delim, key, expected string) error {
	t, err := p.token()
	if err == nil && t != d {
		return p.wrong(key, "%s", expected)
	}
	return err
}

// token reads the next token and remembers where it began.
func (p *parser) token() (json.Token, error) {
	p.at = p.start()
	t, err := p.dec.Token()
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, p.wrong("", "the line ends inside the object")
	}
	if err != nil {
		return nil, p.wrong("", "not JSON: %v", err)
	}
	return t, nil
}

// start returns where the next token begins.
func (p *parser) start() int {
	i := int(p.dec.InputOffset())
	for i < len(p.text) && bytes.IndexByte([]byte(" \t\r\n:,"), p.text[i]) >= 0 {
		i++
	}
	return i
}

// wrong returns an error at the last token.
func (p *parser) wrong(field, format string, args ...any) error {
	return p.src.errorAt(p.line, p.at+1, field, format, args...)
}

// place gives a *fieldError its place: where the field's value began, or else what should
// have held it.
func (p *parser) place(err error) error {
	e, ok := errors.AsType[*fieldError](err)
	if !ok {
		return err
	}
	slot, known := slots[e.field]
	switch {
	case known && p.keys[slot] > 0:
		p.at = p.keys[slot] - 1
	case known && slot >= firstPodSlot && p.sets >= 0:
		p.at = p.sets
	default:
		p.at = 0
	}
	return p.wrong(e.field, "%s", e.msg)
}

// WriteJSONL writes jobs so that reading them back gives equal jobs, if they are in the
// order of workloads.Sort and the reader finds their models by name. A job that cannot be
// expressed is an error that names it, and nothing is written.
func WriteJSONL(w io.Writer, jobs []workloads.Job) error {
	for i := range jobs {
		if err := checkReadBack(&jobs[i], jsonTexts(&jobs[i])...); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(w)
	for i := range jobs {
		out.Write(appendJSON(nil, jsonTexts(&jobs[i]))) // an error stays with out until Flush
	}
	return out.Flush()
}

// jsonTexts returns the texts of a job's fields by slot: those of its own together with
// its only PodSet's, or first its own and then one slice per PodSet.
func jsonTexts(j *job) [][]string {
	all := [][]string{written(j)}
	if len(j.PodSets) == 1 {
		writePods(all[0], &j.PodSets[0])
		return all
	}
	for i := range j.PodSets {
		texts := make([]string, len(slotNames))
		writePods(texts, &j.PodSets[i])
		all = append(all, texts)
	}
	return all
}

// appendJSON appends the line of a job.
func appendJSON(b []byte, all [][]string) []byte {
	b = appendFields(append(b, '{'), all[0])
	for i, texts := range all[1:] {
		if i == 0 {
			b = append(b, `,"`+podSetsKey+`":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(appendFields(append(b, '{'), texts), '}')
	}
	if len(all) > 1 {
		b = append(b, ']')
	}
	return append(b, "}\n"...)
}

// appendFields appends the fields that have a text.
func appendFields(b []byte, texts []string) []byte {
	first := true
	for slot, s := range texts {
		if s == "" {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, '"')
		b = append(b, slotNames[slot]...)
		b = append(b, `":`...)
		b = appendValue(b, formAt(slot), s)
	}
	return b
}

// appendValue appends a field's text in its form.
func appendValue(b []byte, f form, s string) []byte {
	switch {
	case f == number || f == flag || f == memory && digits(s):
		return append(b, s...)
	case f == list:
		b = append(b, '[')
		for i, item := range strings.Split(s, "|") {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, item)
		}
		return append(b, ']')
	}
	return appendText(b, s)
}

func appendText(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings have no other form
	}
	return append(b, quoted...)
}
