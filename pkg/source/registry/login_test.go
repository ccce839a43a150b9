package registry_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// guardedWeb is a web that serves its files only with an authorization header, and records which server received which
// header.
type guardedWeb struct {
	files http.Handler
	want  string // the header
	to    string // where a.example sends those who are let in, "" for nowhere

	mu    sync.Mutex
	shown []string // "host header"
}

func (g *guardedWeb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.shown = append(g.shown, r.Host+" "+r.Header.Get("Authorization"))
	g.mu.Unlock()
	switch {
	case r.Host != "a.example":
		g.files.ServeHTTP(w, r)
	case r.Header.Get("Authorization") != g.want:
		w.WriteHeader(http.StatusUnauthorized)
	case g.to != "":
		http.Redirect(w, r, "https://"+g.to+r.URL.Path, http.StatusFound)
	default:
		g.files.ServeHTTP(w, r)
	}
}

// TestPrivateIndex checks that a token of the environment is sent from the first request on, a login of Docker's
// configuration after the server has denied a request, and neither to another server.
func TestPrivateIndex(t *testing.T) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("robot:s3cret"))
	logins := func(host string) *credential.Store {
		dir := t.TempDir()
		text := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, strings.TrimPrefix(basic, "Basic "))
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return credential.Open(credential.Options{Getenv: func(string) string { return dir }})
	}
	env := func(name, value string) func(string) string {
		return func(n string) string {
			if n == name {
				return value
			}
			return ""
		}
	}
	for _, tt := range []struct {
		name string
		want string // the header that the server wants
		to   string
		deps registry.Deps
		code diag.Code
		got  []string
	}{
		{name: "a token", want: "Bearer s3cret", deps: registry.Deps{Getenv: env("SKILLPM_TOKEN_A_EXAMPLE", "s3cret")}, got: []string{"a.example Bearer s3cret"}},
		{name: "user and password", want: basic, deps: registry.Deps{Getenv: env("SKILLPM_TOKEN_A_EXAMPLE", "robot:s3cret")}, got: []string{"a.example " + basic}},
		{name: "a login", want: basic, deps: registry.Deps{Logins: logins("a.example")}, got: []string{"a.example ", "a.example " + basic}},
		{name: "another host's login", want: basic, deps: registry.Deps{Logins: logins("b.example")}, code: diag.Denied, got: []string{"a.example "}},
		{name: "another host's token", want: basic, deps: registry.Deps{Getenv: env("SKILLPM_TOKEN_B_EXAMPLE", "s3cret")}, code: diag.Denied, got: []string{"a.example "}},
		{name: "a wrong token", want: basic, deps: registry.Deps{Getenv: env("SKILLPM_TOKEN_A_EXAMPLE", "wr0ng")}, code: diag.Denied, got: []string{"a.example Bearer wr0ng"}},
		{name: "a redirect", want: "Bearer s3cret", to: "b.example", deps: registry.Deps{Getenv: env("SKILLPM_TOKEN_A_EXAMPLE", "s3cret")}, got: []string{"a.example Bearer s3cret", "b.example "}},
		{name: "a redirect below", want: "Bearer s3cret", to: "x.a.example", deps: registry.Deps{Getenv: env("SKILLPM_TOKEN_A_EXAMPLE", "s3cret")}, got: []string{"a.example Bearer s3cret", "x.a.example "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &guardedWeb{files: webIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy")), want: tt.want, to: tt.to}
			s := &web{dirs: map[string]http.Handler{"a.example": g, "b.example": g, "x.a.example": g}}
			tt.deps.HTTP = s.client(t)
			_, err := open(t, "https://a.example", tt.deps).Versions(t.Context(), parseID(t, "acme/deploy"))
			if diag.CodeOf(err) != tt.code || !slices.Equal(g.shown, tt.got) {
				t.Errorf("%v; shown %q, want %q", err, g.shown, tt.got)
			}
			if err == nil {
				return
			}
			if text := err.Error() + diag.HintOf(err); strings.Contains(text, "wr0ng") || !strings.Contains(text, "SKILLPM_TOKEN_A_EXAMPLE") {
				t.Errorf("%q", text)
			}
		})
	}
}

// TestPlainHTTP checks that only this machine is accessed without encryption.
func TestPlainHTTP(t *testing.T) {
	for url, want := range map[string]diag.Code{
		"http://127.0.0.1:1/index": diag.OK, "http://[::1]:1/": diag.OK, "http://localhost:1": diag.OK,
		"http://packs.example": diag.Usage, "http://127.0.0.1.example": diag.Usage, "http://10.0.0.1": diag.Usage,
	} {
		if _, err := registry.Open(t.Context(), "", url, registry.Deps{}); diag.CodeOf(err) != want {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestWebCatalog checks that a catalog is requested once, then revalidated, and is available offline.
func TestWebCatalog(t *testing.T) {
	dir := t.TempDir()
	indexOfServer(t, dir, []registrytest.Published{registrytest.Pack("acme/deploy", "1.0.0", "deploy")})
	s := &web{dirs: map[string]http.Handler{"a.example": http.FileServer(http.Dir(dir))}}
	deps := registry.Deps{HTTP: s.client(t), Cache: t.TempDir()}
	catalog := func(offline bool) (string, error) {
		deps.Offline = offline
		l, err := registry.List(open(t, "https://a.example", deps))
		if err != nil {
			t.Fatal(err)
		}
		packs, tag, err := l.Catalog(t.Context())
		if err != nil {
			return "", err
		}
		for e, err := range packs {
			if err != nil || e.Name != "acme/deploy" {
				t.Errorf("%+v %v", e, err)
			}
		}
		return tag, nil
	}
	if _, err := catalog(true); diag.CodeOf(err) != diag.Remote {
		t.Errorf("offline before: %v", err)
	}
	if _, err := catalog(false); diag.CodeOf(err) != diag.NotFound || !strings.Contains(diag.HintOf(err), "index build") {
		t.Errorf("without a catalogue: %v", err)
	}
	registrytest.WriteCatalog(t, dir)
	s.requests()
	first, err := catalog(false)
	if err != nil {
		t.Fatal(err)
	}
	second, err := catalog(false)
	if err != nil || first != second {
		t.Errorf("%q %q %v", first, second, err)
	}
	if got := s.requests(); !slices.Equal(got, []string{"a.example/catalog.ndjson.gz", "a.example/catalog.ndjson.gz again"}) {
		t.Errorf("asked %q", got)
	}
	if third, err := catalog(true); err != nil || third != first {
		t.Errorf("offline: %q %v", third, err)
	}
	if got := s.requests(); len(got) != 0 {
		t.Errorf("offline, and asked %q", got)
	}
}
