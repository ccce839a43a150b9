package oci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// download reads a blob from a registry. If the connection breaks, stalls, or ends early, it resumes there, a limited
// number of times. The reader verifies the digest of all bytes together. It replaces oras-go's blob fetch, which uses
// ranges only to seek and does not resume.
type download struct {
	ctx  context.Context
	repo *repository
	want ocispec.Descriptor
	body io.ReadCloser
	n    int64 // bytes read
	skip int64 // bytes to discard, because the server does not support ranges

	breaks int   // interruptions since the last reset
	mark   int64 // n at the last reset
}

// retryReset is the number of bytes after which earlier interruptions no longer count.
const retryReset = 4 << 20

// open requests the blob from byte n on.
func (d *download) open() error {
	ctx := auth.AppendRepositoryScope(d.ctx, d.repo.repo.Reference, auth.ActionPull)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.repo.url("blobs/"+string(d.want.Digest)).String(),
		nil)
	if err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	if d.n > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(d.n, 10)+"-")
	}
	resp, err := d.repo.repo.Client.Do(req)
	if err != nil {
		return d.repo.client.remoteError(d.repo.host, err)
	}
	if err := d.check(resp); err != nil {
		_ = resp.Body.Close()
		return err
	}
	d.body = resp.Body
	return nil
}

// check checks the headers of a response.
func (d *download) check(resp *http.Response) error {
	d.skip = 0
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if d.n == 0 || !continues(resp.Header.Get("Content-Range"), d.n, d.want.Size) {
			return diag.Errorf(diag.Remote, "%s sent a different part of %s than requested", d.repo.name,
				d.want.Digest)
		}
		return nil
	case http.StatusOK:
		d.skip = d.n
	case http.StatusNotFound:
		return diag.Errorf(diag.NotFound, "%s does not contain %s", d.repo.name, d.want.Digest)
	default:
		return d.repo.statusError(resp)
	}
	size := resp.ContentLength
	if size < 0 || size == d.want.Size {
		return nil
	}
	if err := d.repo.rejectHTML(resp.Header.Get("Content-Type")); err != nil {
		return err
	}
	return &bundle.MismatchError{
		What: "size of " + string(d.want.Digest), Want: strconv.FormatInt(d.want.Size,
			10) + " bytes", Got: strconv.FormatInt(size, 10),
	}
}

// continues reports whether a Content-Range covers exactly the bytes from n to the end (RFC 9110, section 14.4).
func continues(contentRange string, n, size int64) bool {
	text := "bytes " + strconv.FormatInt(n, 10) + "-" + strconv.FormatInt(size-1, 10) + "/"
	total, ok := strings.CutPrefix(contentRange, text)
	return ok && (total == "*" || total == strconv.FormatInt(size, 10))
}

func (d *download) Read(p []byte) (int, error) {
	for {
		n, err := d.readNext(p)
		switch {
		case err == nil || d.n >= d.want.Size && n > 0:
			return n, nil
		case d.ctx.Err() != nil:
			return n, d.ctx.Err()
		case d.n >= d.want.Size:
			return n, io.EOF
		}
		if d.n-d.mark >= retryReset {
			d.breaks, d.mark = 0, d.n
		}
		if d.breaks >= d.repo.tries {
			return n, d.repo.client.brokenError(d.repo.host, err)
		}
		d.breaks++
		if err := d.reopen(); err != nil || n > 0 {
			return n, err
		}
	}
}

// readNext reads the next bytes.
func (d *download) readNext(p []byte) (int, error) {
	for d.skip > 0 {
		n, err := d.body.Read(p[:min(int64(len(p)), d.skip)])
		d.skip -= int64(n)
		if err != nil {
			return 0, err
		}
	}
	n, err := d.body.Read(p)
	d.n += int64(n)
	return n, err
}

// reopen resumes the download.
func (d *download) reopen() error {
	_ = d.body.Close()
	if err := httpx.Pause(d.ctx, "connection to "+d.repo.host+" failed", d.breaks-1); err != nil {
		return err
	}
	return d.open()
}

// Close closes the connection.
func (d *download) Close() error { return d.body.Close() }

// brokenError is remoteError for an interrupted response. It returns [io.EOF] unchanged: the verifier, which knows the
// size, reports what is missing.
func (c *Client) brokenError(host string, err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return c.remoteError(host, err)
}

// rejectHTML reports a web page as such, instead of as a damaged artifact.
func (r *repository) rejectHTML(contentType string) error {
	if kind, _, _ := strings.Cut(strings.ToLower(contentType), ";"); strings.TrimSpace(kind) != "text/html" {
		return nil
	}
	return diag.Errorf(diag.Remote, "%s responded with a web page instead of a registry response", r.name).
		WithHint("check the address, and whether your network or a proxy requires a login")
}

// url returns an address below the repository.
func (r *repository) url(path string) *url.URL {
	u := &url.URL{
		Scheme: "https", Host: r.repo.Reference.Host(),
		Path: "/v2/" + r.repo.Reference.Repository + "/" + path,
	}
	if r.repo.PlainHTTP {
		u.Scheme = "http"
	}
	return u
}

// verifier verifies bytes against a descriptor while they are read.
type verifier struct {
	r    io.Reader
	want ocispec.Descriptor
	what string
	sum  hash.Hash
	n    int64
	err  error // sticky
}

func newVerifier(r io.Reader, want ocispec.Descriptor, what string) *verifier {
	return &verifier{r: r, want: want, what: what, sum: sha256.New()}
}

// Read returns the next bytes. At the end it fails unless size and digest match.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.r.Read(p)
	v.sum.Write(p[:n])
	v.n += int64(n)
	switch {
	case v.n > v.want.Size:
		v.err = v.mismatch(strconv.FormatInt(v.want.Size, 10)+" bytes", "more")
		return 0, v.err
	case err == io.EOF:
		v.err = v.end()
	case err != nil:
		v.err = err
	}
	return n, v.err
}

func (v *verifier) end() error {
	if v.n != v.want.Size {
		return v.mismatch(strconv.FormatInt(v.want.Size, 10)+" bytes", strconv.FormatInt(v.n, 10))
	}
	if sum := "sha256:" + hex.EncodeToString(v.sum.Sum(nil)); sum != string(v.want.Digest) {
		return v.mismatch(string(v.want.Digest), sum)
	}
	return io.EOF
}

func (v *verifier) mismatch(want, have string) error {
	return &bundle.MismatchError{What: v.what, Want: want, Got: have}
}

// drain reads the rest and reports whether all bytes match.
func (v *verifier) drain() error {
	_, err := io.Copy(io.Discard, v)
	return err
}
