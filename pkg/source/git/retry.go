package git

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits of repeated requests.
const (
	retries      = 2
	maxRetryWait = 30 * time.Second
)

// clock provides time, so that tests can control it.
type clock struct {
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
	after func(d time.Duration, f func()) timer
}

// timer is the part of [time.Timer] that a watchdog uses.
type timer interface {
	Reset(d time.Duration) bool
	Stop() bool
}

func systemClock() clock {
	return clock{
		now: time.Now, //nolint:forbidigo // tests replace it
		sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
		after: func(d time.Duration, f func()) timer { return time.AfterFunc(d, f) },
	}
}

// backoff returns the delay before the next attempt if the server names none.
func backoff(attempt int) time.Duration { return 300 * time.Millisecond << (2 * attempt) }

// retryAfter returns the delay of a Retry-After header: seconds, or a date (RFC 9110, section 10.2.3). It uses the
// default for an invalid value. ok is false if the delay is too long.
func retryAfter(h http.Header, now time.Time, attempt int) (wait time.Duration, ok bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if math.IsNaN(seconds) || seconds < 0 {
			return backoff(attempt), true
		}
		if seconds > maxRetryWait.Seconds() {
			return 0, false
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	if date, err := http.ParseTime(value); err == nil {
		wait = max(date.Sub(now), 0)
		return wait, wait <= maxRetryWait
	}
	return backoff(attempt), true
}

// isTransient reports whether a retry may succeed: after a broken connection, a stall, or a damaged pack.
func isTransient(err error) bool {
	var timeout net.Error
	var damaged errPack
	switch err = unwrapGit(err); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, errSilent), errors.Is(err, errSlow), errors.As(err, &damaged):
		return true
	}
	return errors.As(err, &timeout) && timeout.Timeout()
}

// isOverload reports whether a status means that the server cannot answer at the moment.
func isOverload(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	}
	return false
}
