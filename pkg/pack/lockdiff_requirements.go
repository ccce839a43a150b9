package pack

import (
	"maps"
	"slices"
	"strings"
)

// requirement is a dependency and who requires it.
type requirement struct {
	Dependency
	by  ID
	key string // of the manifest
}

// broken reports whether a requirement of the manifest could not be read.
func (n requirement) broken() bool { return n.by.IsZero() && n.Constraint == "" && n.Ref == nil }

// at returns the file and the keys where the requirement stands.
func (n requirement) at() (file string, keys []string) {
	if n.by.IsZero() {
		return ManifestName, []string{n.key, n.ID.String()}
	}
	return LockName, []string{"packs", n.by.String(), "dependencies", n.ID.String()}
}

// who names whose requirement it is.
func (n requirement) who() string {
	if n.by.IsZero() {
		return ManifestName
	}
	return n.by.String()
}

// selections are the skills that are wanted of packs.
type selections map[ID]*selection

type selection struct {
	all    bool
	skills []string
	unsure bool // not everything that is required can be read
}

func (w selections) add(n requirement) {
	x := w[n.ID]
	if x == nil {
		x = &selection{}
		w[n.ID] = x
	}
	x.all = x.all || len(n.Skills) == 0
	x.skills = append(x.skills, n.Skills...)
	x.unsure = x.unsure || n.broken()
}

// requirements follows what the manifest requires through the lock.
func (c *comparison) requirements() {
	var queue []requirement
	add := func(key string, list []Dependency) {
		for _, d := range list {
			queue = append(queue, requirement{Dependency: d, key: key})
		}
	}
	add("dependencies", c.Manifest.Dependencies)
	add("dev-dependencies", c.Manifest.DevDependencies)
	done := map[ID]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		c.wants.add(n)
		p := c.Lock.Packs[n.ID]
		if p == nil {
			if file, keys := n.at(); !c.PartialLock {
				c.differ(DiffMissing, n.ID, file, keys, "%s is required, and skillpm.lock does not have it", n.ID)
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
			c.invalid(n.ID, LockName, []string{"packs", n.ID.String(), "dependencies"}, err)
		}
		for _, d := range deps {
			queue = append(queue, requirement{Dependency: d, by: n.ID})
		}
	}
}

// invalid records what is not valid. The reader of the file has reported it too, unless it checks only the form.
func (c *comparison) invalid(id ID, file string, keys []string, err error) {
	c.add(Difference{Kind: DiffInvalid, Pack: id, File: file, Message: err.Error(), Hint: hintRestore}, keys...)
}

// agrees checks that a locked pack is what a requirement asks for.
func (c *comparison) agrees(n requirement, p *LockedPack) {
	if p.Version == "" || p.Source == "" {
		return // which its reader said
	}
	directory := p.Source == "path" || strings.HasPrefix(p.Source, "path:")
	switch {
	case n.Ref == nil && directory:
		c.inLock(DiffSource, n.ID, []string{"source"}, "%s is locked to a directory, and %s wants it by name", n.ID,
			n.who())
		return
	case n.Ref != nil && !lockedFrom(*n.Ref, p):
		c.inLock(DiffSource, n.ID, []string{"source"}, "%s is locked from another place than the one that %s wants, %s",
			n.ID, n.who(), n.Ref)
		return
	}
	allowed, err := Allows(n.Dependency, p.Version)
	switch {
	case err != nil:
		file, keys := n.at()
		c.invalid(n.ID, file, keys, err)
	case !allowed:
		c.inLock(DiffVersion, n.ID, []string{"version"}, "%s %s is locked, and %s wants %s", n.ID, p.Version, n.who(),
			n.Constraint)
	case directory && n.by.IsZero() && c.Directory != nil && c.Directory(n.Dependency, p):
		c.refused = true
	}
}

// lockedFrom reports whether a pack is locked from the place that is required, and to the commit or digest that this
// names.
func lockedFrom(ref Ref, p *LockedPack) bool {
	pin := ref.Digest
	if pin == "" && ref.Kind == KindGit && commit().MatchString(ref.Rev) {
		pin = ref.Rev
	}
	return p.Source == ref.Locked(p.Version) && (pin == "" || pin == p.Resolved)
}

// surplus finds what is locked and not required.
func (c *comparison) surplus() {
	if c.PartialManifest {
		return
	}
	for _, id := range c.Lock.IDs() {
		if c.wants[id] == nil {
			c.inLock(DiffSurplus, id, nil, "%s is locked, and nothing requires it", id)
		}
	}
}

// skills checks that the skills that are wanted are locked, and no others.
func (c *comparison) skills() {
	if c.PartialLock {
		return
	}
	for _, id := range c.Lock.IDs() {
		p, want := c.Lock.Packs[id], c.wants[id]
		switch {
		case want == nil || want.unsure:
		case want.all && p.Partial:
			c.inLock(DiffSkills, id, []string{"partial"}, "only some skills of %s are locked, and all are wanted", id)
		case !want.all:
			c.subset(id, p, slices.Compact(slices.Sorted(slices.Values(want.skills))))
		}
	}
}

// subset compares the skills of a pack of which some are wanted, in order.
func (c *comparison) subset(id ID, p *LockedPack, names []string) {
	for _, name := range names {
		if p.Skills[name] == "" {
			c.inLock(DiffSkills, id, []string{"skills"}, "the skill %s of %s is wanted, and not locked", name, id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		if _, wanted := slices.BinarySearch(names, name); !wanted {
			c.inLock(DiffSkills, id, []string{"skills", name}, "the skill %s of %s is locked, and not wanted", name, id)
		}
	}
}
