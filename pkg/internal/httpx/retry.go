package httpx

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/activity"
)

// Patient returns a transport that retries requests after transient failures, up to a number of times, ends stalled
// responses, and holds all requests to a host back while the host is overloaded. Every wait is bounded.
//
// It uses oras-go's retry transport with its own policy. oras-go's policy supports Retry-After only with status 429
// and in seconds, retries after 3 s even if the server requests a minute, and does not retry if a server closes the
// connection without a response.
func Patient(base http.RoundTripper, retries int) http.RoundTripper {
	return &patient{base: &watcher{Observe(base)}, retries: retries}
}

// patient is a transport that repeats requests.
type patient struct {
	base    *watcher
	retries int
	limits  limiter
}

// RoundTrip sends a request until it succeeds, fails permanently, or has failed too often. The policy is that of one
// request, so that it can report retries.
func (p *patient) RoundTrip(req *http.Request) (*http.Response, error) {
	base := &limited{next: p.base, limiter: &p.limits, number: p.limits.next()}
	policy := patience{most: p.retries, req: req, base: base}
	t := retry.Transport{Base: base, Policy: func() retry.Policy { return policy }}
	return t.RoundTrip(req)
}

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (p *patient) CloseIdleConnections() { p.base.CloseIdleConnections() }

// patience is a [retry.Policy].
type patience struct {
	most int
	req  *http.Request
	base *limited
}

// longestWait is the longest delay that a server may request. If it requests more, the request is not retried.
const longestWait = time.Minute

// mostRefusals is how often a busy server may refuse one request while it accepts others.
const mostRefusals = 30

// Retry returns the delay before a retry, or a negative value for no retry.
func (p patience) Retry(attempt int, resp *http.Response, err error) (time.Duration, error) {
	if resp != nil && isBusy(resp) && attempt < mostRefusals { // whichever request the server refused
		attempt = p.base.refusals - 1
	}
	if attempt >= p.most || !repeatable(resp, err) {
		return -1, nil
	}
	wait := backoff(attempt)
	if resp == nil {
		return p.report(nil, wait), nil
	}
	delay := retryAfter(resp)
	if delay > longestWait {
		host := resp.Request.URL.Host
		return -1, diag.Errorf(diag.Remote, "%s responded with status %d: retry in %s", host, resp.StatusCode,
			delay.Round(time.Second)).
			WithHint("%s", BusyHint(resp.StatusCode, host, "skillpm login "+host))
	}
	if p.report(resp, max(wait, delay)); isBusy(resp) {
		return 0, nil // the limiter lets the request wait, ahead of later ones
	}
	return wait, nil
}

// report reports a retry if the request can be repeated, and returns the delay.
func (p patience) report(resp *http.Response, delay time.Duration) time.Duration {
	if p.req.Body == nil || p.req.Body == http.NoBody || p.req.GetBody != nil {
		ReportRetry(p.req.Context(), p.req.URL.Host, resp, delay)
	}
	return delay
}

// repeatable reports whether the same request may succeed later.
func repeatable(resp *http.Response, err error) bool {
	if err != nil {
		again, _ := retry.DefaultPredicate(nil, err)
		return again || errors.Is(err, io.EOF)
	}
	again, _ := retry.DefaultPredicate(resp, nil)
	return again && resp.StatusCode != http.StatusNotImplemented
}

// backoff returns the delay if the server does not request one: a quarter of a second, doubled for each attempt.
func backoff(attempt int) time.Duration {
	return retry.ExponentialBackoff(250*time.Millisecond, 2, 0.1)(min(attempt, 6), nil)
}

// retryAfter parses Retry-After of a busy server (status 429 or 503; RFC 9110, section 10.2.3): a number of seconds, or
// a time, which it compares with the server's own clock. Invalid values and past times count as absent.
func retryAfter(resp *http.Response) time.Duration {
	if !isBusy(resp) {
		return 0
	}
	text := strings.TrimSpace(resp.Header.Get("Retry-After"))
	const most = 1_000_000_000 // in seconds, 31 years; more would overflow a Duration
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(max(0, min(seconds, most))) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, until.Sub(now))
}

// Pause reports that an operation is retried and why, and waits before it.
func Pause(ctx context.Context, reason string, attempt int) error {
	delay := backoff(attempt)
	activity.Retry(ctx, reason, delay)
	return Sleep(ctx, delay)
}

// Sleep waits, or returns the context's error if the context ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// ReadWhole reads a short response of a host to its end or to limit+1 bytes. If the connection breaks or stalls, it
// calls open again and starts over, up to a number of times.
func ReadWhole(ctx context.Context, host string, retries int, limit int64, open func() (io.ReadCloser, error),
) ([]byte, error) {
	for attempt := 0; ; attempt++ {
		data, again, err := readOnce(limit, open)
		if err == nil || attempt >= retries || ctx.Err() != nil || !again {
			return data, err
		}
		if err := Pause(ctx, brokenConnection(host), attempt); err != nil {
			return nil, err
		}
	}
}

func readOnce(limit int64, open func() (io.ReadCloser, error)) (data []byte, again bool, err error) {
	body, err := open()
	if err != nil {
		return nil, broken(err), err
	}
	defer func() { _ = body.Close() }()
	data, err = io.ReadAll(io.LimitReader(body, limit+1))
	return data, true, err
}

// broken reports whether reading a response failed before its end.
func broken(err error) bool {
	_, slow := errors.AsType[*slowError](err)
	return slow || errors.Is(err, io.ErrUnexpectedEOF)
}
