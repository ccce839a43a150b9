package oci_test

import (
	"bytes"
	"context"
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

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// faulty is a registry with a pack of two skills that answers requests of one kind with a test's fault.
type faulty struct {
	answers map[string]*httptest.ResponseRecorder // by path, as a registry of good faith gave them
	path    string                                // what part of a path makes a request one that is meddled with
	// fault answers the n-th such request, from 1. good is the registry's own answer, which is sent if fault returns
	// false.
	fault func(n int, w http.ResponseWriter, r *http.Request, good *httptest.ResponseRecorder) bool

	mu     sync.Mutex
	n      int
	ranges []string
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
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

var faultyRef = pack.Ref{Kind: pack.KindOCI, URL: "oci://registry.example/acme/deploy"}

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

// requests returns the number of modified requests.
func (f *faulty) requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// head sends the header of a successful answer.
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

// some is the size of the part of an answer that precedes the fault.
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

// busy rejects a request with Retry-After.
func busy(w http.ResponseWriter, status int, after string) bool {
	w.Header().Set("Retry-After", after)
	w.WriteHeader(status)
	return true
}

// TestFaultyLayers makes a registry send a layer with every fault. A fetch that succeeds has verified every byte, and
// one that fails ends after a bounded time. The clock is that of a synctest bubble, so nothing really waits.
func TestFaultyLayers(t *testing.T) {
	f := newFaulty(t)
	for _, tt := range append(blobFaults(), retryAfters()...) {
		t.Run(tt.name, func(t *testing.T) { f.run(t, "/blobs/", tt) })
	}
}

// TestFaultyManifests makes a registry send a manifest, and a list of tags, with the same faults.
func TestFaultyManifests(t *testing.T) {
	f := newFaulty(t)
	for _, path := range []string{"/manifests/", "/tags/list"} {
		for _, tt := range append(documentFaults(), retryAfters()...) {
			t.Run(strings.Trim(path, "/")+" "+tt.name, func(t *testing.T) { f.run(t, path, tt) })
		}
	}
}

// documentFaults lists the faults of a manifest or a list of tags.
func documentFaults() []faultCase {
	var cases []faultCase
	for _, tt := range blobFaults() {
		switch tt.name {
		case "breaks twice", "breaks always", "hangs up", "never begins", "stalls", "stalls always", "drips", "500 thrice",
			"502 always", "501", "418":
			cases = append(cases, tt)
		}
	}
	return cases
}

// run fetches the pack with one fault and checks the result.
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

// TestRangeRequests checks that an interrupted download requests only the rest.
func TestRangeRequests(t *testing.T) {
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

// TestSlowDisk checks that a slow disk does not count as a fault of the registry.
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

// TestCancelledWaits checks that every wait ends with its context.
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
