package profile

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxFile is the size in bytes beyond which a profile is refused, maxDepth how deep its results may be nested.
const (
	maxFile  = 256 << 10
	maxDepth = 16
)

// strict reads the mappings of a profile before they are decoded, so that what is wrong is said with its line and in
// words that do not speak of Go.
type strict struct{ path string }

func (s strict) errorf(n *yaml.Node, format string, args ...any) *diag.Error {
	return diag.Errorf(diag.Invalid, "%s:%d: %s", s.path, n.Line, fmt.Sprintf(format, args...))
}

// check holds a node against the type that it is decoded into.
func (s strict) check(n *yaml.Node, t reflect.Type, what string) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return s.errorf(n, "anchors and aliases are not read in a profile").WithHint("write the value out")
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[yaml.Node]() {
		return s.tree(n, what, maxDepth)
	}
	if n.ShortTag() == "!!null" {
		return s.errorf(n, "%s has no value", what).WithHint("leave it out, or write \"\" for none")
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.fields(n, t, what)
	case reflect.Map:
		return s.mapping(n, t.Elem(), what)
	case reflect.Slice:
		return s.list(n, t.Elem(), what)
	default:
		return s.scalar(n, t, what)
	}
}

func (s strict) scalar(n *yaml.Node, t reflect.Type, what string) error {
	wants, tags := "a text", []string{"!!str"}
	switch t.Kind() {
	case reflect.Bool:
		wants, tags = "true or false", []string{"!!bool"}
	case reflect.Int, reflect.Int64:
		wants, tags = "a whole number", []string{"!!int"}
		if _, ok := reflect.TypeAssert[interface{ UnmarshalText([]byte) error }](reflect.New(t)); ok {
			wants, tags = "error, warning or advice", []string{"!!str"}
		}
	case reflect.Float64:
		wants, tags = "a number", []string{"!!int", "!!float"}
	}
	if n.Kind == yaml.ScalarNode {
		for _, tag := range tags {
			if n.ShortTag() == tag {
				return nil
			}
		}
	}
	err := s.errorf(n, "%s is %s, and should be %s", what, kindOf(n), wants)
	if wants == "a text" && n.Kind == yaml.ScalarNode {
		return err.WithHint("write it in quotes")
	}
	return err
}

// kindOf names what a node is.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "a text"
	case "!!bool":
		return "true or false"
	default:
		return n.Value
	}
}

func (s strict) list(n *yaml.Node, elem reflect.Type, what string) error {
	if n.Kind != yaml.SequenceNode {
		return s.errorf(n, "%s is %s, and should be a list", what, kindOf(n))
	}
	for _, item := range n.Content {
		if err := s.check(item, elem, "an entry of "+what); err != nil {
			return err
		}
	}
	return nil
}

func (s strict) mapping(n *yaml.Node, elem reflect.Type, what string) error {
	if n.Kind != yaml.MappingNode {
		return s.errorf(n, "%s is %s, and should be a mapping", what, kindOf(n))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			return s.errorf(key, "%s is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := s.check(n.Content[i+1], elem, join(what, key.Value)); err != nil {
			return err
		}
	}
	return nil
}

func (s strict) fields(n *yaml.Node, t reflect.Type, what string) error {
	if n.Kind != yaml.MappingNode {
		return s.errorf(n, "%s is %s, and should be a mapping", cmp.Or(what, "the profile"), kindOf(n))
	}
	known, names := map[string]reflect.Type{}, []string(nil)
	fieldsOf(t, func(name string, field reflect.Type) {
		known[name], names = field, append(names, name)
	})
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		field, ok := known[key.Value]
		switch {
		case !ok:
			err := s.errorf(key, "unknown field %q in %s", key.Value, cmp.Or(what, "the profile"))
			if near := diag.Nearest(strings.ToLower(key.Value), names); near != "" {
				return err.WithHint("did you mean %s?", near)
			}
			return err.WithHint("the fields there are: %s", strings.Join(names, ", "))
		case seen[key.Value]:
			return s.errorf(key, "%s is there twice", join(what, key.Value))
		}
		seen[key.Value] = true
		if err := s.check(n.Content[i+1], field, join(what, key.Value)); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf calls f for the fields of a struct and of those that it embeds, by their names in YAML.
func fieldsOf(t reflect.Type, f func(name string, field reflect.Type)) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			fieldsOf(field.Type, f)
		case name != "-" && name != "":
			f(name, field.Type)
		}
	}
}

// tree checks the tree of a structured result.
func (s strict) tree(n *yaml.Node, what string, depth int) error {
	switch {
	case depth == 0:
		return s.errorf(n, "%s is nested more than %d deep", what, maxDepth)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return s.errorf(n, "anchors and aliases are not read in a profile").WithHint("write the value out")
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if c.Kind != yaml.ScalarNode {
				return s.errorf(c, "a key of %s is no text", what)
			}
			continue
		}
		if err := s.tree(c, what, depth-1); err != nil {
			return err
		}
	}
	return nil
}

func join(what, key string) string {
	if what == "" {
		return key
	}
	return what + "." + key
}
