package lint

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint/rule"
	"github.com/skillpm/skillpm/pkg/project"
	sources "github.com/skillpm/skillpm/pkg/source"
)

// lockCheck compares a lock with the manifest beside it, as `install --frozen` does: what is found makes that fail. What
// can be known only by asking somebody is left out.
type lockCheck struct {
	*packDoc              // collects the findings
	m, k     *packDoc     // of the manifest and of the lock
	wants    wantedSkills // of every pack that is required
	refused  bool         // something was found
}

// wantedSkills are the skills that are wanted of packs.
type wantedSkills map[sources.ID]*wanted

type wanted struct {
	all    bool
	skills []string
	unsure bool // not everything that is required can be read
}

// need is one requirement, and the pack whose it is: the zero ID for the project.
type need struct {
	sources.Dependency
	by  sources.ID
	key string // of the manifest
}

// compare reports where a lock and a manifest disagree.
func (d *packDoc) compare(m, k *packDoc) {
	c := &lockCheck{packDoc: d, m: m, k: k, wants: wantedSkills{}}
	c.requirements()
	c.surplus()
	c.skills()
	if c.aliases() && !c.refused && m.sound && k.sound {
		c.names()
	}
	if !c.refused && m.sound && k.sound {
		c.text()
	}
}

// differ reports a difference at a key of the manifest or the lock.
func (c *lockCheck) differ(in *packDoc, keys []string, format string, args ...any) {
	c.refused = true
	c.at(in, rule.LockDiffers, keys, fmt.Sprintf(format, args...))
}

func (c *lockCheck) at(in *packDoc, id string, keys []string, message string) {
	f := finding{rule: id, message: message}
	for ; f.line == 0 && len(keys) > 0; keys = keys[:len(keys)-1] { // or what it would be in
		if in == c.m {
			f.line, f.column = in.manifest.Place(keys...)
		} else {
			f.line, f.column = in.lock.Place(keys...)
		}
	}
	c.put(in.src, f)
}

// requirements follows what the manifest requires through the lock.
func (c *lockCheck) requirements() {
	var queue []need
	add := func(key string, list []sources.Dependency) {
		for _, d := range list {
			queue = append(queue, need{Dependency: d, key: key})
		}
	}
	add("dependencies", c.m.manifest.Dependencies)
	add("dev-dependencies", c.m.manifest.DevDependencies)
	done := map[sources.ID]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		c.wants.add(n)
		p := c.k.lock.Packs[n.ID]
		if p == nil {
			if c.k.sound {
				c.differ(n.in(c), n.keys(), "%s is required, and skillpm.lock does not have it", n.ID)
			}
			continue
		}
		if !n.broken() {
			c.agrees(n, p)
		}
		if done[n.ID] {
			continue
		}
		done[n.ID] = true
		deps, err := p.Requires()
		if err != nil {
			c.at(c.k, rule.Lock, []string{"packs", n.ID.String(), "dependencies"}, err.Error())
		}
		for _, d := range deps {
			queue = append(queue, need{Dependency: d, by: n.ID})
		}
	}
}

// broken reports whether a requirement of the manifest could not be read.
func (n need) broken() bool { return n.by.IsZero() && n.Constraint == "" && n.Ref == nil }

// in returns the document that states the requirement.
func (n need) in(c *lockCheck) *packDoc {
	if n.by.IsZero() {
		return c.m
	}
	return c.k
}

// keys returns where the requirement stands there.
func (n need) keys() []string {
	if n.by.IsZero() {
		return []string{n.key, n.ID.String()}
	}
	return []string{"packs", n.by.String(), "dependencies", n.ID.String()}
}

// who names whose requirement it is.
func (n need) who() string {
	if n.by.IsZero() {
		return project.ManifestName
	}
	return n.by.String()
}

func (w wantedSkills) add(n need) {
	x := w[n.ID]
	if x == nil {
		x = &wanted{}
		w[n.ID] = x
	}
	x.all = x.all || len(n.Skills) == 0
	x.skills = append(x.skills, n.Skills...)
	x.unsure = x.unsure || n.broken()
}

// agrees checks that a locked pack is what a requirement asks for.
func (c *lockCheck) agrees(n need, p *project.LockedPack) {
	if p.Version == "" || p.Source == "" {
		return // which is said already
	}
	at := []string{"packs", n.ID.String()}
	directory := p.Source == "path" || strings.HasPrefix(p.Source, "path:")
	switch {
	case n.Ref == nil && directory:
		c.differ(c.k, append(at, "source"), "%s is locked to a directory, and %s wants it by name", n.ID, n.who())
		return
	case n.Ref != nil && (p.Source != n.Ref.Locked(p.Version) || n.Ref.Digest != "" && n.Ref.Digest != p.Resolved):
		c.differ(c.k, append(at, "source"), "%s is locked from another place than the one that %s wants, %s", n.ID, n.who(), n.Ref)
		return
	}
	allowed, err := project.Allows(n.Dependency, p.Version)
	switch {
	case err != nil:
		c.at(n.in(c), rule.Lock, n.keys(), err.Error())
	case !allowed:
		c.differ(c.k, append(at, "version"), "%s %s is locked, and %s wants %s", n.ID, p.Version, n.who(), n.Constraint)
	case directory && n.by.IsZero():
		c.directory(n, p)
	}
}

// surplus reports what is locked and not required.
func (c *lockCheck) surplus() {
	if !c.m.sound {
		return
	}
	for _, id := range c.k.lock.IDs() {
		if c.wants[id] == nil {
			c.differ(c.k, []string{"packs", id.String()}, "%s is locked, and nothing requires it", id)
		}
	}
}

// skills checks that the skills that are wanted are locked, and no others.
func (c *lockCheck) skills() {
	for _, id := range c.k.lock.IDs() {
		p, want := c.k.lock.Packs[id], c.wants[id]
		if want == nil || want.unsure || !c.k.sound {
			continue
		}
		at := []string{"packs", id.String(), "skills"}
		if want.all {
			if p.Partial {
				c.differ(c.k, []string{"packs", id.String(), "partial"}, "only some skills of %s are locked, and all are wanted", id)
			}
			continue
		}
		names := slices.Compact(slices.Sorted(slices.Values(want.skills)))
		for _, name := range names {
			if p.Skills[name] == "" {
				c.differ(c.k, at, "the skill %s of %s is wanted, and not locked", name, id)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
			if _, wanted := slices.BinarySearch(names, name); !wanted {
				c.differ(c.k, append(at, name), "the skill %s of %s is locked, and not wanted", name, id)
			}
		}
	}
}

// aliases reports the aliases of skills that are not locked. It reports whether there are none.
func (c *lockCheck) aliases() bool {
	ok := true
	for _, a := range c.m.manifest.Aliases {
		p := c.k.lock.Packs[a.Pack]
		required := c.wants[a.Pack] != nil
		if p == nil && (required || !c.k.sound) || p != nil && p.Skills[a.Skill] != "" || c.full() {
			continue
		}
		ok = false
		f := finding{rule: rule.Alias, message: fmt.Sprintf("%s stands for %s, and the pack is not locked", a.Alias, a.Target())}
		if p != nil {
			f.message = fmt.Sprintf("%s stands for %s, and the pack has no such skill", a.Alias, a.Target())
			if near := diag.Nearest(a.Skill, slices.Sorted(maps.Keys(p.Skills))); near != "" {
				f.fix = fmt.Sprintf("did you mean %s@%s?", near, a.Pack)
			}
		}
		f.line, f.column = c.m.manifest.Place("aliases", a.Alias)
		c.put(c.m.src, f)
	}
	return ok
}

// names compares who has the names that are contested or have an alias.
func (c *lockCheck) names() {
	lock := c.k.lock
	_, want, _, err := project.Names(project.Claims(c.m.manifest, lock), c.m.manifest.Aliases, lock.Names, nil)
	if err != nil {
		c.refused = true
		line, column := c.m.manifest.Place("aliases")
		c.put(c.m.src, finding{
			rule: rule.Alias, severity: new(diag.SeverityError), line: line, column: column, message: err.Error(), fix: diag.HintOf(err),
		})
		return
	}
	all := maps.Clone(want)
	maps.Copy(all, lock.Names)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		should, needed := want[name]
		is, locked := lock.Names[name]
		at := []string{"names", name}
		switch {
		case !needed:
			c.differ(c.k, at, "the name %s is locked, and is neither contested nor has an alias", name)
		case !locked:
			if at = at[:1]; len(lock.Names) == 0 {
				at = []string{"packs"}
			}
			c.differ(c.k, at, "the name %s is contested or has an alias, and is not locked", name)
		case should.Winner != is.Winner:
			c.differ(c.k, append(at, "winner"), "the name %s belongs to %s", name, orNobody(should.Winner))
		case !should.Equal(is):
			c.differ(c.k, append(at, "shadowed"), "the aliases of %s are not those that skillpm.yaml leads to", name)
		}
	}
}

func orNobody(id sources.ID) string {
	if id.IsZero() {
		return "nobody: every skill of that name has an alias"
	}
	return id.String()
}

// text reports the first line that is not as skillpm writes it, though it says the same.
func (c *lockCheck) text() {
	want, have := c.k.lock.Encode(), c.k.src.data
	switch {
	case bytes.Equal(want, have):
		return
	case bytes.Equal(want, bytes.ReplaceAll(have, []byte("\r\n"), []byte("\n"))):
		c.put(c.k.src, finding{rule: rule.LockDiffers, line: 1, column: 1, message: "the lines end with CRLF, and skillpm writes LF"})
		return
	}
	line := 1
	for wanted := range bytes.Lines(want) {
		is, rest, _ := bytes.Cut(have, []byte("\n"))
		if string(is)+"\n" != string(wanted) {
			break
		}
		line, have = line+1, rest
	}
	c.put(c.k.src, finding{rule: rule.LockDiffers, line: line, column: 1, message: "the lock is not written as skillpm writes it, from this line on"})
}
