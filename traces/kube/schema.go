package kube

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// The tags of the types say what the API server and Kueue's webhooks want of a field by itself:
//
//	yaml:"name"     its name; ",inline" for the fields of a struct within
//	in:"v1beta1"    the versions that have it, if not all do; now:"name" is what others call it, or a sentence
//	need:"yes"      it must be there
//	is:"duration"   the form of its text, of the entries of a list, or of the values of a mapping
//	keys:"key"      the form of the keys of a mapping
//	one:"A B C"     the words there are; C@v1beta1 is one of that version only
//	min:"1" max:"8" the least and most of a number, or of the entries of a list or mapping
//	whole:"yes"     it is not modelled, only the names of its fields are checked
//
// A field _ has lists of names: also:"..." of fields that exist and are not modelled, and
// quiet:"..." of those of them that say nothing about scheduling, or * for all others. core:"yes" is on the types of
// Kubernetes itself, of which new fields are not refused.
type schema struct {
	fields      []field
	also, quiet []string
	core        bool
}

type field struct {
	name        string
	index       []int
	in          []string
	now         string
	need, whole bool
	form, keys  *form
	words       []string
	least, most *int64
}

var schemas sync.Map // of reflect.Type to *schema

func schemaOf(t reflect.Type) *schema {
	if s, ok := schemas.Load(t); ok {
		return s.(*schema)
	}
	s := &schema{}
	s.collect(t, nil)
	schemas.Store(t, s)
	return s
}

// collect reads the tags of a struct whose index in the whole is given.
func (s *schema) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		tag, at := t.Field(i).Tag, append(index[:len(index):len(index)], i)
		if t.Field(i).Name == "_" {
			s.also = append(s.also, strings.Fields(tag.Get("also"))...)
			s.quiet = append(s.quiet, strings.Fields(tag.Get("quiet"))...)
			s.core = s.core || tag.Get("core") != ""
			continue
		}
		name, option, _ := strings.Cut(tag.Get("yaml"), ",")
		if name+option == "" {
			continue
		}
		if option == "inline" {
			s.collect(t.Field(i).Type, at)
			continue
		}
		s.fields = append(s.fields, field{
			name: name, index: at, in: strings.Fields(tag.Get("in")), now: tag.Get("now"), need: tag.Get("need") != "", whole: tag.Get("whole") != "",
			form: forms[tag.Get("is")], keys: forms[tag.Get("keys")], words: strings.Fields(tag.Get("one")), least: numberOf(tag.Get("min")), most: numberOf(tag.Get("max")),
		})
	}
}

func numberOf(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

func (s *schema) field(name string) *field {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

func (s *schema) names() []string {
	var names []string
	for i := range s.fields {
		names = append(names, s.fields[i].name)
	}
	return append(append(names, s.also...), s.quiet...)
}

// is reports whether a version of the API has the field. A newer one has what v1beta2 has.
func (f *field) is(version string) bool {
	return len(f.in) == 0 || hasVersion(f.in, version)
}

// hasVersion looks a version up. Those of alpha are as v1beta1, which followed them, and those
// after v1beta2 as v1beta2.
func hasVersion(list []string, version string) bool {
	like := "v1beta2"
	if version == "v1beta1" || strings.HasPrefix(version, "v1alpha") {
		like = "v1beta1"
	}
	for _, v := range list {
		if v == like {
			return true
		}
	}
	return false
}

// elsewhere says what a field of another version is called in this.
func (f *field) elsewhere() string {
	switch {
	case f.now == "":
		return ": it is one of " + strings.Join(f.in, " and ")
	case strings.Contains(f.now, " "):
		return ": " + f.now
	}
	return ": it is called " + f.now
}

// allowed are the words of a version.
func (f *field) allowed(version string) (words []string) {
	for _, w := range f.words {
		word, only, limited := strings.Cut(w, "@")
		if !limited || hasVersion([]string{only}, version) {
			words = append(words, word)
		}
	}
	return words
}

// bounds says how much a number may be, or how many entries there may be.
func (f *field) bounds() string {
	switch {
	case f.most == nil:
		return fmt.Sprintf("at least %d", *f.least)
	case f.least == nil:
		return fmt.Sprintf("at most %d", *f.most)
	}
	return fmt.Sprintf("%d to %d", *f.least, *f.most)
}

// item is the field as it is for the entries of a list or mapping.
func (f *field) item() *field { return &field{form: f.form, words: f.words, need: true} }

// expected says what is to be written for a type.
func (f *field) expected(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case f.form != nil && t.Kind() == reflect.String:
		return f.form.what
	case len(f.words) > 0:
		return orList(f.words)
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Slice:
		return "a list"
	case reflect.String, reflect.Interface:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
