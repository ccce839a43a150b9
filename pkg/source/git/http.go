package git

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// maxErrorBody is the most bytes that are read of an error response.
const maxErrorBody = 64 << 10

// authGuard sends HTTP requests to a git server: it limits the size of responses, aborts stalled ones, and repeats
// requests that an overloaded server refused. All requests are idempotent.
type authGuard struct {
	next   http.RoundTripper
	client *Client
	once   sync.Once
	err    error
}

// RoundTrip sends a request.
func (g *authGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	if g.once.Do(g.prepare); g.err != nil {
		return nil, g.err
	}
	for attempt := 0; ; attempt++ {
		res, err := g.send(req)
		if err != nil || attempt == retries || !isOverload(res.StatusCode) || req.Body != nil && req.GetBody == nil {
			return res, err
		}
		wait, ok := retryAfter(res.Header, g.client.clock.now(), attempt)
		if !ok {
			return res, nil
		}
		_ = res.Body.Close() // its content does not matter
		httpx.ReportRetry(req.Context(), req.URL.Host, res, wait)
		if err := g.client.clock.sleep(req.Context(), wait); err != nil {
			return nil, err
		}
		if req, err = cloneRequest(req); err != nil {
			return nil, err
		}
	}
}

// cloneRequest returns a copy of a request with a new body, for sending it again.
func cloneRequest(req *http.Request) (*http.Request, error) {
	next := req.Clone(req.Context())
	if req.GetBody == nil {
		return next, nil
	}
	var err error
	next.Body, err = req.GetBody()
	return next, err
}

// prepare creates the default transport, which also trusts the certificates in GIT_SSL_CAINFO.
func (g *authGuard) prepare() {
	if g.next == nil {
		transport := httpx.NewTransport()
		transport.ResponseHeaderTimeout = 0 // large packs take time to prepare; the watchdog limits it
		transport.DisableCompression = false
		if file := g.client.options.Getenv("GIT_SSL_CAINFO"); file != "" {
			if err := httpx.TrustFile(transport, file); err != nil {
				g.err = diag.Errorf(diag.Invalid, "GIT_SSL_CAINFO: %w", err)
			}
		}
		g.next = transport
	}
	g.next = httpx.Confine(g.next, g.client.options.Named)
}

// send sends a request once. Reading its response fails if the server stalls.
func (g *authGuard) send(req *http.Request) (*http.Response, error) {
	ctx, watchdog := g.client.watch(req.Context())
	res, err := httpx.Observe(g.next).RoundTrip(req.WithContext(ctx))
	if err != nil {
		watchdog.stop()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the server closed the connection
		}
		return nil, watchdog.explain(err)
	}
	watchdog.reading.Store(false)
	watchdog.prepared.Store(req.Method != http.MethodPost) // only packs take time to prepare
	limit := g.client.limits.refs
	switch {
	case res.StatusCode < 200 || res.StatusCode > 299:
		limit = maxErrorBody
	case req.Method == http.MethodPost:
		limit = g.client.limits.pack + g.client.limits.pack/8 // the pack plus its framing
	}
	res.Body = &limitedBody{watchedStream{res.Body, res.Body, watchdog}, limit, res.StatusCode > 299}
	return res, nil
}

// limitedBody is a response body with a limit on its size and on stalls.
type limitedBody struct {
	watchedStream
	remaining int64
	truncate  bool // report the end at the limit instead of an error
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		if b.truncate {
			return 0, io.EOF
		}
		return 0, packfile.TooLarge("the server sent too much data")
	}
	if int64(len(p)) > b.remaining {
		p = p[:b.remaining]
	}
	n, err := b.watchedStream.Read(p)
	b.remaining -= int64(n)
	return n, err
}

// checkRedirect rejects redirects to another host, port, or scheme: the lockfile must record the real source, and
// credentials are for one host.
func checkRedirect(req *http.Request, via []*http.Request) error {
	previous, next := via[0].URL, req.URL
	if err := httpx.RedirectAllowed(req.Context(), next); err != nil {
		return err
	}
	if strings.EqualFold(previous.Host, next.Host) && previous.Scheme == next.Scheme {
		return nil
	}
	target := next.Scheme + "://" + next.Host + strings.TrimSuffix(next.EscapedPath(), "/info/refs")
	return diag.Errorf(diag.Remote, "the server redirects to another host, %s", next.Host).
		WithHint("if you trust this host, install from git+%s", target)
}
