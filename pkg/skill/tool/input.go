package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The limits of the input of a call that patterns are held against.
const (
	maxInputDepth  = 16
	maxInputValues = 10_000 // texts, numbers, lists and objects
)

// gatherer collects the texts of an input's fields. A field counts at any depth, as in a list of edits, and however its
// name is written: an agent that is written in Go does not look at the case of a name.
type gatherer struct {
	fields string // separated by spaces
	kind   kind
	values []string
	seen   int
}

// input collects the fields of an input, and says why what one of them holds can't be told, or "".
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
			return fmt.Sprintf("its %s is no text", quotedName(name))
		}
	}
	return ""
}

// value collects what a field holds, and where it is none of those that are looked for, which is "", what fields in it
// do.
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
			return fmt.Sprintf("its %s is no text", quotedName(field))
		}
	}
	return ""
}

// quotedName is the name of a field as it is where it is plain.
func quotedName(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return name
	}
	return quoted(name)
}

// oneOf reports whether a name is one of several, which are separated by spaces: file_path, filePath and FilePath are
// one.
func oneOf(name, fields string) bool {
	name = plainName(name)
	for f := range strings.FieldsSeq(fields) {
		if plainName(f) == name {
			return true
		}
	}
	return false
}

func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
