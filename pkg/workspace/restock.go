package workspace

import (
	"os"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// Restock puts a tree of the lock into the store, if the store does not have it and it is installed and intact. That it
// is neither is no error: it has to be fetched.
func (w *Workspace) Restock(s *store.Store, t Tree) error {
	at := w.Rel(w.Scope.PluginSkill(t.Pack, t.Skill))
	if s.Has(t.Digest) {
		return nil
	}
	root, err := os.OpenRoot(w.Scope.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	if inv, err := bundle.Sum(root.FS(), at); err != nil || inv.Digest() != t.Digest {
		return nil //nolint:nilerr // it is not installed, or not intact
	}
	return s.AddTree(root.FS(), at, t.Digest)
}
