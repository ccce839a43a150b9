package evaluate

import (
	"context"
	"errors"
	"io/fs"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// PreviousCommit is the value of [Options].Previous for the newest commit with other files than the work tree.
const PreviousCommit = "previous"

// takePrevious copies an earlier version of a skill from the history of its git repository: that of a revision, or, for
// "previous", that of HEAD if the skill differs from it, else that of HEAD's parent. It returns the commit.
func takePrevious(ctx context.Context, dir, revision, to string) (*snapshot, string, error) {
	since := revision
	if revision == PreviousCommit {
		since = "HEAD"
	}
	base, err := git.OpenBase(ctx, dir, since)
	if err == nil && revision == PreviousCommit && base.FS != nil && len(base.Changed) == 0 {
		if err = base.Close(); err == nil {
			base, err = git.OpenBase(ctx, dir, "")
		}
	}
	if errors.Is(err, git.ErrNoWorkTree) {
		return nil, "", diag.Errorf(diag.NotFound, "the skill does not have an earlier version: it is %w", git.ErrNoWorkTree).
			WithHint("commit the skill to a git repository, or compare with: --compare without")
	}
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = base.Close() }() // it was only read
	if base.FS == nil {
		return nil, "", diag.Errorf(diag.NotFound, "the skill does not have an earlier commit").
			WithHint("commit the skill, or compare with: --compare without")
	}
	if _, err := fs.Stat(base.FS, skill.File); err != nil {
		return nil, "", diag.Errorf(diag.NotFound, "commit %.12s does not contain the skill", base.Commit).
			WithHint("use --compare with a tag or a commit that contains the skill")
	}
	s, err := takeSnapshot(base.FS, to)
	return s, base.Commit, err
}
