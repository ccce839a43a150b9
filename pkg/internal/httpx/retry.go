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
)

// Patient returns a transport over base that repeats requests which a server may answer later, at most so many times,
// and that ends answers which bring next to nothing. Every wait is bounded.
//
// Repeating is the work of oras-go's transport. What it is told to wait is decided here, because oras-go's own policy
// heeds Retry-After with 429 and in seconds only, asks again after 3 s even where the server wants a minute, and does
// not repeat where a server hangs up without an answer.
func Patient(base http.RoundTripper, retries int) http.RoundTripper {
	policy := patience{most: retries}
	return &retry.Transport{Base: &watcher{base}, Policy: func() retry.Policy { return policy }}
}

// patience is a [retry.Policy].
type patience struct{ most int }

// longestWait is how long a server may ask to be left alone; one that wants more is not asked again.
const longestWait = time.Minute

// Retry returns how long to wait before a request is repeated; less than nothing is never.
func (p patience) Retry(attempt int, resp *http.Response, err error) (time.Duration, error) {
	if attempt >= p.most || !repeatable(resp, err) {
		return -1, nil
	}
	wait := backoff(attempt)
	if resp == nil {
		return wait, nil
	}
	delay := retryAfter(resp)
	if delay > longestWait {
		host := resp.Request.URL.Host
		return -1, diag.Errorf(diag.Remote, "%s answers %d and wants to be left alone for %s", host, resp.StatusCode,
			delay.Round(time.Second)).
			WithHint("try again after that time; logging in with skillpm login %s may raise the limit", host)
	}
	return max(wait, delay), nil
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

// backoff is how long to wait before trying again where nobody says: a quarter of a second, then twice as long each
// time.
func backoff(attempt int) time.Duration {
	return retry.ExponentialBackoff(250*time.Millisecond, 2, 0.1)(min(attempt, 6), nil)
}

// retryAfter reads how long a server that is busy (429, 503) asks to be left alone (RFC 9110, section 10.2.3): in
// seconds, or up to a time, which is compared with the server's own clock. Nonsense and times that are over count as
// nothing.
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	text := strings.TrimSpace(resp.Header.Get("Retry-After"))
	const most = 1_000_000_000 // seconds, 31 years: more would not fit a Duration
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

// Pause waits before something that broke is tried again.
func Pause(ctx context.Context, attempt int) error { return Sleep(ctx, backoff(attempt)) }

// Sleep waits, or returns the context's error if that ends first.
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

// ReadWhole reads a short answer, which open asks for, to its end or to limit+1 bytes. Where the connection breaks in
// the middle or brings next to nothing, the answer is asked for again from its beginning, at most so many times.
func ReadWhole(ctx context.Context, retries int, limit int64, open func() (io.ReadCloser, error)) ([]byte, error) {
	for attempt := 0; ; attempt++ {
		data, again, err := readOnce(limit, open)
		if err == nil || attempt >= retries || ctx.Err() != nil || !again {
			return data, err
		}
		if err := Pause(ctx, attempt); err != nil {
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

// broken reports whether an answer that somebody else has read ended before its end.
func broken(err error) bool {
	_, slow := errors.AsType[*slowError](err)
	return slow || errors.Is(err, io.ErrUnexpectedEOF)
}
