package solve

import (
	"cmp"
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// AcceptChange lets the content of a pack's locked version differ from the lock: what the source has now is locked.
func (b *Backend) AcceptChange(id pack.ID) { b.mark(id, func(m *mark) { m.accepted = true }) }

// WarnOfChanges makes changed content a warning of the solution instead of an error, for operations that install
// nothing.
func (b *Backend) WarnOfChanges() { b.onlyWarn = true }

// Found keeps the digest of a pack that was opened for a request of the call, so that it is compared with the lock.
func (b *Backend) Found(d pack.Dependency, p *pack.Pack) {
	b.found[openedKey{d.ID, SourceText(d), p.Version}] = p.Ref.Digest
}

// Reuse keeps a pack that was opened with all its skills, so that its source is not opened again.
func (b *Backend) Reuse(d pack.Dependency, p *pack.Pack) { b.complete[SourceText(d)] = p }

// reference returns the lock whose versions must keep their content.
func (b *Backend) reference() *pack.Lock {
	if b.Reference != nil {
		return b.Reference
	}
	return b.Previous
}

// isMoving reports whether a requirement names what moves by design, so that its content changes under one version: a
// branch, a tag that is not a version, or a directory.
func (b *Backend) isMoving(id pack.ID, src string) bool {
	ref, ok := b.refs[src]
	switch {
	case src == "" || !ok || ref.Digest != "":
		return false
	case ref.Kind == pack.KindPath:
		return true
	}
	return ref.Rev != "" && !fetch.IsFixed(ref.Rev, id)
}

// followsDefaultBranch reports whether the lock has a pack from the default branch of a repository without releases,
// and the pack is required without a range. A pack that is locked from a release does not follow the default branch
// when the releases are gone.
func (b *Backend) followsDefaultBranch(src string, was *pack.LockedPack) bool {
	ref, ok := b.refs[src]
	return ok && was != nil && was.FollowsDefaultBranch() && hasReleases(ref) && !b.ranged[src]
}

// lockedMoves reports whether a pack is locked from a required branch, a moving tag, or a directory.
func lockedMoves(id pack.ID, was *pack.LockedPack) bool {
	ref, err := was.Ref(id)
	return err != nil || fetch.IsDirectory(was.Source) ||
		ref.Rev != "" && !was.FollowsDefaultBranch() && !fetch.IsFixed(ref.Rev, id)
}

// followsOthers reports whether the content of a pack is not that of a version, but what a requirement names: a branch,
// or a commit or digest that the manifest has, or that comes with a new version of the pack that requires it. In one
// repository, packs require each other at their own commit.
func (b *Backend) followsOthers(chosen map[pack.ID]resolve.Selection, id pack.ID, seen map[pack.ID]bool) bool {
	c := chosen[id]
	ref, ok := b.refs[c.Source]
	if c.Source == "" || !ok || seen[id] {
		return false
	}
	if b.isMoving(id, c.Source) || b.followsDefaultBranch(c.Source, b.reference().Packs[id]) {
		return true
	}
	if ref.Digest == "" && !pack.IsCommit(ref.Rev) {
		return false
	}
	seen[id] = true
	defer delete(seen, id)
	for _, by := range c.By {
		if by.IsZero() {
			return true
		}
		was := b.reference().Packs[by]
		if was != nil && was.Version == chosen[by].Version && !b.followsOthers(chosen, by, seen) {
			return false
		}
	}
	return true
}

// changedFrom compares a new entry of the lock with the previous one, if both promise the same content: they have one
// version, or the required tag of a release is the same.
func (b *Backend) changedFrom(chosen map[pack.ID]resolve.Selection, p *pack.Pack, now *pack.LockedPack) *fetch.Change {
	src := chosen[p.ID].Source
	was, ok := b.reference().Packs[p.ID]
	if !ok || lockedMoves(p.ID, was) || fetch.IsDirectory(now.Source) ||
		b.followsOthers(chosen, p.ID, map[pack.ID]bool{}) {
		return nil
	}
	ref := b.refs[src]
	sameTag := src != "" && ref.Rev != "" && was.Source == ref.Locked(was.Version)
	if was.Version != now.Version && !sameTag {
		return nil
	}
	return fetch.NewChange(p.ID, was, now)
}

// lockedChange compares the locked content of a version with its content at the source now. The digest is that of
// digestNow. It returns nil if they are the same, or if that can't be known: the version is gone from the source, or
// the source is unreachable.
func (b *Backend) lockedChange(ctx context.Context, id pack.ID, src, digest string) (*fetch.Change, error) {
	was := b.Previous.Packs[id]
	if digest == "" || digest == was.Resolved || lockedMoves(id, was) || b.isMoving(id, src) ||
		b.followsDefaultBranch(src, was) {
		return nil, nil
	}
	if err := b.Fetcher.CheckLabel(ctx, id, was); err != nil {
		return nil, err
	}
	p, err := b.pack(ctx, id, src, was.Version)
	var change *fetch.Change
	if err == nil {
		change, err = b.Fetcher.Compare(ctx, was, p)
	}
	switch diag.CodeOf(err) {
	case diag.Invalid, diag.Integrity: // it is not even a pack any more
		return fetch.LostChange(id, was, digest, err), nil
	case diag.NotFound:
		return nil, nil
	}
	return change, err
}

// digestNow returns the digest or commit that a locked version has at its source now, "" if that can't be known.
func (b *Backend) digestNow(ctx context.Context, id pack.ID, src string, was *pack.LockedPack) string {
	key := openedKey{id, src, was.Version}
	if p, ok := b.opened[key]; ok {
		return p.Ref.Digest
	} else if digest, ok := b.found[key]; ok {
		return digest
	}
	if src == "" {
		l := b.askRegistry(ctx, id)
		if <-l.done; l.err != nil {
			return ""
		}
		i := slices.IndexFunc(l.versions, func(v registry.Version) bool { return v.Version == was.Version })
		if i < 0 {
			return ""
		}
		return b.digest(ctx, id, l.registry, l.versions[i])
	}
	ref := b.refs[src]
	if ref.Digest != "" || !was.IsFrom(ref) {
		return "" // the manifest now requires something else
	}
	if hasReleases(ref) {
		ref = atVersion(ref, was.Version)
	}
	return b.Fetcher.Pin(ctx, ref)
}

// lockedChanges returns the changes of locked versions that an update leaves, and of those that somebody opened.
func (b *Backend) lockedChanges(ctx context.Context, chosen map[pack.ID]resolve.Selection) ([]*fetch.Change, error) {
	var ids []pack.ID
	for id, c := range chosen {
		was, ok := b.Previous.Packs[id]
		if !ok {
			continue
		}
		key := openedKey{id, c.Source, was.Version}
		opened := b.opened[key] != nil || b.found[key] != ""
		if b.marks[id].freed && c.Version != was.Version || opened && !b.followsOthers(chosen, id, map[pack.ID]bool{}) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, pack.ID.Compare)
	return b.LockedChanges(ctx, ids, func(id pack.ID) string { return chosen[id].Source })
}

// LockedChanges compares what the lock has of packs with what their sources have of these versions now. Source returns
// the source that a pack is required from.
func (b *Backend) LockedChanges(ctx context.Context, ids []pack.ID, source func(pack.ID) string) ([]*fetch.Change,
	error,
) {
	for _, id := range ids {
		if source(id) == "" {
			b.askRegistry(ctx, id)
		}
	}
	digests := make([]string, len(ids))
	var group bug.Group
	group.SetLimit(parallelLookups)
	for i, id := range ids {
		group.Go(func() error {
			digests[i] = b.digestNow(ctx, id, source(id), b.Previous.Packs[id])
			return nil
		})
	}
	_ = group.Wait() // nothing in it fails
	var changes []*fetch.Change
	for i, id := range ids {
		c, err := b.lockedChange(ctx, id, source(id), digests[i])
		if err != nil {
			return nil, err
		}
		if c != nil {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// reportChanges adds changed content to a solution: as a warning if it is accepted, else as the error that it returns.
func (b *Backend) reportChanges(sol *Solution, changes []*fetch.Change) error {
	refused := &fetch.ChangedError{}
	for _, c := range changes {
		switch {
		case b.marks[c.Pack].accepted:
			sol.warn("skillpm accepted a change: " + c.String())
		case b.onlyWarn:
			sol.warn(c.String())
		default:
			refused.Changes = append(refused.Changes, c)
		}
	}
	if len(refused.Changes) > 0 {
		return refused
	}
	return nil
}

// Followed returns the branch or tag that a requirement follows, "HEAD" for a default branch, and the commit or digest
// that it is on now. It is false for packs that have releases, and for sources that were not asked.
func (b *Backend) Followed(src string) (rev, digest string, ok bool) {
	l := b.lookups[lookupKey{source: src}]
	if l == nil {
		return "", "", false
	}
	if <-l.done; l.err != nil || l.pack == nil || b.refs[src].Kind == pack.KindPath || b.refs[src].Digest != "" {
		return "", "", false
	}
	rev = cmp.Or(l.pack.Ref.Rev, pack.DefaultBranch)
	return rev, l.pack.Ref.Digest, !fetch.IsFixed(rev, l.pack.ID)
}
