package drift

import (
	"fmt"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// aliases finds the aliases of skills that are not locked. It reports whether there are none.
func (c *comparison) aliases() bool {
	ok := true
	for _, a := range c.Manifest.Aliases {
		p := c.Lock.Packs[a.Pack]
		required := c.wants[a.Pack] != nil
		if p == nil && (required || c.PartOfLock) || p != nil && p.Skills[a.Skill] != "" || c.full() {
			continue
		}
		ok = false
		d := Difference{
			Kind: Alias, Pack: a.Pack, File: pack.ManifestName, Hint: "correct it, or remove it",
			Message: fmt.Sprintf("%s stands for %s, and the pack is not locked", a.Alias, a.Target()),
		}
		if p != nil {
			d.Message = fmt.Sprintf("%s stands for %s, and the pack has no such skill", a.Alias, a.Target())
			if near := diag.Nearest(a.Skill, slices.Sorted(maps.Keys(p.Skills))); near != "" {
				d.Hint = fmt.Sprintf("did you mean %s@%s?", near, a.Pack)
			}
		}
		c.add(d, "aliases", a.Alias)
	}
	return ok
}

// names compares who has the names that are contested or have an alias.
func (c *comparison) names() {
	_, want, _, err := pack.Names(pack.Claims(c.Manifest, c.Lock), c.Manifest.Aliases, c.Lock.Names, nil)
	if err != nil {
		c.refused = true
		c.add(Difference{Kind: Aliases, File: pack.ManifestName, Message: err.Error(), Hint: diag.HintOf(err)}, "aliases")
		return
	}
	all := maps.Clone(want)
	maps.Copy(all, c.Lock.Names)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c.name(name, want)
	}
}

// name compares the entry of one name with what it should be.
func (c *comparison) name(name string, want map[string]pack.LockedName) {
	should, needed := want[name]
	is, locked := c.Lock.Names[name]
	at := []string{"names", name}
	differ := func(format string, args ...any) {
		c.differ(Names, pack.ID{}, pack.LockName, at, format, args...)
	}
	switch {
	case !needed:
		differ("the name %s is locked, and is neither contested nor has an alias", name)
	case !locked:
		if at = at[:1]; len(c.Lock.Names) == 0 {
			at = []string{"packs"}
		}
		differ("the name %s is contested or has an alias, and is not locked", name)
	case should.Winner != is.Winner:
		at = append(at, "winner")
		differ("the name %s belongs to %s", name, orNobody(should.Winner))
	case !should.Equal(is):
		at = append(at, "shadowed")
		differ("the aliases of %s are not those that skillpm.yaml leads to", name)
	}
}

func orNobody(id pack.ID) string {
	if id.IsZero() {
		return "nobody: every skill of that name has an alias"
	}
	return id.String()
}
