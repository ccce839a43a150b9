package oci

import (
	"context"
	"io"
	"os"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// CopyOptions configure [Client.Copy].
type CopyOptions struct {
	Moving bool // also move the tags 1.4, 1, and latest
	Dry    bool // only read, and report what would change
}

// Copy copies the version that from names and all attached artifacts, byte for byte. Digests and signatures stay valid,
// and Copy verifies each digest. If the target has the version with another digest, the error is a [ConflictError].
func (c *Client) Copy(ctx context.Context, srcRef, dstRef pack.Ref, o CopyOptions) (Pushed, error) {
	pushed, err := c.copy(ctx, srcRef, dstRef, o)
	return pushed, c.secrets.RedactError(err)
}

func (c *Client) copy(ctx context.Context, srcRef, dstRef pack.Ref, o CopyOptions) (Pushed, error) {
	src, err := c.open(ctx, srcRef)
	if err != nil {
		return Pushed{}, err
	}
	a, _, err := c.resolve(ctx, src, srcRef)
	if err != nil {
		return Pushed{}, err
	}
	p, err := c.copyPublisher(a, srcRef, dstRef, o)
	if err != nil {
		return Pushed{}, err
	}
	w, err := c.openWritable(ctx, dstRef)
	if err != nil {
		return Pushed{}, err
	}
	if o.Dry {
		w = dryRun{w}
	}
	end, err := w.begin(ctx)
	if err != nil {
		return Pushed{}, err
	}
	defer end()
	p.dst = w
	_, existed, err := p.findPublished(ctx)
	if err != nil {
		return Pushed{}, err
	}
	pushed := Pushed{Digest: string(a.desc.Digest), Existed: existed, Manifest: a.raw}
	k := &copier{client: c, ref: srcRef, src: src, dst: w}
	if err := k.artifact(ctx, a); err != nil {
		return Pushed{}, err
	}
	if pushed.Provenance, err = k.attached(ctx, pushed.Digest); err != nil {
		return Pushed{}, err
	}
	return p.tag(ctx, a.document, pushed)
}

// copyPublisher returns the publisher of a copy, without its target. An artifact of another tool does not state its
// pack: it gets the name of the target, and the version that is asked for.
func (c *Client) copyPublisher(a *artifact, srcRef, dstRef pack.Ref, o CopyOptions) (*publisher, error) {
	p := &publisher{
		client: c, target: dstRef, copied: a.desc.Digest, options: PushOptions{Moving: o.Moving},
		rel: Release{Version: srcRef.Rev},
	}
	var err error
	if a.info == nil {
		p.rel.ID, err = dstRef.DefaultID()
		return p, err
	}
	if a.info.Version != srcRef.Rev || !srcRef.ID.IsZero() && a.info.Name != srcRef.ID.String() {
		return nil, diag.Errorf(diag.Invalid,
			"the pack at %s has a different name or version than its address", srcRef)
	}
	p.info = *a.info
	p.rel.ID, err = pack.ParseID(a.info.Name)
	return p, err
}

// copier copies between two repositories or layouts.
type copier struct {
	client *Client
	ref    pack.Ref
	src    reader
	dst    readWriter
}

// artifact copies a manifest and its content, without a tag.
func (k *copier) artifact(ctx context.Context, a *artifact) error {
	for _, member := range a.members {
		one, err := k.client.read(ctx, k.src, k.ref, string(member.Digest))
		if err != nil {
			return err
		}
		if len(one.members) > 0 {
			return diag.Errorf(diag.Invalid, "cannot copy %s: the source is an OCI index of OCI indexes", k.ref)
		}
		if err := k.artifact(ctx, one); err != nil {
			return err
		}
	}
	if err := k.blobs(ctx, a); err != nil {
		return err
	}
	return k.dst.pushDocument(ctx, a.document, "")
}

// attached copies the referrers of a manifest, and returns the provenance among them.
func (k *copier) attached(ctx context.Context, subject string) (Provenance, error) {
	target := k.ref
	target.Rev, target.Digest = "", subject
	list, err := k.client.referrers(ctx, target, "")
	if err != nil {
		return Provenance{}, err
	}
	for _, r := range list {
		a, err := k.client.read(ctx, k.src, k.ref, r.Digest)
		if err != nil {
			return Provenance{}, err
		}
		if err := k.blobs(ctx, a); err != nil {
			return Provenance{}, err
		}
		if err := k.dst.attach(ctx, a.document, &a.manifest); err != nil {
			return Provenance{}, err
		}
	}
	return firstProvenance(list), nil
}

// blobs copies the configuration and the layers of a manifest.
func (k *copier) blobs(ctx context.Context, a *artifact) error {
	if len(a.members) > 0 {
		return nil
	}
	for _, d := range append([]ocispec.Descriptor{a.manifest.Config}, a.manifest.Layers...) {
		if err := k.blob(ctx, d); err != nil {
			return nameInError(k.ref, err)
		}
	}
	return nil
}

// blob copies one blob through a temporary file, so that only verified bytes are stored.
func (k *copier) blob(ctx context.Context, d ocispec.Descriptor) error {
	r, err := k.src.blob(ctx, d)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	f, err := os.CreateTemp("", "skillpm-blob-")
	if err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	if _, err := io.Copy(f, newVerifier(r, d, "blob")); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	return k.dst.pushBlob(ctx, d, f)
}
