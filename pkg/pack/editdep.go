package pack

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// setDependency writes d under key. A dependency that is written as a mapping over several lines keeps that form, and
// the comments in it.
func setDependency(e *yamlx.Editor, key string, d Dependency) error {
	id := d.ID.String()
	was := yamlx.Lookup(e.Root(), key, id)
	fields, err := fieldsOf(d, revisionKeyOf(was))
	switch {
	case err != nil:
		return err
	case was != nil && was.Kind == yaml.MappingNode && was.Style&yaml.FlowStyle == 0:
		if fields == nil {
			fields = yamlx.Mapping{{Key: keyVersion, Value: d.Constraint}}
		}
		return setFields(e, was, fields, key, id)
	case fields == nil:
		return e.Set(d.Constraint, key, id)
	default:
		return e.Set(fields, key, id)
	}
}

// setFields changes the lines of a dependency that is written as a block mapping.
func setFields(e *yamlx.Editor, was *yaml.Node, fields yamlx.Mapping, path ...string) error {
	for _, f := range fields {
		if old := yamlx.Lookup(was, f.Key); old != nil && sameField(old, f.Value) {
			continue
		}
		if err := e.Set(f.Value, append(path, f.Key)...); err != nil {
			return err
		}
	}
	for k := range yamlx.Pairs(was) {
		if slices.ContainsFunc(fields, func(f yamlx.Entry) bool { return f.Key == k.Value }) {
			continue
		}
		if _, err := e.Remove(append(path, k.Value)...); err != nil {
			return err
		}
	}
	return nil
}

// sameField reports whether a field says what is wanted already, perhaps with other quotes.
func sameField(v *yaml.Node, want any) bool {
	list, isList := want.([]yamlx.Word)
	if !isList {
		return v.Kind == yaml.ScalarNode && v.Value == want
	}
	var items []yamlx.Word
	for _, item := range v.Content {
		items = append(items, yamlx.Word(item.Value))
	}
	return sameSet(items, list)
}

func revisionKeyOf(n *yaml.Node) string {
	for _, key := range []string{keyTag, keyBranch, keyRev} {
		if yamlx.Lookup(n, key) != nil {
			return key
		}
	}
	return ""
}

// words returns texts that are written without quotes if they can be.
func words(texts []string) []yamlx.Word {
	list := make([]yamlx.Word, len(texts))
	for i, s := range texts {
		list[i] = yamlx.Word(s)
	}
	return list
}

// normal returns d as reading it back returns it.
func normal(d Dependency) Dependency {
	if d.Ref != nil && d.Ref.Kind == KindName {
		if d.Constraint == "" {
			d.Constraint = d.Ref.Constraint
		}
		d.Ref = nil
	}
	if d.Ref == nil && d.Constraint == "" {
		d.Constraint = "*"
	}
	return d
}

func indexOf(list []Dependency, id ID) int {
	return slices.IndexFunc(list, func(d Dependency) bool { return d.ID == id })
}
