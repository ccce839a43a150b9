package connect

import (
	"reflect"
)

// object is a mapping with ordered keys.
type object []member

// member is one key of an object.
type member struct {
	key   string
	value any // a string, bool, int, []string, []any or object
}

// toPlain returns a value as encoding/json would decode it.
func toPlain(value any) any {
	switch v := value.(type) {
	case object:
		m := map[string]any{}
		for _, field := range v {
			m[field.key] = toPlain(field.value)
		}
		return m
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	case []any:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = toPlain(s)
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for key, s := range v {
			m[key] = toPlain(s)
		}
		return m
	case int:
		return float64(v)
	case int64:
		return float64(v)
	default:
		return v
	}
}

// same reports whether two values are equal.
func same(a, b any) bool { return reflect.DeepEqual(toPlain(a), toPlain(b)) }

// lookup follows keys and indexes through a plain value.
func lookup(value any, path ...any) (any, bool) {
	for _, step := range path {
		switch at := step.(type) {
		case string:
			m, _ := value.(map[string]any)
			next, ok := m[at]
			if !ok {
				return nil, false
			}
			value = next
		case int:
			list, _ := value.([]any)
			if at < 0 || at >= len(list) {
				return nil, false
			}
			value = list[at]
		}
	}
	return value, true
}
