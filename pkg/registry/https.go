package registry

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/index"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// web reads an index from an HTTPS server, and keeps what it read together with its ETag.
type web struct {
	base    *url.URL
	client  *http.Client
	cache   cache
	offline bool
}

func openHTTPS(name, address string, deps Deps) (Registry, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, diag.Errorf(diag.Usage, "%q is not the address of an index", redacted(address)).
			WithHint("write https://host/path, without user, query and fragment")
	}
	client := deps.HTTP
	if client == nil {
		client = &http.Client{Transport: retry.NewTransport(oci.NewTransport()), CheckRedirect: oci.CheckRedirect}
	}
	w := &web{base: base, client: client, cache: cache{dir: deps.Cache}, offline: deps.Offline}
	return newIndexed(name, w, source.Ref{}), nil
}

// redacted returns an address without what stands before an @.
func redacted(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if i := strings.LastIndexByte(rest, '@'); ok && i >= 0 {
		return scheme + "://" + rest[i+1:]
	}
	return address
}

func (w *web) read(ctx context.Context, path string) ([]byte, error) {
	at := w.base.JoinPath(path).String()
	kept, ok := w.cache.load(at)
	if w.offline {
		if !ok {
			return nil, diag.Errorf(diag.Remote, "%s was not read before and skillpm is offline", at)
		}
		return kept.answer()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, diag.Errorf(diag.Usage, "%s: %w", w.base.Host, err)
	}
	req.Header.Set("User-Agent", "skillpm")
	if ok && kept.ETag != "" {
		req.Header.Set("If-None-Match", kept.ETag)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, w.failed(err)
	}
	defer resp.Body.Close()
	switch {
	case ok && resp.StatusCode == http.StatusNotModified:
		return kept.answer()
	case resp.StatusCode == http.StatusOK:
		return w.received(at, resp)
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		w.cache.store(at, cached{Missing: true, ETag: resp.Header.Get("ETag")})
		return nil, fs.ErrNotExist
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, diag.Errorf(diag.Denied, "%s answers %s", at, resp.Status)
	}
	return nil, diag.Errorf(diag.Remote, "%s answers %s", at, resp.Status)
}

func (w *web) received(at string, resp *http.Response) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, index.MaxBytes+1))
	if err != nil {
		return nil, w.failed(err)
	}
	if len(data) > index.MaxBytes {
		return nil, diag.Errorf(diag.Invalid, "%s is larger than %d bytes", at, index.MaxBytes)
	}
	w.cache.store(at, cached{ETag: resp.Header.Get("ETag"), Body: data})
	return data, nil
}

// failed gives a transport's error its code and leaves the URL out of it.
func (w *web) failed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var coded interface{ Code() diag.Code }
	if errors.As(err, &coded) {
		return err
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return diag.Errorf(diag.Remote, "index %s: %w", w.base.Host, err).WithHint("check the address and the network, then try again")
}
