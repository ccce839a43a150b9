package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Limits of a call's input.
const (
	maxInputDepth  = 16
	maxInputValues = 10_000 // number of texts, numbers, lists, and objects
)

// gatherer collects the texts of input fields. A field counts at any depth, for example in a list of edits, and in any
// case, because Go programs ignore the case of field names.
type gatherer struct {
	fields string // separated by spaces
	kind   kind
	values []string
	seen   int
}

// input collects the fields of an input, and returns why a value is unknown, or "".
func (g *gatherer) input(in map[string]any) (doubt string) { return g.object(in, 0) }

func (g *gatherer) object(in map[string]any, depth int) (doubt string) {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		field := ""
		if oneOf(name, g.fields) {
			field = name
		}
		had := len(g.values)
		if doubt := g.value(in[name], field, depth); doubt != "" {
			return doubt
		}
		if _, nested := in[name].(map[string]any); nested && field != "" && len(g.values) == had {
			return fmt.Sprintf("its %s is not text", quotedName(name))
		}
	}
	return ""
}

// value collects the value of a field. For a field that is not relevant (""), it collects the fields inside.
func (g *gatherer) value(v any, field string, depth int) (doubt string) {
	if g.seen++; g.seen > maxInputValues || depth > maxInputDepth {
		return "its input is too large"
	}
	switch v := v.(type) {
	case nil:
	case string:
		if field != "" && (v != "" || g.kind != search) {
			g.values = append(g.values, v)
		}
	case []string:
		for _, item := range v {
			if doubt := g.value(item, field, depth+1); doubt != "" {
				return doubt
			}
		}
	case []any:
		for _, item := range v {
			if doubt := g.value(item, field, depth+1); doubt != "" {
				return doubt
			}
		}
	case map[string]any:
		return g.object(v, depth+1)
	default:
		if field != "" {
			return fmt.Sprintf("its %s is not text", quotedName(field))
		}
	}
	return ""
}

// quotedName returns the name of a field, quoted unless it is plain.
func quotedName(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return name
	}
	return quoted(name)
}

// oneOf reports whether a name is in a space-separated list. file_path, filePath, and " FilePath" are equal.
func oneOf(name, fields string) bool {
	name = plainName(name)
	for f := range strings.FieldsSeq(fields) {
		if plainName(f) == name {
			return true
		}
	}
	return false
}

// plainName returns the letters and digits of a field's name in lower case: some programs ignore what is around a name.
func plainName(name string) string {
	return folded(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name))
}
