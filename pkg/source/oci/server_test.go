package oci_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// servers are the two servers of all tests: docker-registry, without a referrers API, and olareg, with it.
func servers(t *testing.T) map[string]*ocitest.Server {
	t.Helper()
	return map[string]*ocitest.Server{"olareg": ocitest.New(t), "docker-registry": ocitest.DockerRegistry(t, ocitest.Options{})}
}

// TestAuthentication publishes and fetches with a login, and is denied with a wrong one and without one. No error shows
// a login.
func TestAuthentication(t *testing.T) {
	const secret = "correct horse battery"
	s := ocitest.DockerRegistry(t, ocitest.Options{TLS: true, User: "ada", Password: secret})
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	rel, trees := release("1.0.0", "deploy")
	client := func(password string) *oci.Client {
		home := t.TempDir()
		if password != "" {
			if err := credential.Open(credential.Options{Home: home}).Put(t.Context(), s.Host, "ada", password); err != nil {
				t.Fatal(err)
			}
		}
		c := oci.New(oci.Options{Home: home, Transport: s.Transport(t), Retries: -1})
		t.Cleanup(c.Close)
		return c
	}
	if _, err := client(secret).Push(t.Context(), ref, rel, trees, oci.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"wrong " + secret, ""} {
		c := client(password)
		_, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
		wantCode(t, err, diag.Denied, s.Host)
		for what, f := range map[string]func() error{
			"open":     func() error { return get(t, c, ref) },
			"artifact": func() error { _, err := c.PutArtifact(t.Context(), ref, note("x")); return err },
			"status":   func() error { _, err := c.Status(t.Context(), ref); return err },
			"referrers": func() error {
				at := ref
				at.Digest = trees[0].Inventory.Digest()[3:]
				_, err := c.Referrers(t.Context(), at, "")
				return err
			},
		} {
			err := f()
			wantCode(t, err, diag.Denied, s.Host)
			if text := err.Error() + diag.HintOf(err); strings.Contains(text, secret) {
				t.Errorf("%s: %q has the password", what, text)
			}
		}
	}
}

// TestBearer publishes and fetches with a registry that requires tokens from a separate server.
func TestBearer(t *testing.T) {
	s := ocitest.New(t)
	var scopes []string
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "s3cret/w0rd" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		scopes = append(scopes, r.URL.Query()["scope"]...)
		_ = json.NewEncoder(w).Encode(map[string]string{"token": strings.Join(r.URL.Query()["scope"], " ")})
	}))
	t.Cleanup(tokens.Close)
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		need := "pull"
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			need = "pull,push"
		}
		got, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if strings.Contains(got, "repository:acme/deploy:"+need) || r.URL.Path == "/v2/" {
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q,service=%q,scope=%q", tokens.URL+"/token", "test", "repository:acme/deploy:"+need))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	home := homeOf(t, &ocitest.Server{Host: s.Host, User: "ada", Password: "s3cret/w0rd"})
	c := oci.New(oci.Options{Home: home, Retries: -1})
	t.Cleanup(c.Close)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	rel, trees := release("1.0.0", "deploy")
	a := note("x")
	a.Subject = "?" // Push fills it in
	if _, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Moving: true, Attach: attaching(a)}); err != nil {
		t.Fatal(err)
	}
	p, err := c.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	checkFetched(t, c, p, trees)
	if list, err := c.Referrers(t.Context(), p.Ref, noteType); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	if len(scopes) == 0 || len(scopes) > 4 {
		t.Errorf("asked for tokens %d times: %q", len(scopes), scopes)
	}
}

// TestAuthority checks that only a certificate whose file is configured is trusted.
func TestAuthority(t *testing.T) {
	s := ocitest.DockerRegistry(t, ocitest.Options{TLS: true})
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	rel, trees := release("1.0.0", "deploy")
	stranger := oci.New(oci.Options{Retries: -1})
	t.Cleanup(stranger.Close)
	_, err := stranger.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
	wantCode(t, err, diag.Remote, "certificate", "ca-file")
	transport := httpx.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	if err := httpx.TrustFile(transport, s.CertFile); err != nil {
		t.Fatal(err)
	}
	c := oci.New(oci.Options{Retries: -1, Transport: transport})
	if _, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := get(t, c, ref); err != nil {
		t.Error(err)
	}
}

// TestPlainHTTP checks that a host whose name and port are allowed is accessed without TLS, and that TLS is not tried.
func TestPlainHTTP(t *testing.T) {
	for _, tt := range []struct {
		allowed, scheme string
	}{
		{"registry.example:5000", "http"}, {"Registry.Example:5000", "http"}, {"registry.example", "https"}, {"other.example:5000", "https"}, {"", "https"},
	} {
		var schemes []string
		n := roundTrip(func(r *http.Request) (*http.Response, error) {
			schemes = append(schemes, r.URL.Scheme)
			return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r, Header: http.Header{}}, nil
		})
		c := oci.New(oci.Options{Transport: n, Retries: -1, PlainHTTP: []string{tt.allowed}})
		_, err := c.Versions(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://registry.example:5000/acme/deploy"})
		wantCode(t, err, diag.NotFound)
		if len(schemes) == 0 || slices.ContainsFunc(schemes, func(s string) bool { return s != tt.scheme }) {
			t.Errorf("%q allowed: asked by %q, want %s", tt.allowed, schemes, tt.scheme)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func attaching(a oci.Artifact) func(context.Context, oci.Pushed, []byte) ([]oci.Artifact, error) {
	return func(context.Context, oci.Pushed, []byte) ([]oci.Artifact, error) { return []oci.Artifact{a}, nil }
}

// TestPages publishes more versions than fit a page of tags. Debian's docker-registry sends all at once. The pages of
// olareg have the size that the client requests, so the test requests small ones.
func TestPages(t *testing.T) {
	for name, s := range servers(t) {
		t.Run(name, func(t *testing.T) {
			c := s.Client(t, "")
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
			var want []string
			for i := range 16 {
				want = append(want, fmt.Sprintf("1.0.%d", i))
				push(t, c, ref, want[i], "deploy")
			}
			if name == "olareg" {
				s.Meddle(func(_ http.ResponseWriter, r *http.Request) bool {
					if q := r.URL.Query(); strings.HasSuffix(r.URL.Path, "/tags/list") && !q.Has("n") {
						r.URL.RawQuery = url.Values{"n": {"5"}}.Encode()
					}
					return false
				})
			}
			s.Requests()
			got, err := c.Versions(t.Context(), ref)
			slices.Reverse(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q %v", got, err)
			}
			if requests := s.Requests(); name == "olareg" && len(requests) != 4 {
				t.Errorf("asked %q, want 4 pages", requests)
			}
		})
	}
}

// TestReferrerPages lists more than a page of a version's referrers.
func TestReferrerPages(t *testing.T) {
	s := ocitest.New(t)
	c, ref := s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	ref.Digest = push(t, c, ref, "1.0.0", "deploy").Digest
	digests := make(map[string]bool)
	for i := range 9 {
		a := note(fmt.Sprint(i))
		a.Subject = ref.Digest
		d, err := c.PutArtifact(t.Context(), ref, a)
		if err != nil {
			t.Fatal(err)
		}
		digests[d] = true
	}
	all, err := c.Referrers(t.Context(), ref, noteType)
	if err != nil || len(all) != 9 {
		t.Fatalf("%d %v", len(all), err)
	}
	pages := 0
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool { // a registry that sends three at a time
		if !strings.Contains(r.URL.Path, "/referrers/") {
			return false
		}
		rec, in := httptest.NewRecorder(), r.Clone(r.Context())
		in.URL.RawQuery = ""
		s.Registry.ServeHTTP(rec, in)
		var idx map[string]any
		if err := json.NewDecoder(rec.Body).Decode(&idx); err != nil {
			t.Error(err)
			return false
		}
		entries := idx["manifests"].([]any)
		from := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("from"), &from)
		idx["manifests"] = entries[from:min(from+3, len(entries))]
		if from+3 < len(entries) {
			w.Header().Set("Link", fmt.Sprintf("<%s?from=%d>; rel=\"next\"", r.URL.Path, from+3))
		}
		w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
		_ = json.NewEncoder(w).Encode(idx)
		pages++
		return true
	})
	paged, err := s.Client(t, "").Referrers(t.Context(), ref, noteType)
	if err != nil || len(paged) != 9 || pages != 3 {
		t.Errorf("%d on %d pages, %v", len(paged), pages, err)
	}
}

// TestDeleted deletes a version: the error names the remains, and the version can be published again.
func TestDeleted(t *testing.T) {
	for name, s := range servers(t) {
		t.Run(name, func(t *testing.T) {
			c := s.Client(t, "")
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: "1.0.0"}
			first := push(t, c, ref, "1.0.0", "deploy")
			push(t, c, ref, "2.0.0", "deploy")
			p, err := c.Open(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			remove(t, s, "acme/deploy", first.Digest)
			fresh := s.Client(t, "")
			_, err = fresh.Open(t.Context(), ref)
			wantCode(t, err, diag.NotFound, "1.0.0", "available tags: 2.0.0")
			err = fresh.Fetch(t.Context(), p, nil, &devNull{})
			wantCode(t, err, diag.NotFound, first.Digest)
			at := ref
			at.Digest = first.Digest
			_, _, err = fresh.Manifest(t.Context(), at)
			wantCode(t, err, diag.NotFound, first.Digest)
			ref.Rev = ""
			if v, err := fresh.Versions(t.Context(), ref); err != nil || !slices.Equal(v, []string{"2.0.0"}) {
				t.Errorf("%q %v", v, err)
			}
			if again := push(t, fresh, ref, "1.0.0", "deploy"); again.Existed || again.Digest != first.Digest {
				t.Errorf("%+v", again)
			}
		})
	}
}

// remove deletes a manifest, like the registry's operator.
func remove(t *testing.T, s *ocitest.Server, repo, digest string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+s.Host+"/v2/"+repo+"/manifests/"+digest, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusAccepted {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s", resp.Status, body)
	}
}

// TestPushIsPatient makes a registry reject each kind of request of a publication once, like a busy one.
func TestPushIsPatient(t *testing.T) {
	for _, kind := range []string{"HEAD /blobs/", "POST /blobs/uploads", "PUT /blobs/uploads", "PUT /manifests/sha256:", "PUT /manifests/1.0.0", "GET /referrers/", "GET /tags/list"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := ocitest.New(t)
			method, part, _ := strings.Cut(kind, " ")
			var refused atomic.Bool
			s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != method || !strings.Contains(r.URL.Path, part) || !refused.CompareAndSwap(false, true) {
					return false
				}
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			})
			c := oci.New(oci.Options{Retries: 1})
			t.Cleanup(c.Close)
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
			rel, trees := release("1.0.0", "deploy")
			pushed, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Moving: true, Attach: attaching(note("x"))})
			if err != nil {
				t.Fatal(err)
			}
			ref.Digest = pushed.Digest
			if list, err := c.Referrers(t.Context(), ref, noteType); err != nil || len(list) != 1 {
				t.Errorf("%v %v", list, err)
			}
			if err := get(t, c, ref); err != nil || !refused.Load() {
				t.Errorf("%v, refused: %t", err, refused.Load())
			}
		})
	}
}

// TestDamagedReferrer changes a blob of a layout's referrer.
func TestDamagedReferrer(t *testing.T) {
	dir := t.TempDir()
	c, ref := oci.New(oci.Options{Base: dir}), pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}
	ref.Digest = push(t, c, ref, "1.0.0", "deploy").Digest
	a := note("good")
	a.Subject = ref.Digest
	if _, err := c.PutArtifact(t.Context(), ref, a); err != nil {
		t.Fatal(err)
	}
	list, err := c.Referrers(t.Context(), ref, "")
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	blob := filepath.Join(dir, "out", "blobs", "sha256", strings.TrimPrefix(list[0].Blobs[0].Digest, "sha256:"))
	if err := os.WriteFile(blob, []byte("evil"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = c.ReadBlob(t.Context(), ref, list[0].Blobs[0], 100)
	wantCode(t, err, diag.Integrity)
	manifest := filepath.Join(dir, "out", "blobs", "sha256", strings.TrimPrefix(list[0].Digest, "sha256:"))
	if err := os.WriteFile(manifest, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = oci.New(oci.Options{Base: dir}).Referrers(t.Context(), ref, "")
	wantCode(t, err, diag.Integrity)
}
