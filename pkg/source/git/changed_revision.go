package git

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// resolve returns the commit that a revision names: HEAD, a branch, tag or remote branch, or the digits of a commit,
// and ~ and ^ after it as git has them.
func (h *history) resolve(rev string) (*object.Commit, error) {
	name, steps := rev, ""
	if at := strings.IndexAny(rev, "~^"); at >= 0 {
		name, steps = rev[:at], rev[at:]
	}
	c, err := h.named(name)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, h.unknown(rev, name)
	}
	for steps != "" {
		kind, digits := steps[0], len(steps[1:])-len(strings.TrimLeft(steps[1:], "0123456789"))
		n := 1
		if digits > 0 {
			n, err = strconv.Atoi(steps[1 : 1+digits])
		}
		steps = steps[1+digits:]
		if err != nil || steps != "" && steps[0] != '~' && steps[0] != '^' {
			return nil, h.unknown(rev, name)
		}
		if kind == '^' && n > 0 {
			c, err = h.parent(c, n, rev)
		}
		for ; kind == '~' && n > 0 && err == nil; n-- {
			c, err = h.parent(c, 1, rev)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// parent returns the nth parent of a commit.
func (h *history) parent(c *object.Commit, n int, rev string) (*object.Commit, error) {
	switch ids := h.parents(c); {
	case len(ids) >= n:
		return h.commit(ids[n-1])
	case h.cut:
		return nil, h.tooShallow("%s is not among the commits that are here", rev)
	}
	return nil, diag.Errorf(diag.NotFound, "%s does not exist: the history of %s ends before it", rev, h.w.root)
}

// named returns the commit that a name without ~ and ^ stands for, or nil.
func (h *history) named(name string) (*object.Commit, error) {
	if name == "@" {
		name = "HEAD"
	}
	if pack.CheckRev(name) != nil {
		return nil, nil //nolint:nilnil // no revision has such a name
	}
	if isCommit(name) {
		return h.peeled(name, plumbing.NewHash(name))
	}
	for _, pattern := range []string{"*", "refs/*", "refs/tags/*", "refs/heads/*", "refs/remotes/*", "refs/remotes/*/HEAD"} {
		full := strings.Replace(pattern, "*", name, 1)
		if pattern == "*" && !strings.HasPrefix(name, "refs/") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
			continue // a file of git's directory that is no reference
		}
		if full == "FETCH_HEAD" {
			return h.fetched()
		}
		if ref, err := storer.ResolveReference(h.w.storage, plumbing.ReferenceName(full)); err == nil {
			return h.peeled(name, ref.Hash())
		}
	}
	return h.abbreviated(name)
}

// fetched returns the commit that git fetch has noted first.
func (h *history) fetched() (*object.Commit, error) {
	text, err := readSmall(filepath.Join(h.w.gitDir, "FETCH_HEAD"))
	if len(text) < 40 || err != nil || !isCommit(string(text[:40])) {
		return nil, nil //nolint:nilnil,nilerr // there is none
	}
	return h.peeled("FETCH_HEAD", plumbing.NewHash(string(text[:40])))
}

// abbreviated returns the commit whose id starts with at least four digits.
func (h *history) abbreviated(digits string) (*object.Commit, error) {
	prefix, err := hex.DecodeString(digits[:len(digits)&^1])
	if len(digits) < 4 || err != nil || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, nil //nolint:nilnil,nilerr // it is not the id of a commit
	}
	ids, err := h.w.storage.HashesWithPrefix(prefix)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", h.w.root, oneLine(err))
	}
	var found *object.Commit
	for _, id := range ids {
		c, err := object.GetCommit(h.w.storage, id)
		if err != nil || !strings.HasPrefix(id.String(), digits) || found != nil && found.Hash == id {
			continue
		}
		if found != nil {
			return nil, diag.Errorf(diag.Usage, "%s stands for more than one commit", digits).
				WithHint("write more digits, as %s", id.String()[:12])
		}
		found = c
	}
	return found, nil
}

// peeled returns the commit that an object is, or that a tag is on.
func (h *history) peeled(name string, id plumbing.Hash) (*object.Commit, error) {
	for range 10 {
		c, err := object.GetCommit(h.w.storage, id)
		if err == nil {
			return c, nil
		}
		tag, err := object.GetTag(h.w.storage, id)
		if err != nil {
			break
		}
		id = tag.Target
	}
	if _, err := h.w.storage.EncodedObjectSize(id); err == nil {
		return nil, diag.Errorf(diag.Usage, "%s is not a commit", name)
	}
	if len(h.shallow) > 0 {
		return nil, h.tooShallow("the commit %s is not here", name)
	}
	return nil, diag.Errorf(diag.NotFound, "%s has no commit %s", h.w.root, name)
}

// unknown says that there is no such revision, and what may have been meant.
func (h *history) unknown(rev, name string) error {
	var local, remote []string
	if iter, err := h.w.storage.IterReferences(); err == nil {
		_ = iter.ForEach(func(r *plumbing.Reference) error { // what cannot be read is not suggested
			switch n := r.Name(); {
			case n.IsBranch(), n.IsTag():
				local = append(local, n.Short())
			case n.IsRemote() && !strings.HasSuffix(n.String(), "/HEAD"):
				remote = append(remote, n.Short())
			}
			return nil
		})
	}
	slices.Sort(local)
	slices.Sort(remote)
	e := diag.Errorf(diag.NotFound, "%s has no branch, tag or commit %q", h.w.root, rev)
	at := slices.IndexFunc(remote, func(s string) bool { return strings.HasSuffix(s, "/"+name) })
	switch near := diag.Nearest(name, slices.Concat(local, remote)); {
	case at >= 0:
		return e.WithHint("did you mean %s?", remote[at])
	case near != "":
		return e.WithHint("did you mean %s?", near)
	case len(local)+len(remote) > 0:
		return e.WithHint("there are %s", shortList(slices.Concat(local, remote)))
	}
	return e
}
