package oci_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// mirrorOf returns a client that requests origin's content from mirror, with the logins of both, and the log of its
// requests.
func mirrorOf(t *testing.T, origin, mirror *ocitest.Server) (*oci.Client, *requestLog) {
	t.Helper()
	log := &requestLog{next: origin.Transport(t)}
	c := oci.New(oci.Options{
		Transport: log, Retries: -1, Home: homeOf(t, origin, mirror),
		Mirrors: map[string]string{origin.Host: mirror.Host + "/copies", "other.example": "unused.example"},
	})
	t.Cleanup(c.Close)
	return c, log
}

// TestMirrorFirst checks that reads use the mirror, or the origin for missing content, and that pushes go to the
// origin.
func TestMirrorFirst(t *testing.T) {
	origin, mirror := ocitest.New(t), ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: origin.URL("acme/deploy")}
	at := pack.Ref{Kind: pack.KindOCI, URL: mirror.URL("copies/acme/deploy")}
	_, trees := release("1.0.0", "deploy")
	push(t, origin.Client(t, ""), ref, "1.0.0", "deploy")
	push(t, mirror.Client(t, ""), at, "1.0.0", "deploy")
	later := push(t, origin.Client(t, ""), ref, "2.0.0", "deploy")

	c, log := mirrorOf(t, origin, mirror)
	one := ref
	one.Rev = "1.0.0"
	p, err := c.Open(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	checkFetched(t, c, p, trees)
	if p.Ref.URL != ref.URL {
		t.Errorf("it would be locked at %s, not at its origin", p.Ref.URL)
	}
	if requests := log.with("GET", origin.Host); len(requests) != 0 {
		t.Errorf("the origin was asked %q", requests)
	}
	if versions, err := c.Versions(t.Context(), ref); err != nil || !slices.Equal(versions, []string{"1.0.0"}) {
		t.Errorf("tags are the mirror's: %q %v", versions, err)
	}
	one.Rev = "2.0.0"
	if p, err = c.Open(t.Context(), one); err != nil || p.Ref.Digest != later.Digest {
		t.Fatalf("what the mirror lacks: %+v %v", p, err)
	}
	if err := c.Fetch(t.Context(), p, nil, &devNull{}); err != nil {
		t.Error(err)
	}
	push(t, c, ref, "3.0.0", "deploy")
	if put := log.with("PUT", mirror.Host); len(put) != 0 {
		t.Errorf("it was pushed to the mirror: %q", put)
	}
}

// TestMirrorAway checks that an unreachable mirror is contacted only once.
func TestMirrorAway(t *testing.T) {
	origin := ocitest.New(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	mirror := &ocitest.Server{Host: strings.TrimPrefix(gone.URL, "http://")}
	gone.Close()
	ref := pack.Ref{Kind: pack.KindOCI, URL: origin.URL("acme/deploy")}
	push(t, origin.Client(t, ""), ref, "1.0.0", "deploy")
	c, log := mirrorOf(t, origin, mirror)
	if err := get(t, c, ref); err != nil {
		t.Fatal(err)
	}
	if requests := log.with("GET", mirror.Host); len(requests) != 1 {
		t.Errorf("the mirror was asked %q", requests)
	}
	ref.URL = origin.URL("acme/none")
	_, err := c.Open(t.Context(), ref)
	wantCode(t, err, diag.NotFound, "acme/none", "mirror", mirror.Host)
}

// TestMirrorErrs checks that a mirror that fails for one repository is used for others.
func TestMirrorErrs(t *testing.T) {
	origin, mirror := ocitest.New(t), ocitest.New(t)
	for _, name := range []string{"acme/deploy", "acme/other"} {
		push(t, origin.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: origin.URL(name)}, "1.0.0", "deploy")
		push(t, mirror.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: mirror.URL("copies/" + name)}, "1.0.0", "deploy")
	}
	mirror.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		broken := strings.Contains(r.URL.Path, "copies/acme/deploy/")
		if broken {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return broken
	})
	c, log := mirrorOf(t, origin, mirror)
	for _, name := range []string{"acme/deploy", "acme/other"} {
		if err := get(t, c, pack.Ref{Kind: pack.KindOCI, URL: origin.URL(name), Rev: "1.0.0"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, request := range log.with("GET", origin.Host) {
		if strings.Contains(request, "acme/other") {
			t.Errorf("the origin was asked %q", request)
		}
	}
}

// TestOriginAway checks that a mirror's content needs no origin, and that missing content is not reported as
// nonexistent.
func TestOriginAway(t *testing.T) {
	mirror := ocitest.New(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	origin := &ocitest.Server{Host: strings.TrimPrefix(gone.URL, "http://")}
	gone.Close()
	at := pack.Ref{Kind: pack.KindOCI, URL: mirror.URL("copies/acme/deploy")}
	push(t, mirror.Client(t, ""), at, "1.0.0", "deploy")
	c, log := mirrorOf(t, origin, mirror)
	ref := pack.Ref{Kind: pack.KindOCI, URL: origin.URL("acme/deploy"), Rev: "1.0.0"}
	if err := get(t, c, ref); err != nil {
		t.Error(err)
	}
	if versions, s, err := c.Listing(t.Context(), ref); err != nil || len(versions) != 1 || len(s.Yanked) > 0 {
		t.Errorf("%q %+v %v", versions, s, err)
	}
	if s, err := c.Status(t.Context(), ref); err != nil || len(s.Yanked) > 0 {
		t.Errorf("%+v %v", s, err)
	}
	ref.Rev = "2.0.0"
	_, err := c.Open(t.Context(), ref)
	wantCode(t, err, diag.Remote, "2.0.0", origin.Host)
	if requests := log.with("GET", origin.Host); len(requests) != 1 {
		t.Errorf("the origin was asked %q", requests)
	}
}

// TestMirrorHidesNothing checks that a mirror with only the versions does not hide which ones are yanked.
func TestMirrorHidesNothing(t *testing.T) {
	origin, mirror := ocitest.New(t), ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: origin.URL("acme/deploy")}
	push(t, mirror.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: mirror.URL("copies/acme/deploy")}, "1.0.0", "deploy")
	yank := func(s *oci.Status) error { s.Yanked["1.0.0"] = "it breaks"; return nil }
	if err := origin.Client(t, "").SetStatus(t.Context(), ref, yank); err != nil {
		t.Fatal(err)
	}
	c, _ := mirrorOf(t, origin, mirror)
	if versions, s, err := c.Listing(t.Context(), ref); err != nil || len(versions) != 1 || s.Yanked["1.0.0"] != "it breaks" {
		t.Errorf("%q %+v %v", versions, s, err)
	}
}

// TestMirrorLies makes a mirror send other bytes: that is an error, and not a reason to try elsewhere.
func TestMirrorLies(t *testing.T) {
	origin, mirror := ocitest.New(t), ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: origin.URL("acme/deploy")}
	ref.Digest = push(t, origin.Client(t, ""), ref, "1.0.0", "deploy").Digest
	push(t, mirror.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: mirror.URL("copies/acme/deploy")}, "1.0.0", "deploy")
	mirror.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		_, _ = w.Write([]byte(`{"schemaVersion":2}`))
		return true
	})
	c, _ := mirrorOf(t, origin, mirror)
	wantCode(t, get(t, c, ref), diag.Integrity)
}

// TestMirrorReferrers checks that attachments are found at the origin if the mirror has only the pack.
func TestMirrorReferrers(t *testing.T) {
	origin, mirror := ocitest.New(t), ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: origin.URL("acme/deploy")}
	ref.Digest = push(t, origin.Client(t, ""), ref, "1.0.0", "deploy").Digest
	push(t, mirror.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: mirror.URL("copies/acme/deploy")}, "1.0.0", "deploy")
	c, _ := mirrorOf(t, origin, mirror)
	if list, err := c.Referrers(t.Context(), ref, noteType); err != nil || len(list) != 0 {
		t.Fatalf("before: %v %v", list, err)
	}
	a := note("x")
	a.Subject = ref.Digest
	if _, err := origin.Client(t, "").PutArtifact(t.Context(), ref, a); err != nil {
		t.Fatal(err)
	}
	list, err := c.Referrers(t.Context(), ref, noteType)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	if data, err := c.ReadBlob(t.Context(), ref, list[0].Blobs[0], 100); err != nil || string(data) != "x" {
		t.Errorf("%q %v", data, err)
	}
}

// TestMirrorCredentials checks that origin and mirror receive only their own logins.
func TestMirrorCredentials(t *testing.T) {
	for name, first := range map[string]string{"asks": "mirror.example", "does not ask": ""} {
		t.Run(name, func(t *testing.T) {
			seen := make(map[string][]string)
			serve := func(host string) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) {
					if auth := r.Header.Get("Authorization"); auth != "" {
						seen[host] = append(seen[host], auth)
					} else if host == "registry.example" || host == first {
						w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
						w.WriteHeader(http.StatusUnauthorized)
						return
					}
					w.WriteHeader(http.StatusNotFound)
				}
			}
			n := &network{servers: map[string]http.HandlerFunc{
				"registry.example": serve("registry.example"), "mirror.example": serve("mirror.example"),
			}}
			home := homeOf(t,
				&ocitest.Server{Host: "registry.example", User: "ada", Password: "of the origin"},
				&ocitest.Server{Host: "mirror.example", User: "bob", Password: "of the mirror"})
			c := oci.New(oci.Options{Transport: n, Retries: -1, Home: home, Mirrors: map[string]string{"registry.example/acme": "mirror.example"}})
			_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://registry.example/acme/deploy", Rev: "1.0.0"})
			wantCode(t, err, diag.NotFound)
			for host, user := range map[string]string{"registry.example": "ada", "mirror.example": "bob"} {
				for _, auth := range seen[host] {
					r := http.Request{Header: http.Header{"Authorization": {auth}}}
					if got, _, _ := r.BasicAuth(); got != user {
						t.Errorf("%s saw the login of %s", host, got)
					}
				}
			}
			if len(seen["registry.example"]) == 0 || (len(seen["mirror.example"]) > 0) != (first != "") {
				t.Errorf("seen: %v", seen)
			}
		})
	}
}

// TestMirrorPrefixes checks the prefixes of mirrors.
func TestMirrorPrefixes(t *testing.T) {
	c := oci.New(oci.Options{Mirrors: map[string]string{
		"ghcr.io": "m.example/ghcr", "ghcr.io/acme": "acme.example", "ghcr.io/acme/deep/er": "oci://deep.example/x/", "quay.io/": "q.example",
	}})
	for url, want := range map[string]string{
		"oci://ghcr.io/a/b":            "oci://m.example/ghcr/a/b",
		"oci://ghcr.io/acme/b":         "oci://acme.example/b",
		"oci://ghcr.io/acmes/b":        "oci://m.example/ghcr/acmes/b",
		"oci://ghcr.io/acme/deep/er/b": "oci://deep.example/x/b",
		"oci://ghcr.io:443/a/b":        "",
		"oci://quay.io/a/b":            "oci://q.example/a/b",
		"oci://docker.io/a/b":          "",
	} {
		if got := c.MirrorOf(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
