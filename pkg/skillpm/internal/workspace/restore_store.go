package workspace

import (
	"io/fs"
	"iter"
	"math"
	"os"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// RestoreStore puts trees that the store lacks into the store, if they are installed intact. The others have to be
// fetched.
func (w *Workspace) RestoreStore(s *store.Store, trees iter.Seq[Tree]) error {
	root, err := os.OpenRoot(w.Scope.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	var writer *store.Writer // of all of them: each Writer has a directory, a lock and goroutines of its own
	want := make(map[string]string)
	for t := range trees {
		at := w.Rel(w.Scope.PluginSkill(t.Pack, t.Skill))
		if want[at] != "" || s.Has(t.Digest) || !intact(root.FS(), at, t.Digest) {
			continue
		}
		if writer == nil {
			// The limits are per pack, and this writer gets many packs, each of which met the limits.
			if writer, err = s.Writer(bundle.Limits{TotalBytes: math.MaxInt64}); err != nil {
				return err
			}
			defer writer.Close()
		}
		if err := writer.AddTree(at, root.FS(), at); err != nil {
			return err
		}
		want[at] = t.Digest
	}
	if writer == nil {
		return nil
	}
	_, err = writer.Commit(want)
	return err
}

// intact reports whether a directory has a digest.
func intact(fsys fs.FS, at, digest string) bool {
	inv, err := bundle.Sum(fsys, at)
	return err == nil && inv.Digest() == digest
}
