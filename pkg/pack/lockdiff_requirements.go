package pack

import (
	"maps"
	"slices"
	"strings"
)

// requirement is a dependency and the pack that has it.
type requirement struct {
	Dependency
	by  ID     // zero for the manifest
	key string // of the manifest: dependencies or dev-dependencies
}

// unreadable reports whether a requirement of the manifest is invalid.
func (n requirement) unreadable() bool { return n.by.IsZero() && n.Constraint == "" && n.Ref == nil }

// position returns the file and the keys of the requirement.
func (n requirement) position() (file string, keys []string) {
	if n.by.IsZero() {
		return ManifestName, []string{n.key, n.ID.String()}
	}
	return LockName, []string{"packs", n.by.String(), "dependencies", n.ID.String()}
}

// dependent names the manifest or the pack that has the requirement.
func (n requirement) dependent() string {
	if n.by.IsZero() {
		return ManifestName
	}
	return n.by.String()
}

// requiredSkills are the skills that all requirements of a pack ask for, by pack.
type requiredSkills map[ID]*skillSet

type skillSet struct {
	all        bool
	names      []string
	incomplete bool // a requirement is unreadable
}

func (s requiredSkills) add(n requirement) {
	set := s[n.ID]
	if set == nil {
		set = &skillSet{}
		s[n.ID] = set
	}
	set.all = set.all || len(n.Skills) == 0
	set.names = append(set.names, n.Skills...)
	set.incomplete = set.incomplete || n.unreadable()
}

// compareRequirements follows the requirements of the manifest through the lockfile.
func (c *comparison) compareRequirements() {
	var queue []requirement
	add := func(key string, list []Dependency) {
		for _, d := range list {
			queue = append(queue, requirement{Dependency: d, key: key})
		}
	}
	add("dependencies", c.Manifest.Dependencies)
	add("dev-dependencies", c.Manifest.DevDependencies)
	visited := map[ID]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		c.required.add(n)
		p := c.Lock.Packs[n.ID]
		if p == nil {
			if file, keys := n.position(); !c.PartialLock {
				c.addMismatch(DiffMissing, n.ID, file, keys, "%s is required, but is not in skillpm.lock", n.ID)
			}
			continue
		}
		if !n.unreadable() {
			c.compareLocked(n, p)
		}
		if visited[n.ID] {
			continue
		}
		visited[n.ID] = true
		deps, err := p.Requires()
		if err != nil {
			c.addInvalid(n.ID, LockName, []string{"packs", n.ID.String(), "dependencies"}, err)
		}
		for _, d := range deps {
			queue = append(queue, requirement{Dependency: d, by: n.ID})
		}
	}
}

// addInvalid records an invalid part of a file. Its reader has reported it too, unless it checks only the form.
func (c *comparison) addInvalid(id ID, file string, keys []string, err error) {
	c.add(Difference{Kind: DiffInvalid, Pack: id, File: file, Message: err.Error(), Hint: hintRestore}, keys...)
}

// compareLocked checks that a locked pack meets a requirement.
func (c *comparison) compareLocked(n requirement, p *LockedPack) {
	if p.Version == "" || p.Source == "" {
		return // the reader of the file has reported it
	}
	directory := p.Source == "path" || strings.HasPrefix(p.Source, "path:")
	switch {
	case n.Ref == nil && directory:
		c.addLocked(DiffSource, n.ID, []string{"source"}, "%s is locked to a directory, but %s requires it by name",
			n.ID,
			n.dependent())
		return
	case n.Ref != nil && !p.IsFrom(*n.Ref):
		c.addLocked(DiffSource, n.ID, []string{"source"},
			"%s is locked to a different source than %s requires (%s)", n.ID, n.dependent(), n.Ref)
		return
	}
	allowed, err := Allows(n.Dependency, p.Version)
	switch {
	case err != nil:
		file, keys := n.position()
		c.addInvalid(n.ID, file, keys, err)
	case !allowed:
		c.addLocked(DiffVersion, n.ID, []string{"version"}, "%s %s is locked, but %s requires %s",
			n.ID, p.Version, n.dependent(), n.Constraint)
	case directory && n.by.IsZero() && c.Directory != nil && c.Directory(n.Dependency, p):
		c.mismatch = true
	}
}

// compareSurplus finds locked packs that nothing requires.
func (c *comparison) compareSurplus() {
	if c.PartialManifest {
		return
	}
	for _, id := range c.Lock.IDs() {
		if c.required[id] == nil {
			c.addLocked(DiffSurplus, id, nil, "%s is locked, but nothing requires it", id)
		}
	}
}

// compareSkills checks that the required skills are locked, and no others.
func (c *comparison) compareSkills() {
	if c.PartialLock {
		return
	}
	for _, id := range c.Lock.IDs() {
		p, required := c.Lock.Packs[id], c.required[id]
		switch {
		case required == nil || required.incomplete:
		case required.all && p.Partial:
			c.addLocked(DiffSkills, id, []string{"partial"},
				"only some skills of %s are locked, but all skills are required", id)
		case !required.all:
			c.comparePartial(id, p, slices.Compact(slices.Sorted(slices.Values(required.names))))
		}
	}
}

// comparePartial compares the locked skills of a pack with the required ones, which are sorted.
func (c *comparison) comparePartial(id ID, p *LockedPack, names []string) {
	for _, name := range names {
		if p.Skills[name] == "" {
			c.addLocked(DiffSkills, id, []string{"skills"}, "the skill %s of %s is required but not locked", name, id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		if _, required := slices.BinarySearch(names, name); !required {
			c.addLocked(DiffSkills, id, []string{"skills", name},
				"the skill %s of %s is locked but not required", name, id)
		}
	}
}
