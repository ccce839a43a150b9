package oci_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

const noteType = "application/vnd.example.note.v1"

func note(text string) oci.Artifact {
	return oci.Artifact{
		Type: noteType, Annotations: map[string]string{"org.example.text": text},
		Blobs: []oci.Blob{{MediaType: "text/plain", Data: []byte(text), Annotations: map[string]string{"a": "b"}}},
	}
}

// TestArtifact stores, reads, and tags an artifact that is not a pack, at every kind of location.
func TestArtifact(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			first, err := c.PutArtifact(t.Context(), ref, note("one"), "notes", "1.0.0-note")
			if err != nil {
				t.Fatal(err)
			}
			second, err := c.PutArtifact(t.Context(), ref, note("two"), "notes")
			if err != nil {
				t.Fatal(err)
			}
			for at, want := range map[string]string{"notes": second, "1.0.0-note": first, first: first} {
				one := ref
				if one.Rev = at; strings.HasPrefix(at, "sha256:") {
					one.Rev, one.Digest = "", at
				}
				a, err := c.Artifact(t.Context(), one)
				if err != nil || a.Digest != want || a.Type != noteType || len(a.Blobs) != 1 || a.Subject != "" {
					t.Fatalf("%s: %+v %v", at, a, err)
				}
				data, err := c.ReadBlob(t.Context(), one, a.Blobs[0], 100)
				if err != nil || string(data) != a.Annotations["org.example.text"] {
					t.Errorf("%s: %q %v", at, data, err)
				}
				_, err = c.ReadBlob(t.Context(), one, a.Blobs[0], 2)
				wantCode(t, err, diag.Invalid, "the limit is 2")
				raw, mediaType, err := c.Manifest(t.Context(), one)
				if err != nil || mediaType != ocispec.MediaTypeImageManifest || !json.Valid(raw) {
					t.Errorf("%s: %s %q %v", at, raw, mediaType, err)
				}
			}
			ref.Rev = "none"
			_, err = c.Artifact(t.Context(), ref)
			wantCode(t, err, diag.NotFound)
		})
	}
}

// TestManyBlobs checks that blobs stay in order, however many are stored at once, even if two are equal.
func TestManyBlobs(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			a := oci.Artifact{Type: noteType}
			for i := range 30 {
				a.Blobs = append(a.Blobs, oci.Blob{MediaType: "text/plain", Data: []byte(fmt.Sprint(i / 2))})
			}
			if _, err := c.PutArtifact(t.Context(), ref, a, "many"); err != nil {
				t.Fatal(err)
			}
			ref.Rev = "many"
			got, err := c.Artifact(t.Context(), ref)
			if err != nil || len(got.Blobs) != len(a.Blobs) {
				t.Fatalf("%+v %v", got, err)
			}
			for i, b := range got.Blobs {
				if data, err := c.ReadBlob(t.Context(), ref, b, 10); err != nil || string(data) != fmt.Sprint(i/2) {
					t.Errorf("blob %d: %q %v", i, data, err)
				}
			}
		})
	}
}

// TestReferrers attaches artifacts to a version, at every kind of location, and finds those of one type.
func TestReferrers(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			ref.Digest = push(t, c, ref, "1.0.0", "deploy").Digest
			other := push(t, c, ref, "2.0.0", "deploy").Digest
			if list, err := c.Referrers(t.Context(), ref, ""); err != nil || len(list) != 0 {
				t.Fatalf("before: %v %v", list, err)
			}
			want := make(map[string]bool)
			for _, text := range []string{"one", "two", "one"} { // the same again is one
				a := note(text)
				a.Subject = ref.Digest
				d, err := c.PutArtifact(t.Context(), ref, a)
				if err != nil {
					t.Fatal(err)
				}
				want[d] = true
			}
			bare := oci.Artifact{Type: "application/vnd.example.bare.v1", Subject: ref.Digest, Annotations: map[string]string{"x": "y"}}
			if _, err := c.PutArtifact(t.Context(), ref, bare); err != nil {
				t.Fatal(err)
			}
			elsewhere := note("elsewhere")
			elsewhere.Subject = other
			if _, err := c.PutArtifact(t.Context(), ref, elsewhere); err != nil {
				t.Fatal(err)
			}
			notes, err := c.Referrers(t.Context(), ref, noteType)
			if err != nil || len(notes) != 2 || !want[notes[0].Digest] || !want[notes[1].Digest] || notes[0].Digest >= notes[1].Digest {
				t.Fatalf("%+v %v, want %v", notes, err, want)
			}
			for _, a := range notes {
				data, err := c.ReadBlob(t.Context(), ref, a.Blobs[0], 100)
				if err != nil || a.Subject != ref.Digest || string(data) != a.Annotations["org.example.text"] {
					t.Errorf("%+v: %q %v", a, data, err)
				}
			}
			if all, err := c.Referrers(t.Context(), ref, ""); err != nil || len(all) != 3 {
				t.Errorf("of all types: %+v %v", all, err)
			}
			ref.Digest = ""
			if versions, err := c.Versions(t.Context(), ref); err != nil || !slices.Equal(versions, []string{"2.0.0", "1.0.0"}) {
				t.Errorf("versions %q %v", versions, err)
			}
			missing := note("nothing")
			missing.Subject = "sha256:" + strings.Repeat("0", 64)
			_, err = c.PutArtifact(t.Context(), ref, missing)
			wantCode(t, err, diag.NotFound)
		})
	}
}

// TestReferrersAtOnce attaches with several concurrent clients to a registry whose clients maintain the list. One may
// replace another's list, because such a registry has no lock. Attaching again adds what is missing and nothing twice.
func TestReferrersAtOnce(t *testing.T) {
	s := ocitest.DockerRegistry(t, ocitest.Options{})
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	ref.Digest = push(t, s.Client(t, ""), ref, "1.0.0", "deploy").Digest
	attach := func(i int) {
		a := note(fmt.Sprint(i))
		a.Subject = ref.Digest
		c := oci.New(oci.Options{}) // which asks again: docker-registry answers some of those who come at once with 500
		defer c.Close()
		if _, err := c.PutArtifact(t.Context(), ref, a); err != nil {
			t.Error(err)
		}
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() { attach(i) })
	}
	wg.Wait()
	for i := range 12 {
		attach(i)
	}
	list, err := s.Client(t, "").Referrers(t.Context(), ref, noteType)
	if err != nil || len(list) != 12 {
		t.Errorf("%d %v", len(list), err)
	}
}

// TestHostileReferrers makes registries list unrelated referrers, too many, and ones on other servers.
func TestHostileReferrers(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	ref.Digest = push(t, s.Client(t, ""), ref, "1.0.0", "deploy").Digest
	a := note("good")
	a.Subject = ref.Digest
	good, err := s.Client(t, "").PutArtifact(t.Context(), ref, a)
	if err != nil {
		t.Fatal(err)
	}
	stray, err := s.Client(t, "").PutArtifact(t.Context(), ref, note("stray"))
	if err != nil {
		t.Fatal(err)
	}
	entry := func(digest string) map[string]any {
		return map[string]any{"mediaType": ocispec.MediaTypeImageManifest, "digest": digest, "size": 500, "artifactType": noteType}
	}
	send := func(w http.ResponseWriter, entries ...map[string]any) {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
		_ = json.NewEncoder(w).Encode(map[string]any{"schemaVersion": 2, "manifests": entries})
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		code   diag.Code
		words  string // of the error; where there is none, "good" is found, or nothing
	}{
		"not about it":      {func(w http.ResponseWriter, _ *http.Request) { send(w, entry(stray)) }, 0, ""},
		"an unknown digest": {func(w http.ResponseWriter, _ *http.Request) { send(w, entry("md5:0"), entry(good)) }, 0, "good"},
		"something that is not there": {func(w http.ResponseWriter, _ *http.Request) {
			send(w, entry("sha256:"+strings.Repeat("1", 64)), entry(good))
		}, 0, "good"},
		"too many": {func(w http.ResponseWriter, _ *http.Request) {
			all := []map[string]any{entry(good)}
			for i := range 300 {
				all = append(all, entry(fmt.Sprintf("sha256:%064x", i)))
			}
			send(w, all...)
		}, 0, "good"},
		"pages without end": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "<"+r.URL.Path+"?n=1>; rel=\"next\"")
			send(w)
		}, diag.Remote, "50 pages"},
		"a page on another server": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "<https://evil.example/>; rel=\"next\"")
			send(w)
		}, diag.Denied, "evil.example"},
		"not JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
			_, _ = w.Write([]byte("{"))
		}, diag.Remote, "not JSON"},
		"405, and no fallback tag": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }, 0, ""},
		"a web page":               {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/referrers/") {
					return false
				}
				tt.answer(w, r)
				return true
			})
			list, err := s.Client(t, "").Referrers(t.Context(), ref, noteType)
			if tt.code != 0 {
				wantCode(t, err, tt.code, tt.words)
			} else if found := len(list) == 1 && list[0].Digest == good; err != nil || found != (tt.words == "good") || !found && len(list) != 0 {
				t.Errorf("%+v %v", list, err)
			}
		})
	}
}

// TestStatus stores a repository's status of its versions, at every kind of location, and checks that it is not listed
// as a version.
func TestStatus(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			push(t, c, ref, "1.0.0", "deploy")
			if s, err := c.Status(t.Context(), ref); err != nil || len(s.Yanked) != 0 || s.Deprecated != "" {
				t.Fatalf("before: %+v %v", s, err)
			}
			set := func(f func(*oci.Status)) {
				t.Helper()
				if err := c.SetStatus(t.Context(), ref, func(s *oci.Status) error { f(s); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			set(func(s *oci.Status) { s.Yanked["1.0.0"] = "it breaks <things>" })
			set(func(s *oci.Status) { s.Deprecated = "use acme/other\x1b[31m" })
			want := oci.Status{Yanked: map[string]string{"1.0.0": "it breaks <things>"}, Deprecated: "use acme/other[31m"}
			if s, err := c.Status(t.Context(), ref); err != nil || !reflect.DeepEqual(s, want) {
				t.Errorf("%+v %v", s, err)
			}
			set(func(s *oci.Status) { delete(s.Yanked, "1.0.0") })
			set(func(s *oci.Status) { s.Yanked["9.9.9"] = strings.Repeat("long ", 20_000) }) // not inside the manifest
			if s, err := c.Status(t.Context(), ref); err != nil || s.Yanked["1.0.0"] != "" || s.Yanked["9.9.9"] == "" {
				t.Errorf("%d %v", len(s.Yanked), err)
			}
			stop := errors.New("stop")
			if err := c.SetStatus(t.Context(), ref, func(*oci.Status) error { return stop }); !errors.Is(err, stop) {
				t.Errorf("%v", err)
			}
			if versions, err := c.Versions(t.Context(), ref); err != nil || !slices.Equal(versions, []string{"1.0.0"}) {
				t.Errorf("versions %q %v", versions, err)
			}
			if p, err := c.Open(t.Context(), ref); err != nil || p.Version != "1.0.0" {
				t.Errorf("%+v %v", p, err)
			}
		})
	}
}

// TestForeignStatus checks that other content under the status tag is an error, and never trusted or replaced.
func TestForeignStatus(t *testing.T) {
	s := ocitest.New(t)
	c, ref := s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	if _, err := c.PutArtifact(t.Context(), ref, note("x"), oci.StatusTag); err != nil {
		t.Fatal(err)
	}
	_, err := c.Status(t.Context(), ref)
	wantCode(t, err, diag.Invalid, oci.StatusTag)
	wantCode(t, c.SetStatus(t.Context(), ref, func(s *oci.Status) error { s.Deprecated = "x"; return nil }), diag.Invalid)
}

// TestAbsentStatus checks that a repository without a status takes one request, and that the next request uses the same
// connection.
func TestAbsentStatus(t *testing.T) {
	var requests, connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}`)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	host := server.Listener.Addr().String()
	c := oci.New(oci.Options{PlainHTTP: []string{host}})
	ref := pack.Ref{Kind: pack.KindOCI, URL: host + "/acme/deploy"}
	for n := int64(1); n <= 3; n++ {
		if st, err := c.Status(t.Context(), ref); err != nil || st.Deprecated != "" || len(st.Yanked) > 0 {
			t.Fatalf("%+v %v", st, err)
		}
		if requests.Load() != n || connections.Load() != 1 {
			t.Errorf("%d requests over %d connections", requests.Load(), connections.Load())
		}
	}
}

// TestStatusIsOneRequest checks the number of requests for a status.
func TestStatusIsOneRequest(t *testing.T) {
	s := ocitest.New(t)
	c, ref := s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	if err := c.SetStatus(t.Context(), ref, func(s *oci.Status) error { s.Deprecated = "x"; return nil }); err != nil {
		t.Fatal(err)
	}
	c = s.Client(t, "")
	if _, err := c.Versions(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	s.Requests()
	if st, err := c.Status(t.Context(), ref); err != nil || st.Deprecated != "x" {
		t.Errorf("%+v %v", st, err)
	}
	if got := s.Requests(); !slices.Equal(got, []string{"GET /v2/acme/deploy/manifests/" + oci.StatusTag}) {
		t.Errorf("%q", got)
	}
}

func TestTreesOf(t *testing.T) {
	c := oci.New(oci.Options{Base: t.TempDir()})
	rel, trees := release("1.0.0", "deploy", "rollback")
	pushed, err := c.CheckPush(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: "x", ID: deployID}, rel, trees, oci.PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := oci.TreesOf(pushed.Manifest)
	if err != nil || len(got) != 2 || got["deploy"] != trees[0].Inventory.Digest() {
		t.Errorf("%v %v", got, err)
	}
	foreign, err := json.Marshal(manifestOf("application/vnd.example"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := oci.TreesOf(foreign); err != nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
	if _, err := oci.TreesOf([]byte("{")); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("%v", err)
	}
}

// TestPushAttaches checks the order: attachments are stored before the version, and publishing again adds missing ones.
func TestPushAttaches(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			rel, trees := release("1.0.0", "deploy")
			stop := errors.New("no key")
			refuse := func(context.Context, oci.Pushed, []byte) ([]oci.Artifact, error) { return nil, stop }
			if _, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Attach: refuse}); !errors.Is(err, stop) {
				t.Fatalf("%v", err)
			}
			if v, err := c.Versions(t.Context(), ref); err == nil && len(v) > 0 {
				t.Errorf("published without what was to be attached: %q", v)
			}
			attach := func(text string, existed bool) oci.PushOptions {
				return oci.PushOptions{Attach: func(ctx context.Context, p oci.Pushed, manifest []byte) ([]oci.Artifact, error) {
					at := ref
					at.Digest = p.Digest
					raw, _, err := c.Manifest(ctx, at)
					if err != nil || string(raw) != string(manifest) || p.Existed != existed {
						t.Errorf("%+v %v", p, err)
					}
					return []oci.Artifact{note(text)}, nil
				}}
			}
			var pushed oci.Pushed
			for i, text := range []string{"one", "two", "two"} {
				var err error
				if pushed, err = c.Push(t.Context(), ref, rel, trees, attach(text, i > 0)); err != nil {
					t.Fatal(err)
				}
			}
			ref.Digest = pushed.Digest
			if list, err := c.Referrers(t.Context(), ref, noteType); err != nil || len(list) != 2 {
				t.Errorf("%+v %v", list, err)
			}
		})
	}
}

// TestMovingTags publishes versions out of order.
func TestMovingTags(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			at := make(map[string]string)
			for _, step := range []struct {
				version string
				moves   []string
			}{
				{"1.4.0-rc.1", nil},
				{"1.4.0", []string{"1.4", "1", "latest"}},
				{"1.4.2", []string{"1.4", "1", "latest"}},
				{"1.4.1", nil},
				{"1.3.9", []string{"1.3"}},
				{"2.0.0", []string{"2.0", "2", "latest"}},
				{"1.5.0", []string{"1.5", "1"}},
				{"2.1.0-beta", nil},
				{"10.0.0", []string{"10.0", "10", "latest"}},
				{"2.0.0", nil}, // reopen
			} {
				rel, trees := release(step.version, "deploy")
				again := at[step.version] != ""
				o := oci.PushOptions{Moving: true}
				would, err := c.CheckPush(t.Context(), ref, rel, trees, o)
				if err != nil {
					t.Fatal(err)
				}
				did, err := c.Push(t.Context(), ref, rel, trees, o)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(would, did) {
					t.Errorf("%s: would do %+v and did %+v", step.version, would, did)
				}
				want := step.moves
				if !again {
					want = append([]string{step.version}, want...)
				}
				if !slices.Equal(did.Tags, want) || did.Existed != again {
					t.Errorf("%s: moved %q, want %q; existed %t", step.version, did.Tags, want, did.Existed)
				}
				for _, tag := range want {
					at[tag] = did.Digest
				}
			}
			for tag, want := range at {
				one := ref
				one.Rev = tag
				if p, err := c.Open(t.Context(), one); err != nil || p.Ref.Digest != want {
					t.Errorf("%s leads to %v %v", tag, p, err)
				}
			}
			versions, err := c.Versions(t.Context(), ref)
			if err != nil || len(versions) != 9 || versions[0] != "10.0.0" {
				t.Errorf("%q %v", versions, err)
			}
		})
	}
}

// TestLateMoving moves tags for a version that was published without them.
func TestLateMoving(t *testing.T) {
	c := oci.New(oci.Options{Base: t.TempDir()})
	ref := pack.Ref{Kind: pack.KindLayout, URL: "x", ID: deployID}
	push(t, c, ref, "1.0.0", "deploy")
	rel, trees := release("1.0.0", "deploy")
	pushed, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Moving: true})
	if err != nil || !pushed.Existed || !slices.Equal(pushed.Tags, []string{"1.0", "1", "latest"}) {
		t.Errorf("%+v %v", pushed, err)
	}
}

// TestTags checks that the keywords of a pack are read, and do not change its digest.
func TestTags(t *testing.T) {
	c := oci.New(oci.Options{Base: t.TempDir()})
	ref := pack.Ref{Kind: pack.KindLayout, URL: "x", ID: deployID}
	rel, trees := release("1.0.0", "deploy")
	rel.Tags = []string{"k8s", "roll & back"}
	first, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Open(t.Context(), ref)
	if err != nil || !slices.Equal(p.Tags, rel.Tags) {
		t.Errorf("%q %v", p.Tags, err)
	}
	rel.Tags = nil
	if again, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{}); err != nil || again.Digest != first.Digest {
		t.Errorf("%+v %v", again, err)
	}
}

// TestMount publishes blobs that another repository of the registry already has: they are not uploaded again.
func TestMount(t *testing.T) {
	big := bundle.MapTree("deploy", map[string][]byte{
		"SKILL.md": []byte("---\nname: deploy\ndescription: Does.\n---\n"), "data.bin": noise(64 << 10),
	}, func(string) bool { return false })
	rel, _ := release("1.0.0", "deploy")
	for name, to := range map[string]*ocitest.Server{
		"olareg": ocitest.New(t), "docker-registry": ocitest.DockerRegistry(t, ocitest.Options{User: "ada", Password: "correct horse"}),
	} {
		t.Run(name, func(t *testing.T) {
			c := to.Client(t, "")
			from := pack.Ref{Kind: pack.KindOCI, URL: to.URL("acme/deploy")}
			if _, err := c.Push(t.Context(), from, rel, []bundle.Tree{big}, oci.PushOptions{}); err != nil {
				t.Fatal(err)
			}
			log := &requestLog{next: to.Transport(t)}
			c = oci.New(oci.Options{Transport: log, Home: homeOf(t, to)})
			target := pack.Ref{Kind: pack.KindOCI, URL: to.URL("acme/copy")}
			places := []string{"oci://other.example/acme/deploy", to.URL("acme/none"), from.URL}
			if _, err := c.Push(t.Context(), target, rel, []bundle.Tree{big}, oci.PushOptions{MountFrom: places}); err != nil {
				t.Fatal(err)
			}
			p, err := c.Open(t.Context(), target)
			if err != nil {
				t.Fatal(err)
			}
			checkFetched(t, c, p, []bundle.Tree{big})
			if uploads := log.with("PUT", "/blobs/"); len(uploads) != 1 {
				t.Errorf("uploaded %q, want the configuration only", uploads)
			}
		})
	}
}

// noise is data that does not compress.
func noise(n int) []byte {
	data := make([]byte, n)
	x := uint32(1)
	for i := range data {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		data[i] = byte(x)
	}
	return data
}

// requestLog is a transport that records requests.
type requestLog struct {
	next http.RoundTripper

	mu  sync.Mutex
	all []string
}

func (l *requestLog) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	l.all = append(l.all, r.Method+" "+r.URL.Host+r.URL.Path)
	l.mu.Unlock()
	return l.next.RoundTrip(r)
}

// with returns the requests of a method whose address contains a text.
func (l *requestLog) with(method, part string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.all), func(r string) bool {
		return !strings.HasPrefix(r, method+" ") || !strings.Contains(r, part)
	})
}

// homeOf returns a home directory whose .docker has the logins for servers.
func homeOf(t *testing.T, servers ...*ocitest.Server) string {
	t.Helper()
	home := t.TempDir()
	store := credential.Open(credential.Options{Home: home})
	for _, s := range servers {
		if s.User == "" {
			continue
		}
		if err := store.Put(t.Context(), s.Host, s.User, s.Password); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// unseen is a transport to a registry that at first rejects that many manifests because of missing blobs.
type unseen struct {
	http.RoundTripper
	left, requests int
}

func (u *unseen) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPut || !strings.Contains(req.URL.Path, "/manifests/") {
		return u.RoundTripper.RoundTrip(req)
	}
	if u.requests++; u.requests > u.left {
		return u.RoundTripper.RoundTrip(req)
	}
	body := `{"errors":[{"code":"DIGEST_INVALID","message":"invalid"},{"code":"MANIFEST_BLOB_UNKNOWN","message":"blob unknown to registry"}]}`
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: req,
	}, nil
}

// TestManifestAgain checks that a manifest whose blobs a registry does not see yet is sent again, a limited number of
// times.
func TestManifestAgain(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	for _, tt := range []struct {
		left, requests int
		works          bool
	}{{1, 2, true}, {99, 3, false}} {
		u := &unseen{RoundTripper: s.Transport(t), left: tt.left}
		c := oci.New(oci.Options{Transport: u, Retries: 2})
		_, err := c.PutArtifact(t.Context(), ref, note(fmt.Sprint(tt.left)))
		c.Close()
		if (err == nil) != tt.works || u.requests != tt.requests {
			t.Errorf("%d refusals: asked %d times, want %d; %v", tt.left, u.requests, tt.requests, err)
		}
		if err != nil && (diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "MANIFEST_BLOB_UNKNOWN")) {
			t.Errorf("%v has code %v", err, diag.CodeOf(err))
		}
	}
}
