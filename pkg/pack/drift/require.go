package drift

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/pack"
)

// need is one requirement, and the pack whose it is: the zero ID for the project.
type need struct {
	pack.Dependency
	by  pack.ID
	key string // of the manifest
}

// broken reports whether a requirement of the manifest could not be read.
func (n need) broken() bool { return n.by.IsZero() && n.Constraint == "" && n.Ref == nil }

// at returns the file and the keys where the requirement stands.
func (n need) at() (file string, keys []string) {
	if n.by.IsZero() {
		return pack.ManifestName, []string{n.key, n.ID.String()}
	}
	return pack.LockName, []string{"packs", n.by.String(), "dependencies", n.ID.String()}
}

// who names whose requirement it is.
func (n need) who() string {
	if n.by.IsZero() {
		return pack.ManifestName
	}
	return n.by.String()
}

// wantedSkills are the skills that are wanted of packs.
type wantedSkills map[pack.ID]*wanted

type wanted struct {
	all    bool
	skills []string
	unsure bool // not everything that is required can be read
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

// requirements follows what the manifest requires through the lock.
func (c *comparison) requirements() {
	var queue []need
	add := func(key string, list []pack.Dependency) {
		for _, d := range list {
			queue = append(queue, need{Dependency: d, key: key})
		}
	}
	add("dependencies", c.Manifest.Dependencies)
	add("dev-dependencies", c.Manifest.DevDependencies)
	done := map[pack.ID]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		c.wants.add(n)
		p := c.Lock.Packs[n.ID]
		if p == nil {
			if file, keys := n.at(); !c.PartOfLock {
				c.differ(Missing, n.ID, file, keys, "%s is required, and skillpm.lock does not have it", n.ID)
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
			c.invalid(n.ID, pack.LockName, []string{"packs", n.ID.String(), "dependencies"}, err)
		}
		for _, d := range deps {
			queue = append(queue, need{Dependency: d, by: n.ID})
		}
	}
}

// invalid takes down what cannot be read. The reader of the file has refused it, unless it only looked at its form.
func (c *comparison) invalid(id pack.ID, file string, keys []string, err error) {
	c.add(Difference{Kind: Invalid, Pack: id, File: file, Message: err.Error(), Hint: hintRestore}, keys...)
}

// agrees checks that a locked pack is what a requirement asks for.
func (c *comparison) agrees(n need, p *pack.LockedPack) {
	if p.Version == "" || p.Source == "" {
		return // which its reader said
	}
	directory := p.Source == "path" || strings.HasPrefix(p.Source, "path:")
	switch {
	case n.Ref == nil && directory:
		c.inLock(Place, n.ID, []string{"source"}, "%s is locked to a directory, and %s wants it by name", n.ID, n.who())
		return
	case n.Ref != nil && !from(*n.Ref, p):
		c.inLock(Place, n.ID, []string{"source"}, "%s is locked from another place than the one that %s wants, %s", n.ID, n.who(), n.Ref)
		return
	}
	allowed, err := pack.Allows(n.Dependency, p.Version)
	switch {
	case err != nil:
		file, keys := n.at()
		c.invalid(n.ID, file, keys, err)
	case !allowed:
		c.inLock(Version, n.ID, []string{"version"}, "%s %s is locked, and %s wants %s", n.ID, p.Version, n.who(), n.Constraint)
	case directory && n.by.IsZero() && c.Directory != nil && c.Directory(n.Dependency, p):
		c.refused = true
	}
}

var commit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}$`) })

// from reports whether a pack is locked from the place that is required, and to the commit or digest that this names.
func from(ref pack.Ref, p *pack.LockedPack) bool {
	pin := ref.Digest
	if pin == "" && ref.Kind == pack.KindGit && commit().MatchString(ref.Rev) {
		pin = ref.Rev
	}
	return p.Source == ref.Locked(p.Version) && (pin == "" || pin == p.Resolved)
}

// surplus finds what is locked and not required.
func (c *comparison) surplus() {
	if c.PartOfManifest {
		return
	}
	for _, id := range c.Lock.IDs() {
		if c.wants[id] == nil {
			c.inLock(Surplus, id, nil, "%s is locked, and nothing requires it", id)
		}
	}
}

// skills checks that the skills that are wanted are locked, and no others.
func (c *comparison) skills() {
	if c.PartOfLock {
		return
	}
	for _, id := range c.Lock.IDs() {
		p, want := c.Lock.Packs[id], c.wants[id]
		switch {
		case want == nil || want.unsure:
		case want.all && p.Partial:
			c.inLock(Skills, id, []string{"partial"}, "only some skills of %s are locked, and all are wanted", id)
		case !want.all:
			c.subset(id, p, slices.Compact(slices.Sorted(slices.Values(want.skills))))
		}
	}
}

// subset compares the skills of a pack of which some are wanted, in order.
func (c *comparison) subset(id pack.ID, p *pack.LockedPack, names []string) {
	for _, name := range names {
		if p.Skills[name] == "" {
			c.inLock(Skills, id, []string{"skills"}, "the skill %s of %s is wanted, and not locked", name, id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		if _, wanted := slices.BinarySearch(names, name); !wanted {
			c.inLock(Skills, id, []string{"skills", name}, "the skill %s of %s is locked, and not wanted", name, id)
		}
	}
}
