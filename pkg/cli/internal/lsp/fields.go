package lsp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/schema"
)

// field is the part of a JSON Schema for one value.
type field struct {
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Type        texts             `json:"type"`
	Enum        []any             `json:"enum"`
	Const       any               `json:"const"`
	Default     any               `json:"default"`
	Examples    []json.RawMessage `json:"examples"`
	MinLength   int               `json:"minLength"`
	MaxLength   int               `json:"maxLength"`
	Required    []string          `json:"required"`
	Properties  properties        `json:"properties"`
	Additional  *field            `json:"additionalProperties"`
	Items       *field            `json:"items"`
	AnyOf       []*field          `json:"anyOf"`
	Ref         string            `json:"$ref"`
	Defs        map[string]*field `json:"$defs"`

	never bool // the schema false
}

// UnmarshalJSON reads a schema; true and false are schemas, too.
func (f *field) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		return nil
	case "false":
		f.never = true
		return nil
	}
	type plain field
	return json.Unmarshal(data, (*plain)(f))
}

// texts is a string or a list of strings.
type texts []string

// UnmarshalJSON reads one string or a list.
func (t *texts) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*t = make(texts, 1)
		return json.Unmarshal(data, &(*t)[0])
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// properties are the keys of a mapping in the order of the schema.
type properties []property

type property struct {
	name  string
	field *field
}

// UnmarshalJSON reads an object and keeps its order.
func (p *properties) UnmarshalJSON(data []byte) error {
	for m := range jsonx.Members(data) {
		one := property{name: m.Key, field: new(field)}
		if err := json.Unmarshal(m.Value, one.field); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

func (p properties) lookup(name string) *field {
	for _, one := range p {
		if one.name == name {
			return one.field
		}
	}
	return nil
}

// profileSchema is a schema and the profile that it is from.
type profileSchema struct {
	id   string // of a profile, "" for skillpm's own files
	root *field
}

// profileSchemas returns the schemas of profiles.
func profileSchemas(profiles []*profile.Profile) []profileSchema {
	var all []profileSchema
	for _, p := range profiles {
		all = append(all, profileSchema{p.ID, readSchema(p.Schema)})
	}
	return all
}

// ownSchema returns the name of the schema for one of skillpm's own files, "" for other files.
func ownSchema(p string) string {
	dir := path.Base(path.Dir(p))
	switch base := path.Base(p); {
	case base == pack.ManifestName:
		return "manifest"
	case base == pack.LockName:
		return "lock"
	case base == lint.BaselineName:
		return "baseline"
	case base == "skillpm-policy.yaml", base == "policy.yaml" && (dir == "skillpm" || dir == ".skillpm"):
		return "policy"
	case base == pack.ConfigName && dir == "skillpm":
		return "config"
	}
	return ""
}

// isSkillFile reports whether a path is a SKILL.md, ignoring case.
func isSkillFile(p string) bool { return strings.EqualFold(path.Base(p), skill.File) }

// readSchema returns a schema by its name, nil if there is none.
func readSchema(name string) *field {
	data, err := schema.Read(name)
	if err != nil {
		return nil
	}
	root := new(field)
	if json.Unmarshal(data, root) != nil {
		return nil
	}
	return root
}

// resolve follows a reference. The title and description of the reference take precedence.
func (d profileSchema) resolve(f *field) *field {
	for range 8 {
		if f == nil || f.Ref == "" {
			return f
		}
		to := d.root.Defs[strings.TrimPrefix(f.Ref, "#/$defs/")]
		if to == nil {
			return f
		}
		c := *to
		c.Title, c.Description = cmp.Or(f.Title, c.Title), cmp.Or(f.Description, c.Description)
		f = &c
	}
	return f
}

// lookup returns the fields that are valid at a path: one, or several if the schema has alternatives.
func (d profileSchema) lookup(path []string) []*field {
	at := []*field{d.root}
	for _, step := range path {
		var next []*field
		for _, f := range at {
			for _, f := range d.choices(f) {
				if to := d.child(f, step); to != nil {
					next = append(next, to)
				}
			}
		}
		at = next
	}
	return at
}

// choices returns a field and its alternatives.
func (d profileSchema) choices(f *field) []*field {
	f = d.resolve(f)
	all := []*field{f}
	for _, other := range f.AnyOf {
		all = append(all, d.resolve(other))
	}
	return all
}

func (d profileSchema) child(f *field, step string) *field {
	to := f.Properties.lookup(step)
	switch {
	case to != nil:
	case f.Items != nil && isNumber(step):
		to = f.Items
	case f.Additional != nil && !f.Additional.never && !isNumber(step):
		to = f.Additional
	default:
		return nil
	}
	return d.resolve(to)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// is reports whether a field may have a type; false if it names no type.
func (f *field) is(kind string) bool { return slices.Contains(f.Type, kind) }

// scalar reports whether a field's value may be on its key's line.
func (f *field) scalar() bool {
	return len(f.Enum) > 0 || f.Const != nil || len(f.Type) == 0 ||
		f.is("string") || f.is("boolean") || f.is("number") || f.is("integer")
}

// options returns the only valid values of a field, as YAML.
func (f *field) options() []string {
	var out []string
	for _, v := range f.Enum {
		out = append(out, yamlText(v))
	}
	if f.Const != nil {
		out = append(out, yamlText(f.Const))
	}
	if len(out) == 0 && f.is("boolean") {
		out = []string{"true", "false"}
	}
	return out
}

// yamlText writes a JSON value on one line.
func yamlText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	}
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// samples returns the examples that are text, and the items of those that are lists of text.
func (f *field) samples() (texts, items []string) {
	for _, raw := range f.Examples {
		var s string
		var list []string
		switch {
		case json.Unmarshal(raw, &s) == nil:
			texts = append(texts, s)
		case json.Unmarshal(raw, &list) == nil:
			items = append(items, list...)
		}
	}
	return texts, items
}
