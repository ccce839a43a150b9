package solve

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// parent is a pack that requires others.
type parent struct {
	id        pack.ID
	version   string
	isBuiltIn bool // it comes from a registry that needs no configuration
}

// addParent remembers who requires packs by name. A parent from a built-in registry counts more, because its
// dependencies may come from there, too.
func (b *Backend) addParent(p parent, deps []pack.Dependency) {
	for _, d := range deps {
		before, ok := b.parents[d.ID]
		if d.Ref != nil || ok && (before.isBuiltIn || !p.isBuiltIn) {
			continue
		}
		wasNamed := b.isNamed(d.ID)
		b.parents[d.ID] = p
		if ok && !wasNamed && b.isNamed(d.ID) {
			delete(b.lookups, lookupKey{pack: d.ID}) // it did not ask the built-in registries
		}
	}
}

// isNamed reports whether the user names a pack, or a pack from a built-in registry does.
func (b *Backend) isNamed(id pack.ID) bool {
	p, ok := b.parents[id]
	_, direct := b.direct[id]
	return direct || !ok || p.isBuiltIn
}

// explain adds to the error for a missing pack which pack requires it.
func (p parent) explain(id pack.ID, err error) error {
	if diag.CodeOf(err) != diag.NotFound || p.id.IsZero() {
		return err
	}
	return diag.Errorf(diag.NotFound, "%s %s requires %s: %w", p.id, p.version, id, err).WithHint("%s", diag.HintOf(err))
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
			err := diag.Errorf(diag.NotFound, "no registry contains the pack, and the installed %s is %s", d.ID, what).
				WithHint("remove it with \"skillpm remove %s\", and add the registry that contains the pack with: "+
					"skillpm registry add NAME URL --namespace %s", d.ID, d.ID.Owner)
			return parent{id: id, version: p.Version}.explain(d.ID, err)
		}
	}
	return nil
}
