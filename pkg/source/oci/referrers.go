package oci

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// Limits for the referrers of one manifest.
const (
	maxReferrerPages = 50
	maxReferrers     = 256       // of one type
	maxReferrer      = 512 << 10 // bytes of a manifest
)

// Referrers returns the referrers of the manifest with ref's digest, sorted by digest. An empty type means all types.
// It uses the referrers API of the distribution specification 1.1, or else the list under the tag sha256-<hex>. In a
// layout it reads index.json.
func (c *Client) Referrers(ctx context.Context, ref pack.Ref, artifactType string) ([]*Artifact, error) {
	list, err := c.referrers(ctx, ref, artifactType)
	return list, c.secrets.RedactError(err)
}

func (c *Client) referrers(ctx context.Context, ref pack.Ref, artifactType string) ([]*Artifact, error) {
	if !pack.IsDigest(ref.Digest) {
		return nil, diag.Errorf(diag.Internal, "%s is not pinned to a digest", ref)
	}
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c.referrersIn(ctx, p, ref, artifactType)
}

// referrersIn reads the referrers of the manifest with ref's digest from p.
func (c *Client) referrersIn(ctx context.Context, p reader, ref pack.Ref, artifactType string) ([]*Artifact, error) {
	listed, err := p.referrers(ctx, ref.Digest, artifactType)
	if err != nil {
		return nil, err
	}
	var found []*Artifact
	for _, d := range candidates(listed, artifactType) {
		a, err := c.read(ctx, p, ref, string(d.Digest))
		switch diag.CodeOf(err) {
		case diag.NotFound, diag.Invalid, diag.Integrity: // a missing or damaged referrer must not hide the others
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(a.raw) > maxReferrer {
			continue
		}
		if one := a.public(); one.Subject == ref.Digest && (artifactType == "" || one.Type == artifactType) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *Artifact) int { return strings.Compare(a.Digest, b.Digest) })
	return found, nil
}

// candidates returns the listed artifacts that may have a type, without duplicates and up to the limit.
func candidates(listed []ocispec.Descriptor, artifactType string) []ocispec.Descriptor {
	var list []ocispec.Descriptor
	seen := make(map[digest.Digest]bool)
	for _, d := range listed {
		other := artifactType != "" && d.ArtifactType != "" && d.ArtifactType != artifactType
		if seen[d.Digest] || other || d.MediaType != ocispec.MediaTypeImageManifest || checkDescriptor(d) != nil {
			continue
		}
		seen[d.Digest] = true
		list = append(list, d)
	}
	return list[:min(len(list), maxReferrers)]
}

// fallbackTag is the tag of the list of referrers in registries without a referrers API.
func fallbackTag(subject string) string { return strings.Replace(subject, ":", "-", 1) }

// errNoReferrers reports that a registry does not have a referrers API.
var errNoReferrers = errors.New("no referrers API")

func (r *repository) referrers(ctx context.Context, subject, artifactType string) ([]ocispec.Descriptor, error) {
	ctx = auth.AppendRepositoryScope(ctx, r.repo.Reference, auth.ActionPull)
	next := r.url("referrers/" + subject)
	if artifactType != "" {
		next.RawQuery = url.Values{"artifactType": {artifactType}}.Encode()
	}
	var all []ocispec.Descriptor
	for page := 0; next != nil; page++ {
		if page == maxReferrerPages {
			return nil, diag.Errorf(diag.Remote, "%s lists the signatures and attestations of %s on more than %d pages",
				r.name, subject, maxReferrerPages)
		}
		more, following, err := r.referrerPage(ctx, next)
		if errors.Is(err, errNoReferrers) && page == 0 {
			idx, err := r.fallback(ctx, subject)
			if err != nil {
				return nil, err
			}
			return idx.Manifests, nil
		}
		if err != nil {
			return nil, err
		}
		all, next = append(all, candidates(more, artifactType)...), following
	}
	return all, nil
}

func (r *repository) referrerPage(ctx context.Context, page *url.URL) ([]ocispec.Descriptor, *url.URL, error) {
	head, data, err := r.get(ctx, page, ocispec.MediaTypeImageIndex)
	if errors.Is(err, errdef.ErrNotFound) || errors.Is(err, errNoReferrers) {
		return nil, nil, errNoReferrers
	}
	if err != nil {
		return nil, nil, r.client.remoteError(r.host, err)
	}
	if kind, _, _ := strings.Cut(head.Get("Content-Type"), ";"); strings.TrimSpace(
		kind) != ocispec.MediaTypeImageIndex {
		return nil, nil, errNoReferrers
	}
	idx, err := referrerIndex(data)
	if err != nil {
		return nil, nil, diag.Errorf(diag.Remote, "cannot read the list of signatures and attestations in %s: %w",
			r.name, err)
	}
	next, err := nextPage(head.Get("Link"), page)
	return idx.Manifests, next, err
}

// referrerIndex parses a list of referrers. Unlike an index that is a pack, it may be empty.
func referrerIndex(data []byte) (*ocispec.Index, error) {
	idx := &ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex}
	if len(data) > maxManifest || json.Unmarshal(data, idx) != nil {
		return nil, diag.Errorf(diag.Invalid, "the list is not JSON or is larger than %d bytes", maxManifest)
	}
	return idx, nil
}

// fallback reads the index under the fallback tag, or returns an empty one.
func (r *repository) fallback(ctx context.Context, subject string) (*ocispec.Index, error) {
	ctx = auth.AppendRepositoryScope(ctx, r.repo.Reference, auth.ActionPull)
	_, data, err := r.get(ctx, r.url("manifests/"+fallbackTag(subject)), ocispec.MediaTypeImageIndex)
	if errors.Is(err, errdef.ErrNotFound) {
		return referrerIndex([]byte("{}"))
	}
	if err != nil {
		return nil, r.client.remoteError(r.host, err)
	}
	idx, err := referrerIndex(data)
	if err != nil {
		return nil, diag.Errorf(diag.Remote, "%s: the tag %s: %w", r.name, fallbackTag(subject), err)
	}
	return idx, nil
}

// attach stores a referrer. If the registry does not confirm the subject with the header OCI-Subject, attach also
// updates the list under the fallback tag.
func (r *repository) attach(ctx context.Context, doc document, m *ocispec.Manifest) error {
	head, err := r.putManifest(ctx, doc, string(doc.desc.Digest))
	if err != nil || head.Get("OCI-Subject") != "" {
		return err
	}
	subject, entry := string(m.Subject.Digest), referrerEntry(doc, m)
	listed := func() (*ocispec.Index, bool, error) {
		idx, err := r.fallback(ctx, subject)
		if err != nil {
			return nil, false, err
		}
		return idx, slices.ContainsFunc(idx.Manifests, func(d ocispec.Descriptor) bool {
			return d.Digest == entry.Digest
		}), nil
	}
	ok, err := retryLost(ctx, func() (bool, error) {
		idx, ok, err := listed()
		if ok || err != nil {
			return ok, err
		}
		idx.Manifests = append(idx.Manifests, entry)
		list, err := newDocument(idx, ocispec.MediaTypeImageIndex)
		if err != nil {
			return false, err
		}
		if _, err := r.putManifest(ctx, list, fallbackTag(subject)); err != nil {
			return false, err
		}
		_, ok, err = listed()
		return ok, err
	})
	if ok || err != nil {
		return err
	}
	return diag.Errorf(diag.Conflict, "%s: other processes keep changing the tag %s", r.name, fallbackTag(subject)).
		WithHint("run the command again")
}

// retryLost repeats a change to a tag until it lasts, and reports whether it did. A registry has no lock, so a
// concurrent writer may replace the change. The waits are random and double each time, so that one writer eventually
// succeeds.
func retryLost(ctx context.Context, change func() (ok bool, err error)) (ok bool, err error) {
	const tries = 8
	for attempt := range tries {
		if attempt > 0 {
			if err := httpx.Sleep(ctx, rand.N(50*time.Millisecond<<attempt)); err != nil {
				return false, err
			}
		}
		if ok, err = change(); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// referrerEntry is the entry of a referrer in the list of its subject.
func referrerEntry(doc document, m *ocispec.Manifest) ocispec.Descriptor {
	return ocispec.Descriptor{
		MediaType: doc.desc.MediaType, Digest: doc.desc.Digest, Size: doc.desc.Size, ArtifactType: m.ArtifactType,
		Annotations: m.Annotations,
	}
}

// StatusTag is the tag of a repository's [Status].
const StatusTag = "skillpm-status"

// maxStatus limits the size of a status.
const maxStatus = 1 << 20

// Status records which versions of a repository are yanked, and whether the pack is deprecated.
type Status struct {
	Yanked     map[string]string `json:"yanked,omitempty"`     // version -> reason
	Deprecated string            `json:"deprecated,omitempty"` // reason or replacement; "" if not deprecated
}

// Status returns the status of a repository. It is empty if the repository does not have one.
func (c *Client) Status(ctx context.Context, ref pack.Ref) (Status, error) {
	ref.Rev, ref.Digest = StatusTag, ""
	p, err := c.open(ctx, ref)
	if err != nil {
		return Status{}, c.secrets.RedactError(err)
	}
	s, _, err := c.status(ctx, p, ref)
	return s, c.secrets.RedactError(err)
}

// status returns the status and the digest of its artifact.
func (c *Client) status(ctx context.Context, p reader, ref pack.Ref) (s Status, digest string, err error) {
	a, err := c.artifact(ctx, p, ref)
	if diag.CodeOf(err) == diag.NotFound || isOriginUnreachable(err) {
		return Status{}, "", nil
	}
	if err != nil {
		return Status{}, "", err
	}
	if a.Type != MediaTypeStatus || len(a.Blobs) != 1 {
		return Status{}, "", diag.Errorf(diag.Invalid, "%s: the tag %s does not contain the status of a pack",
			trimVersion(ref), StatusTag)
	}
	data := a.Blobs[0].Data // verified with the manifest
	if data == nil {
		if data, err = readSmall(ctx, p, a.Blobs[0], maxStatus); err != nil {
			return Status{}, "", nameInError(ref, err)
		}
	}
	if s, err = parseStatus(data); err != nil {
		return Status{}, "", diag.Errorf(diag.Invalid, "%s: %s: %w", trimVersion(ref), StatusTag, err)
	}
	return s, a.Digest, nil
}

// parseStatus parses an untrusted status. It ignores keys that are not versions, and makes texts safe to print.
func parseStatus(data []byte) (s Status, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return Status{}, diag.Errorf(diag.Invalid, "%w", err)
	}
	for version, reason := range s.Yanked {
		if s.Yanked[version] = oneLine(reason); index.CheckVersion(version) != nil {
			delete(s.Yanked, version)
		}
	}
	s.Deprecated = oneLine(s.Deprecated)
	return s, nil
}

// SetStatus reads the status of a repository, changes it, writes it, and checks that it lasted. A registry has no lock,
// so if another writer replaces the status, SetStatus starts over.
func (c *Client) SetStatus(ctx context.Context, ref pack.Ref, change func(*Status) error) error {
	return c.secrets.RedactError(c.setStatus(ctx, ref, change))
}

func (c *Client) setStatus(ctx context.Context, ref pack.Ref, change func(*Status) error) error {
	ref.Rev, ref.Digest = StatusTag, ""
	dst, err := c.openWritable(ctx, ref)
	if err != nil {
		return err
	}
	end, err := dst.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	ok, err := retryLost(ctx, func() (bool, error) {
		before, _, err := c.status(ctx, dst, ref)
		if err != nil {
			return false, err
		}
		after := before.clone()
		if err := change(&after); err != nil {
			return false, err
		}
		if reflect.DeepEqual(before.clone(), after.clone()) {
			return true, nil
		}
		doc, err := putArtifact(ctx, dst, Artifact{
			Type: MediaTypeStatus, Blobs: []Blob{{MediaType: MediaTypeStatusBlob, Data: []byte(canonical(after))}},
		}, nil, StatusTag)
		if err != nil {
			return false, err
		}
		_, digest, err := c.status(ctx, dst, ref)
		return digest == string(doc.desc.Digest), err
	})
	if ok || err != nil {
		return err
	}
	return diag.Errorf(diag.Conflict, "%s: other processes keep changing the yanked versions", trimVersion(ref)).
		WithHint("run the command again")
}

// clone returns a copy whose map is not shared and not nil.
func (s Status) clone() Status {
	yanked := make(map[string]string, len(s.Yanked))
	maps.Copy(yanked, s.Yanked)
	return Status{Yanked: yanked, Deprecated: s.Deprecated}
}
