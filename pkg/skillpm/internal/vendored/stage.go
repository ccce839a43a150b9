package vendored

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// Trees returns the skills that have to be written.
func (p *Plan) Trees() []Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(it Item) bool { return it.Tree == "" || it.State == Current })
}

// Stage stages the changes of the plan in a transaction. The store must have the trees.
func (p *Plan) Stage(ctx context.Context, tx *txn.Tx, s *store.Store) error {
	for _, it := range p.Items {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.noLinks(it.Path); err != nil {
			return err
		}
		if err := stageItem(ctx, tx, s, it); err != nil {
			return err
		}
	}
	for _, at := range p.records {
		if err := tx.Remove(at); err != nil {
			return err
		}
	}
	for _, id := range p.packs() {
		if !p.recordOutdated(id) {
			continue
		}
		inventories := map[string]bundle.Inventory{}
		for skill, tree := range p.lock.Packs[id].Skills {
			inv, err := p.inventory(s, id.String(), skill, tree)
			if err != nil {
				return err
			}
			inventories[skill] = inv
		}
		data, err := newRecord(id, p.lock.Packs[id], inventories).encode()
		if err != nil {
			return err
		}
		p.files[path.Join(p.Dir, id.String(), recordName)] = data
	}
	for _, at := range slices.Sorted(maps.Keys(p.files)) {
		if err := p.noLinks(at); err != nil {
			return err
		}
		if err := tx.StageFile(at, p.files[at], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// noLinks refuses to write below a link, which could lead to another directory of the project.
func (p *Plan) noLinks(at string) error {
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(p.copy.root, filepath.FromSlash(dir)))
		if err == nil && !info.IsDir() {
			return diag.Errorf(diag.Denied, "%s is not a directory", dir).
				WithHint("vendored skills must not contain links; remove the link, then run \"skillpm vendor\" again")
		}
	}
	return nil
}

// inventory returns the files of a tree: those of the store, or of the copy if it matches.
func (p *Plan) inventory(s *store.Store, pack, skill, tree string) (bundle.Inventory, error) {
	if inv, err := s.Inventory(tree); err == nil {
		return inv, nil
	}
	fsys, err := p.copy.tree()
	if err != nil {
		return nil, err
	}
	inv, err := bundle.Sum(fsys, path.Join(pack, skill))
	if err == nil && inv.Digest() != tree {
		err = &bundle.MismatchError{What: path.Join(p.Dir, pack, skill), Want: tree, Got: inv.Digest()}
	}
	return inv, err
}

func stageItem(ctx context.Context, tx *txn.Tx, s *store.Store, it Item) error {
	switch {
	case it.State == Current:
		return nil
	case it.Tree == "":
		return tx.Remove(it.Path)
	}
	dir, err := tx.StageDir(it.Path)
	if err != nil {
		return err
	}
	return s.Materialize(ctx, it.Tree, dir)
}

// Prune removes empty directories of owners and packs.
func (p *Plan) Prune() {
	owners, _ := p.copy.list("") // what can't be listed is not empty
	for _, owner := range owners {
		names, _ := p.copy.list(owner)
		for _, name := range names {
			p.removeEmpty(path.Join(owner, name))
		}
		p.removeEmpty(owner)
	}
}

func (p *Plan) removeEmpty(name string) {
	if p.copy.checkDirs(name) == nil {
		// fails unless it is empty
		_ = os.Remove(filepath.Join(p.copy.root, filepath.FromSlash(path.Join(p.Dir, name))))
	}
}
