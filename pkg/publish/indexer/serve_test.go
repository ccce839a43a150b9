package indexer_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

func client(t *testing.T, dir string) *indexer.Client {
	t.Helper()
	return clientOf(t, t.TempDir(), dir)
}

// clientOf returns a client of a user with a home directory.
func clientOf(t *testing.T, home, dir string) *indexer.Client {
	t.Helper()
	getenv := func(string) string { return "" }
	env, err := environ.Environment{
		Paths: scope.Paths{Home: home}, Getenv: getenv, OS: "linux",
		Now: func() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) },
	}.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := indexer.New(indexer.Options{Environment: env})
	t.Cleanup(c.Close)
	return c
}

func get(t *testing.T, h http.Handler, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://x.example/", nil)
	r.URL.Path = path
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestHandler(t *testing.T) {
	long := strings.Repeat("line\n", 1000)
	h := indexer.Handler(fstest.MapFS{
		"config.json": {Data: []byte("{}")}, "packs/a/b.ndjson": {Data: []byte(long)}, "packs/a/b.ndjson.gz": {Data: []byte(long)},
		".git/config": {Data: []byte("secret")}, ".env": {Data: []byte("secret")}, "a/.hidden/x": {Data: []byte("secret")},
		".well-known/agent-skills/index.json": {Data: []byte("{}")}, "site/index.html": {Data: []byte("<p>")},
	})
	for path, want := range map[string]int{
		"/config.json": 200, "/packs/a/b.ndjson": 200, "/site/": 200, "/site": 200, "/.well-known/agent-skills/index.json": 200,
		"/": 404, "/packs": 404, "/packs/a/": 404, "/none": 404, "/.git/config": 404, "/.env": 404, "/a/.hidden/x": 404,
		"/../etc/passwd": 404, "/packs/../.env": 404, `/packs\a`: 404, "/\x00": 404, "//config.json": 200,
	} {
		resp := get(t, h, path)
		if text := body(t, resp); resp.StatusCode != want || strings.Contains(text, "secret") {
			t.Errorf("%q: %d %q, want %d", path, resp.StatusCode, text, want)
		}
	}
	first := get(t, h, "/packs/a/b.ndjson")
	tag := first.Header.Get("ETag")
	if body(t, first) != long || tag == "" || first.Header.Get("Content-Encoding") != "" || first.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%+v", first.Header)
	}
	if resp := get(t, h, "/packs/a/b.ndjson", "If-None-Match", tag); resp.StatusCode != http.StatusNotModified || body(t, resp) != "" {
		t.Errorf("the same again: %d", resp.StatusCode)
	}
	if resp := get(t, h, "/packs/a/b.ndjson", "Range", "bytes=5-8"); resp.StatusCode != http.StatusPartialContent || body(t, resp) != "line" {
		t.Errorf("a part: %d", resp.StatusCode)
	}
	packed := get(t, h, "/packs/a/b.ndjson", "Accept-Encoding", "br, gzip;q=0.5")
	zr, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(zr); err != nil || string(data) != long || packed.Header.Get("ETag") == tag || packed.Header.Get("Vary") == "" {
		t.Errorf("compressed: %v %+v", err, packed.Header)
	}
	for _, accept := range []string{"gzip;q=0", "br"} {
		if resp := get(t, h, "/packs/a/b.ndjson", "Accept-Encoding", accept); resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is answered with gzip", accept)
		}
	}
	if resp := get(t, h, "/packs/a/b.ndjson.gz", "Accept-Encoding", "gzip"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("what is compressed is compressed again")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://x.example/config.json", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestHandlerLinks checks that targets of links are not served, whether they are outside the directory or hidden in it.
func TestHandlerLinks(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.json")
	for _, file := range []string{outside, filepath.Join(dir, ".env"), filepath.Join(dir, ".git", "config"), filepath.Join(dir, "plain.json")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("secret"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"x.json": outside, "env.txt": ".env", "git": ".git", "site/index.html": "../.env"} {
		link := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
	}
	h := indexer.Handler(safefile.Dir(dir))
	for path, want := range map[string]int{"/x.json": 404, "/env.txt": 404, "/git/config": 404, "/site/": 404, "/plain.json/x": 404, "/plain.json": 200} {
		if resp := get(t, h, path); resp.StatusCode != want {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body(t, resp))
		}
	}
}

// TestServe checks that a server ends on request, after pending requests.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	c := client(t, dir)
	if _, err := c.Init(t.Context(), indexer.InitOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	url, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- c.Serve(ctx, indexer.ServeOptions{Listen: "127.0.0.1:0", Ready: func(at string) { url <- at }})
	}()
	at := <-url
	resp, err := http.Get(at + "/config.json") //nolint:noctx // the server ends with the test
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%+v %v", resp, err)
	} else {
		_ = resp.Body.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(at, "http://")); err == nil {
		_ = conn.Close()
		t.Error("it still listens")
	}
	if err := c.Serve(t.Context(), indexer.ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0"}); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("no index: %v", err)
	}
}
