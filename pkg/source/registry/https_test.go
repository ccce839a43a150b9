package registry_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// web is several HTTPS servers with indexes, by host. It records the requests.
type web struct {
	dirs  map[string]http.Handler
	fault func(n int, w http.ResponseWriter, r *http.Request) bool // sees requests first; false has them answered

	mu  sync.Mutex
	log []string // "host path", with " again" for a request that has an ETag
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := r.Host + r.URL.Path
	if r.Header.Get("If-None-Match") != "" {
		line += " again"
	}
	s.mu.Lock()
	s.log = append(s.log, line)
	n := len(s.log)
	s.mu.Unlock()
	if s.fault != nil && s.fault(n, w, r) {
		return
	}
	dir, ok := s.dirs[r.Host]
	if !ok {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("ETag", `"1"`)
	dir.ServeHTTP(w, r)
}

// requests returns the requests since the last call, sorted.
func (s *web) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.log
	s.log = nil
	slices.Sort(list)
	return list
}

// client returns a client that reaches the servers.
func (s *web) client(t *testing.T) *http.Client {
	t.Helper()
	return &http.Client{Transport: ocitest.Pipe(t, s)}
}

// webIndex returns the files of an index in the layout of a server.
func webIndex(t *testing.T, packs ...registrytest.Published) http.Handler {
	t.Helper()
	dir := t.TempDir()
	indexOfServer(t, dir, packs)
	return http.FileServer(http.Dir(dir))
}

const deployFile = "a.example/packs/a5/0a/acme/deploy.ndjson"

// TestResolvingCosts checks that resolving a pack in an HTTPS index needs one GET, and the next time one that is
// answered with "not modified".
func TestResolvingCosts(t *testing.T) {
	s := &web{dirs: map[string]http.Handler{"a.example": webIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))}}
	deps := registry.Deps{HTTP: s.client(t), Cache: filepath.Join(t.TempDir(), "http")}
	id := parseID(t, "acme/deploy")
	for _, want := range []string{deployFile, deployFile + " again"} {
		r := open(t, "https://a.example", deps)
		if _, err := r.Versions(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Pack(t.Context(), id, "1.0.0"); err != nil {
			t.Fatal(err)
		}
		if got := s.requests(); !slices.Equal(got, []string{want}) {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
	deps.Offline = true
	if _, err := open(t, "https://a.example", deps).Pack(t.Context(), id, "1.0.0"); err != nil {
		t.Errorf("offline: %v", err)
	}
	_, err := open(t, "https://a.example", deps).Versions(t.Context(), parseID(t, "acme/other"))
	if diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "offline") {
		t.Errorf("offline, and never read: %v", err)
	}
	damageCache(t, deps.Cache)
	_, err = open(t, "https://a.example", deps).Pack(t.Context(), id, "1.0.0")
	if diag.CodeOf(err) != diag.Remote {
		t.Errorf("a damaged cache was believed: %v", err)
	}
	if got := s.requests(); len(got) != 0 {
		t.Errorf("offline, and %q was asked", got)
	}
}

func damageCache(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal("no cache", err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), `"body":"`, `"body":"AAAA`, 1)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCompressedIndex checks that the client accepts compressed files, that it revalidates them, and that a response
// that decompresses to too much, or not at all, is an error.
func TestCompressedIndex(t *testing.T) {
	plain := webIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))
	packed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".gz") || r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("%s: Accept-Encoding is %q", r.URL.Path, r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("ETag", `W/"1"`)
		if r.Header.Get("If-None-Match") == `W/"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		recorder := httptest.NewRecorder()
		plain.ServeHTTP(recorder, r)
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		_, _ = zw.Write(recorder.Body.Bytes())
		_ = zw.Close()
	})
	s := &web{dirs: map[string]http.Handler{"a.example": packed}}
	deps := registry.Deps{HTTP: s.client(t), Cache: filepath.Join(t.TempDir(), "http")}
	id := parseID(t, "acme/deploy")
	for range 2 {
		if p, err := open(t, "https://a.example", deps).Pack(t.Context(), id, "1.0.0"); err != nil || p.Version != "1.0.0" {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if got := s.requests(); !slices.Equal(got, []string{deployFile, deployFile + " again"}) {
		t.Errorf("asked %q", got)
	}
	for name, tt := range map[string]struct {
		status int
		body   []byte
		code   diag.Code
		want   string
	}{
		"bomb":           {200, gzipped(t, bytes.Repeat([]byte(" "), index.MaxBytes+1)), diag.Invalid, "is larger than"},
		"not compressed": {200, []byte("{}"), diag.Remote, "the compressed response is damaged"},
		"empty":          {200, nil, diag.Remote, "the compressed response is damaged"},
		"an error page":  {403, []byte("no access"), diag.Denied, "403 Forbidden"},
	} {
		s := &web{fault: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(tt.status)
			_, _ = w.Write(tt.body)
			return true
		}}
		_, err := open(t, "https://a.example", registry.Deps{HTTP: s.client(t)}).Versions(t.Context(), id)
		if diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v (%v)", name, err, diag.CodeOf(err))
		}
	}
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := zw.Write(data); err != nil || zw.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRecent checks that the sets of one process request a file once, and that a later process revalidates it.
func TestRecent(t *testing.T) {
	index := webIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))
	cache := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &web{dirs: map[string]http.Handler{"a.example": index}}
		config := registry.Config{Registries: []registry.Named{{URL: "https://a.example"}}}
		deps := registry.Deps{HTTP: s.client(t), Cache: cache, Recent: registry.NewRecent(time.Now)}
		ask := func(pk string) error {
			_, err := registry.NewSet(config, deps).Find(t.Context(), parseID(t, pk), "")
			return err
		}
		for _, tt := range []struct {
			pack string
			wait time.Duration
			code diag.Code
			want []string
		}{
			{"acme/deploy", 0, 0, []string{deployFile}},
			{"acme/deploy", registry.RecentFor - 1, 0, nil},
			{"acme/deploy", 1, 0, []string{deployFile + " again"}},
			{"acme/none", 0, diag.NotFound, []string{"a.example/config.json", "a.example/packs/77/09/acme/none.ndjson"}},
			{"acme/none", time.Second, diag.NotFound, nil},
		} {
			time.Sleep(tt.wait)
			if err := ask(tt.pack); (err != nil || tt.code != 0) && diag.CodeOf(err) != tt.code {
				t.Errorf("%s: %v", tt.pack, err)
			}
			if got := s.requests(); !slices.Equal(got, tt.want) {
				t.Errorf("%s after %s: asked %q, want %q", tt.pack, tt.wait, got, tt.want)
			}
		}
	})
}

// TestHostileIndex makes a web server send invalid or hostile answers. A successful result is correct, and a failure
// comes soon.
func TestHostileIndex(t *testing.T) {
	good := webIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))
	type (
		writer  = http.ResponseWriter
		request = *http.Request
	)
	always := func(status int, header ...string) func(int, writer, request) bool {
		return func(_ int, w writer, _ request) bool {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			return true
		}
	}
	text := func(kind, text string) func(int, writer, request) bool {
		return func(_ int, w writer, _ request) bool {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(text))
			return true
		}
	}
	for _, tt := range []struct {
		name     string
		fault    func(n int, w writer, r request) bool
		code     diag.Code // 0: it works in the end
		words    string
		requests int
		most     time.Duration
	}{
		{"a web page", text("text/html", "<html>"), diag.Remote, "web page", 1, 0},
		{"a web page that is called text", text("text/plain", "<html>"), diag.Invalid, "deploy.ndjson:1", 1, 0},
		{"another pack", text("application/json", `{"name":"evil/pack","version":"1.0.0","source":"oci://r.example/x","digest":"sha256:`+strings.Repeat("0", 64)+
			`","skills":[{"name":"a","tree":"t1:sha256:`+strings.Repeat("0", 64)+`"}]}`), diag.Invalid, "contains entries of evil/pack", 1, 0},
		{"no index at all", always(404), diag.Invalid, "does not contain config.json", 2, 0},
		{"a newer format", func(_ int, w writer, r request) bool {
			if strings.HasSuffix(r.URL.Path, "config.json") {
				return text("application/json", `{"version":2}`)(0, w, r)
			}
			return always(404)(0, w, r)
		}, diag.Invalid, "format version 2", 2, 0},
		{"500 always", always(500), diag.Remote, "500", 4, 3 * time.Second},
		{"500 twice", func(n int, w writer, r request) bool { return n <= 2 && always(500)(n, w, r) }, 0, "", 3, 3 * time.Second},
		{"busy for a while", func(n int, w writer, r request) bool { return n <= 1 && always(429, "Retry-After", "20")(n, w, r) }, 0, "", 2, 20 * time.Second},
		{"busy for a year", always(503, "Retry-After", "31536000"), diag.Remote, "retry in 8760h", 1, 0},
		{"403", always(403), diag.Denied, "403", 1, 0},
		{"401", always(401, "WWW-Authenticate", `Basic realm="x"`), diag.Denied, "401", 1, 0},
		{"not modified since never", always(304), diag.Remote, "304", 1, 0},
		{"hangs up", func(int, writer, request) bool { panic(http.ErrAbortHandler) }, diag.Remote, "EOF", 4, 3 * time.Second},
		{"breaks once", func(n int, w writer, r request) bool {
			if n == 1 {
				w.Header().Set("Content-Length", "1000")
				_, _ = w.Write([]byte("{"))
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			return false
		}, 0, "", 2, 3 * time.Second},
		{"never answers", func(_ int, _ writer, r request) bool { <-r.Context().Done(); return true }, diag.Remote, "timeout", 4, 3 * time.Minute},
		{"stalls", func(_ int, w writer, r request) bool {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		}, diag.Remote, "no data for 30s", 4, 5 * time.Minute},
		{"drips", func(_ int, w writer, r request) bool {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("\n"))
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(time.Second):
				}
			}
			return true
		}, diag.Remote, "bytes in 30s", 4, 5 * time.Minute},
		{"never ends", func(_ int, w writer, r request) bool {
			for line := bytes.Repeat([]byte(" "), 1<<20); ; {
				if _, err := w.Write(line); err != nil {
					return true
				}
			}
		}, diag.Invalid, "larger than", 1, 0},
		{"redirects away from https", always(302, "Location", "http://a.example/"), diag.Denied, "redirects from https to http", 1, 0},
		{"redirects to this machine", always(302, "Location", "https://127.0.0.1/"), diag.Denied, "redirects to 127.0.0.1", 1, 0},
		{"redirects to metadata service of a cloud", always(302, "Location", "https://169.254.169.254/latest"), diag.Denied, "redirects to 169.254.169.254", 1, 0},
		{"redirects always", always(302, "Location", "/x"), diag.Remote, "more than 10 times", 10, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &web{dirs: map[string]http.Handler{"a.example": good}, fault: tt.fault}
				before := time.Now()
				_, err := open(t, "https://a.example", registry.Deps{HTTP: s.client(t)}).Versions(t.Context(), parseID(t, "acme/deploy"))
				if took := time.Since(before); took > tt.most {
					t.Errorf("it took %s, more than %s", took, tt.most)
				}
				if tt.code == 0 && err != nil || tt.code != 0 && (diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.words)) {
					t.Errorf("got %v (%v), want %q (%v)", err, diag.CodeOf(err), tt.words, tt.code)
				}
				if got := s.requests(); len(got) != tt.requests {
					t.Errorf("%d requests, want %d", len(got), tt.requests)
				}
			})
		})
	}
}

// TestTooLarge checks that reading stops at the size limit.
func TestTooLarge(t *testing.T) {
	var sent atomic.Int64
	s := &web{fault: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		for line := bytes.Repeat([]byte(" "), 1<<20); sent.Load() < 1<<30; {
			n, err := w.Write(line)
			sent.Add(int64(n))
			if err != nil {
				return true
			}
		}
		return true
	}}
	_, err := open(t, "https://a.example", registry.Deps{HTTP: s.client(t)}).Versions(t.Context(), parseID(t, "acme/deploy"))
	if diag.CodeOf(err) != diag.Invalid || sent.Load() > index.MaxBytes+4<<20 {
		t.Errorf("%v after %d bytes", err, sent.Load())
	}
}

// TestSharedRequest checks that concurrent goroutines share one request.
func TestSharedRequest(t *testing.T) {
	s := ocitest.New(t)
	pushAll(t, s.Client(t, ""), func(id pack.ID) pack.Ref {
		return pack.Ref{Kind: pack.KindOCI, URL: s.URL(id.String())}
	}, []registrytest.Published{registrytest.Pack("acme/deploy", "1.0.0", "deploy"), registrytest.Pack("acme/deploy", "1.1.0", "deploy")})
	pages := &web{dirs: map[string]http.Handler{"a.example": webIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))}}
	for _, tt := range []struct {
		url      string
		requests func() []string
		want     []string
	}{
		{"https://a.example", pages.requests, []string{deployFile}},
		{s.URL(""), s.Requests, []string{"GET /v2/acme/deploy/manifests/1.0.0", "GET /v2/acme/deploy/tags/list"}},
	} {
		s.Requests()
		deps := registry.Deps{HTTP: pages.client(t), OCI: s.Client(t, "")}
		set := registry.NewSet(registry.Config{Registries: []registry.Named{{URL: tt.url}}}, deps)
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				id := parseID(t, "acme/deploy")
				r, err := set.Find(t.Context(), id, "")
				if err == nil {
					_, err = r.Pack(t.Context(), id, "1.0.0")
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		got := inRegistry(tt.requests())
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: asked %q, want %q", tt.url, got, tt.want)
		}
	}
}

// TestCancelledCaller checks that a caller that gives up does not affect others that wait for the same answer.
func TestCancelledCaller(t *testing.T) {
	good := webIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))
	synctest.Test(t, func(t *testing.T) {
		s := &web{dirs: map[string]http.Handler{"a.example": good}, fault: func(n int, _ http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				<-r.Context().Done()
			}
			return n == 1
		}}
		r := open(t, "https://a.example", registry.Deps{HTTP: s.client(t)})
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := r.Versions(impatient, parseID(t, "acme/deploy")); err == nil {
				t.Error("who gave up has an answer")
			}
		})
		synctest.Wait()
		for range 3 {
			group.Go(func() {
				if _, err := r.Versions(t.Context(), parseID(t, "acme/deploy")); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := s.requests(); len(got) != 2 {
			t.Errorf("asked %q", got)
		}
	})
}

// TestListingCosts checks that the versions below an OCI prefix are listed with only their tags, and that a version is
// described with only its manifest.
func TestListingCosts(t *testing.T) {
	s := ocitest.New(t)
	var packs []registrytest.Published
	for _, v := range []string{"1.0.0", "1.1.0", "2.0.0", "2.1.0-rc.1"} {
		packs = append(packs, registrytest.Pack("acme/deploy", v, "deploy", "rollback"))
	}
	pushAll(t, s.Client(t, ""), func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindOCI, URL: s.URL(id.String())} }, packs)
	r := open(t, s.URL(""), registry.Deps{OCI: s.Client(t, "")})
	s.Requests()
	versions, err := r.Versions(t.Context(), parseID(t, "acme/deploy"))
	if err != nil || len(versions) != 4 || versions[0].Version != "2.1.0-rc.1" || versions[0].Digest != "" {
		t.Errorf("%+v %v", versions, err)
	}
	if got := inRegistry(s.Requests()); !slices.Equal(got, []string{"GET /v2/acme/deploy/tags/list"}) {
		t.Errorf("asked %q", got)
	}
	p, err := r.Pack(t.Context(), parseID(t, "acme/deploy"), "2.0.0")
	if err != nil || len(p.Skills) != 2 || p.Skills[0].Description != "Does deploy." || len(p.Dependencies) != 1 {
		t.Errorf("%+v %v", p, err)
	}
	if got := inRegistry(s.Requests()); !slices.Equal(got, []string{"GET /v2/acme/deploy/manifests/2.0.0"}) {
		t.Errorf("asked %q", got)
	}
}

// inRegistry leaves out requests that only detect the registry's protocol.
func inRegistry(requests []string) []string {
	return slices.DeleteFunc(requests, func(r string) bool { return strings.HasSuffix(r, " /v2/") })
}
