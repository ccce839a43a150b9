package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

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
	return newIndexRegistry(name, w, pack.Ref{}), nil
}

// onLoopback reports whether a URL's host is the loopback interface, where plain HTTP cannot be intercepted.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && httpx.IsLoopback(u.Hostname())
}

// retries is how often a failed request to an index is repeated.
const retries = 3

// withRetries returns a client that retries requests and bounds stalled responses, as the OCI client does.
func withRetries(client *http.Client) *http.Client {
	if client == nil {
		return &http.Client{Transport: httpx.Patient(httpx.NewTransport(), retries), CheckRedirect: httpx.CheckRedirect}
	}
	own := *client
	if own.Transport == nil {
		own.Transport = httpx.NewTransport()
	}
	own.Transport = httpx.Patient(own.Transport, retries)
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
	url := w.base.JoinPath(path).String()
	stored, ok := w.cache.load(url)
	if w.offline {
		if !ok {
			return nil, diag.Errorf(diag.Remote, "%s is not cached, and skillpm is offline", url).
				WithHint("run the command without --offline")
		}
		return stored.answer()
	}
	return w.recent.read(ctx, url, func(ctx context.Context) ([]byte, error) { return w.revalidate(ctx, url, stored) })
}

// revalidate requests a file, or only whether the cached one is current.
func (w *httpFiles) revalidate(ctx context.Context, url string, stored cached) ([]byte, error) {
	resp, data, err := w.get(ctx, url, stored.ETag, index.MaxBytes)
	if err != nil {
		return nil, err
	}
	changed, err := w.handleResponse(url, resp, data, index.MaxBytes)
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

// get requests a file of at most limit bytes, unless it still has the given ETag.
func (w *httpFiles) get(ctx context.Context, url, etag string, limit int64) (resp *http.Response, data []byte,
	err error,
) {
	data, err = httpx.ReadWhole(ctx, w.base.Host, retries, limit, func() (io.ReadCloser, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, diag.Errorf(diag.Usage, "%s: %w", w.base.Host, err)
		}
		req.Header.Set("User-Agent", "skillpm")
		if etag != "" {
			req.Header.Set("If-None-Match", etag)
		}
		if resp, err = w.client.Do(req); err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusOK { // reads only the headers of other responses
			_ = resp.Body.Close()
			return http.NoBody, nil
		}
		return resp.Body, nil
	})
	if err != nil {
		return nil, nil, w.wrapError(httpx.PreferContext(ctx, err))
	}
	return resp, data, nil
}

// handleResponse maps the status of a response to an error, and reports whether the file changed.
func (w *httpFiles) handleResponse(url string, resp *http.Response, data []byte, limit int64) (changed bool,
	err error,
) {
	status := fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch {
	case resp.StatusCode == http.StatusNotModified && resp.Request.Header.Get("If-None-Match") != "":
		return false, nil
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return false, fs.ErrNotExist
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return false, diag.Errorf(diag.Denied, "%s responded with %s", url, status).WithHint("%s", w.loginHint())
	case resp.StatusCode != http.StatusOK:
		if resp.StatusCode == http.StatusBadRequest && resp.Request.URL.Scheme == "http" { // as TLS servers respond
			return false, diag.Errorf(diag.Remote, "%s responded with %s", url, status).
				WithHint("if the server uses TLS, use https:// in the address")
		}
		err := diag.Errorf(diag.Remote, "%s responded with %s", url, status)
		if hint := httpx.BusyHint(resp.StatusCode, w.base.Host, "skillpm login "+w.base.Host); hint != "" {
			return false, err.WithHint("%s", hint)
		}
		return false, err
	case int64(len(data)) > limit:
		return false, diag.Errorf(diag.Invalid, "%s is larger than %d bytes", url, limit)
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
		return false, diag.Errorf(diag.Remote, "%s responded with a web page instead of an index file", url).
			WithHint("check the address, and whether your network requires a login")
	}
	return true, nil
}

// loginHint describes how to log in.
func (w *httpFiles) loginHint() string {
	names := git.TokenVariables(w.base)
	if len(names) == 0 {
		return "log in with: skillpm login " + w.base.Host
	}
	return fmt.Sprintf("run \"skillpm login %s\", or set the environment variable %s", w.base.Host,
		names[len(names)-1])
}

// codedError is an error that already has a code.
type codedError interface {
	error
	Code() diag.Code
}

// wrapError adds a code to a transport error and removes the URL.
func (w *httpFiles) wrapError(err error) error {
	if ended := httpx.EndOfContext(err); ended != nil {
		return ended
	}
	if coded, ok := errors.AsType[codedError](err); ok {
		return coded
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if what, hint, ok := httpx.CertificateProblem(w.base.Host, err); ok {
		return diag.Errorf(diag.Remote, "index %s: %s", w.base.Host, what).WithHint("%s", hint)
	}
	if httpx.IsPlainHTTP(err) {
		return diag.Errorf(diag.Remote, "index %s: the server does not support TLS, which indexes require",
			w.base.Host).
			WithHint("if the server is an OCI registry, use oci://%s/NAMESPACE, and run: "+
				"skillpm config set plain-http %[1]s", w.base.Host)
	}
	return diag.Errorf(diag.Remote, "index %s: %w", w.base.Host, err).
		WithHint("check the address and the network, then try again")
}
