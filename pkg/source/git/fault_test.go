package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// TestRetryAfter checks M2, network faults: the delay of a Retry-After header.
func TestRetryAfter(t *testing.T) {
	now := testTime()
	tests := map[string]struct {
		wait time.Duration
		ok   bool
	}{
		"":                     {backoff(0), true},
		"0":                    {0, true},
		"7":                    {7 * time.Second, true},
		" 7 ":                  {7 * time.Second, true},
		"1.5":                  {1500 * time.Millisecond, true},
		"30":                   {30 * time.Second, true},
		"31":                   {0, false},
		"1e300":                {0, false},
		"Inf":                  {0, false},
		"99999999999999999999": {0, false},
		"-1":                   {backoff(0), true},
		"-Inf":                 {backoff(0), true},
		"NaN":                  {backoff(0), true},
		"soon":                 {backoff(0), true},
		"0x10":                 {backoff(0), true},
		now.Add(5 * time.Second).Format(http.TimeFormat):  {5 * time.Second, true},
		now.Add(-5 * time.Second).Format(http.TimeFormat): {0, true},
		now.Add(time.Hour).Format(http.TimeFormat):        {time.Hour, false},
	}
	for value, want := range tests {
		wait, ok := retryAfter(http.Header{"Retry-After": {value}}, now, 0)
		if ok != want.ok || ok && wait != want.wait {
			t.Errorf("Retry-After %q: %v, %v; want %v, %v", value, wait, ok, want.wait, want.ok)
		}
	}
}

// faulty is a server that fails for the first requests of a kind.
type faulty struct {
	git      http.Handler
	method   string
	times    int32
	fault    func(w http.ResponseWriter, r *http.Request, git http.Handler)
	requests atomic.Int32
}

// ServeHTTP fails, or serves the request like git.
func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == f.method && f.requests.Add(1) <= f.times {
		f.fault(w, r, f.git)
		return
	}
	f.git.ServeHTTP(w, r)
}

// status responds with a status and a Retry-After header.
func status(code int, after string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(code)
	}
}

// reset closes the connection without a response.
func reset(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// partly sends a part of the response, and then closes the connection or ends the response normally.
func partly(abort bool) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, git http.Handler) {
		answer := httptest.NewRecorder()
		git.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		if abort {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
}

// wrong changes a byte in the middle of the response.
func wrong(w http.ResponseWriter, r *http.Request, git http.Handler) {
	answer := httptest.NewRecorder()
	git.ServeHTTP(answer, r)
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	data := answer.Body.Bytes()
	data[len(data)/2] ^= 0x40
	_, _ = w.Write(data)
}

// TestNetworkFaults checks M2, network faults: a temporary fault is not visible. A lasting one is an error after a
// bounded number of attempts and leaves nothing in the cache.
func TestNetworkFaults(t *testing.T) {
	t.Parallel()
	const get, post = http.MethodGet, http.MethodPost
	tests := map[string]struct {
		method   string
		fault    func(http.ResponseWriter, *http.Request, http.Handler)
		waits    []time.Duration // waits for a fault of one request
		requests int32           // number of requests for a lasting fault
		message  string
	}{
		"refs overloaded":    {get, status(429, "7"), []time.Duration{7 * time.Second}, 3, "429 Too Many Requests"},
		"refs unavailable":   {get, status(503, ""), []time.Duration{backoff(0)}, 3, "503 Service Unavailable"},
		"refs broken":        {get, status(500, "never"), []time.Duration{backoff(0)}, 3, "500 Internal Server Error"},
		"refs reset":         {get, reset, []time.Duration{backoff(0)}, 3, "the server closed the connection"},
		"refs truncated":     {get, partly(true), []time.Duration{backoff(0)}, 3, ""},
		"pack overloaded":    {post, status(429, "0"), []time.Duration{0}, 3, "429 Too Many Requests"},
		"pack gateway":       {post, status(502, ""), []time.Duration{backoff(0)}, 3, "502 Bad Gateway"},
		"pack reset":         {post, reset, []time.Duration{backoff(0)}, 3, "the server closed the connection"},
		"pack cut off":       {post, partly(true), []time.Duration{backoff(0)}, 3, "the server closed the connection"},
		"pack ends early":    {post, partly(false), []time.Duration{backoff(0)}, 3, "the server closed the connection"},
		"pack damaged":       {post, wrong, []time.Duration{backoff(0)}, 3, ""},
		"asked to stay away": {get, status(429, "3600"), nil, 1, "429"},
	}
	for name, tt := range tests {
		for _, lasts := range []bool{false, true} {
			if !lasts && tt.waits == nil {
				continue
			}
			t.Run(fmt.Sprintf("%s, lasts %v", name, lasts), func(t *testing.T) {
				dir, cache := t.TempDir(), t.TempDir()
				gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", strings.Repeat("Long. ", 100))}))
				f := &faulty{method: tt.method, times: 1, fault: tt.fault}
				if lasts {
					f.times = 1000
				}
				url := gittest.Serve(t, dir, gittest.WithHandler(func(next http.Handler) http.Handler { f.git = next; return f }))
				var waits []time.Duration
				c := New(Options{Cache: cache})
				defer c.Close()
				c.clock = testClock(&waits)
				_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url + "/o/r.git"})
				if !lasts {
					if err != nil || !slices.Equal(waits, tt.waits) {
						t.Errorf("waited %v, %v; want %v", waits, err, tt.waits)
					}
					return
				}
				if diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), tt.message) || f.requests.Load() != tt.requests {
					t.Errorf("%d requests: %v (%v); want %d: %s", f.requests.Load(), err, diag.CodeOf(err), tt.requests, tt.message)
				}
				if found, _ := filepath.Glob(filepath.Join(cache, "*", "*")); len(found) > 0 {
					t.Errorf("%v is left behind", found)
				}
			})
		}
	}
}

// TestSilence checks M2, network faults: a server that becomes silent before or in its response. The timers fire at
// once.
func TestSilence(t *testing.T) {
	var fired atomic.Int32
	clock := testClock(nil)
	clock.after = func(_ time.Duration, f func()) timer {
		return setTimer(func(d time.Duration) {
			if d != watchWindow {
				t.Errorf("a timer of %v, want %v", d, watchWindow)
			}
			fired.Add(1)
			go f()
		})
	}
	g := newGuard(clock, defaultLimits(), func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	res, err := g.RoundTrip(httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)) //nolint:bodyclose // there is none
	if !errors.Is(err, errSilent) || res != nil || fired.Load() != int32(stallTimeout/watchWindow) || !isTransient(err) || diag.CodeOf(err) != diag.Remote {
		t.Errorf("before the answer, after %d windows: %v", fired.Load(), err)
	}
	g = newGuard(clock, defaultLimits(), func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: silent{r}}, nil
	})
	res, err = g.RoundTrip(httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, errSilent) {
		t.Errorf("in the answer: %v", err)
	}
}

// setTimer is a timer that calls a function when it is set.
type setTimer func(time.Duration)

func (f setTimer) Reset(d time.Duration) bool { f(d); return true }
func (setTimer) Stop() bool                   { return true }

// TestTrickle checks M2, network faults: a server that sends too slowly. The transfer is canceled after a number of
// windows; windows has the bytes of each.
func TestTrickle(t *testing.T) {
	const rate, long = int(slowBytes), 1000
	tests := map[string]struct {
		method  string
		windows func(i int) int // bytes in window i
		last    int             // the window in which the transfer is canceled, or a large number
	}{
		"a byte each time, of references": {http.MethodGet, func(int) int { return 1 }, slowWindows},
		"a byte each time, of a pack":     {http.MethodPost, func(int) int { return 1 }, int(maxPreparation / watchWindow)},
		"less than the rate":              {http.MethodPost, func(int) int { return rate - 1 }, 5},
		"the rate":                        {http.MethodPost, func(int) int { return rate }, long},
		"the rate, in bursts":             {http.MethodPost, func(i int) int { return i % 2 * 2 * rate }, long},
		"half of the rate, in bursts":     {http.MethodPost, func(i int) int { return i % 2 * rate }, 3},
		"a pack that was prepared for long": {http.MethodPost, func(i int) int {
			if i < 15 {
				return 15
			}
			return rate
		}, long},
		"a pack that stops coming": {http.MethodPost, func(i int) int {
			if i <= 5 {
				return rate
			}
			return 10
		}, 5 + slowWindows},
	}
	for name, tt := range tests {
		var check func()
		clock := testClock(nil)
		clock.after = func(_ time.Duration, f func()) timer { check = f; return noTimer{} }
		body := &trickle{windows: tt.windows, last: long}
		body.end = func() { check() }
		g := newGuard(clock, defaultLimits(), func(r *http.Request) (*http.Response, error) {
			body.Request = r
			return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
		})
		res, err := g.RoundTrip(httptest.NewRequest(tt.method, "http://127.0.0.1/", nil))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
		if slow := tt.last < long; body.at != tt.last || errors.Is(err, errSlow) != slow || slow && !isTransient(err) || !slow && err != nil {
			t.Errorf("%s: it ends in window %d, want %d: %v", name, body.at, tt.last, err)
		}
	}
}

// trickle is a body that provides some bytes in each window.
type trickle struct {
	*http.Request
	windows func(i int) int
	end     func() // of a window
	at      int
	last    int
	left    int
	begun   bool
}

func (s *trickle) Read(p []byte) (int, error) {
	for s.left == 0 {
		if s.begun {
			s.at++
			s.end()
		}
		if s.begun = true; s.at == s.last {
			return 0, io.EOF
		}
		if err := s.Context().Err(); err != nil {
			return 0, err
		}
		s.left = s.windows(s.at + 1)
		if s.left == 0 {
			continue
		}
	}
	n := min(len(p), s.left)
	s.left -= n
	return n, nil
}

func (s *trickle) Close() error { return nil }

// TestWatchdog checks that time in which the client does not read is not a stall of the server. A git binary that
// processes data for minutes is not too slow, but one that receives nothing for long is.
func TestWatchdog(t *testing.T) {
	c := New(Options{})
	c.clock = testClock(nil)
	_, p := c.watch(t.Context())
	p.reading.Store(false)
	for range 100 {
		p.endWindow()
	}
	if err := p.ctx.Err(); err != nil {
		t.Errorf("when nobody is waiting: %v", err)
	}
	p.stop()
	_, p = c.watchProgram(t.Context())
	defer p.stop()
	p.received.Store(1 << 30)
	for i := range int(maxPreparation / watchWindow) {
		if err := p.ctx.Err(); err != nil {
			t.Fatalf("a program in window %d: %v", i, err)
		}
		p.endWindow()
	}
	p.endWindow()
	if err := context.Cause(p.ctx); !errors.Is(err, errSlow) {
		t.Errorf("a program that receives nothing: %v", err)
	}
}

// silent is a body that never provides data.
type silent struct{ *http.Request }

func (s silent) Read([]byte) (int, error) {
	<-s.Context().Done()
	return 0, s.Context().Err()
}
func (s silent) Close() error { return nil }

// fetchFrom opens and fetches a pack.
func fetchFrom(t *testing.T, c *Client, ref pack.Ref) error {
	t.Helper()
	p, err := c.Open(t.Context(), ref)
	if err == nil {
		err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
	}
	return err
}

// TestDamagedCache checks M2: after any damage to a file of the cache, the pack is fetched correctly, from the server
// if necessary.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Repeat("some text\n", 100_000) // more than one read
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{
		"a/SKILL.md": gittest.Skill("a", "A."), "a/large": text[:len(text)-1], "a/larger": text + "more\n",
	}))
	ref := pack.Ref{Kind: pack.KindGit, URL: gittest.Serve(t, dir, gittest.WithFilter()) + "/o/r.git"}
	harms := map[string]func(name string, data []byte) error{
		"gone":      func(name string, _ []byte) error { return os.Remove(name) },
		"empty":     func(name string, _ []byte) error { return os.WriteFile(name, nil, 0o644) },
		"truncated": func(name string, data []byte) error { return os.WriteFile(name, data[:len(data)/2], 0o644) },
		"zeros":     func(name string, data []byte) error { return os.WriteFile(name, make([]byte, len(data)), 0o644) },
		"one bit": func(name string, data []byte) error {
			data[len(data)/2] ^= 1
			return os.WriteFile(name, data, 0o644)
		},
		"longer": func(name string, data []byte) error { return os.WriteFile(name, append(data, 0), 0o644) },
	}
	for name, harm := range harms {
		for _, ext := range []string{".pack", ".index"} {
			t.Run(name+" "+ext, func(t *testing.T) {
				cache := t.TempDir()
				c := New(Options{Cache: cache})
				if err := fetchFrom(t, c, ref); err != nil {
					t.Fatal(err)
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				files, err := filepath.Glob(filepath.Join(cache, "*", "*", "*"+ext))
				if err != nil || len(files) != 3 {
					t.Fatalf("the cache has %v, %v", files, err)
				}
				for _, file := range files {
					data, err := os.ReadFile(file)
					if err == nil {
						err = harm(file, bytes.Clone(data))
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				c = New(Options{Cache: cache})
				defer c.Close()
				if err := fetchFrom(t, c, ref); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestFreshScratch checks that files of a failed attempt are in neither the next attempt nor the cache entry.
func TestFreshScratch(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "R.")}))
	var scratch []string
	f := &faulty{method: http.MethodPost, times: 2}
	f.fault = func(w http.ResponseWriter, r *http.Request, git http.Handler) {
		scratch, _ = filepath.Glob(filepath.Join(cache, "*", "tmp-*", "*"))
		for _, dir := range scratch {
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("an attempt begins with %v, %v", left, err)
			}
			if err := os.WriteFile(filepath.Join(dir, "incoming.c"), []byte("a loose file"), 0o600); err != nil {
				t.Error(err)
			}
		}
		wrong(w, r, git)
	}
	c := New(Options{Cache: cache})
	defer c.Close()
	c.clock = testClock(nil)
	ref := pack.Ref{Kind: pack.KindGit, URL: gittest.Serve(t, dir, gittest.WithHandler(func(next http.Handler) http.Handler { f.git = next; return f })) + "/o/r.git"}
	if err := fetchFrom(t, c, ref); err != nil || len(scratch) != 1 || f.requests.Load() != 3 {
		t.Errorf("%d attempts, the last with %v: %v", f.requests.Load(), scratch, err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "*", "*", "*"))
	for _, name := range found {
		if ext := filepath.Ext(name); ext != ".pack" && ext != ".index" && filepath.Base(name) != completeName {
			t.Errorf("the cache has %s", name)
		}
	}
	if err != nil || len(found) != 3 {
		t.Errorf("the cache has %v, %v", found, err)
	}
}

// TestCacheThatCannotBe checks M2, faults of this machine: if the cache cannot be created, the error has the reason.
func TestCacheThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "R.")}))
	c := New(Options{Cache: filepath.Join(dir, "o", "r.git", "HEAD", "below")})
	defer c.Close()
	err := fetchFrom(t, c, pack.Ref{Kind: pack.KindGit, URL: gittest.Serve(t, dir) + "/o/r.git"})
	if !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a cache below a file: %v", err)
	}
}

// TestFullDisk checks M2, faults of this machine: a full disk is reported as such and not retried.
func TestFullDisk(t *testing.T) {
	err := (&limitReader{}).firstError(&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	if !errors.Is(err, syscall.ENOSPC) || isTransient(err) {
		t.Error(err)
	}
}
