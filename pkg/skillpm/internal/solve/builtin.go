package solve

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// addRequired remembers packs that another pack requires by name, and whether one from a built-in registry does.
func (b *Backend) addRequired(deps []pack.Dependency, byBuiltIn bool) {
	for _, d := range deps {
		if d.Ref != nil {
			continue
		}
		if byBuiltIn && !b.isNamed(d.ID) {
			delete(b.lookups, lookupKey{pack: d.ID}) // it did not ask the built-in registries
		}
		b.required[d.ID] = b.required[d.ID] || byBuiltIn
	}
}

// isNamed reports whether the user names a pack, or a pack from a built-in registry does: then the built-in registries
// may have it.
func (b *Backend) isNamed(id pack.ID) bool {
	byBuiltIn, isRequired := b.required[id]
	_, isDirect := b.direct[id]
	return isDirect || byBuiltIn || !isRequired
}

// checkBuiltIn refuses a lock in which a pack from elsewhere gets a dependency from a built-in registry: another pack
// than its author means. Packs of skillpm itself, and packs that the user published and requires, are what they say.
func (b *Backend) checkBuiltIn(lock *pack.Lock) error {
	for _, id := range lock.IDs() {
		p := lock.Packs[id]
		if registry.IsBuiltIn(p.Source) {
			continue
		}
		deps, err := p.Requires()
		if err != nil {
			return err
		}
		for _, d := range deps {
			found := lock.Packs[d.ID]
			_, direct := b.direct[d.ID]
			if found == nil || d.Ref != nil || !registry.IsDemo(d.ID, found.Source) &&
				(found.Source != registry.Local || direct) {
				continue
			}
			what := "the pack in local, the registry of this machine"
			if found.Source == registry.Embedded {
				what = "a demo pack of skillpm"
			}
			return diag.Errorf(diag.NotFound,
				"no registry contains the pack %s: the installed one is %s (required by %s)", d.ID, what, id).
				WithHint("remove it with \"skillpm remove %s\", and add the pack's registry with: "+
					"skillpm registry add NAME URL --namespace %s", d.ID, d.ID.Owner)
		}
	}
	return nil
}
