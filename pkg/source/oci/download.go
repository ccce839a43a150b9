package oci

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
)

// download reads a blob from a registry. A connection that breaks is taken up again where it broke, a bounded number of
// times; one that says nothing for too long counts as broken.
type download struct {
	ctx    context.Context
	repo   *repository
	want   ocispec.Descriptor
	tries  int // that are left
	body   io.ReadCloser
	stall  *time.Timer
	cancel context.CancelFunc
	n      int64 // bytes that were read
}

// open asks for the blob from byte n on.
func (d *download) open() error {
	ctx, cancel := context.WithCancel(auth.AppendRepositoryScope(d.ctx, d.repo.repo.Reference, auth.ActionPull))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.repo.url("blobs/"+string(d.want.Digest)).String(), nil)
	if err != nil {
		cancel()
		return diag.Errorf(diag.Internal, "%w", err)
	}
	if d.n > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(d.n, 10)+"-")
	}
	resp, err := d.repo.repo.Client.Do(req)
	if err != nil {
		cancel()
		return d.repo.client.remoteError(d.repo.host, err)
	}
	if err := d.check(resp); err != nil {
		cancel()
		_ = resp.Body.Close()
		return err
	}
	d.body, d.cancel = resp.Body, cancel
	d.stall = time.AfterFunc(d.repo.stall, cancel)
	d.stall.Stop()
	return nil
}

// check looks at the head of an answer, and skips what was read before if the server does not do it.
func (d *download) check(resp *http.Response) error {
	switch {
	case resp.StatusCode == http.StatusPartialContent && d.n > 0:
		if !strings.HasPrefix(resp.Header.Get("Content-Range"), "bytes "+strconv.FormatInt(d.n, 10)+"-") {
			return diag.Errorf(diag.Remote, "%s continues %s in the wrong place", d.repo.name, d.want.Digest)
		}
		return nil
	case resp.StatusCode == http.StatusOK:
	case resp.StatusCode == http.StatusNotFound:
		return diag.Errorf(diag.NotFound, "%s has no %s", d.repo.name, d.want.Digest)
	default:
		return d.repo.statusError(resp)
	}
	if size := resp.ContentLength; size >= 0 && size != d.want.Size {
		return &bundle.MismatchError{
			What: "size of " + string(d.want.Digest), Want: strconv.FormatInt(d.want.Size, 10) + " bytes", Got: strconv.FormatInt(size, 10),
		}
	}
	_, err := io.CopyN(io.Discard, resp.Body, d.n)
	return d.repo.client.remoteError(d.repo.host, err)
}

func (d *download) Read(p []byte) (int, error) {
	d.stall.Reset(d.repo.stall)
	n, err := d.body.Read(p)
	quiet := !d.stall.Stop()
	d.n += int64(n)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case d.ctx.Err() != nil:
		return n, d.ctx.Err()
	case d.tries > 0:
		d.tries--
		_ = d.Close()
		return n, d.open()
	case quiet:
		return n, diag.Errorf(diag.Remote, "%s: nothing came for %s", d.repo.host, d.repo.stall).WithHint("check the network, then try again")
	}
	return n, d.repo.client.remoteError(d.repo.host, err)
}

// Close gives the connection up, or back.
func (d *download) Close() error {
	d.stall.Stop()
	err := d.body.Close()
	d.cancel()
	return err
}

// url returns the address of something in the repository.
func (r *repository) url(path string) *url.URL {
	u := &url.URL{Scheme: "https", Host: r.repo.Reference.Host(), Path: "/v2/" + r.repo.Reference.Repository + "/" + path}
	if r.repo.PlainHTTP {
		u.Scheme = "http"
	}
	return u
}
