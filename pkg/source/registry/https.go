package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// httpFiles reads an index from an HTTPS server, and caches files with their ETag.
type httpFiles struct {
	base    *url.URL
	client  *http.Client
	cache   cache
	recent  *Recent
	offline bool
}

func openHTTPS(name, address string, deps Deps) (Registry, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, diag.Errorf(diag.Usage, "invalid index address %q", redacted(address)).
			WithHint("use https://HOST/PATH without user, query, or fragment")
	}
	client := withRetries(deps.HTTP)
	client.Transport = newLoginTransport(client.Transport, base, deps.Getenv, deps.Logins)
	w := &httpFiles{
		base: base, client: client, cache: cache{dir: deps.Cache}, recent: deps.Recent,
		offline: deps.Offline,
	}
	return newIndexRegistry(name, w, pack.Ref{}).on(address, deps.Named), nil
}

// onLoopback reports whether a URL's host is the loopback interface, where plain HTTP cannot be intercepted.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && httpx.IsLoopback(u.Hostname())
}

// withRetries returns a client that retries requests and bounds stalled responses, as the OCI client does.
func withRetries(client *http.Client) *http.Client {
	own := http.Client{}
	if client != nil {
		own = *client
	}
	if own.Transport == nil {
		own.Transport = httpx.NewTransport()
	}
	own.Transport = httpx.Patient(httpx.Confine(own.Transport, nil), httpx.Retries)
	if own.CheckRedirect == nil {
		own.CheckRedirect = httpx.CheckRedirect
	}
	return &own
}

// redacted returns an address without its user information.
func redacted(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if i := strings.LastIndexByte(rest, '@'); ok && i >= 0 {
		return scheme + "://" + rest[i+1:]
	}
	return address
}

func (w *httpFiles) read(ctx context.Context, path string) ([]byte, error) {
	at := w.base.JoinPath(path)
	url := at.String()
	stored, ok := w.cache.load(url)
	if w.offline {
		if !ok {
			return nil, diag.Errorf(diag.Remote, "%s is not cached, and skillpm is offline", url).
				WithHint("run the command without --offline")
		}
		return stored.answer()
	}
	return w.recent.read(ctx, url, func(ctx context.Context) ([]byte, error) { return w.revalidate(ctx, at, stored) })
}

// revalidate requests a file, or only whether the cached one is current.
func (w *httpFiles) revalidate(ctx context.Context, at *url.URL, stored cached) ([]byte, error) {
	resp, data, err := w.get(ctx, at, stored.ETag, index.MaxBytes)
	if err != nil {
		return nil, err
	}
	url := at.String()
	changed, err := w.handleResponse(at, resp, data, index.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.cache.store(url, cached{Missing: true, ETag: resp.Header.Get("ETag")})
		return nil, err
	case err != nil:
		return nil, err
	case !changed && stored.ETag != "":
		return stored.answer()
	}
	w.cache.store(url, cached{ETag: resp.Header.Get("ETag"), Body: data})
	return data, nil
}

// get requests a file, unless it still has the given ETag. The server may compress it, unless it is compressed already:
// some servers send the encoding of a .gz file.
func (w *httpFiles) get(ctx context.Context, at *url.URL, etag string, limit int64) (*http.Response, []byte, error) {
	header := http.Header{"User-Agent": {"skillpm"}}
	if etag != "" {
		header.Set("If-None-Match", etag)
	}
	plain := strings.HasSuffix(at.Path, ".gz")
	if !plain {
		header.Set("Accept-Encoding", "gzip")
	}
	resp, data, err := httpx.Get(ctx, w.client, at, header, limit)
	if httpx.IsPlainHTTP(err) {
		return nil, nil, diag.Errorf(diag.Remote,
			"index %s: the server does not support TLS, which indexes require", w.base.Host).
			WithHint("if the server is an OCI registry, use oci://%s/NAMESPACE, and run: skillpm config set plain-http %[1]s",
				w.base.Host)
	}
	if err != nil {
		return nil, nil, httpx.RequestError(w.base.Host, err)
	}
	packed := !plain && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip")
	if packed && resp.StatusCode == http.StatusOK && int64(len(data)) <= limit {
		if data, err = gunzip(data, limit); err != nil {
			return nil, nil, diag.Errorf(diag.Remote, "%s: the compressed response is damaged: %w", at.Redacted(), err)
		}
	}
	return resp, data, nil
}

// gunzip decompresses a response to its end or to limit+1 bytes.
func gunzip(data []byte, limit int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, limit+1))
}

// handleResponse maps the status of a response to an error, and reports whether the file changed.
func (w *httpFiles) handleResponse(at *url.URL, resp *http.Response, data []byte, limit int64) (changed bool,
	err error,
) {
	switch {
	case resp.StatusCode == http.StatusNotModified && resp.Request.Header.Get("If-None-Match") != "":
		return false, nil
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return false, fs.ErrNotExist
	case resp.StatusCode != http.StatusOK:
		return false, httpx.StatusError(at, resp, "", loginHint(at))
	case int64(len(data)) > limit:
		return false, diag.Errorf(diag.Invalid, "%s is larger than %d bytes", at, limit)
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
		return false, diag.Errorf(diag.Remote, "%s responded with a web page instead of an index file", at).
			WithHint("check the address, and whether your network requires a login")
	}
	return true, nil
}

// loginHint describes how to log in to a server.
func loginHint(at *url.URL) string {
	names := git.TokenVariables(at)
	if len(names) == 0 {
		return "log in with: skillpm login " + at.Host
	}
	return fmt.Sprintf("run \"skillpm login %s\", or set the environment variable %s", at.Host, names[len(names)-1])
}
