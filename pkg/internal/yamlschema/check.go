package yamlschema

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// compiler compiles the patterns of a schema, and refuses keywords that a checker does not know.
type compiler struct {
	schema   *Schema
	patterns map[string]*regexp.Regexp
}

// compile compiles a part of a schema. at is where it is, for errors.
func (c *compiler) compile(at string, part any) error {
	rule, ok := part.(map[string]any)
	if !ok {
		return fmt.Errorf("the schema %s is not an object", at)
	}
	for keyword, value := range rule {
		if err := c.compileKeyword(at+"/"+keyword, keyword, value); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) compileKeyword(at, keyword string, value any) (err error) {
	switch keyword {
	case "$schema", "$id", "title", "description", "default", "examples", "format": // no constraint
	case "type", "const", "enum", "required", "uniqueItems", "minLength", "maxLength", "minimum", "maximum", "minItems",
		"maxItems":
	case "properties", "$defs", "dependentSchemas":
		parts, _ := value.(map[string]any)
		for name, part := range parts {
			if err := c.compile(at+"/"+name, part); err != nil {
				return err
			}
		}
	case "items", "not", "propertyNames":
		return c.compile(at, value)
	case "additionalProperties":
		if _, ok := value.(bool); !ok {
			return c.compile(at, value)
		}
	case "anyOf":
		parts, _ := value.([]any)
		for i, part := range parts {
			if err := c.compile(at+"/"+strconv.Itoa(i), part); err != nil {
				return err
			}
		}
	case "$ref":
		if c.schema.definition(value) == nil {
			return fmt.Errorf("the schema %s is not in $defs", at)
		}
	case "pattern":
		text, _ := value.(string)
		c.patterns[text], err = regexp.Compile(text)
	default:
		if !strings.HasPrefix(keyword, "x-") {
			return fmt.Errorf("the keyword %s of the schema is not supported", at)
		}
	}
	return err
}

// definition returns the part of the schema that a $ref leads to, nil if there is none.
func (s *Schema) definition(ref any) map[string]any {
	text, _ := ref.(string)
	name, ok := strings.CutPrefix(text, "#/$defs/")
	definitions, _ := s.Raw["$defs"].(map[string]any)
	part, _ := definitions[name].(map[string]any)
	if !ok {
		return nil
	}
	return part
}

// checker checks values against a schema.
type checker struct {
	schema   *Schema
	patterns map[string]*regexp.Regexp
}

// below returns the location of a member of a value.
func (v Violation) below(step string) Violation {
	v.Pointer += "/" + step
	v.Key, v.Node = Descend(v.Node, step)
	return v
}

// broken returns the violation of a keyword of the last part of the context.
func (v Violation) broken(keyword string) Violation {
	v.Keyword, v.Rule = keyword, v.Context[len(v.Context)-1]
	return v
}

// check returns the violations of a value. at is its location. A value of another type is only that violation.
func (c *checker) check(part, value any, at Violation) []Violation {
	rule, _ := part.(map[string]any)
	at.Context = append(slices.Clip(at.Context), rule)
	if types, ok := rule["type"]; ok && !hasType(value, types) {
		return []Violation{at.broken("type")}
	}
	var out []Violation
	if want, ok := rule["const"]; ok && !reflect.DeepEqual(value, want) {
		out = append(out, at.broken("const"))
	}
	isValue := func(v any) bool { return reflect.DeepEqual(value, v) }
	if list, ok := rule["enum"].([]any); ok && !slices.ContainsFunc(list, isValue) {
		out = append(out, at.broken("enum"))
	}
	switch value := value.(type) {
	case string:
		out = append(out, c.checkText(rule, value, at)...)
	case float64:
		out = append(out, checkRange(rule, "minimum", "maximum", value, at)...)
	case []any:
		out = append(out, c.checkList(rule, value, at)...)
	case map[string]any:
		out = append(out, c.checkMapping(rule, value, at)...)
	}
	return append(out, c.checkParts(rule, value, at)...)
}

// hasType reports whether a value has a type, or one of a list of types.
func hasType(value, types any) bool {
	list, ok := types.([]any)
	if !ok {
		list = []any{types}
	}
	return slices.ContainsFunc(list, func(name any) bool {
		switch value := value.(type) {
		case nil:
			return name == "null"
		case bool:
			return name == "boolean"
		case string:
			return name == "string"
		case float64:
			return name == "number" || name == "integer" && value == math.Trunc(value)
		case []any:
			return name == "array"
		}
		return name == "object"
	})
}

// checkRange compares a number with a minimum and a maximum.
func checkRange(rule map[string]any, least, most string, n float64, at Violation) (out []Violation) {
	if limit, ok := rule[least].(float64); ok && n < limit {
		out = append(out, at.broken(least))
	}
	if limit, ok := rule[most].(float64); ok && n > limit {
		out = append(out, at.broken(most))
	}
	return out
}

func (c *checker) checkText(rule map[string]any, text string, at Violation) []Violation {
	out := checkRange(rule, "minLength", "maxLength", float64(utf8.RuneCountInString(text)), at)
	if pattern, ok := rule["pattern"].(string); ok && !c.patterns[pattern].MatchString(text) {
		out = append(out, at.broken("pattern"))
	}
	return out
}

func (c *checker) checkList(rule map[string]any, list []any, at Violation) []Violation {
	out := checkRange(rule, "minItems", "maxItems", float64(len(list)), at)
	if rule["uniqueItems"] == true {
		known := make(map[string]bool, len(list))
		for _, item := range list {
			known[fmt.Sprintf("%#v", item)] = true // the keys of mappings are sorted
		}
		if len(known) < len(list) {
			out = append(out, at.broken("uniqueItems"))
		}
	}
	if items, ok := rule["items"]; ok {
		for i, item := range list {
			out = append(out, c.check(items, item, at.below(strconv.Itoa(i)))...)
		}
	}
	return out
}

func (c *checker) checkMapping(rule, mapping map[string]any, at Violation) (out []Violation) {
	has := func(key string) bool { _, ok := mapping[key]; return ok }
	for _, key := range Texts(rule["required"]) {
		if !has(key) {
			out = append(out, at.broken("required"))
			break
		}
	}
	properties, _ := rule["properties"].(map[string]any)
	names, checksNames := rule["propertyNames"]
	others, limitsOthers := rule["additionalProperties"]
	unknown := false
	for key, value := range mapping {
		if checksNames {
			out = append(out, c.check(names, key, at.below(key))...)
		}
		if property, ok := properties[key]; ok {
			out = append(out, c.check(property, value, at.below(key))...)
		} else if allowed, isBool := others.(bool); isBool {
			unknown = unknown || !allowed
		} else if limitsOthers {
			out = append(out, c.check(others, value, at.below(key))...)
		}
	}
	if unknown {
		out = append(out, at.broken("additionalProperties"))
	}
	dependents, _ := rule["dependentSchemas"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(dependents)) {
		if has(key) {
			dependent := at
			dependent.Needs = key
			out = append(out, c.check(dependents[key], mapping, dependent)...)
		}
	}
	return out
}

// checkParts applies the parts of a schema that are for the same value.
func (c *checker) checkParts(rule map[string]any, value any, at Violation) (out []Violation) {
	if ref, ok := rule["$ref"]; ok {
		referred := at
		referred.Context, referred.Needs = []map[string]any{c.schema.Raw}, ""
		out = append(out, c.check(c.schema.definition(ref), value, referred)...)
	}
	if part, ok := rule["not"]; ok && len(c.check(part, value, at)) == 0 {
		out = append(out, at.broken("not"))
	}
	if parts, ok := rule["anyOf"].([]any); ok {
		var all []Violation
		for _, part := range parts {
			broken := c.check(part, value, at)
			if len(broken) == 0 {
				return out
			}
			all = append(all, broken...)
		}
		out = append(out, all...)
	}
	return out
}
