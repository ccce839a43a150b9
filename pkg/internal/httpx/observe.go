package httpx

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/activity"
)

// Observe returns a transport that reports requests to the context's observer of activity: the server, the bytes, and
// the status, but never credentials or the query of a URL, which may contain a signature.
func Observe(next http.RoundTripper) http.RoundTripper { return observer{next} }

type observer struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (o observer) RoundTrip(req *http.Request) (*http.Response, error) {
	w := activity.Begin(req.Context(), &activity.Wait{
		Source: req.URL.Host, Request: req.Method + " " + publicURL(req.URL),
	})
	if w == nil {
		return o.next.RoundTrip(req)
	}
	if req.Body != nil && req.Body != http.NoBody {
		clone := req.Clone(req.Context())
		clone.Body = &countedBody{ReadCloser: req.Body, count: w.Send}
		req = clone
	}
	resp, err := o.next.RoundTrip(req)
	if err != nil {
		w.Answer("failed")
		w.End()
		return nil, err
	}
	w.Answer(resp.Status)
	if resp.Body == http.NoBody {
		w.End()
		return resp, nil
	}
	w.Expect(max(resp.ContentLength, 0))
	resp.Body = &countedBody{ReadCloser: resp.Body, count: w.Receive, end: w.End}
	return resp, nil
}

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (o observer) CloseIdleConnections() {
	if c, ok := o.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// countedBody counts the bytes that are read.
type countedBody struct {
	io.ReadCloser
	count func(int)
	end   func()
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.count(n)
	if err != nil && b.end != nil {
		b.end()
	}
	return n, err
}

// Close closes the body.
func (b *countedBody) Close() error {
	if b.end != nil {
		defer b.end()
	}
	return b.ReadCloser.Close()
}

// publicURL returns a URL without user information and query.
func publicURL(u *url.URL) string {
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// ReportRetry reports that a request is repeated after a delay, because of a response or, if it is nil, because the
// connection failed.
func ReportRetry(ctx context.Context, host string, resp *http.Response, delay time.Duration) {
	reason := brokenConnection(host)
	if resp != nil {
		reason = fmt.Sprintf("%s responded with status %d", host, resp.StatusCode)
		if resp.StatusCode == http.StatusTooManyRequests {
			reason = "rate-limited by " + host
		}
	}
	activity.Retry(ctx, reason, delay)
}

// brokenConnection is the reason for a retry after a connection failed.
func brokenConnection(host string) string { return "connection to " + host + " failed" }
