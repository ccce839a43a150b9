package catalog

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// selector is what a name selects: the skills of a name, or those of a name in some packs.
type selector struct {
	name  string
	base  string   // the name without its pack
	packs []string // packs of a qualified name; nil for a bare one
	owner string   // owner of a name in the form owner/name, which also selects the skills of that name in other packs
}

// selector parses a name: a bare one, name@owner/name, name@PACK or PACK:name where PACK is the name of a pack without
// its owner, or owner/name for a skill or a pack of an owner.
func (c *Catalog) selector(name string) selector {
	if base, pack, ok := strings.Cut(name, "@"); ok {
		return selector{name: name, base: base, packs: c.packsNamed(pack)}
	}
	if owner, base, ok := strings.Cut(name, "/"); ok {
		return selector{name: name, base: base, owner: owner, packs: []string{name}}
	}
	isName := func(e Entry) bool { return e.Name == name }
	if pack, base, ok := strings.Cut(name, ":"); ok && !slices.ContainsFunc(c.entries, isName) {
		if packs := c.packsNamed(pack); len(packs) > 0 {
			return selector{name: name, base: base, packs: packs}
		}
	}
	return selector{name: name, base: name}
}

// packsNamed returns the packs with a name, owner/name or the name alone. The name alone may stand for several.
func (c *Catalog) packsNamed(name string) []string {
	if strings.Contains(name, "/") {
		return []string{name}
	}
	packs := []string{}
	add := func(id string) {
		if _, own, _ := strings.Cut(id, "/"); id != "" && own == name && !slices.Contains(packs, id) {
			packs = append(packs, id)
		}
	}
	for _, e := range c.entries {
		add(e.Pack)
	}
	for _, a := range c.absent {
		add(a.pack)
	}
	slices.Sort(packs)
	return packs
}

// qualified reports whether the name has a pack or an owner.
func (s selector) qualified() bool { return s.packs != nil }

// has reports whether a qualified name selects a skill of a pack, given the skill's names.
func (s selector) has(pack string, names ...string) bool {
	named := slices.Contains(names, s.base)
	if s.owner != "" {
		return pack == s.name || named && strings.HasPrefix(pack, s.owner+"/")
	}
	return named && slices.Contains(s.packs, pack)
}

// Lookup returns the skill with a name. name@owner/name selects exactly that pack's skill, even if it is shadowed, but
// not if an enterprise skill shadows it. name@PACK and owner/name do the same if they stand for one skill.
//
// If no available skill has the bare name, Lookup returns the one pack's skill that has this name in its pack and is
// available under an alias. It does not do so if a skill of that name is locked but not installed.
//
// The error is an [*UnknownError].
func (c *Catalog) Lookup(name string) (*Skill, error) {
	if s := c.availableSkill(name); s != nil {
		return s, nil
	}
	unknown := &UnknownError{Name: name, Off: c.options.Off}
	sel := c.selector(name)
	claims, subject := c.claims(sel), "packs contain a skill with"
	if len(claims) == 0 && !sel.qualified() {
		claims, subject = c.declared(name), "skills have"
	}
	ambiguity, names := c.ambiguous(sel, claims, subject)
	switch a := c.absentSkill(sel); {
	case ambiguity != "":
		claims, unknown.Reason, unknown.Fix = nil, ambiguity, "use "+textx.OneOf(names)
		unknown.Ambiguous = true
	case a != nil && a.denial != nil:
		claims, unknown.Reason, unknown.Fix, unknown.Denied = nil, a.denial.Error(), diag.HintOf(a.denial), true
	case a != nil:
		claims, unknown.Fix = nil, `run "skillpm install"`
		unknown.Reason = strings.TrimSpace(a.pack+" "+a.version) + " is locked but not installed"
	}
	for _, e := range claims {
		switch {
		case e.State == Available || e.State == Shadowed && !e.overridden() && sel.qualified():
			return e.Skill, nil
		case unknown.Reason == "":
			unknown.explain(e)
		}
	}
	for _, s := range c.skills {
		if s.ModelInvocable {
			unknown.Available = append(unknown.Available, s.Name)
		}
	}
	unknown.Near = c.nearestName(name)
	return nil, unknown
}

// ambiguous returns why a name does not say which of several skills it means, "" if it does, and their full names. The
// name of a pack without its owner never decides between two packs. The subject says what claims a bare name.
func (c *Catalog) ambiguous(sel selector, claims []Entry, subject string) (reason string, names []string) {
	if !sel.qualified() {
		if names = c.aliasesOf(claims, sel.name); len(names) < 2 {
			return "", nil
		}
		return "several " + subject + " this name: " + strings.Join(names, ", "), names
	}
	for _, e := range claims {
		names = append(names, e.Exact())
	}
	for _, a := range c.absent {
		if sel.has(a.pack, a.base, a.name) {
			names = append(names, a.base+"@"+a.pack)
		}
	}
	slices.Sort(names)
	switch names = slices.Compact(names); {
	case len(sel.packs) > 1 && len(names) > 0:
		return "several installed packs match the name: " + strings.Join(sel.packs, ", "), names
	case len(names) > 1:
		return "several skills match the name: " + strings.Join(names, ", "), names
	}
	return "", nil
}

// absentSkill returns the locked skill with a name that is not installed, or nil.
func (c *Catalog) absentSkill(sel selector) *absentSkill {
	for i, a := range c.absent {
		if sel.has(a.pack, a.base, a.name) || !sel.qualified() && a.name == sel.name {
			return &c.absent[i]
		}
	}
	return nil
}

// aliasesOf returns the aliases of the packs' skills whose own name is this one, if no available skill has the name.
func (c *Catalog) aliasesOf(claims []Entry, name string) (names []string) {
	for _, e := range claims {
		if e.State == Available && e.Name != name && e.alias != name && !strings.Contains(name, "@") {
			names = append(names, e.Name)
		}
	}
	return names
}

// availableSkill returns the available skill with a name, or nil.
func (c *Catalog) availableSkill(name string) *Skill {
	i, ok := slices.BinarySearchFunc(c.skills, name,
		func(s *Skill, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return nil
	}
	return c.skills[i]
}

// nearestName returns the most similar available name.
func (c *Catalog) nearestName(name string) string {
	if len(name) > 2*maxShort {
		return ""
	}
	base, _, exact := strings.Cut(name, "@")
	base = base[strings.LastIndexAny(base, ":/")+1:]
	names := make([]string, 0, len(c.skills))
	if exact {
		for _, s := range c.skills {
			if s.Pack != "" && s.ModelInvocable {
				names = append(names, s.Exact())
			}
		}
		if near := diag.Nearest(name, names); near != "" {
			return near
		}
		names = names[:0]
	}
	for _, s := range c.skills {
		if !s.ModelInvocable {
			continue
		}
		if strings.EqualFold(s.Name, base) {
			return s.Name
		}
		names = append(names, s.Name)
	}
	return diag.Nearest(base, names)
}

// claims returns the entries with a name, the highest precedence first: those named so, then those of packs that are
// named so in their pack and available under an alias. Of a pack that a name in the form owner/name stands for, it
// returns the skill of that name, or else all.
func (c *Catalog) claims(sel selector) []Entry {
	var first, rest []Entry
	for _, e := range c.entries {
		switch {
		case sel.qualified():
			if sel.has(e.Pack, e.base, e.Name, e.Declared) {
				first = append(first, e)
			}
		case e.Name == sel.name || e.alias == sel.name:
			first = append(first, e)
		case e.Pack != "" && e.base == sel.name:
			rest = append(rest, e)
		}
	}
	isOther := func(e Entry) bool { return e.Pack == sel.name && e.base != sel.base }
	if sel.owner != "" && slices.ContainsFunc(first, func(e Entry) bool { return e.Pack == sel.name && !isOther(e) }) {
		first = slices.DeleteFunc(first, isOther)
	}
	return append(first, rest...)
}

// Named returns all skills that somebody may mean by a name, in whatever state: the skills that have the bare name
// anywhere, one skill of a pack, or all skills of a pack by owner/name. The error is an [*UnknownError] for a name that
// does not say which of several skills it means.
func (c *Catalog) Named(name string) (list []Entry, err error) {
	sel := c.selector(name)
	ofPack := func(e Entry) bool { return e.Pack == sel.name }
	for _, e := range c.entries {
		if sel.qualified() && sel.has(e.Pack, e.base, e.Name, e.Declared) ||
			!sel.qualified() && slices.Contains([]string{e.Name, e.alias, e.base, e.Declared}, name) {
			list = append(list, e)
		}
	}
	if !sel.qualified() || len(list) > 0 && !slices.ContainsFunc(list, func(e Entry) bool { return !ofPack(e) }) {
		return list, nil
	}
	if reason, names := c.ambiguous(sel, list, "packs contain a skill with"); reason != "" {
		return nil, &UnknownError{Name: name, Reason: reason, Fix: "use " + textx.OneOf(names)}
	}
	return list, nil
}

// Which returns all skills that claim a name, in any form that [Catalog.Lookup] takes.
func (c *Catalog) Which(name string) Claims {
	claims := Claims{Name: name}
	winner, _ := c.Lookup(name)
	for _, e := range c.claims(c.selector(name)) {
		switch e.State {
		case Available:
			if e.Skill == winner {
				claims.Winner = e.Skill
				continue
			}
			e.Reason = "available as " + e.Name
			claims.Shadowed = append(claims.Shadowed, e)
		case Shadowed:
			claims.Shadowed = append(claims.Shadowed, e)
		case Excluded, Unapproved:
			claims.Excluded = append(claims.Excluded, e)
		case Skipped:
			claims.Skipped = append(claims.Skipped, e)
		}
	}
	return claims
}
