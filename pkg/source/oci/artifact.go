package oci

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Artifact is a manifest with its blobs, such as a signature, an index, or the status of a repository.
type Artifact struct {
	Digest      string            // "sha256:…" of the manifest; set by reads
	Type        string            // artifactType
	Subject     string            // digest of the manifest that it describes; "" for none
	Annotations map[string]string // of the manifest
	Blobs       []Blob            // in order
}

// Blob is one layer of an [Artifact].
type Blob struct {
	MediaType   string
	Digest      string // "sha256:…"; set by reads
	Size        int64  // set by reads
	Annotations map[string]string
	Data        []byte // the data to write; after a read, only data that is inline in the manifest
}

// PutArtifact stores an artifact and sets its tag, which may move. If the artifact has a subject, [Client.Referrers]
// then lists it. The same artifact always has the same digest.
func (c *Client) PutArtifact(ctx context.Context, ref pack.Ref, a Artifact, tags ...string) (digest string, err error) {
	dst, err := c.openWritable(ctx, ref)
	if err != nil {
		return "", c.secrets.RedactError(err)
	}
	end, err := dst.begin(ctx)
	if err != nil {
		return "", c.secrets.RedactError(err)
	}
	defer end()
	var subject *ocispec.Descriptor
	if a.Subject != "" {
		if subject, err = subjectOf(ctx, dst, a.Subject); err != nil {
			return "", c.secrets.RedactError(err)
		}
	}
	doc, err := putArtifact(ctx, dst, a, subject, tags...)
	return string(doc.desc.Digest), c.secrets.RedactError(err)
}

// putArtifact stores an artifact about a subject, which is nil for none. The caller has called begin.
func putArtifact(ctx context.Context, dst readWriter, a Artifact, subject *ocispec.Descriptor, tags ...string) (
	document, error,
) {
	if a.Type == "" {
		return document{}, diag.Errorf(diag.Internal, "the artifact does not have a type")
	}
	m := &ocispec.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageManifest,
		ArtifactType: a.Type,
		Config: ocispec.Descriptor{
			MediaType: ocispec.MediaTypeEmptyJSON, Digest: digestOf(emptyConfig),
			Size: int64(len(emptyConfig)),
		},
		Annotations: a.Annotations,
		Subject:     subject,
	}
	var err error
	if m.Layers, err = pushBlobs(ctx, dst, a); err != nil {
		return document{}, err
	}
	if err := dst.pushBlob(ctx, m.Config, bytes.NewReader(emptyConfig)); err != nil {
		return document{}, err
	}
	if len(m.Layers) == 0 { // the specification requires a layer if an artifact only has annotations
		m.Layers = []ocispec.Descriptor{m.Config}
	}
	doc, err := newDocument(m, ocispec.MediaTypeImageManifest)
	if err != nil {
		return document{}, err
	}
	switch {
	case m.Subject != nil:
		err = dst.attach(ctx, doc, m)
	case len(tags) == 0:
		err = dst.pushDocument(ctx, doc, "")
	}
	for _, tag := range tags {
		if err == nil {
			err = dst.pushDocument(ctx, doc, tag)
		}
	}
	return doc, err
}

// pushBlobs stores the blobs of an artifact concurrently and returns their descriptors in order.
func pushBlobs(ctx context.Context, dst readWriter, a Artifact) ([]ocispec.Descriptor, error) {
	const parallel = 8
	layers := make([]ocispec.Descriptor, len(a.Blobs))
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(parallel)
	for i, b := range a.Blobs {
		d := ocispec.Descriptor{
			MediaType: b.MediaType, Digest: digestOf(b.Data), Size: int64(len(b.Data)),
			Annotations: b.Annotations,
		}
		if layers[i] = d; a.Type == MediaTypeStatus && len(b.Data) <= maxInline {
			layers[i].Data = b.Data
		}
		group.Go(func() error { return dst.pushBlob(ctx, d, bytes.NewReader(b.Data)) })
	}
	return layers, group.Wait()
}

// subjectOf returns the descriptor of a subject.
func subjectOf(ctx context.Context, dst readWriter, digest string) (*ocispec.Descriptor, error) {
	doc, err := dst.document(ctx, digest)
	if err != nil {
		return nil, err
	}
	return doc.subject(), nil
}

// subject returns the descriptor of a document for its referrers.
func (doc document) subject() *ocispec.Descriptor {
	return &ocispec.Descriptor{MediaType: doc.desc.MediaType, Digest: doc.desc.Digest, Size: doc.desc.Size}
}

// maxInline is the size up to which a repository's status is inline in its manifest, so that one GET reads it.
const maxInline = 64 << 10

// emptyConfig is the configuration of artifacts that do not have one.
var emptyConfig = []byte("{}")

// Artifact returns the artifact that ref's digest, or else tag, names. It may have any type. [Client.ReadBlob] reads
// the data of its blobs.
func (c *Client) Artifact(ctx context.Context, ref pack.Ref) (*Artifact, error) {
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, c.secrets.RedactError(err)
	}
	a, err := c.artifact(ctx, p, ref)
	return a, c.secrets.RedactError(err)
}

func (c *Client) artifact(ctx context.Context, p reader, ref pack.Ref) (*Artifact, error) {
	name, err := nameOf(ref)
	if err != nil {
		return nil, err
	}
	a, err := c.read(ctx, p, ref, name)
	if err != nil {
		return nil, err
	}
	if a.isIndex() {
		return nil, diag.Errorf(diag.Invalid, "%s: %s is an OCI index, not an artifact", trimVersion(ref), name)
	}
	return a.public(), nil
}

// nameOf returns the digest or tag of a ref.
func nameOf(ref pack.Ref) (string, error) {
	switch {
	case ref.Digest != "" && !pack.IsDigest(ref.Digest):
		return "", diag.Errorf(diag.Invalid, "invalid digest %q: use sha256: and 64 hexadecimal digits", ref.Digest)
	case ref.Digest != "":
		return ref.Digest, nil
	case ref.Rev != "":
		return ref.Rev, nil
	}
	return "", diag.Errorf(diag.Usage, "%s does not have a tag or digest", trimVersion(ref)).
		WithHint("add a tag or a digest: %s:TAG or %[1]s@DIGEST", trimVersion(ref))
}

func (a *artifact) public() *Artifact {
	out := &Artifact{Digest: string(a.desc.Digest), Type: a.kind, Annotations: a.notes}
	if s := a.manifest.Subject; s != nil {
		out.Subject = string(s.Digest)
	}
	for _, d := range a.manifest.Layers {
		if d.MediaType == ocispec.MediaTypeEmptyJSON && d.Digest == a.manifest.Config.Digest {
			continue
		}
		out.Blobs = append(out.Blobs, Blob{
			MediaType: d.MediaType, Digest: string(d.Digest), Size: d.Size, Annotations: d.Annotations, Data: d.Data,
		})
	}
	return out
}

// Manifest returns the bytes and the media type of the manifest or index that ref's digest, or else tag, names.
func (c *Client) Manifest(ctx context.Context, ref pack.Ref) (raw []byte, mediaType string, err error) {
	name, err := nameOf(ref)
	if err != nil {
		return nil, "", err
	}
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, "", c.secrets.RedactError(err)
	}
	a, err := c.read(ctx, p, ref, name)
	if err != nil {
		return nil, "", c.secrets.RedactError(err)
	}
	return a.raw, mediaTypeOf(a.raw), nil
}

// ReadBlob returns the data of a blob, checked against its digest and size. A blob larger than limit is an error.
func (c *Client) ReadBlob(ctx context.Context, ref pack.Ref, b Blob, limit int64) ([]byte, error) {
	if b.Data != nil && int64(len(b.Data)) == b.Size && b.Size <= limit && string(digestOf(b.Data)) == b.Digest {
		return b.Data, nil
	}
	p, err := c.open(ctx, ref)
	if err != nil {
		return nil, c.secrets.RedactError(err)
	}
	data, err := readSmall(ctx, p, b, limit)
	if err != nil {
		return nil, c.secrets.RedactError(nameInError(ref, err))
	}
	return data, nil
}

// readSmall reads a blob into memory.
func readSmall(ctx context.Context, p reader, b Blob, limit int64) ([]byte, error) {
	d := ocispec.Descriptor{MediaType: b.MediaType, Digest: digest.Digest(b.Digest), Size: b.Size}
	if err := checkDescriptor(d); err != nil {
		return nil, err
	}
	if b.Size > limit {
		return nil, diag.Errorf(diag.Invalid, "the blob %s has %d bytes; the limit is %d", b.Digest, b.Size, limit)
	}
	body, err := p.blob(ctx, d)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(newVerifier(contextReader{ctx, body}, d, "blob "+string(d.Digest)))
	if err != nil {
		return nil, err
	}
	return data, nil
}

// TreesOf returns the tree digests of the skills in a manifest's annotation, or nil if it has none.
func TreesOf(manifest []byte) (map[string]string, error) {
	a, err := parseArtifact(document{
		raw:  manifest,
		desc: ocispec.Descriptor{Digest: digestOf(manifest), Size: int64(len(manifest))},
	})
	if err != nil || a.info == nil {
		return nil, err
	}
	return a.info.Skills, nil
}

// isReservedTag reports whether a tag is not a version, but a name that this package or the specification uses.
func isReservedTag(tag string) bool {
	return tag == StatusTag || strings.HasPrefix(tag, "sha256-")
}
