package oci

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// PushOptions configure [Client.Push].
type PushOptions struct {
	Format string // one of the format constants
	Moving bool   // also move the tags 1.4, 1, and latest
	// Provenance is attached to the version unless it has provenance. The zero value attaches nothing.
	Provenance Provenance
	MountFrom  []string // repositories ("oci://host/repository") of the same registry that may hold the layers already
	// Attach creates the artifacts that must exist before the release's tag, such as signatures. Push fills in their
	// subject. Attach must not write to the target itself, which may be locked.
	Attach func(ctx context.Context, subject Pushed, manifest []byte) ([]Artifact, error)
}

// Pushed is the result of [Client.Push], or its preview.
type Pushed struct {
	Digest   string // of the manifest, as in a lockfile
	Existed  bool   // the same content was published before
	Manifest []byte // the manifest with that digest
	// Provenance is what the version's referrers state, after the push.
	Provenance Provenance
	Tags       []string // tags that were set or moved
}

// Push publishes trees as a version of a pack. It stores layers and manifest by digest, then the attached artifacts,
// and sets the tags last, so that a visible version has its signatures. Provenance, which proves nothing, follows the
// version's tag. If the version exists with the same content, Push only adds missing attachments and moving tags. If it
// exists with other content, the error is a [ConflictError], and nothing changes.
func (c *Client) Push(ctx context.Context, target pack.Ref, rel Release, trees []bundle.Tree, o PushOptions) (Pushed,
	error,
) {
	pushed, err := c.push(ctx, target, rel, trees, o)
	return pushed, c.secrets.RedactError(err)
}

// CheckPush makes the read-only checks of [Client.Push], and returns the manifest and the tags that Push would store.
func (c *Client) CheckPush(ctx context.Context, target pack.Ref, rel Release, trees []bundle.Tree, o PushOptions) (
	Pushed, error,
) {
	p, err := c.publisher(ctx, target, rel, trees, o)
	if err != nil {
		return Pushed{}, c.secrets.RedactError(err)
	}
	p.dst = dryRun{p.dst}
	pushed, err := p.publish(ctx, trees)
	return pushed, c.secrets.RedactError(err)
}

func (c *Client) push(ctx context.Context, target pack.Ref, rel Release, trees []bundle.Tree, o PushOptions) (Pushed,
	error,
) {
	p, err := c.publisher(ctx, target, rel, trees, o)
	if err != nil {
		return Pushed{}, err
	}
	end, err := p.dst.begin(ctx)
	if err != nil {
		return Pushed{}, err
	}
	defer end()
	return p.publish(ctx, trees)
}

// publisher checks a release and opens its target.
func (c *Client) publisher(ctx context.Context, target pack.Ref, rel Release, trees []bundle.Tree, o PushOptions) (
	*publisher, error,
) {
	if err := checkFormat(o.Format); err != nil {
		return nil, err
	}
	info, err := rel.info(trees)
	if err != nil {
		return nil, err
	}
	if target.Kind != pack.KindOCI && target.ID.IsZero() {
		target.ID = rel.ID
	}
	dst, err := c.openWritable(ctx, target)
	if err != nil {
		return nil, err
	}
	if r, ok := dst.(*repository); ok {
		r.mountFrom = r.sameHost(o.MountFrom)
	}
	return &publisher{client: c, rel: rel, info: info, dst: dst, target: target, options: o}, nil
}

// publish stores a release unless it exists, and adds what is missing.
func (p *publisher) publish(ctx context.Context, trees []bundle.Tree) (Pushed, error) {
	doc, existed, err := p.findPublished(ctx)
	if err != nil {
		return Pushed{}, err
	}
	if !existed {
		if doc, err = p.write(ctx, trees); err != nil {
			return Pushed{}, err
		}
	}
	pushed := Pushed{Digest: string(doc.desc.Digest), Existed: existed, Manifest: doc.raw}
	if existed {
		if pushed.Provenance, err = p.client.provenanceOf(ctx, p.dst, p.subjectRef(pushed.Digest)); err != nil {
			return Pushed{}, err
		}
	}
	if err := p.attach(ctx, doc, &pushed); err != nil {
		return Pushed{}, err
	}
	return p.tag(ctx, doc, pushed)
}

// tag sets the tags of a stored release, the version's first.
func (p *publisher) tag(ctx context.Context, doc document, pushed Pushed) (Pushed, error) {
	if !pushed.Existed {
		if err := p.tagVersion(ctx, doc); err != nil {
			return Pushed{}, err
		}
		pushed.Tags = []string{p.rel.Version}
	}
	if err := p.attachProvenance(ctx, doc, &pushed); err != nil {
		return Pushed{}, err
	}
	moved, err := p.moveTags(ctx, doc)
	pushed.Tags = append(pushed.Tags, moved...)
	return pushed, err
}

// attach stores the attached artifacts of a release.
func (p *publisher) attach(ctx context.Context, doc document, pushed *Pushed) error {
	if _, isDryRun := p.dst.(dryRun); isDryRun || p.options.Attach == nil {
		return nil
	}
	if !pushed.Existed { // a dry run did not store the subject
		if err := p.dst.pushDocument(ctx, doc, ""); err != nil {
			return err
		}
	}
	artifacts, err := p.options.Attach(ctx, *pushed, doc.raw)
	if err != nil {
		return err
	}
	for _, a := range artifacts {
		pushed.Provenance = cmp.Or(pushed.Provenance, a.Provenance())
		if _, err := putArtifact(ctx, p.dst, a, doc.subject()); err != nil {
			return err
		}
	}
	return nil
}

// tagVersion sets the version's tag. A registry has no lock, so two publishers may set the tag at once, and the one
// whose tag was replaced must return an error. Each checks the tag before it sets it, and again after a delay in which
// the other has set its tag.
func (p *publisher) tagVersion(ctx context.Context, doc document) error {
	if _, isDryRun := p.dst.(dryRun); isDryRun {
		return nil
	}
	repo, remote := p.dst.(*repository)
	if remote {
		if err := p.verifyPublished(ctx, doc); err != nil && diag.CodeOf(err) != diag.NotFound {
			return err
		}
	}
	if err := p.dst.pushDocument(ctx, doc, p.rel.Version); err != nil {
		return err
	}
	if err := p.verifyPublished(ctx, doc); err != nil || !remote {
		return err
	}
	if err := wait(ctx, repo.settleDelay()); err != nil {
		return err
	}
	return p.verifyPublished(ctx, doc)
}

// verifyPublished checks that the version's tag names a manifest.
func (p *publisher) verifyPublished(ctx context.Context, doc document) error {
	now, err := p.dst.document(ctx, p.rel.Version)
	if err != nil {
		return err
	}
	if now.desc.Digest != doc.desc.Digest {
		return p.conflict(now)
	}
	return nil
}

// How long tagVersion waits before it checks a tag again: longer than others need from their check to setting the tag.
const (
	settleRemote = 750 * time.Millisecond
	settleLocal  = 100 * time.Millisecond // in a registry of this machine
)

func (r *repository) settleDelay() time.Duration {
	if httpx.IsLoopback((&url.URL{Host: r.repo.Reference.Host()}).Hostname()) {
		return settleLocal
	}
	return settleRemote
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (p *publisher) conflict(published document) error {
	return &ConflictError{
		Pack: p.rel.ID, Version: p.rel.Version, Repository: trimVersion(p.target),
		Digest: string(published.desc.Digest),
	}
}

// findPublished returns the manifest of the version if it is published with the same content.
func (p *publisher) findPublished(ctx context.Context) (doc document, existed bool, err error) {
	doc, err = p.dst.document(ctx, p.rel.Version)
	if diag.CodeOf(err) == diag.NotFound {
		return document{}, false, p.checkPrefixedTag(ctx)
	}
	if err != nil {
		return document{}, false, err
	}
	if !p.sameContent(doc) {
		return document{}, false, p.conflict(doc)
	}
	return doc, true, nil
}

// sameContent reports whether a manifest has the content of the release.
func (p *publisher) sameContent(doc document) bool {
	if p.copied != "" {
		return doc.desc.Digest == p.copied
	}
	a, err := parseArtifact(doc)
	return err == nil && a.info != nil && a.info.encode() == p.info.encode()
}

// checkPrefixedTag returns an error if the tag v1.4.0, which other tools set for the same version, has other content.
func (p *publisher) checkPrefixedTag(ctx context.Context) error {
	doc, err := p.dst.document(ctx, "v"+p.rel.Version)
	switch {
	case diag.CodeOf(err) == diag.NotFound:
		return nil
	case err != nil:
		return err
	case !p.sameContent(doc):
		return p.conflict(doc)
	}
	return nil
}

// dryRun discards writes.
type dryRun struct{ readWriter }

func (dryRun) begin(context.Context) (func(), error)                             { return func() {}, nil }
func (dryRun) pushBlob(context.Context, ocispec.Descriptor, io.ReadSeeker) error { return nil }
func (dryRun) pushDocument(context.Context, document, string) error              { return nil }
func (dryRun) attach(context.Context, document, *ocispec.Manifest) error         { return nil }

// moveTags points the moving tags of a release to it: 1.4, 1 and latest for 1.4.2, unless a higher release that the tag
// covers is published. A tag of a higher release stays, even if that release's own tag is gone. moveTags returns the
// tags that moved.
func (p *publisher) moveTags(ctx context.Context, doc document) ([]string, error) {
	ours, err := semver.StrictNewVersion(p.rel.Version)
	if err != nil || !p.options.Moving || ours.Prerelease() != "" {
		return nil, nil //nolint:nilerr // the version was checked before
	}
	tags, err := p.dst.tags(ctx)
	if err != nil && diag.CodeOf(err) != diag.NotFound {
		return nil, err
	}
	var moved []string
	for _, t := range movingTags(ours) {
		if slices.ContainsFunc(tags, func(tag string) bool { return t.isBelowTag(tag, ours) }) {
			continue
		}
		if slices.Contains(tags, t.tag) {
			if current, err := p.isCurrentOrHigher(ctx, t.tag, ours, doc); err != nil {
				return moved, err
			} else if current {
				continue
			}
		}
		if err := p.dst.pushDocument(ctx, doc, t.tag); err != nil {
			return moved, err
		}
		moved = append(moved, t.tag)
	}
	return p.yieldToHigher(ctx, ours, moved)
}

// yieldToHigher checks moved tags again, because a registry has no lock: if somebody published a higher release in the
// meantime, it points the tag to that. It returns the tags that still lead to our release.
func (p *publisher) yieldToHigher(ctx context.Context, ours *semver.Version, moved []string) ([]string, error) {
	if _, remote := p.dst.(*repository); !remote || len(moved) == 0 {
		return moved, nil
	}
	tags, err := p.dst.tags(ctx)
	if err != nil {
		return moved, err
	}
	for _, t := range movingTags(ours) {
		i := slices.Index(moved, t.tag)
		higher := slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return !t.isBelowTag(tag, ours) })
		if i < 0 || len(higher) == 0 {
			continue
		}
		doc, err := p.dst.document(ctx, slices.MaxFunc(higher, byVersion))
		if err != nil {
			return moved, err
		}
		if err := p.dst.pushDocument(ctx, doc, t.tag); err != nil {
			return moved, err
		}
		moved = slices.Delete(moved, i, i+1)
	}
	return moved, nil
}

// byVersion compares tags that are versions.
func byVersion(a, b string) int {
	va, _ := pack.VersionFromTag(a, "")
	vb, _ := pack.VersionFromTag(b, "")
	return semver.MustParse(va).Compare(semver.MustParse(vb))
}

// movingTag is a tag such as 1.4 or latest, and the releases that it covers.
type movingTag struct {
	tag    string
	covers func(*semver.Version) bool
}

func movingTags(v *semver.Version) []movingTag {
	return []movingTag{
		{
			fmt.Sprintf("%d.%d", v.Major(), v.Minor()),
			func(o *semver.Version) bool { return o.Major() == v.Major() && o.Minor() == v.Minor() },
		},
		{fmt.Sprintf("%d", v.Major()), func(o *semver.Version) bool { return o.Major() == v.Major() }},
		{"latest", func(*semver.Version) bool { return true }},
	}
}

// isBelowTag reports whether another tag is that of a higher release that t covers.
func (t movingTag) isBelowTag(tag string, ours *semver.Version) bool {
	text, ok := pack.VersionFromTag(tag, "")
	return ok && t.isBelow(text, ours)
}

func (t movingTag) isBelow(text string, ours *semver.Version) bool {
	v, err := semver.StrictNewVersion(text)
	return err == nil && v.Prerelease() == "" && t.covers(v) && v.GreaterThan(ours)
}

// isCurrentOrHigher reports whether a moving tag leads to our release or a higher one.
func (p *publisher) isCurrentOrHigher(ctx context.Context, tag string, ours *semver.Version, doc document) (bool,
	error,
) {
	now, err := p.dst.document(ctx, tag)
	switch {
	case diag.CodeOf(err) == diag.NotFound:
		return false, nil
	case err != nil:
		return false, err
	case now.desc.Digest == doc.desc.Digest:
		return true, nil
	}
	a, err := parseArtifact(now)
	if err != nil || a.info == nil || a.info.Name != p.info.Name {
		return false, nil //nolint:nilerr // what is no release of this pack holds no tag
	}
	return movingTag{covers: func(*semver.Version) bool { return true }}.isBelow(a.info.Version, ours), nil
}
