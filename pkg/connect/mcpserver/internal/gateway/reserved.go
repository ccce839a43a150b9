package gateway

import (
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reservedLabels are the labels of prefixes in _meta that only skillpm or the protocol's implementation here may use:
// skillpm/status, io.modelcontextprotocol/serverInfo, dev.mcp/x.
var reservedLabels = []string{"skillpm", "modelcontextprotocol", "mcp"}

// isReserved reports whether a key of _meta has a reserved prefix, however it is written.
func isReserved(key string) bool {
	prefix, _, ok := strings.Cut(strings.ToLower(key), "/")
	return ok && slices.ContainsFunc(strings.FieldsFunc(prefix, func(r rune) bool { return r < 'a' || r > 'z' }),
		func(label string) bool { return slices.Contains(reservedLabels, label) })
}

// removeReserved removes the reserved keys from every _meta in a message of a server, so that no client takes them for
// skillpm's. The value must be a pointer.
func removeReserved(message any) { removeFrom(reflect.ValueOf(message)) }

func removeFrom(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			removeFrom(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanInterface() {
				removeFrom(f)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			removeFrom(v.Index(i))
		}
	case reflect.Map:
		if meta, ok := reflect.TypeAssert[mcp.Meta](v); ok {
			deleteReserved(meta)
			return
		}
		for _, value := range v.Seq2() {
			removeFrom(value)
		}
	}
}

// deleteReserved deletes the reserved keys of an object and of those in it.
func deleteReserved(object map[string]any) {
	for key, value := range object {
		if isReserved(key) {
			delete(object, key)
			continue
		}
		deleteIn(value)
	}
}

func deleteIn(value any) {
	switch value := value.(type) {
	case map[string]any:
		deleteReserved(value)
	case []any:
		for _, item := range value {
			deleteIn(item)
		}
	}
}
