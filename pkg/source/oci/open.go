package oci

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// Versions returns the available versions, highest first: the tags that are strict semantic versions, with or without a
// leading v. Moving tags and signature tags are not versions.
func (c *Client) Versions(ctx context.Context, ref pack.Ref) ([]string, error) {
	versions, err := c.versions(ctx, ref)
	return versions, c.secrets.RedactError(httpx.PreferContext(ctx, err))
}

func (c *Client) versions(ctx context.Context, ref pack.Ref) ([]string, error) {
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	tags, err := p.tags(ctx)
	if err != nil {
		return nil, err
	}
	return versionsOf(tags), nil
}

// versionsOf returns the versions among tags, highest first.
func versionsOf(tags []string) []string {
	versions := make([]*semver.Version, 0, len(tags))
	for _, tag := range tags {
		if v, ok := pack.VersionFromTag(tag, ""); ok {
			versions = append(versions, semver.MustParse(v))
		}
	}
	slices.SortFunc(versions, func(a, b *semver.Version) int { return b.Compare(a) })
	list := make([]string, len(versions))
	for i, v := range versions {
		list[i] = v.String()
	}
	return slices.Compact(list)
}

// Open pins a source to a digest and describes its pack. A ref with a digest stays as it is. A tag is resolved to its
// current digest. A ref with neither means the highest version that is not a pre-release, or else the tag latest. For
// packs with skillpm's annotation it takes one GET of the manifest; other artifacts need their layers.
func (c *Client) Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error) {
	pk, err := c.openPack(ctx, ref)
	return pk, c.secrets.RedactError(httpx.PreferContext(ctx, err))
}

func (c *Client) openPack(ctx context.Context, ref pack.Ref) (*pack.Pack, error) {
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	a, tag, err := c.resolve(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	pinned := ref
	pinned.Digest, pinned.Rev = string(a.desc.Digest), tag
	l, inLayout := p.(*layout)
	if inLayout && ref.ID.IsZero() && a.info == nil {
		pinned.ID = l.defaultID()
	}
	pk := &pack.Pack{
		Ref:         pinned,
		Description: oneLine(a.notes[ocispec.AnnotationDescription]),
		License:     oneLine(a.notes[ocispec.AnnotationLicenses]),
		Tags:        tagsOf(a.notes[AnnotationTags]),
	}
	if a.info != nil {
		if err := a.info.describe(pk); err != nil {
			return nil, diag.Errorf(diag.Invalid, "%s: %w", trimVersion(ref), err)
		}
		if inLayout {
			pk.Ref.ID = pk.ID
		}
		addDescriptions(pk, a.notes[AnnotationSkills])
		return pk, checkDeclaredName(pk, ref.ID)
	}
	if err := c.describeForeign(ctx, p, a, tag, pk); err != nil {
		return nil, nameInError(ref, err)
	}
	return pk, nil
}

// checkDeclaredName compares the name and version that a pack declares with those that it was opened by: a tag that is
// a version, and the pack's name in a layout. A repository in a registry may have another name than its pack, for
// example in a mirror.
func checkDeclaredName(pk *pack.Pack, id pack.ID) error {
	where := trimVersion(pk.Ref)
	if v, ok := pack.VersionFromTag(pk.Ref.Rev, ""); ok && v != pk.Version {
		return diag.Errorf(diag.Invalid, "tag %s of %s contains version %s of %s", httpx.Clean(pk.Ref.Rev), where,
			pk.Version, pk.ID).
			WithHint("report the mismatch to the publisher, or use another tag: %s:TAG", where)
	}
	if !id.IsZero() && id != pk.ID {
		return diag.Errorf(diag.Invalid, "%s contains the pack %s under the name %s", where, pk.ID, id).
			WithHint(
				"report the mismatch to the publisher: the reference names in an OCI layout must have the form NAME:VERSION")
	}
	return nil
}

// resolve finds the artifact that ref means, and the tag that names it.
func (c *Client) resolve(ctx context.Context, p reader, ref pack.Ref) (*artifact, string, error) {
	if ref.Digest != "" {
		a, err := c.read(ctx, p, ref, ref.Digest)
		return a, ref.Rev, err
	}
	if ref.Rev != "" {
		a, err := c.read(ctx, p, ref, ref.Rev)
		if _, version := pack.VersionFromTag(ref.Rev, ""); version && !strings.HasPrefix(ref.Rev, "v") &&
			diag.CodeOf(err) == diag.NotFound {
			if a, errV := c.read(ctx, p, ref, "v"+ref.Rev); errV == nil {
				return a, "v" + ref.Rev, nil
			}
		}
		return a, ref.Rev, err
	}
	tag, err := highest(ctx, p, ref)
	if err != nil {
		return nil, "", err
	}
	a, err := c.read(ctx, p, ref, tag)
	return a, tag, err
}

// highest returns the tag of the highest release, else latest, else the highest pre-release.
func highest(ctx context.Context, p reader, ref pack.Ref) (string, error) {
	tags, err := p.tags(ctx)
	if err != nil {
		return "", err
	}
	var release, pre string
	var releaseVersion, preVersion *semver.Version
	for _, tag := range tags {
		v, ok := pack.VersionFromTag(tag, "")
		if !ok {
			continue
		}
		parsed := semver.MustParse(v)
		if parsed.Prerelease() == "" && (release == "" || parsed.GreaterThan(releaseVersion)) {
			release, releaseVersion = tag, parsed
		}
		if parsed.Prerelease() != "" && (pre == "" || parsed.GreaterThan(preVersion)) {
			pre, preVersion = tag, parsed
		}
	}
	switch {
	case release != "":
		return release, nil
	case slices.Contains(tags, "latest"):
		return "latest", nil
	case pre != "":
		return pre, nil
	}
	return "", diag.Errorf(diag.NotFound, "%s does not have versions", trimVersion(ref)).
		WithHint("use one of its %[2]d tags: %[1]s:TAG", trimVersion(ref), len(tags))
}

// describeForeign describes an artifact without skillpm's annotation: the name from the repository, the version from
// the tag, the skills from the layers.
func (c *Client) describeForeign(ctx context.Context, p reader, a *artifact, tag string, pk *pack.Pack) error {
	id, err := pk.Ref.DefaultID()
	if err != nil {
		return err
	}
	pk.ID, pk.Unnamed = id, true
	pk.Version = pack.DefaultVersion(tag, string(a.desc.Digest))
	if v := a.notes[ocispec.AnnotationVersion]; strings.HasPrefix(pk.Version, "0.0.0-g") &&
		index.CheckVersion(v) == nil {
		pk.Version = v
	}
	parts, err := c.parts(ctx, p, pk.Ref, a, nil)
	if err != nil {
		return err
	}
	seen := make(map[string]string)
	for _, part := range parts {
		for _, r := range part.roots {
			if _, dup := seen[r.name]; dup {
				return diag.Errorf(diag.Invalid, "the skill name %s is duplicated", r.name)
			}
			seen[r.name] = r.tree
			pk.Skills = append(pk.Skills, pack.Skill{Name: r.name, Description: r.description, Tree: r.tree})
		}
	}
	slices.SortFunc(pk.Skills, func(a, b pack.Skill) int { return strings.Compare(a.Name, b.Name) })
	pk.Integrity = bundle.Integrity(seen)
	return nil
}

// oneLine converts an annotation to one printable line of bounded length.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return textx.Truncate(textx.OneLine(s), 4096)
}

// Pin returns the digest that a ref's tag names now. It sends a HEAD request if the registry reports digests in
// headers.
func (c *Client) Pin(ctx context.Context, ref pack.Ref) (string, error) {
	name, err := nameOf(ref)
	if err != nil || ref.Digest != "" {
		return name, err
	}
	p, err := c.open(ctx, ref)
	if err != nil {
		return "", c.secrets.RedactError(err)
	}
	if r, ok := p.(*repository); ok {
		if digest := r.head(ctx, name); digest != "" {
			return digest, nil
		}
	}
	a, err := c.read(ctx, p, ref, name)
	if err != nil {
		return "", c.secrets.RedactError(err)
	}
	return string(a.desc.Digest), nil
}

// head returns the digest of a tag, or "" if the registry does not report it.
func (r *repository) head(ctx context.Context, tag string) string {
	ctx = auth.AppendRepositoryScope(ctx, r.repo.Reference, auth.ActionPull)
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, r.url("manifests/"+tag).String(), nil)
	if err != nil {
		return ""
	}
	req.Header.Set("Accept", manifestTypes)
	resp, err := r.repo.Client.Do(req)
	if err != nil {
		return ""
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 512)) // the response to HEAD does not have a body
	_ = resp.Body.Close()
	if digest := resp.Header.Get("Docker-Content-Digest"); resp.StatusCode == http.StatusOK && pack.IsDigest(digest) {
		return digest
	}
	return ""
}

// Listing returns the results of [Client.Versions] and [Client.Status]. It lists the tags once, and reads the status
// only if its tag exists or the repository has a mirror.
func (c *Client) Listing(ctx context.Context, ref pack.Ref) ([]string, Status, error) {
	ref.Rev, ref.Digest = StatusTag, ""
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, Status{}, c.secrets.RedactError(err)
	}
	tags, err := p.tags(ctx)
	if err != nil {
		return nil, Status{}, c.secrets.RedactError(err)
	}
	var status Status
	_, copies := p.(*mirrored) // a mirror may hold only the versions
	if copies || slices.Contains(tags, StatusTag) {
		status, _, err = c.status(ctx, p, ref)
	}
	return versionsOf(tags), status, c.secrets.RedactError(err)
}

// Packs lists the packs of a layout, sorted.
func (c *Client) Packs(ctx context.Context, ref pack.Ref) ([]LayoutPack, error) {
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	l, ok := p.(*layout)
	if !ok {
		return nil, nil
	}
	return l.packs()
}
