package pack

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// SetDependency adds a dependency as the last of dependencies, or replaces the one of the same pack in dependencies or
// dev-dependencies. Without a constraint and a source it is "*". On an error, which says what to write by hand, the
// manifest is unchanged.
func (m *Manifest) SetDependency(d Dependency) error {
	d = normalize(d)
	if err := checkConstraint(d.Constraint); err != nil && d.Constraint != "" {
		return err
	}
	want := m.Clone()
	key := "dependencies"
	if i := indexOf(want.DevDependencies, d.ID); i >= 0 {
		key = "dev-dependencies"
		want.DevDependencies[i] = d
	} else if i := indexOf(want.Dependencies, d.ID); i >= 0 {
		want.Dependencies[i] = d
	} else {
		want.Dependencies = append(want.Dependencies, d)
	}
	fields, err := fieldsOf(d, "")
	if err != nil {
		return err
	}
	text := yamlx.Quote(d.Constraint)
	if fields != nil {
		text = yamlx.Render(fields, false)
	}
	return m.edit(want, "write "+d.ID.String()+": "+text+" under "+key, func(e *yamlx.Editor) error {
		return setDependency(e, key, d)
	})
}

// RemoveDependency removes a pack from dependencies and dev-dependencies, and reports whether it was there. Comments
// above it stay.
func (m *Manifest) RemoveDependency(id ID) (bool, error) {
	want := m.Clone()
	hasID := func(d Dependency) bool { return d.ID == id }
	want.Dependencies = slices.DeleteFunc(want.Dependencies, hasID)
	want.DevDependencies = slices.DeleteFunc(want.DevDependencies, hasID)
	if want.equal(m) {
		return false, nil
	}
	return true, m.edit(want, "remove "+id.String(), func(e *yamlx.Editor) error {
		for _, key := range []string{"dependencies", "dev-dependencies"} {
			if _, err := e.Prune(key, id.String()); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetAlias gives a skill an alias, instead of any alias that it has.
func (m *Manifest) SetAlias(a Alias) error {
	if err := checkAlias(a.Alias); err != nil {
		return err
	}
	if _, err := parseAlias(a.Alias, a.Target()); err != nil {
		return err
	}
	want := m.Clone()
	sameSkill := func(o Alias) bool { return o.Skill == a.Skill && o.Pack == a.Pack && o.Alias != a.Alias }
	var replaced []string
	for _, o := range want.Aliases {
		if sameSkill(o) {
			replaced = append(replaced, o.Alias)
		}
	}
	want.Aliases = slices.DeleteFunc(want.Aliases, sameSkill)
	if i := slices.IndexFunc(want.Aliases, func(o Alias) bool { return o.Alias == a.Alias }); i >= 0 {
		want.Aliases[i] = a
	} else {
		want.Aliases = append(want.Aliases, a)
	}
	return m.edit(want, "add "+a.Alias+": "+yamlx.Quote(a.Target())+" to aliases", func(e *yamlx.Editor) error {
		if err := e.Set(a.Target(), "aliases", a.Alias); err != nil {
			return err
		}
		return removeAliases(e, replaced)
	})
}

// RemoveAliasesOf removes the aliases of a pack's skills, and returns them.
func (m *Manifest) RemoveAliasesOf(pack ID) ([]Alias, error) {
	var removed []Alias
	var names []string
	for _, a := range m.Aliases {
		if a.Pack == pack {
			removed, names = append(removed, a), append(names, a.Alias)
		}
	}
	if len(removed) == 0 {
		return nil, nil
	}
	want := m.Clone()
	want.Aliases = slices.DeleteFunc(want.Aliases, func(a Alias) bool { return a.Pack == pack })
	return removed, m.edit(want, "remove the aliases of "+pack.String(), func(e *yamlx.Editor) error {
		return removeAliases(e, names)
	})
}

func removeAliases(e *yamlx.Editor, aliases []string) error {
	for _, alias := range aliases {
		if _, err := e.Prune("aliases", alias); err != nil {
			return err
		}
	}
	return nil
}

// SetAgents sets the list of agents that skills are linked for. The lines of agents that stay keep their order. An
// empty list removes the key.
func (m *Manifest) SetAgents(ids []string) error {
	want := m.Clone()
	want.Agents = slices.Clone(ids)
	return m.edit(want, "write the agents under agents", func(e *yamlx.Editor) error {
		if len(ids) == 0 {
			_, err := e.Remove("agents")
			return err
		}
		return e.Set(words(ids), "agents")
	})
}

// Set sets the value of name, version, description, license, skillpm or link-mode.
func (m *Manifest) Set(key, text string) error {
	want := m.Clone()
	switch key {
	case "name":
		id, err := ParseID(text)
		if err != nil {
			return err
		}
		want.Name = id
	case "version":
		if err := checkVersion(text); err != nil {
			return err
		}
		want.Version = text
	case "description":
		text = strings.TrimSpace(text)
		want.Description = text
	case "license":
		want.License = text
	case "skillpm":
		if err := checkConstraint(text); err != nil {
			return err
		}
		want.Skillpm = text
	case "link-mode":
		if err := CheckLinkMode(text); err != nil {
			return err
		}
		want.LinkMode = text
	default:
		return diag.Errorf(diag.Internal, "%s is not a text field of the manifest", key)
	}
	return m.edit(want, "write "+key+": "+yamlx.Quote(text), func(e *yamlx.Editor) error { return e.Set(text, key) })
}

// edit changes the bytes of the file and parses the result, which must equal want. instruction is the hint for editing
// by hand.
func (m *Manifest) edit(want *Manifest, instruction string, change func(*yamlx.Editor) error) error {
	e, err := yamlx.NewEditor(m.Path, m.Bytes())
	if err != nil {
		return err
	}
	if err := change(e); err != nil {
		return editError(m.Path, instruction, err)
	}
	next, err := ParseManifest(m.Path, e.Bytes())
	if err != nil || !next.equal(want) {
		return editError(m.Path, instruction, nil)
	}
	*m = *next
	return nil
}

// editError is the error if an edit would change something else. An error with a position in the file is more precise.
func editError(path, instruction string, err error) error {
	if positioned, ok := errors.AsType[*yamlx.Error](err); ok && positioned.Line > 0 {
		return err
	}
	return diag.Errorf(diag.Invalid, "cannot edit %s automatically", path).
		WithHint("edit the file by hand: %s", instruction)
}

// Clone returns a copy with its own lists of dependencies and aliases.
func (m *Manifest) Clone() *Manifest {
	c := *m
	c.Dependencies = slices.Clone(m.Dependencies)
	c.DevDependencies = slices.Clone(m.DevDependencies)
	c.Aliases = slices.Clone(m.Aliases)
	return &c
}

// equal reports whether two manifests have the same content, apart from comments and style.
func (m *Manifest) equal(o *Manifest) bool {
	return m.Name == o.Name && m.Version == o.Version && m.Description == o.Description && m.License == o.License &&
		m.Skillpm == o.Skillpm && slices.Equal(m.Skills, o.Skills) && slices.Equal(m.Tags, o.Tags) &&
		slices.Equal(m.Executable, o.Executable) &&
		slices.EqualFunc(m.Dependencies, o.Dependencies, sameDependency) &&
		slices.EqualFunc(m.DevDependencies, o.DevDependencies, sameDependency) &&
		sameSet(m.Aliases, o.Aliases) && sameSet(m.Agents, o.Agents) && m.LinkMode == o.LinkMode &&
		m.MinReleaseAge == o.MinReleaseAge &&
		slices.Equal(m.Workspace, o.Workspace) &&
		slices.Equal(m.Registries, o.Registries) && maps.Equal(m.Namespaces, o.Namespaces) &&
		slices.EqualFunc(m.Budgets, o.Budgets, sameBudget) && sameNode(&m.validate, &o.validate) &&
		m.Publish == o.Publish
}

func sameDependency(a, b Dependency) bool {
	if (a.Ref == nil) != (b.Ref == nil) || a.Ref != nil && *a.Ref != *b.Ref {
		return false
	}
	return a.ID == b.ID && a.Constraint == b.Constraint && sameSet(a.Skills, b.Skills)
}

// sameBudget compares budgets wherever they are in their files.
func sameBudget(a, b Budget) bool { return a.Agent == b.Agent && a.Tokens == b.Tokens }

// sameSet compares lists whose order has no meaning.
func sameSet[T comparable](a, b []T) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x T) bool { return !slices.Contains(b, x) })
}

func sameNode(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value &&
		slices.EqualFunc(a.Content, b.Content, sameNode)
}

// setDependency sets d under key. A dependency that is a mapping of several lines keeps that form and its comments.
func setDependency(e *yamlx.Editor, key string, d Dependency) error {
	id := d.ID.String()
	old := yamlx.Lookup(e.Root(), key, id)
	fields, err := fieldsOf(d, revisionKeyOf(old))
	switch {
	case err != nil:
		return err
	case old != nil && old.Kind == yaml.MappingNode && old.Style&yaml.FlowStyle == 0:
		if fields == nil {
			fields = yamlx.Mapping{{Key: keyVersion, Value: d.Constraint}}
		}
		return setFields(e, old, fields, key, id)
	case fields == nil:
		return e.Set(d.Constraint, key, id)
	default:
		return e.Set(fields, key, id)
	}
}

// setFields changes the lines of a dependency that is a block mapping.
func setFields(e *yamlx.Editor, old *yaml.Node, fields yamlx.Mapping, path ...string) error {
	for _, f := range fields {
		if value := yamlx.Lookup(old, f.Key); value != nil && sameField(value, f.Value) {
			continue
		}
		if err := e.Set(f.Value, append(path, f.Key)...); err != nil {
			return err
		}
	}
	for k := range yamlx.Pairs(old) {
		if slices.ContainsFunc(fields, func(f yamlx.Entry) bool { return f.Key == k.Value }) {
			continue
		}
		if _, err := e.Remove(append(path, k.Value)...); err != nil {
			return err
		}
	}
	return nil
}

// sameField reports whether a field has the wanted value, perhaps with other quotes.
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

// words returns texts that need no quotes if YAML allows that.
func words(texts []string) []yamlx.Word {
	list := make([]yamlx.Word, len(texts))
	for i, s := range texts {
		list[i] = yamlx.Word(s)
	}
	return list
}

// normalize returns d as parsing the edited manifest returns it.
func normalize(d Dependency) Dependency {
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
