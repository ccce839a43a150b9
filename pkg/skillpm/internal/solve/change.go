package solve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Content identifies the content of a version.
type Content struct {
	Resolved  string `json:"resolved"`            // digest or commit
	Integrity string `json:"integrity,omitempty"` // digest of the skills; "" if they can't be read
}

// Change is a locked version of a pack whose content is no longer the locked one: its tag was moved, or the line of an
// index was replaced. Content is the skills and the dependencies. Another commit or digest with the same content is not
// a change.
type Change struct {
	Pack    pack.ID `json:"-"`
	Version string  `json:"-"`
	Source  string  `json:"source"` // where the changed content is, as a lockfile records it
	Locked  Content `json:"locked"`
	Found   Content `json:"found"`
	Reason  string  `json:"reason,omitempty"` // what differs if the skills don't, or why they can't be read
}

// String describes the change with both digests.
func (c *Change) String() string {
	text := fmt.Sprintf("the content of %s %s at %s changed: skillpm.lock records %s (%s), but the source now has ",
		c.Pack, c.Version, c.Source, c.Locked.Integrity, c.Locked.Resolved)
	if c.Found.Integrity == "" {
		text += c.Found.Resolved
	} else {
		text += c.Found.Integrity + " (" + c.Found.Resolved + ")"
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// ChangedError reports versions whose content is no longer the locked one. Published versions never change, so this is
// an attack, or a mistake of the publisher.
type ChangedError struct {
	Changes []*Change // at least one
}

// Error describes the changes, one a line.
func (e *ChangedError) Error() string {
	texts := make([]string, len(e.Changes))
	for i, c := range e.Changes {
		texts[i] = c.String()
	}
	return strings.Join(texts, "\n")
}

// Code returns [diag.Integrity].
func (e *ChangedError) Code() diag.Code { return diag.Integrity }

// Hint names who knows why the content changed. It does not name the flag that accepts the change: who copies a command
// from an error message would accept whatever the source has.
func (e *ChangedError) Hint() string {
	c := e.Changes[0]
	return fmt.Sprintf("published versions do not change: ask the publisher of %s (the owner of %s) why the content "+
		"differs, and keep the locked version until then", c.Pack, c.Source)
}

// newChange returns the difference between the locked content and what a source has now, nil if there is none.
func newChange(id pack.ID, was, now *pack.LockedPack) *Change {
	c := &Change{
		Pack: id, Version: was.Version, Source: now.Source,
		Locked: Content{was.Resolved, was.Integrity},
		Found:  Content{now.Resolved, now.Integrity},
	}
	if was.Partial && !now.Partial || now.Partial && !was.Partial {
		c.Locked.Integrity, c.Found.Integrity = commonIntegrity(was, now), commonIntegrity(now, was)
	}
	switch {
	case !sameSkills(was, now):
	case !maps.Equal(dependenciesOf(was), dependenciesOf(now)):
		c.Reason = fmt.Sprintf("it requires %s instead of %s", dependencyList(now), dependencyList(was))
	default:
		return nil
	}
	return c
}

// commonIntegrity returns the integrity of the skills that two entries have.
func commonIntegrity(p, other *pack.LockedPack) string {
	trees := maps.Clone(p.Skills)
	maps.DeleteFunc(trees, func(name, _ string) bool { return other.Skills[name] == "" })
	return bundle.Integrity(trees)
}

// sameSkills reports whether two entries have the same skills, apart from those that one of them leaves out.
func sameSkills(a, b *pack.LockedPack) bool {
	covers := func(a, b *pack.LockedPack) bool {
		for name, tree := range b.Skills {
			if other, ok := a.Skills[name]; ok && other != tree || !ok && !a.Partial {
				return false
			}
		}
		return true
	}
	return covers(a, b) && covers(b, a)
}

// dependenciesOf returns the dependencies of a pack without its own commit, at which those in its repository are.
func dependenciesOf(p *pack.LockedPack) map[string]string {
	deps := maps.Clone(p.Dependencies)
	for name, text := range deps {
		if p.Resolved != "" {
			deps[name] = strings.ReplaceAll(text, "#"+p.Resolved, "")
		}
	}
	return deps
}

// dependencyList writes the dependencies of a pack for a message.
func dependencyList(p *pack.LockedPack) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(p.Dependencies)) {
		list = append(list, strings.TrimSpace(name+" "+p.Dependencies[name]))
	}
	if len(list) == 0 {
		return "no packs"
	}
	return strings.Join(list, ", ")
}

// AcceptChange lets the content of a pack's locked version differ from the lock: what the source has now is locked.
func (b *Backend) AcceptChange(id pack.ID) { b.mark(id, func(m *mark) { m.accepted = true }) }

// WarnOfChanges makes changed content a warning of the solution instead of an error, for operations that install
// nothing.
func (b *Backend) WarnOfChanges() { b.onlyWarn = true }

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
	return ref.Rev != "" && !isFixed(ref.Rev, id)
}

// isFixed reports whether a revision is a commit or the tag of a release.
func isFixed(rev string, id pack.ID) bool {
	_, release := pack.VersionFromTag(rev, id.Name)
	return release || pack.IsCommit(rev)
}

// isDefaultBranch reports whether a pack is from the default branch of a repository without releases, and no range was
// required of it.
func (b *Backend) isDefaultBranch(src string, p *pack.Pack) bool {
	ref, ok := b.refs[src]
	return ok && ref.Kind == pack.KindGit && hasReleases(ref) && p.Ref.Rev == "" && !b.ranged[src]
}

// lockedMoves reports whether the lock has a pack from a branch, a moving tag, or a directory.
func lockedMoves(id pack.ID, was *pack.LockedPack) bool {
	ref, err := was.Ref(id)
	return err != nil || fetch.IsDirectory(was.Source) || ref.Rev != "" && !isFixed(ref.Rev, id)
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
	if p := b.opened[openedKey{id, c.Source, c.Version}]; b.isMoving(id, c.Source) ||
		p != nil && b.isDefaultBranch(c.Source, p) {
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
		was := b.Previous.Packs[by]
		if was != nil && was.Version == chosen[by].Version && !b.followsOthers(chosen, by, seen) {
			return false
		}
	}
	return true
}

// changedFrom compares a new entry of the lock with the previous one, if both promise the same content: they have one
// version, or the required tag of a release is the same.
func (b *Backend) changedFrom(chosen map[pack.ID]resolve.Selection, p *pack.Pack, now *pack.LockedPack) *Change {
	src := chosen[p.ID].Source
	was, ok := b.Previous.Packs[p.ID]
	if !ok || lockedMoves(p.ID, was) || fetch.IsDirectory(now.Source) ||
		b.followsOthers(chosen, p.ID, map[pack.ID]bool{}) {
		return nil
	}
	ref := b.refs[src]
	sameTag := src != "" && ref.Rev != "" && was.Source == ref.Locked(was.Version)
	if was.Version != now.Version && !sameTag {
		return nil
	}
	return newChange(p.ID, was, now)
}

// LockedChange compares what the lock has of a pack with what its source has of this version now. It returns nil if
// they are the same, or if that can't be known because the version is gone from the source or the source is unreachable.
func (b *Backend) LockedChange(ctx context.Context, id pack.ID, src string) (*Change, error) {
	was, ok := b.Previous.Packs[id]
	if !ok || lockedMoves(id, was) || b.isMoving(id, src) {
		return nil, nil
	}
	digest := b.digestNow(ctx, id, src, was)
	if digest == "" || digest == was.Resolved {
		return nil, nil
	}
	p, err := b.pack(ctx, id, src, was.Version)
	var change *Change
	if err == nil && !b.isDefaultBranch(src, p) {
		change, err = b.compareContent(ctx, was, p)
	}
	switch diag.CodeOf(err) {
	case diag.Invalid, diag.Integrity: // it is not even a pack any more
		return &Change{
			Pack: id, Version: was.Version, Source: was.Source, Locked: Content{was.Resolved, was.Integrity},
			Found: Content{Resolved: digest}, Reason: err.Error(),
		}, nil
	case diag.NotFound:
		return nil, nil
	}
	return change, err
}

// compareContent compares the locked content with a pack that was opened. It fetches the pack if its source doesn't
// state the digests.
func (b *Backend) compareContent(ctx context.Context, was *pack.LockedPack, p *pack.Pack) (*Change, error) {
	var names []string
	if was.Partial {
		for _, name := range slices.Sorted(maps.Keys(was.Skills)) {
			if _, ok := p.Skill(name); ok {
				names = append(names, name)
			}
		}
	}
	now := &pack.LockedPack{Version: p.Version, Source: p.Ref.Locked(p.Version), Resolved: p.Ref.Digest}
	if names != nil || !was.Partial {
		var err error
		if now, err = b.lockPack(ctx, p, names); err != nil {
			return nil, err
		}
	}
	if len(names) < len(was.Skills) && was.Partial {
		now.Partial = false // it lacks a locked skill
	}
	return newChange(p.ID, was, now), nil
}

// digestNow returns the digest or commit that the locked version has at its source now, "" if that can't be known.
func (b *Backend) digestNow(ctx context.Context, id pack.ID, src string, was *pack.LockedPack) string {
	if p, ok := b.opened[openedKey{id, src, was.Version}]; ok {
		return p.Ref.Digest
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
	if ref.Digest != "" || was.Source != ref.Locked(was.Version) {
		return "" // the manifest requires something else by now
	}
	if hasReleases(ref) {
		ref = atVersion(ref, was.Version)
	}
	return b.Fetcher.Pin(ctx, ref)
}

// lockedChanges returns the changes of locked versions that an update leaves, which nobody opened.
func (b *Backend) lockedChanges(ctx context.Context, chosen map[pack.ID]resolve.Selection) ([]*Change, error) {
	var left []pack.ID
	for id, c := range chosen {
		if was, ok := b.Previous.Packs[id]; ok && b.marks[id].freed && c.Version != was.Version {
			left = append(left, id)
		}
	}
	slices.SortFunc(left, pack.ID.Compare)
	return b.LockedChanges(ctx, left, func(id pack.ID) string { return chosen[id].Source })
}

// LockedChanges is [Backend.LockedChange] for several packs, with the source that each is required from.
func (b *Backend) LockedChanges(ctx context.Context, ids []pack.ID, source func(pack.ID) string) ([]*Change, error) {
	var group errgroup.Group
	group.SetLimit(parallelLookups)
	for _, id := range ids {
		if source(id) == "" {
			b.askRegistry(ctx, id)
		}
	}
	for _, id := range ids { // the fetcher remembers the answers
		group.Go(func() error {
			b.digestNow(ctx, id, source(id), b.Previous.Packs[id])
			return nil
		})
	}
	_ = group.Wait() // nothing in it fails
	var changes []*Change
	for _, id := range ids {
		c, err := b.LockedChange(ctx, id, source(id))
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
func (b *Backend) reportChanges(sol *Solution, changes []*Change) error {
	refused := &ChangedError{}
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
	rev = cmp.Or(l.pack.Ref.Rev, "HEAD")
	return rev, l.pack.Ref.Digest, !isFixed(rev, l.pack.ID)
}
