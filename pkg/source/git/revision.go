package git

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git/internal/gitcmd"
)

// mergeBase returns the merge base of HEAD and since: a branch, a tag, a remote branch, or a commit, with optional ~
// and ^ suffixes. It rejects other forms of gitrevisions(7).
func (w *workTree) mergeBase(ctx context.Context, since string) (string, error) {
	name, suffix := since, ""
	if i := strings.IndexAny(since, "~^"); i >= 0 {
		name, suffix = since[:i], since[i:]
	}
	if name != "@" && pack.CheckRev(name) != nil || !regexp.MustCompile(`^([~^][0-9]{0,9})*$`).MatchString(suffix) {
		return "", w.unknownRevision(ctx, since, name)
	}
	base, err := w.run(ctx, "", "merge-base", "--end-of-options", since+"^{commit}", "HEAD")
	if !isGitError(err) {
		return string(bytes.TrimSpace(base)), err
	}
	switch _, err := w.revParse(ctx, since+"^{commit}"); {
	case isGitError(err):
		return "", w.explainRevision(ctx, since, name)
	case err != nil:
		return "", err
	case w.shallow:
		return "", shallowError("%s and HEAD do not have a common ancestor in this clone", since)
	}
	return "", diag.Errorf(diag.NotFound, "%s and HEAD do not have a common ancestor", since)
}

func shallowError(format string, args ...any) error {
	return diag.Errorf(diag.NotFound, format+": the clone is shallow", args...).
		WithHint("fetch the whole history with: git fetch --unshallow; in CI, set fetch-depth: 0")
}

// explainRevision returns the reason why a revision is not a commit.
func (w *workTree) explainRevision(ctx context.Context, rev, name string) error {
	id, err := w.revParse(ctx, name)
	if err != nil {
		if failed, ok := errors.AsType[*gitcmd.Error](err); ok && failed.Printed("is ambiguous") {
			return diag.Errorf(diag.Usage, "the commit %s is ambiguous", name).WithHint("use more digits of the commit")
		}
		return w.unknownRevision(ctx, rev, name)
	}
	_, err = w.run(ctx, "", "cat-file", "-e", id)
	switch missing := isGitError(err); {
	case missing && w.shallow:
		return shallowError("the commit %s is missing", name)
	case missing:
		return diag.Errorf(diag.NotFound, "%s does not contain the commit %s", w.root, name)
	case err != nil:
		return err
	case rev == name:
		return diag.Errorf(diag.Usage, "%s is not a commit", name)
	case w.shallow:
		return shallowError("%s is not in this clone", rev)
	}
	return diag.Errorf(diag.NotFound, "%s does not exist: the history of %s is too short", rev, w.root)
}

// unknownRevision returns the error that a revision does not exist, with a suggestion.
func (w *workTree) unknownRevision(ctx context.Context, rev, name string) error {
	e := diag.Errorf(diag.NotFound, "%s does not have a branch, tag, or commit %q", w.root, rev)
	out, err := w.git(ctx, "", "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return e
	}
	var local, remote []string
	for ref := range strings.FieldsSeq(string(out)) {
		short, isRemote := strings.CutPrefix(ref, "refs/remotes/")
		switch {
		case !isRemote:
			local = append(local, strings.TrimPrefix(strings.TrimPrefix(ref, headsPrefix), tagsPrefix))
		case !strings.HasSuffix(short, "/HEAD"):
			remote = append(remote, short)
		}
	}
	slices.Sort(local)
	names := slices.Concat(local, remote)
	i := slices.IndexFunc(remote, func(s string) bool { return strings.HasSuffix(s, "/"+name) })
	switch suggestion := diag.Nearest(name, names); {
	case i >= 0:
		return e.WithHint("did you mean %s?", remote[i])
	case suggestion != "":
		return e.WithHint("did you mean %s?", suggestion)
	case len(names) > 0:
		return e.WithHint("use a branch or tag, such as %s", textx.First(names, 8))
	}
	return e
}
