package oci_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
)

// faultCase is a fault between a registry and its client, and the expected result.
type faultCase struct {
	name     string
	fault    func(n int, w http.ResponseWriter, r *http.Request, good *httptest.ResponseRecorder) bool
	requests int
	code     diag.Code // 0: it works in the end
	words    string
	min, max time.Duration // that pass meanwhile
}

// blobFaults lists the faults of a layer's transfer.
func blobFaults() []faultCase {
	type (
		writer  = http.ResponseWriter
		request = *http.Request
		answer  = *httptest.ResponseRecorder
	)
	cut := func(w writer, good answer, n int) {
		head(w, good, http.StatusOK)
		part(w, good.Body.Bytes()[:n])
		hangUp()
	}
	whole := func(w writer, good answer) bool {
		head(w, good, http.StatusOK)
		part(w, good.Body.Bytes())
		return true
	}
	partial := func(w writer, contentRange string, data []byte) bool {
		w.Header().Set("Content-Range", contentRange)
		w.WriteHeader(http.StatusPartialContent)
		part(w, data)
		return true
	}
	const soon, short = 3 * time.Second, time.Second / 10
	return []faultCase{
		{"breaks twice", func(n int, w writer, _ request, good answer) bool {
			if n <= 2 {
				cut(w, good, some(good))
			}
			return false
		}, 3, 0, "", short, soon},
		{"breaks always", func(_ int, w writer, _ request, good answer) bool { cut(w, good, some(good)); return true }, 4, diag.Remote, "registry.example", short, soon},
		{"hangs up", func(n int, _ writer, _ request, _ answer) bool {
			if n == 1 {
				hangUp()
			}
			return false
		}, 2, 0, "", 0, soon}, // net/http repeats at once what it asked on a connection that was used before
		{"breaks after the last byte", func(_ int, w writer, _ request, good answer) bool {
			w.WriteHeader(http.StatusOK)
			part(w, good.Body.Bytes())
			hangUp()
			return true
		}, 1, 0, "", 0, 0},
		{"ends early", func(n int, w writer, _ request, good answer) bool {
			if n == 1 {
				part(w, good.Body.Bytes()[:some(good)]) // chunked, and with a proper end
			}
			return n == 1
		}, 2, 0, "", short, soon},
		{"ends early always", func(_ int, w writer, _ request, good answer) bool {
			part(w, good.Body.Bytes()[:some(good)])
			return true
		}, 4, diag.Integrity, "bytes", short, soon},
		{"knows no ranges", func(n int, w writer, _ request, good answer) bool {
			if n <= 2 {
				cut(w, good, 100*n)
			}
			return whole(w, good)
		}, 3, 0, "", short, soon},
		{"continues elsewhere", func(n int, w writer, _ request, good answer) bool {
			if n == 1 {
				cut(w, good, some(good))
			}
			size := good.Body.Len()
			return partial(w, fmt.Sprintf("bytes 50-%d/%d", size-1, size), good.Body.Bytes()[50:])
		}, 2, diag.Remote, "a different part", short, soon},
		{"continues another size", func(n int, w writer, _ request, good answer) bool {
			if n == 1 {
				cut(w, good, some(good))
			}
			return partial(w, fmt.Sprintf("bytes 100-%d/%d", 1<<40, 1<<40+1), good.Body.Bytes()[100:])
		}, 2, diag.Remote, "a different part", short, soon},
		{"a part at first", func(_ int, w writer, _ request, good answer) bool {
			size := good.Body.Len()
			return partial(w, fmt.Sprintf("bytes 0-%d/%d", size-1, size), good.Body.Bytes())
		}, 1, diag.Remote, "a different part", 0, 0},
		{"continues with other content", func(n int, w writer, _ request, good answer) bool {
			if n == 1 {
				cut(w, good, some(good))
			}
			size := good.Body.Len()
			return partial(w, fmt.Sprintf("bytes 100-%d/%d", size-1, size), bytes.Repeat([]byte("x"), size-100))
		}, 2, diag.Integrity, "does not match", short, soon},
		{"is gone when continued", func(n int, w writer, _ request, good answer) bool {
			if n == 1 {
				cut(w, good, some(good))
			}
			w.WriteHeader(http.StatusNotFound)
			return true
		}, 2, diag.NotFound, "does not contain sha256:", short, soon},
		{"never begins", func(_ int, _ writer, r request, _ answer) bool { stall(r); return true }, 4, diag.Remote, "timeout", 2 * time.Minute, 3 * time.Minute},
		{"stalls", func(n int, w writer, r request, good answer) bool {
			if n == 1 {
				head(w, good, http.StatusOK)
				part(w, good.Body.Bytes()[:some(good)])
				stall(r)
			}
			return false
		}, 2, 0, "", 30 * time.Second, 61 * time.Second},
		{"stalls always", func(_ int, w writer, r request, good answer) bool {
			head(w, good, http.StatusOK)
			part(w, nil)
			stall(r)
			return true
		}, 4, diag.Remote, "no data for 30s", 2 * time.Minute, 5 * time.Minute},
		{"drips", func(_ int, w writer, r request, good answer) bool {
			head(w, good, http.StatusOK)
			drip(w, r, good.Body.Bytes())
			return true
		}, 4, diag.Remote, "bytes in 30s", 2 * time.Minute, 5 * time.Minute},
		{"500 thrice", func(n int, w writer, _ request, _ answer) bool {
			if n <= 3 {
				w.WriteHeader(http.StatusInternalServerError)
			}
			return n <= 3
		}, 4, 0, "", short, soon},
		{"502 always", func(_ int, w writer, _ request, _ answer) bool { w.WriteHeader(http.StatusBadGateway); return true }, 4, diag.Remote, "502", short, soon},
		{"501", func(_ int, w writer, _ request, _ answer) bool { w.WriteHeader(http.StatusNotImplemented); return true }, 1, diag.Remote, "501", 0, 0},
		{"418", func(_ int, w writer, _ request, _ answer) bool { w.WriteHeader(http.StatusTeapot); return true }, 1, diag.Remote, "418", 0, 0},
		{"a web page", func(_ int, w writer, _ request, _ answer) bool {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<html>log in</html>"))
			return true
		}, 1, diag.Remote, "web page", 0, 0},
	}
}

// retryAfters lists unusual values that a busy server may send.
func retryAfters() []faultCase {
	const now = "Fri, 20 Nov 2026 10:00:00 GMT"
	var cases []faultCase
	for _, tt := range []struct {
		name     string
		status   int
		after    string
		min, max time.Duration
		never    bool // it is not asked again
	}{
		{"seconds", 429, "7", 7 * time.Second, 7 * time.Second, false},
		{"seconds of a server that is down", 503, "45", 45 * time.Second, 45 * time.Second, false},
		{"a time", 503, "Fri, 20 Nov 2026 10:00:20 GMT", 20 * time.Second, 20 * time.Second, false},
		{"a time of old form", 429, "Friday, 20-Nov-26 10:00:09 GMT", 9 * time.Second, 9 * time.Second, false},
		{"a time that is over", 429, "Thu, 01 Jan 1970 00:00:00 GMT", 0, time.Second, false},
		{"less than nothing", 429, "-100", 0, time.Second, false},
		{"zero", 429, "0", 0, time.Second, false},
		{"words", 429, "in a moment", 0, time.Second, false},
		{"a fraction", 429, "1.5e9", 0, time.Second, false},
		{"nothing", 503, "", 0, time.Second, false},
		{"an hour", 429, "3600", 0, 0, true},
		{"a year", 503, "Sat, 20 Nov 2027 10:00:00 GMT", 0, 0, true},
		{"more than fits", 429, "9999999999999999999999", 0, 0, true},
		{"more than fits in nanoseconds", 429, "9223372037", 0, 0, true},
		{"a status that has none", 500, "3600", 0, time.Second, false},
	} {
		c := faultCase{name: "Retry-After: " + tt.name, requests: 2, min: tt.min, max: tt.max}
		if tt.never {
			c.requests, c.code, c.words = 1, diag.Remote, "responded with"
		}
		c.fault = func(n int, w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) bool {
			w.Header().Set("Date", now)
			return n == 1 && busy(w, tt.status, tt.after)
		}
		cases = append(cases, c)
	}
	return append(cases, faultCase{"Retry-After: a minute, always", func(_ int, w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) bool {
		return busy(w, http.StatusTooManyRequests, "60")
	}, 4, diag.Remote, "429", 3 * time.Minute, 3 * time.Minute})
}
