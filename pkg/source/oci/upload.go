package oci

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

func (r *repository) pushBlob(ctx context.Context, d ocispec.Descriptor, content io.ReadSeeker) error {
	if ok, err := r.repo.Blobs().Exists(ctx, d); err == nil && ok {
		return nil
	}
	if r.mount(ctx, d) {
		return nil
	}
	return r.upload(ctx, d, content)
}

// upload sends a blob, and restarts from the beginning after a transient failure. The transport cannot do that, because
// it has already consumed the file's bytes.
func (r *repository) upload(ctx context.Context, d ocispec.Descriptor, content io.ReadSeeker) error {
	for attempt := 0; ; attempt++ {
		// hides Close, which the transport would call
		err := r.repo.Blobs().Push(ctx, d, struct{ io.Reader }{content})
		if err == nil || attempt >= r.tries || ctx.Err() != nil || !isTransient(err) {
			return r.client.remoteError(r.host, err)
		}
		if err := httpx.Pause(ctx, "upload to "+r.host+" failed", attempt); err != nil {
			return err
		}
		if _, err := content.Seek(0, io.SeekStart); err != nil {
			return diag.Errorf(diag.Internal, "%w", err)
		}
	}
}

// isTransient reports whether a failed upload may succeed later: the registry was busy or closed the connection.
func isTransient(err error) bool {
	if resp, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented ||
			resp.StatusCode == http.StatusTooManyRequests
	}
	broken, ok := errors.AsType[*net.OpError](err)
	return ok && broken.Op != "dial" || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// errNoMount is the content of a blob that could not be mounted.
var errNoMount = errors.New("not mounted")

// mount mounts a blob from another repository of the same registry, and reports whether it succeeded. If not, the blob
// is uploaded.
func (r *repository) mount(ctx context.Context, d ocispec.Descriptor) bool {
	if d.Size < smallestMount {
		return false
	}
	for _, source := range r.mountFrom {
		other, err := r.client.openRemote(ctx, "oci://"+r.repo.Reference.Registry+"/"+source)
		if err != nil {
			continue
		}
		if ok, err := other.repo.Blobs().Exists(ctx, d); err != nil || !ok {
			continue
		}
		err = r.repo.Mount(ctx, d, source, func() (io.ReadCloser, error) { return nil, errNoMount })
		if err == nil {
			return true
		}
	}
	return false
}

// smallestMount is the size below which an upload is cheaper than a mount.
const smallestMount = 4 << 10

// sameHost returns the sources that are on the host of r.
func (r *repository) sameHost(repositories []string) []string {
	var list []string
	for _, p := range repositories {
		ref, err := registry.ParseReference(strings.TrimPrefix(p, "oci://"))
		if err == nil && ref.Registry == r.repo.Reference.Registry && ref.Repository != r.repo.Reference.Repository {
			list = append(list, ref.Repository)
		}
	}
	return list
}

func (r *repository) pushDocument(ctx context.Context, doc document, tag string) error {
	if tag == "" {
		tag = string(doc.desc.Digest)
	}
	_, err := r.putManifest(ctx, doc, tag)
	return err
}

// putManifest stores a manifest under a tag or its digest and returns the response headers. It retries while the
// registry does not see blobs that it has just stored.
func (r *repository) putManifest(ctx context.Context, doc document, ref string) (http.Header, error) {
	for attempt := 0; ; attempt++ {
		head, response, err := r.tryPutManifest(ctx, doc, ref)
		if response == nil || attempt >= r.tries || !isNotYetVisible(response) {
			return head, err
		}
		if err := httpx.Pause(ctx, r.host+" does not show an uploaded layer yet", attempt); err != nil {
			return nil, err
		}
	}
}

// isNotYetVisible reports whether a registry rejects a manifest because of a missing blob. Every blob was stored
// before, so the registry is only eventually consistent.
func isNotYetVisible(response *errcode.ErrorResponse) bool {
	return response.StatusCode == http.StatusBadRequest && slices.ContainsFunc(response.Errors,
		func(e errcode.Error) bool {
			return e.Code == errcode.ErrorCodeManifestBlobUnknown
		})
}

// tryPutManifest makes one attempt of putManifest. If the registry refused the manifest, response is its answer.
func (r *repository) tryPutManifest(ctx context.Context, doc document, ref string) (head http.Header,
	response *errcode.ErrorResponse, err error,
) {
	ctx = auth.AppendRepositoryScope(ctx, r.repo.Reference, auth.ActionPull, auth.ActionPush)
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, r.url("manifests/"+ref).String(),
		bytes.NewReader(doc.raw))
	if err != nil {
		return nil, nil, diag.Errorf(diag.Internal, "%w", err)
	}
	req.Header.Set("Content-Type", doc.desc.MediaType)
	resp, err := r.repo.Client.Do(req)
	if err != nil {
		return nil, nil, r.client.remoteError(r.host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return nil, nil, r.client.remoteError(r.host, errdef.ErrNotFound)
	case resp.StatusCode != http.StatusCreated:
		response = parseErrorResponse(resp)
		return nil, response, r.client.responseError(r.name, r.host, response)
	}
	if sum := resp.Header.Get("Docker-Content-Digest"); sum != "" && sum != string(doc.desc.Digest) {
		return nil, nil, diag.Errorf(diag.Integrity, "%s stored the OCI manifest %s under another digest, %s", r.name,
			doc.desc.Digest, httpx.Clean(sum))
	}
	return resp.Header, nil, nil
}
