package yamlx

import (
	"cmp"
	"encoding"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// maxDepth limits the nesting of values that are kept as nodes.
const maxDepth = 16

// Decode decodes a value into a struct by the yaml tags of its fields. It first checks the value against the types of
// the fields, so that problems use the words of the file and not of Go. It reports whether there were no problems.
func (v Value) Decode(into any) bool {
	before := v.Count()
	v.checkType(reflect.TypeOf(into).Elem(), "")
	if v.Count() > before {
		return false
	}
	if err := v.Node.Decode(into); err != nil {
		v.Errorf("", "%s", Message(err))
		return false
	}
	return true
}

// Unmarshal decodes a file that is embedded in the program. A key without a field is an error.
func Unmarshal(data []byte, into any) error {
	r := Read("it", data, Format{Name: "it", TypedText: true, LinesOnly: true})
	if root, ok := r.Root(); ok {
		root.Decode(into)
	}
	return r.Err()
}

// checkType checks a value against the type that it is decoded into. path is the path of its keys.
func (v Value) checkType(t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if v.r.rejected[v.Node] {
		return
	}
	if v.Node.Kind == yaml.AliasNode {
		v.Node = v.Node.Alias
	}
	name := cmp.Or(path, v.r.format.Name)
	switch {
	case t == reflect.TypeFor[yaml.Node]():
		v.checkTree(name, maxDepth)
		return
	case t.Kind() == reflect.Interface:
		return
	case isNull(v.Node):
		if !v.r.format.NullIsEmpty {
			v.Errorf("remove the key, or set it to \"\"", "%s does not have a value", name)
		}
		return
	}
	switch kind := t.Kind(); {
	case kind != reflect.Struct && kind != reflect.Map && kind != reflect.Slice:
		v.checkScalar(t, name)
	case kind == reflect.Slice && v.IsList():
		for _, item := range v.Node.Content {
			e := v.At(item).Named("an entry of " + path)
			if isNull(cmp.Or(item.Alias, item)) && !v.r.rejected[item] {
				e.Errorf("remove the entry, or write a value", "%s does not have a value", e.Name) // yaml.v3 leaves it out
				continue
			}
			e.checkType(t.Elem(), e.Name)
		}
	case kind == reflect.Slice:
		v.Errorf("", "%s must be a list, not %s", name, kindOf(v.Node))
	case !v.IsMapping():
		v.Errorf("", "%s must be a mapping, not %s", name, kindOf(v.Node))
	case kind == reflect.Map:
		for k, n := range Pairs(v.Node) {
			v.At(n).checkType(t.Elem(), join(path, k.Value))
		}
	default:
		v.checkFields(t, path)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (v Value) checkScalar(t reflect.Type, name string) {
	want, tags := "text", []string{"!!str"}
	switch _, isText := reflect.TypeAssert[encoding.TextUnmarshaler](reflect.New(t)); {
	case isText:
		want = "error, warning, or note"
	case t.Kind() == reflect.Bool:
		want, tags = "true or false", []string{"!!bool"}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		want, tags = "a whole number", []string{"!!int"}
	case t.Kind() == reflect.Float64:
		want, tags = "a number", []string{"!!int", "!!float"}
	case v.IsScalar() && !v.r.format.TypedText:
		return
	}
	if v.IsScalar() && slices.Contains(tags, v.Node.ShortTag()) {
		return
	}
	hint := ""
	if want == "text" && v.IsScalar() {
		hint = "write the value in quotes"
	}
	v.Errorf(hint, "%s must be %s, not %s", name, want, kindOf(v.Node))
}

// kindOf returns the name of a node's kind for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if n.ShortTag() == "!!str" {
		return "text"
	}
	return n.Value
}

func (v Value) checkFields(t reflect.Type, path string) {
	types, names := map[string]reflect.Type{}, []string(nil)
	for name, field := range FieldsOf(t) {
		types[name], names = field, append(names, name)
	}
	for k, n := range Pairs(v.Node) {
		switch field, ok := types[k.Value]; {
		case v.r.rejected[k]:
		case ok:
			v.At(n).checkType(field, join(path, k.Value))
		default:
			hint := "use " + textx.OneOf(names)
			if near := diag.Nearest(strings.ToLower(k.Value), names); near != "" {
				hint = "did you mean " + near + "?"
			}
			v.At(k).Errorf(hint, "unknown key %q in %s", k.Value, cmp.Or(path, v.r.format.Name))
		}
	}
}

// FieldsOf yields the fields of a struct and of those that it embeds, by their names in YAML.
func FieldsOf(t reflect.Type) func(yield func(name string, field reflect.Type) bool) {
	return func(yield func(string, reflect.Type) bool) {
		for field := range t.Fields() {
			name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if options == "inline" {
				for name, field := range FieldsOf(field.Type) {
					if !yield(name, field) {
						return
					}
				}
			} else if name != "-" && name != "" && !yield(name, field.Type) {
				return
			}
		}
	}
}

// checkTree checks a value that is kept as a node.
func (v Value) checkTree(name string, depth int) {
	if depth == 0 {
		v.Errorf("", "%s is nested more than %d levels deep", name, maxDepth)
		return
	}
	for i, c := range v.Node.Content {
		if v.Node.Kind != yaml.MappingNode || i%2 == 1 {
			v.At(c).checkTree(name, depth-1)
		}
	}
}
