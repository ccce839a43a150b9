package git

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Unmerged returns the three versions of a file that a merge, a rebase, or a cherry-pick left in conflict: that of the
// common ancestor, ours, and theirs. A version in which the file does not exist is nil. All are nil if git has no
// conflict for the file, which includes a file outside a work tree and a machine without git.
func Unmerged(ctx context.Context, file string) (base, ours, theirs []byte, err error) {
	w, err := openWorkTree(ctx, filepath.Dir(file))
	if diag.CodeOf(err) == diag.NotFound {
		return nil, nil, nil, nil
	} else if err != nil {
		return nil, nil, nil, err
	}
	dir, err := pathx.ResolveExisting(filepath.Dir(file))
	if err != nil {
		return nil, nil, nil, err
	}
	rel, ok := pathx.Rel(w.root, filepath.Join(dir, filepath.Base(file)))
	if !ok {
		return nil, nil, nil, nil
	}
	list, err := w.git(ctx, "", "--literal-pathspecs", "ls-files", "--unmerged", "-z", "--", filepath.ToSlash(rel))
	if err != nil {
		return nil, nil, nil, err
	}
	stages := map[string]*[]byte{"1": &base, "2": &ours, "3": &theirs}
	for line := range strings.SplitSeq(string(list), "\x00") {
		fields := strings.Fields(line) // mode, object, stage, path
		if len(fields) < 3 || stages[fields[2]] == nil {
			continue
		}
		if *stages[fields[2]], err = w.git(ctx, "", "cat-file", "blob", fields[1]); err != nil {
			return nil, nil, nil, err
		}
	}
	return base, ours, theirs, nil
}
