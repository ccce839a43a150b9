package yamlx

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Value is a value of a file. If a check fails, its methods record a problem and return a zero value. If the value does
// not exist, or already has a problem, they return a zero value and record nothing.
type Value struct {
	Node *yaml.Node // nil if the value does not exist
	Name string     // for messages; the default is its key

	key *yaml.Node
	r   *Reader
}

// Named returns the value with another name.
func (v Value) Named(name string) Value {
	v.Name = name
	return v
}

// Key returns the key of a value of a mapping, for problems that are about the key.
func (v Value) Key() Value { return Value{Node: v.key, Name: v.Name, r: v.r} }

// At returns another node of the same file as a value, for its problems.
func (v Value) At(n *yaml.Node) Value { return Value{Node: n, r: v.r} }

// Quiet returns a copy of the value that does not record problems.
func (v Value) Quiet() Value {
	v.r = &Reader{path: v.r.path, format: v.r.format, rejected: v.r.rejected}
	return v
}

// Exists reports whether the value exists.
func (v Value) Exists() bool { return v.Node != nil }

// IsBlank reports whether the value does not exist, or is a key without a value.
func (v Value) IsBlank() bool { return v.Node == nil || isNull(v.Node) && v.Node.Value == "" }

// IsMapping reports whether the value exists and is a mapping.
func (v Value) IsMapping() bool { return v.Node != nil && v.Node.Kind == yaml.MappingNode }

// IsList reports whether the value exists and is a list.
func (v Value) IsList() bool { return v.Node != nil && v.Node.Kind == yaml.SequenceNode }

// IsScalar reports whether the value exists and is a scalar.
func (v Value) IsScalar() bool { return v.Node != nil && v.Node.Kind == yaml.ScalarNode }

// Line returns the line of the value, or 0 if it does not exist.
func (v Value) Line() int {
	if v.Node == nil {
		return 0
	}
	return v.Node.Line
}

// Count returns the number of problems recorded for the file.
func (v Value) Count() int { return len(v.r.reports) }

// NewError returns an error at the position of the value. The hint may be "".
func (v Value) NewError(hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	p := Problem{Line: v.Node.Line, Column: v.Node.Column, Message: err.Error(), Hint: hint}
	if v.r.format.LinesOnly {
		p.Column = 0
	}
	return &Error{Path: v.r.path, Problem: p, err: err}
}

// Errorf records a problem at the position of the value. The hint may be "".
func (v Value) Errorf(hint, format string, args ...any) {
	err := v.NewError(hint, format, args...)
	v.r.add(err, err.Problem)
}

// Check records an error of another package at the position of the value, with its hint. It returns true if the error
// is nil.
func (v Value) Check(err error) bool {
	if err == nil {
		return true
	}
	if located, ok := errors.AsType[located](err); ok {
		v.r.add(err, located.Problem())
	} else {
		v.Errorf(diag.HintOf(err), "%w", err)
	}
	return false
}

// Get returns the value at a path of keys.
func (v Value) Get(path ...string) Value {
	for _, key := range path {
		n := v.Node
		v = Value{Name: key, r: v.r}
		for k, value := range Pairs(n) {
			if k.Kind == yaml.ScalarNode && k.Value == key {
				v.key, v.Node = k, value
				break
			}
		}
	}
	return v
}

// Fields yields the keys and values of a mapping. If keys are given, it records all others as problems.
func (v Value) Fields(keys ...string) iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if !v.exists() || v.r.format.NullIsEmpty && isNull(v.Node) || !v.hasValue("write a value, or remove the key") {
			return
		}
		if v.Node.Kind != yaml.MappingNode {
			v.Errorf("write {key: value}, or one indented line for each key", "%s must be a mapping", v.Name)
			return
		}
		for k, n := range Pairs(v.Node) {
			value := Value{Node: n, Name: k.Value, key: k, r: v.r}
			switch {
			case v.r.rejected[k] || v.r.rejected[n]:
			case len(keys) > 0 && !slices.Contains(keys, k.Value):
				value.Key().Errorf(didYouMean(k.Value, keys, "use "+textx.OneOf(keys)),
					"unknown key %q in %s", k.Value, v.Name)
			case !yield(k.Value, value):
				return
			}
		}
	}
}

// Each calls the function of each key with its value. It records keys without a function as problems.
func (v Value) Each(fields map[string]func(Value)) {
	for key, value := range v.Fields(slices.Sorted(maps.Keys(fields))...) {
		fields[key](value)
	}
}

// didYouMean returns a hint with the most similar word, or else the given hint.
func didYouMean(word string, words []string, otherwise string) string {
	if near := diag.Nearest(word, words); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// Require records the keys that a mapping does not have.
func (v Value) Require(hint string, keys ...string) {
	for _, key := range keys {
		if v.exists() && v.IsMapping() && !v.Get(key).Exists() {
			v.Errorf(hint, "the key %q is missing in %s", key, v.Name)
		}
	}
}

// exists reports whether the value exists and has no recorded problem.
func (v Value) exists() bool { return v.Node != nil && !v.r.rejected[v.Node] }

// hasValue records a problem for a value that YAML reads as null.
func (v Value) hasValue(hint string) bool {
	switch {
	case !isNull(v.Node):
		return true
	case v.Node.Value == "":
		v.Errorf(hint, "%s does not have a value", v.Name)
	default:
		v.Errorf(fmt.Sprintf("write the value in quotes: %q", v.Node.Value),
			"%s is %s, which YAML reads as null", v.Name, v.Node.Value)
	}
	return false
}

// Prose returns a text that may have several lines.
func (v Value) Prose() string {
	s, _ := v.text()
	return s
}

func (v Value) text() (string, bool) {
	switch {
	case !v.exists():
		return "", false
	case v.Node.Kind != yaml.ScalarNode:
		v.Errorf("write the value in quotes", "%s must be text", v.Name)
		return "", false
	}
	return v.Node.Value, v.hasValue("write a value, or remove the key")
}

// Text returns a single-line text that passes the checks, or "".
func (v Value) Text(checks ...func(string) error) string {
	s, ok := v.line()
	for _, check := range checks {
		ok = ok && v.Check(check(s))
	}
	if !ok {
		return ""
	}
	return s
}

func (v Value) line() (string, bool) {
	const hint = "write the value in quotes on one line"
	isBlock := v.exists() && v.Node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if isBlock && v.r.format.Forbidden == nil {
		v.Errorf(hint, "%s must be one line of text, without > or |", v.Name)
		return "", false
	}
	s, ok := v.text()
	switch {
	case !ok:
		return "", false
	case v.r.format.Forbidden != nil && (isBlock || strings.ContainsFunc(s, v.r.format.Forbidden)):
		v.Errorf(hint, "%s must be one line of text", v.Name)
		return "", false
	case v.r.format.Forbidden == nil && strings.ContainsAny(s, "\r\n"):
		v.Errorf(hint, "%s contains a line break", v.Name)
		return "", false
	}
	return s, true
}

// As parses a single-line text, and returns a zero value after an error.
func As[T any](v Value, parse func(string) (T, error)) T {
	value, _ := as(v, parse)
	return value
}

func as[T any](v Value, parse func(string) (T, error)) (value T, ok bool) {
	s, ok := v.line()
	if !ok {
		return value, false
	}
	parsed, err := parse(s)
	if !v.Check(err) {
		return value, false
	}
	return parsed, true
}

// Items yields the entries of a list.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if !v.exists() || v.r.format.NullIsEmpty && isNull(v.Node) ||
			!v.hasValue("write [] for an empty list, or remove the key") {
			return
		}
		if v.Node.Kind != yaml.SequenceNode {
			v.Errorf("write [a, b], or one line with a hyphen for each entry", "%s must be a list", v.Name)
			return
		}
		for _, n := range v.Node.Content {
			if !v.r.rejected[n] && !yield(Value{Node: n, Name: "an entry of " + v.Name, r: v.r}) {
				return
			}
		}
	}
}

// Texts returns a list of texts that pass the checks, without duplicates. It is nil only if the list does not exist.
func (v Value) Texts(checks ...func(string) error) []string {
	return ListOf(v, func(s string) (string, error) {
		for _, check := range checks {
			if err := check(s); err != nil {
				return "", err
			}
		}
		return s, nil
	})
}

// ListOf parses a list of texts, without duplicates. It is nil only if the list does not exist.
func ListOf[T comparable](v Value, parse func(string) (T, error)) []T {
	var list []T
	if v.exists() && v.IsList() {
		list = make([]T, 0, len(v.Node.Content))
	}
	seen := make(map[T]bool)
	for item := range v.Items() {
		value, ok := as(item, parse)
		switch {
		case !ok:
		case seen[value]:
			item.Errorf("remove one of the two entries", "%q appears more than once in %s", item.Node.Value, v.Name)
		default:
			list, seen[value] = append(list, value), true
		}
	}
	return list
}

// OneOf returns a text that is one of the words.
func (v Value) OneOf(words ...string) string { return v.Text(OneOf(v.Name, words...)) }

// OneOf returns a check that a text is one of the words. name is used in messages.
func OneOf(name string, words ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(words, s) {
			return nil
		}
		hint := didYouMean(s, words, "use "+textx.OneOf(words))
		return diag.Errorf(diag.Invalid, "%s has the unknown value %q", name, s).WithHint("%s", hint)
	}
}

// Bool returns true or false.
func (v Value) Bool() bool {
	if !v.exists() || !v.hasValue("write a value, or remove the key") {
		return false
	}
	if v.Node.Kind != yaml.ScalarNode || v.Node.ShortTag() != "!!bool" {
		v.Errorf("write true or false, without quotes", "%s must be true or false", v.Name)
		return false
	}
	return strings.EqualFold(v.Node.Value, "true")
}

var positiveInteger = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,14}$`) })

// Int returns a number from 1 to most, or without an upper limit if most is 0.
func (v Value) Int(most int64) int64 {
	if !v.exists() || !v.hasValue("write a value, or remove the key") {
		return 0
	}
	if v.IsScalar() && v.Node.ShortTag() == "!!int" && positiveInteger().MatchString(v.Node.Value) {
		if n, err := strconv.ParseInt(v.Node.Value, 10, 64); err == nil && (most == 0 || n <= most) {
			return n
		}
	}
	if most == 0 {
		v.Errorf("write the number in digits, without quotes, such as 2000",
			"%s must be a whole number of at least 1", v.Name)
	} else {
		v.Errorf("", "%s must be a number from 1 to %d", v.Name, most)
	}
	return 0
}
