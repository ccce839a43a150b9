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

// Bounds of what is said to be about one manifest.
const (
	maxReferrerPages = 50
	maxReferrers     = 256 // of one type
)

// Referrers returns the artifacts that are about the manifest that ref's digest names, of one type or, where that is "",
// of all, sorted by digest. Registries are asked for them by the referrers API of the distribution specification 1.1;
// those without it have them under the tag sha256-<hex>; a layout lists them in its index.json.
func (c *Client) Referrers(ctx context.Context, ref pack.Ref, artifactType string) ([]*Artifact, error) {
	list, err := c.referrers(ctx, ref, artifactType)
	return list, c.secrets.Discreet(err)
}

func (c *Client) referrers(ctx context.Context, ref pack.Ref, artifactType string) ([]*Artifact, error) {
	if !isDigest(ref.Digest) {
		return nil, diag.Errorf(diag.Internal, "%s is not pinned to a digest", ref)
	}
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	listed, err := p.referrers(ctx, ref.Digest, artifactType)
	if err != nil {
		return nil, err
	}
	var found []*Artifact
	for _, d := range candidates(listed, artifactType) {
		a, err := c.read(ctx, p, ref, string(d.Digest))
		switch diag.CodeOf(err) {
		case diag.NotFound, diag.Invalid, diag.Integrity: // what is listed and cannot be had hides nothing else
			continue
		}
		if err != nil {
			return nil, err
		}
		if one := a.public(); one.Subject == ref.Digest && (artifactType == "" || one.Type == artifactType) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *Artifact) int { return strings.Compare(a.Digest, b.Digest) })
	return found, nil
}

// candidates returns those of a list that may be of a type, each once, and not more than are looked at.
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

// fallbackTag is where the manifests about another are listed by registries without a referrers API.
func fallbackTag(subject string) string { return strings.Replace(subject, ":", "-", 1) }

// errNoReferrers says that a registry has no referrers API.
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
			return nil, diag.Errorf(diag.Remote, "%s lists what is about %s on more than %d pages", r.name, subject,
				maxReferrerPages)
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
		all, next = append(all, more...), following
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
		return nil, nil, diag.Errorf(diag.Remote, "%s: the referrers: %w", r.name, err)
	}
	next, err := nextPage(head.Get("Link"), page)
	return idx.Manifests, next, err
}

// referrerIndex reads a list of referrers, which, unlike an index that is a pack, may be empty.
func referrerIndex(data []byte) (*ocispec.Index, error) {
	idx := &ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex}
	if len(data) > maxManifest || json.Unmarshal(data, idx) != nil {
		return nil, diag.Errorf(diag.Invalid, "it is not JSON of at most %d bytes", maxManifest)
	}
	return idx, nil
}

// fallback reads the index under the fallback tag, an empty one where there is none.
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

// attach stores a manifest about another. A registry that knows referrers says so with the header OCI-Subject; for any
// other the list under the fallback tag is kept here.
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
	return diag.Errorf(diag.Conflict, "%s: others keep changing the list %s", r.name, fallbackTag(subject)).
		WithHint("try again")
}

// retryLost repeats a change to a tag until it lasts, and reports whether it did. A registry has no lock, so whoever
// writes at the same time may replace the change; a random wait, which doubles each time, lets one of them be alone.
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

// referrerEntry is how a manifest is listed by what it is about.
func referrerEntry(doc document, m *ocispec.Manifest) ocispec.Descriptor {
	return ocispec.Descriptor{
		MediaType: doc.desc.MediaType, Digest: doc.desc.Digest, Size: doc.desc.Size, ArtifactType: m.ArtifactType,
		Annotations: m.Annotations,
	}
}

// StatusTag is the tag under which a repository says what there is to know about its versions besides them.
const StatusTag = "skillpm-status"

// maxStatus bounds what a repository says.
const maxStatus = 1 << 20

// Status is what a repository says about its versions.
type Status struct {
	Yanked     map[string]string `json:"yanked,omitempty"`     // version -> why it was withdrawn
	Deprecated string            `json:"deprecated,omitempty"` // what to know or use instead, "" for a pack in use
}

// Status returns what the repository at a place says about its versions, nothing where it says nothing.
func (c *Client) Status(ctx context.Context, ref pack.Ref) (Status, error) {
	ref.Rev, ref.Digest = StatusTag, ""
	p, err := c.open(ctx, ref)
	if err != nil {
		return Status{}, c.secrets.Discreet(err)
	}
	s, _, err := c.status(ctx, p, ref)
	return s, c.secrets.Discreet(err)
}

// status returns what is there, and its digest.
func (c *Client) status(ctx context.Context, p reader, ref pack.Ref) (s Status, digest string, err error) {
	a, err := c.artifact(ctx, p, ref)
	if diag.CodeOf(err) == diag.NotFound || isOriginUnreachable(err) {
		return Status{}, "", nil
	}
	if err != nil {
		return Status{}, "", err
	}
	if a.Type != MediaTypeStatus || len(a.Blobs) != 1 {
		return Status{}, "", diag.Errorf(diag.Invalid, "%s: the tag %s is a %q and not what it should be",
			trimVersion(ref), StatusTag, a.Type)
	}
	data := a.Blobs[0].Data // checked with the manifest
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

// parseStatus reads what a repository says. Whoever may push there can say anything: what is no version is left out,
// and texts are made fit to be shown.
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

// SetStatus reads what a repository says about its versions, changes it, writes it, and looks whether it is there. A
// registry has no lock: where somebody else changes it at the same time, it starts over.
func (c *Client) SetStatus(ctx context.Context, ref pack.Ref, change func(*Status) error) error {
	return c.secrets.Discreet(c.setStatus(ctx, ref, change))
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
		}, StatusTag)
		if err != nil {
			return false, err
		}
		_, digest, err := c.status(ctx, dst, ref)
		return digest == string(doc.desc.Digest), err
	})
	if ok || err != nil {
		return err
	}
	return diag.Errorf(diag.Conflict, "%s: others keep changing what it says about its versions", trimVersion(ref)).
		WithHint("try again")
}

// clone returns a status that shares nothing with s, and whose map can be written to.
func (s Status) clone() Status {
	yanked := make(map[string]string, len(s.Yanked))
	maps.Copy(yanked, s.Yanked)
	return Status{Yanked: yanked, Deprecated: s.Deprecated}
}
