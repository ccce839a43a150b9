package oci

import (
	"context"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// Artifact is a manifest with its blobs, whatever it is about: a signature, an index, a registry's notes.
type Artifact struct {
	Digest      string            // "sha256:…" of the manifest; set when it was read
	Type        string            // artifactType
	Subject     string            // digest of the manifest that it is about, "" for none
	Annotations map[string]string // of the manifest
	Blobs       []Blob            // in order
}

// Blob is one layer of an [Artifact].
type Blob struct {
	MediaType   string
	Digest      string // "sha256:…"; set when it was read
	Size        int64  // set when it was read
	Annotations map[string]string
	Data        []byte // when it is written
}

// PutArtifact stores an artifact at a place, and tags it. One with a subject is listed by [Client.Referrers].
func (c *Client) PutArtifact(ctx context.Context, at source.Ref, a Artifact, tags ...string) (digest string, err error) {
	return "", diag.Errorf(diag.Internal, "not yet")
}

// Artifact returns what at's digest, or else tag, names. The data of its blobs is read with [Client.ReadBlob].
func (c *Client) Artifact(ctx context.Context, at source.Ref) (*Artifact, error) {
	return nil, diag.Errorf(diag.Internal, "not yet")
}

// Manifest returns the bytes of the manifest or index that at's digest, or else tag, names, and its media type.
func (c *Client) Manifest(ctx context.Context, at source.Ref) (raw []byte, mediaType string, err error) {
	return nil, "", diag.Errorf(diag.Internal, "not yet")
}

// ReadBlob returns the data of a blob, checked against its digest and size; one larger than limit is refused.
func (c *Client) ReadBlob(ctx context.Context, at source.Ref, b Blob, limit int64) ([]byte, error) {
	return nil, diag.Errorf(diag.Internal, "not yet")
}

// Referrers returns the artifacts that are about the manifest that at's digest names, of one type or, where that is "", of all.
func (c *Client) Referrers(ctx context.Context, at source.Ref, artifactType string) ([]*Artifact, error) {
	return nil, diag.Errorf(diag.Internal, "not yet")
}

// TreesOf returns the tree digests of the skills that a manifest's annotation names, or nil where nothing describes them.
func TreesOf(manifest []byte) (map[string]string, error) {
	return nil, diag.Errorf(diag.Internal, "not yet")
}
