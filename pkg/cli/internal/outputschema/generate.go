package outputschema

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/schema"
)

// node is a schema. Its fields are in the order of the files.
type node struct {
	Schema      string      `json:"$schema,omitempty"`
	ID          string      `json:"$id,omitempty"`
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Ref         string      `json:"$ref,omitempty"`
	Type        any         `json:"type,omitempty"`
	Format      string      `json:"format,omitempty"`
	Enum        []string    `json:"enum,omitempty"`
	Const       any         `json:"const,omitempty"`
	AnyOf       []*node     `json:"anyOf,omitempty"`
	Items       *node       `json:"items,omitempty"`
	Additional  any         `json:"additionalProperties,omitempty"`
	Required    []string    `json:"required,omitempty"`
	Properties  *orderedMap `json:"properties,omitempty"`
	Defs        *orderedMap `json:"$defs,omitempty"`
}

// orderedMap is an object whose keys keep their order.
type orderedMap struct {
	keys   []string
	values map[string]*node
}

func (m *orderedMap) set(key string, n *node) {
	if m.values == nil {
		m.values = map[string]*node{}
	}
	if _, ok := m.values[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.values[key] = n
}

// MarshalJSON writes the object.
func (m *orderedMap) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range m.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", key)
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m.values[key]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// generator makes one schema.
type generator struct {
	comments *comments
	defs     *orderedMap
	names    map[reflect.Type]string // of the types in defs
	missing  *[]string               // fields without a description

	words, fieldWords map[string]string // descriptions of fields by their JSON names, and by their types and names
	used              map[string]bool   // keys of fieldWords
}

// Generate returns the files of schema/output by name. root is the directory of the module's source. Fields without a
// comment are an error that names all of them.
func Generate(root string) (map[string][]byte, error) {
	c := &comments{root, map[string]map[string]string{}}
	var missing []string
	fieldWords, used := fields(), map[string]bool{}
	files := map[string][]byte{}
	list := append(Documents(), console.Document{Command: "error", Types: []any{console.ErrorDocument{}}})
	for _, d := range list {
		g := &generator{c, &orderedMap{}, map[reflect.Type]string{}, &missing, words(), fieldWords, used}
		text, err := g.document(d)
		if err != nil {
			return nil, err
		}
		files[Name(d.Command)+".schema.json"] = text
	}
	for key := range fieldWords {
		if !used[key] {
			return nil, fmt.Errorf("%s is not a field of any document", key)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("fields without a comment:\n%s", strings.Join(missing, "\n"))
	}
	return files, nil
}

func (g *generator) document(d console.Document) ([]byte, error) {
	root := &node{
		Schema: "https://json-schema.org/draft/2020-12/schema",
		ID:     schema.Base + "output/" + Name(d.Command) + ".schema.json",
		Title:  "Output of skillpm " + d.Command + " --json", Description: about(d),
	}
	for _, value := range d.Types {
		object, err := g.object(reflect.TypeOf(value), true)
		if err != nil {
			return nil, err
		}
		if len(d.Types) > 1 {
			root.AnyOf = append(root.AnyOf, object)
			continue
		}
		root.Type, root.Additional = object.Type, object.Additional
		root.Required, root.Properties = object.Required, object.Properties
	}
	if len(g.defs.keys) > 0 {
		root.Defs = g.defs
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return format(b.Bytes())
}

func about(d console.Document) string {
	if d.Command == "error" {
		return "Output of every command with --json if the command fails without a result."
	}
	text := fmt.Sprintf("Output of `skillpm %s --json`.", d.Command)
	if len(d.Others) > 0 {
		text = fmt.Sprintf("Output of `skillpm %s --json`, and of %s.", d.Command, textx.And(d.Others))
	}
	return text + " The schema output/error describes errors."
}

// object returns the schema of a struct. top adds the schemaVersion.
func (g *generator) object(t reflect.Type, top bool) (*node, error) {
	n := &node{Type: "object", Additional: false, Properties: &orderedMap{}}
	if top {
		comment, err := g.comments.of(t, "")
		if err != nil {
			return nil, err
		}
		n.Description = cmp.Or(g.describe(t.String()), sentence(comment, t.Name()))
		n.Properties.set("schemaVersion", &node{
			Description: "Version of the documents.", Const: console.SchemaVersion,
		})
		n.Required = []string{"schemaVersion"}
	}
	return n, g.fields(t, n)
}

// describe returns the description of a type or field that has its own.
func (g *generator) describe(key string) string {
	if text, ok := g.fieldWords[key]; ok {
		g.used[key] = true
		return text
	}
	return ""
}

// fields adds the fields of a struct, and of those that are embedded in it.
func (g *generator) fields(t reflect.Type, n *node) error {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			if err := g.fields(inner, n); err != nil {
				return err
			}
			continue
		case name == "":
			name = f.Name
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		value, err := g.value(f.Type, optional)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		comment, err := g.comments.of(t, f.Name)
		if err != nil {
			return err
		}
		value.Description = cmp.Or(g.describe(t.String()+"."+f.Name), sentence(comment, f.Name), g.words[name])
		if value.Description == "" {
			*g.missing = append(*g.missing, fmt.Sprintf("%s.%s %s", t, f.Name, f.Tag.Get("json")))
		}
		n.Properties.set(name, value)
		if !optional {
			n.Required = append(n.Required, name)
		}
	}
	return nil
}

var (
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
)

// value returns the schema of a value. Pointers that are not optional may be null.
func (g *generator) value(t reflect.Type, optional bool) (*node, error) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &node{Type: "string", Format: "date-time"}, nil
	case t.Kind() == reflect.Pointer:
		n, err := g.value(t.Elem(), optional)
		if err != nil || optional {
			return n, err
		}
		return &node{AnyOf: []*node{n, {Type: "null"}}}, nil
	case t.Implements(jsonMarshaler):
		return &node{}, nil // any value: the comment says which
	case t == reflect.TypeFor[diag.Severity]():
		return &node{Enum: []string{"error", "warning", "note"}}, nil
	case t.Implements(textMarshaler):
		return &node{Type: "string"}, nil
	}
	return g.plain(t)
}

// plain returns the schema of a value without a form of its own.
func (g *generator) plain(t reflect.Type) (*node, error) {
	switch t.Kind() {
	case reflect.Bool:
		return &node{Type: "boolean"}, nil
	case reflect.String:
		values, err := g.comments.values(t)
		if len(values) > 0 {
			return &node{Enum: values}, err
		}
		return &node{Type: "string"}, err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &node{Type: "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return &node{Type: "number"}, nil
	case reflect.Interface:
		return &node{}, nil
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &node{Type: "string"}, nil // Base64
		}
		items, err := g.value(t.Elem(), true)
		return &node{Type: "array", Items: items}, err
	case reflect.Map:
		values, err := g.value(t.Elem(), true)
		return &node{Type: "object", Additional: values}, err
	case reflect.Struct:
		return g.reference(t)
	default:
		return nil, fmt.Errorf("type %s has no JSON form", t)
	}
}

// reference returns a reference to the definition of a struct, which it makes at first.
func (g *generator) reference(t reflect.Type) (*node, error) {
	name, ok := g.names[t]
	if !ok {
		name = g.unused(t)
		g.names[t] = name
		g.defs.set(name, nil) // it may contain itself
		object, err := g.object(t, false)
		if err != nil {
			return nil, err
		}
		g.defs.set(name, object)
	}
	return &node{Ref: "#/$defs/" + name}, nil
}

// unused returns a name for the definition of a type.
func (g *generator) unused(t reflect.Type) string {
	first, size := utf8.DecodeRuneInString(t.Name())
	name := strings.TrimSuffix(string(unicode.ToLower(first))+t.Name()[size:], "JSON")
	for i := 2; ; i++ {
		unique := name
		if i > 2 {
			unique = fmt.Sprintf("%s%d", name, i-1)
		}
		if _, used := g.defs.values[unique]; !used {
			return unique
		}
	}
}
