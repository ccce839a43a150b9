package skillpm

import (
	"context"
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// HasLockConflict reports whether the lockfile of a scope has merge conflicts, and its manifest does not.
func (c *Client) HasLockConflict(scopeKind string) bool {
	s, err := c.Machine.FindScope(scopeKind, false)
	if err != nil {
		return false
	}
	lock, lockErr := safefile.ReadOptional(s.Lock())
	manifest, manifestErr := safefile.ReadOptional(s.Manifest())
	return lockErr == nil && manifestErr == nil && pack.HasConflict(lock) && !pack.HasConflict(manifest)
}

// mergeConflict merges the sides of a lockfile with merge conflicts. It takes them from git's index, and if git has no
// conflict for the file, such as after "git merge-file", from the markers in the file.
func mergeConflict(ctx context.Context, file string, data []byte, m *pack.Manifest) (*pack.Lock, error) {
	base, ours, theirs, err := git.Unmerged(ctx, file)
	if err != nil {
		return nil, err
	}
	if ours == nil && theirs == nil {
		var ok bool
		if base, ours, theirs, ok = pack.SplitConflict(data); !ok {
			return nil, oneSideHint(diag.Errorf(diag.Invalid, "cannot merge %s: its conflict markers are incomplete", file))
		}
		if _, err := pack.ParseLock(file, base); err != nil {
			base = nil // without the style diff3, the markers do not include it
		}
	}
	var locks [3]*pack.Lock
	for i, side := range [...]struct {
		name string
		data []byte
	}{{"the common ancestor", base}, {"ours", ours}, {"theirs", theirs}} {
		if len(side.data) == 0 {
			locks[i] = pack.NewLock()
		} else if locks[i], err = pack.ParseLock(fmt.Sprintf("%s (%s)", file, side.name), side.data); err != nil {
			return nil, oneSideHint(diag.Errorf(diag.CodeOf(err), "cannot merge %s: %w", pack.LockName, err))
		}
	}
	return solve.MergeLocks(ctx, m, locks[0], locks[1], locks[2])
}

func oneSideHint(err *diag.Error) error {
	return err.WithHint("restore the lockfile of one branch with \"git checkout --ours skillpm.lock\" " +
		"or \"git checkout --theirs skillpm.lock\", and run: skillpm install")
}
