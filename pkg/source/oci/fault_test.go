package oci_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/oci/ocitest"
)

// faulty is a registry with a pack of two skills that answers requests of one kind as a test wants.
type faulty struct {
	answers map[string]*httptest.ResponseRecorder // by path, as a registry of good faith gave them
	path    string                                // what part of a path makes a request one that is meddled with
	// fault answers the n-th such request, from 1; good has what the registry would answer. It returns false to have that
	// sent.
	fault func(n int, w http.ResponseWriter, r *http.Request, good *httptest.ResponseRecorder) bool

	mu     sync.Mutex
	n      int
	ranges []string
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	s := ocitest.New(t)
	ref := source.Ref{Kind: source.KindOCI, URL: s.URL("acme/deploy")}
	push(t, s.Client(t, ""), ref, "1.0.0", "deploy", "rollback")
	s.Requests()
	if err := get(t, s.Client(t, ""), ref); err != nil {
		t.Fatal(err)
	}
	f := &faulty{answers: make(map[string]*httptest.ResponseRecorder)}
	for _, request := range s.Requests() {
		_, path, _ := strings.Cut(request, " ")
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Accept", ocispec.MediaTypeImageManifest)
		f.answers[path] = httptest.NewRecorder()
		s.Registry.ServeHTTP(f.answers[path], r)
	}
	return f
}

var faultyRef = source.Ref{Kind: source.KindOCI, URL: "oci://registry.example/acme/deploy"}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	good, ok := f.answers[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if strings.Contains(r.URL.Path, f.path) {
		f.mu.Lock()
		f.n++
		n := f.n
		f.ranges = append(f.ranges, r.Header.Get("Range"))
		f.mu.Unlock()
		if f.fault(n, w, r, good) {
			return
		}
	}
	for _, name := range []string{"Content-Type", "Docker-Content-Digest"} {
		w.Header()[name] = good.Header()[name]
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(good.Body.Bytes()))
}

// requests returns how many requests were meddled with.
func (f *faulty) requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// head sends the head of a good answer.
func head(w http.ResponseWriter, good *httptest.ResponseRecorder, status int) {
	for _, name := range []string{"Content-Type", "Content-Length", "Docker-Content-Digest"} {
		if v := good.Header().Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	if w.Header().Get("Content-Length") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(good.Body.Len()))
	}
	w.WriteHeader(status)
}

// part sends some of an answer's bytes.
func part(w http.ResponseWriter, data []byte) {
	_, _ = w.Write(data)
	w.(http.Flusher).Flush()
}

// some is how much of an answer comes before something happens.
func some(good *httptest.ResponseRecorder) int { return min(100, good.Body.Len()/2) }

func hangUp() { panic(http.ErrAbortHandler) }

// stall waits until the client has gone.
func stall(r *http.Request) { <-r.Context().Done() }

// drip sends a byte a second.
func drip(w http.ResponseWriter, r *http.Request, data []byte) {
	for _, b := range data {
		part(w, []byte{b})
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// busy refuses with Retry-After.
func busy(w http.ResponseWriter, status int, after string) bool {
	w.Header().Set("Retry-After", after)
	w.WriteHeader(status)
	return true
}

type faultCase struct {
	name     string
	fault    func(n int, w http.ResponseWriter, r *http.Request, good *httptest.ResponseRecorder) bool
	requests int
	code     diag.Code // 0: it works in the end
	words    string
	min, max time.Duration // that pass meanwhile
}

// blobFaults are what can happen to a layer on its way.
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
		{"breaks for ever", func(_ int, w writer, _ request, good answer) bool { cut(w, good, some(good)); return true }, 4, diag.Remote, "registry.example", short, soon},
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
		{"ends early for ever", func(_ int, w writer, _ request, good answer) bool {
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
		}, 2, diag.Remote, "another part", short, soon},
		{"continues another size", func(n int, w writer, _ request, good answer) bool {
			if n == 1 {
				cut(w, good, some(good))
			}
			return partial(w, fmt.Sprintf("bytes 100-%d/%d", 1<<40, 1<<40+1), good.Body.Bytes()[100:])
		}, 2, diag.Remote, "another part", short, soon},
		{"a part at first", func(_ int, w writer, _ request, good answer) bool {
			size := good.Body.Len()
			return partial(w, fmt.Sprintf("bytes 0-%d/%d", size-1, size), good.Body.Bytes())
		}, 1, diag.Remote, "another part", 0, 0},
		{"continues something else", func(n int, w writer, _ request, good answer) bool {
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
		}, 2, diag.NotFound, "has no sha256:", short, soon},
		{"never begins", func(_ int, _ writer, r request, _ answer) bool { stall(r); return true }, 4, diag.Remote, "timeout", 2 * time.Minute, 3 * time.Minute},
		{"stalls", func(n int, w writer, r request, good answer) bool {
			if n == 1 {
				head(w, good, http.StatusOK)
				part(w, good.Body.Bytes()[:some(good)])
				stall(r)
			}
			return false
		}, 2, 0, "", 30 * time.Second, 61 * time.Second},
		{"stalls for ever", func(_ int, w writer, r request, good answer) bool {
			head(w, good, http.StatusOK)
			part(w, nil)
			stall(r)
			return true
		}, 4, diag.Remote, "nothing came for 30s", 2 * time.Minute, 5 * time.Minute},
		{"drips", func(_ int, w writer, r request, good answer) bool {
			head(w, good, http.StatusOK)
			drip(w, r, good.Body.Bytes())
			return true
		}, 4, diag.Remote, "bytes came in 30s", 2 * time.Minute, 5 * time.Minute},
		{"500 thrice", func(n int, w writer, _ request, _ answer) bool {
			if n <= 3 {
				w.WriteHeader(http.StatusInternalServerError)
			}
			return n <= 3
		}, 4, 0, "", short, soon},
		{"502 for ever", func(_ int, w writer, _ request, _ answer) bool { w.WriteHeader(http.StatusBadGateway); return true }, 4, diag.Remote, "502", short, soon},
		{"501", func(_ int, w writer, _ request, _ answer) bool { w.WriteHeader(http.StatusNotImplemented); return true }, 1, diag.Remote, "501", 0, 0},
		{"418", func(_ int, w writer, _ request, _ answer) bool { w.WriteHeader(http.StatusTeapot); return true }, 1, diag.Remote, "418", 0, 0},
		{"a web page", func(_ int, w writer, _ request, _ answer) bool {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<html>log in</html>"))
			return true
		}, 1, diag.Remote, "web page", 0, 0},
	}
}

// retryAfters are the odd things that a busy server may ask for.
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
			c.requests, c.code, c.words = 1, diag.Remote, "left alone for "
		}
		c.fault = func(n int, w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) bool {
			w.Header().Set("Date", now)
			return n == 1 && busy(w, tt.status, tt.after)
		}
		cases = append(cases, c)
	}
	return append(cases, faultCase{"Retry-After: a minute, for ever", func(_ int, w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) bool {
		return busy(w, http.StatusTooManyRequests, "60")
	}, 4, diag.Remote, "429", 3 * time.Minute, 3 * time.Minute})
}

// TestFaultyLayers has a registry send a layer in every wrong way. What works in the end has every byte checked, and what
// does not ends after a bounded time. Time is that of a bubble: nothing here waits.
func TestFaultyLayers(t *testing.T) {
	f := newFaulty(t)
	for _, tt := range append(blobFaults(), retryAfters()...) {
		t.Run(tt.name, func(t *testing.T) { f.run(t, "/blobs/", tt) })
	}
}

// TestFaultyManifests has a registry send a manifest, and a list of tags, as it sent layers.
func TestFaultyManifests(t *testing.T) {
	f := newFaulty(t)
	for _, path := range []string{"/manifests/", "/tags/list"} {
		for _, tt := range append(documentFaults(), retryAfters()...) {
			t.Run(strings.Trim(path, "/")+" "+tt.name, func(t *testing.T) { f.run(t, path, tt) })
		}
	}
}

// documentFaults are what can happen to a manifest or a list of tags.
func documentFaults() []faultCase {
	var cases []faultCase
	for _, tt := range blobFaults() {
		switch tt.name {
		case "breaks twice", "breaks for ever", "hangs up", "never begins", "stalls", "stalls for ever", "drips", "500 thrice",
			"502 for ever", "501", "418":
			cases = append(cases, tt)
		}
	}
	return cases
}

// run fetches the pack with one fault and compares what came of it.
func (f *faulty) run(t *testing.T, path string, tt faultCase) {
	t.Helper()
	f.path, f.fault, f.n, f.ranges = path, tt.fault, 0, nil
	synctest.Test(t, func(t *testing.T) {
		c := oci.New(oci.Options{Transport: ocitest.Pipe(t, f)})
		defer c.Close()
		before := time.Now()
		err := get(t, c, faultyRef)
		if took := time.Since(before); took < tt.min || took > tt.max {
			t.Errorf("it took %s, not %s to %s", took, tt.min, tt.max)
		}
		switch {
		case tt.code != 0:
			wantCode(t, err, tt.code, tt.words)
		case err != nil:
			t.Error(err)
		}
		if f.requests() != tt.requests {
			t.Errorf("%d requests, want %d: ranges %q", f.requests(), tt.requests, f.ranges)
		}
	})
}

// TestRangesAreAsked holds that a download that breaks asks for the rest only.
func TestRangesAreAsked(t *testing.T) {
	f := newFaulty(t)
	f.path = "/blobs/"
	f.fault = func(n int, w http.ResponseWriter, _ *http.Request, good *httptest.ResponseRecorder) bool {
		if n == 1 {
			head(w, good, http.StatusOK)
			part(w, good.Body.Bytes()[:123])
			hangUp()
		}
		return false
	}
	synctest.Test(t, func(t *testing.T) {
		c := oci.New(oci.Options{Transport: ocitest.Pipe(t, f)})
		defer c.Close()
		p, err := c.Open(t.Context(), faultyRef)
		if err != nil {
			t.Fatal(err)
		}
		_, trees := release("1.0.0", "deploy", "rollback")
		checkFetched(t, c, p, trees)
		if len(f.ranges) != 2 || f.ranges[0] != "" || f.ranges[1] != "bytes=123-" {
			t.Errorf("asked for the ranges %q", f.ranges)
		}
	})
}

// slowSink takes an hour for each file.
type slowSink struct{ files int }

func (s *slowSink) WriteFile(_, _ string, _ bool, _ int64, r io.Reader) error {
	time.Sleep(time.Hour)
	s.files++
	_, err := io.Copy(io.Discard, r)
	return err
}

// TestSlowDisk holds that it is no fault of the registry's if what came cannot be written as fast.
func TestSlowDisk(t *testing.T) {
	f := newFaulty(t)
	f.path = "/blobs/"
	f.fault = func(_ int, w http.ResponseWriter, _ *http.Request, good *httptest.ResponseRecorder) bool {
		head(w, good, http.StatusOK)
		for _, b := range bytes.SplitAfter(good.Body.Bytes(), []byte{0}) {
			part(w, b)
		}
		return true
	}
	synctest.Test(t, func(t *testing.T) {
		c := oci.New(oci.Options{Transport: ocitest.Pipe(t, f), Retries: -1})
		defer c.Close()
		p, err := c.Open(t.Context(), faultyRef)
		if err != nil {
			t.Fatal(err)
		}
		sink := &slowSink{}
		if err := c.Fetch(t.Context(), p, nil, sink); err != nil || sink.files != 8 {
			t.Errorf("%d files, %v", sink.files, err)
		}
	})
}

// TestCancelledWaits holds that no wait outlasts its context.
func TestCancelledWaits(t *testing.T) {
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request, good *httptest.ResponseRecorder){
		"before another try": func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) { busy(w, 503, "60") },
		"in the middle": func(w http.ResponseWriter, r *http.Request, good *httptest.ResponseRecorder) {
			head(w, good, http.StatusOK)
			part(w, good.Body.Bytes()[:10])
			stall(r)
		},
		"after a break": func(w http.ResponseWriter, _ *http.Request, good *httptest.ResponseRecorder) {
			head(w, good, http.StatusOK)
			part(w, nil)
			time.Sleep(4900 * time.Millisecond)
			hangUp()
		},
	} {
		for _, path := range []string{"/blobs/", "/manifests/"} {
			t.Run(name+" "+path, func(t *testing.T) {
				f := newFaulty(t)
				f.path = path
				f.fault = func(_ int, w http.ResponseWriter, r *http.Request, good *httptest.ResponseRecorder) bool {
					fault(w, r, good)
					return true
				}
				synctest.Test(t, func(t *testing.T) {
					c := oci.New(oci.Options{Transport: ocitest.Pipe(t, f)})
					defer c.Close()
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					before := time.Now()
					p, err := c.Open(ctx, faultyRef)
					if err == nil {
						err = c.Fetch(ctx, p, nil, bundle.NewHasher(bundle.DefaultLimits()))
					}
					if err == nil || time.Since(before) != 5*time.Second {
						t.Errorf("after %s: %v", time.Since(before), err)
					}
				})
			})
		}
	}
}
