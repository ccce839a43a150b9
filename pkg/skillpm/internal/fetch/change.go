package fetch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
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
	return fmt.Sprintf(
		"published versions do not change: ask %s why the content differs, and keep the locked version until then",
		publisher(c.Pack, c.Source))
}

// publisher names who knows about the content of a pack.
func publisher(id pack.ID, source string) string {
	who := "the publisher of " + id.String()
	if strings.Contains(source, "://") {
		who += " (the owner of " + source + ")"
	}
	return who
}

// NewChange returns the difference between the locked content and what a source has now, nil if there is none.
func NewChange(id pack.ID, was, now *pack.LockedPack) *Change {
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

// LostChange describes the change of a version of which a source has a digest that can't be used any more.
func LostChange(id pack.ID, was *pack.LockedPack, digest string, why error) *Change {
	return &Change{
		Pack: id, Version: was.Version, Source: was.Source, Locked: Content{was.Resolved, was.Integrity},
		Found: Content{Resolved: digest}, Reason: why.Error(),
	}
}

// IsFixed reports whether a revision is a commit or the tag of a release, which does not move by design.
func IsFixed(rev string, id pack.ID) bool {
	_, release := pack.VersionFromTag(rev, id.Name)
	return release || pack.IsCommit(rev)
}

// Compare compares the locked content of a pack with what was opened at its source. It fetches the pack if its source
// doesn't state the digests.
func (f *Fetcher) Compare(ctx context.Context, was *pack.LockedPack, p *pack.Pack) (*Change, error) {
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
		if now, _, err = f.Entry(ctx, p, names); err != nil {
			return nil, err
		}
	}
	if was.Partial && len(names) < len(was.Skills) {
		now.Partial = false // it lacks a locked skill
	}
	return NewChange(p.ID, was, now), nil
}

// explainGone explains why a locked digest or commit is gone from its source, if the locked version is still there:
// with other content, which is a [ChangedError], or with the same, which an update locks.
func (f *Fetcher) explainGone(ctx context.Context, m *pack.Manifest, id pack.ID, locked *pack.LockedPack, gone error,
) error {
	ref, err := lockedRef(m, id, locked)
	if err != nil || !IsPinned(locked) || ref.Rev != "" && !IsFixed(ref.Rev, id) {
		return gone
	}
	ref.Digest = ""
	switch {
	case ref.Rev != "":
	case ref.Kind == pack.KindGit:
		ref.Constraint = "=" + locked.Version
	default:
		ref.Rev = locked.Version
	}
	p, err := f.Open(pack.WithSkills(ctx, LockedSkills(locked)), ref)
	var change *Change
	if err == nil {
		if p.ID != id || p.Version != locked.Version {
			return gone
		}
		change, err = f.Compare(ctx, locked, p)
	}
	if code := diag.CodeOf(err); code == diag.Invalid || code == diag.Integrity {
		change, err = LostChange(id, locked, f.Pin(ctx, ref), err), nil
	}
	switch {
	case err != nil:
		return gone
	case change != nil:
		return &ChangedError{Changes: []*Change{change}}
	}
	return diag.Errorf(diag.NotFound, "%w; %s now has the same content of version %s as %s", gone, locked.Source,
		locked.Version, p.Ref.Digest).
		WithHint("record it in skillpm.lock with: skillpm update %s", id)
}
