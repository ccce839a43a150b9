package oci_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// get opens and fetches everything at ref and returns the first error.
func get(t *testing.T, c *oci.Client, ref pack.Ref) error {
	t.Helper()
	p, err := c.Open(t.Context(), ref)
	if err != nil {
		return err
	}
	return c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
}

// TestHostileManifests stores manifests that must be rejected, in any registry.
func TestHostileManifests(t *testing.T) {
	files := map[string]sourcetest.File{"deploy/SKILL.md": {Data: sourcetest.Skill("deploy", "Deploys.")}}
	const manifestType, indexType = ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex
	for _, tt := range []struct {
		name      string
		mediaType string
		make      func(layer ocispec.Descriptor) any
		code      diag.Code
		words     string
	}{
		{"not JSON", manifestType, func(ocispec.Descriptor) any { return []byte("<html>") }, diag.Invalid, "not JSON"},
		{"schema 1", manifestType, func(ocispec.Descriptor) any {
			return []byte(`{"schemaVersion":1,"fsLayers":[],"signatures":[]}`)
		}, diag.Invalid, "schema version 1"},
		{"another media type inside", manifestType, func(l ocispec.Descriptor) any {
			m := manifestOf(oci.MediaTypePack, l)
			m.MediaType = indexType
			return m
		}, diag.Invalid, "has the media type"},
		{"a Docker manifest", "application/vnd.docker.distribution.manifest.v2+json", func(l ocispec.Descriptor) any {
			m := manifestOf("", l)
			m.MediaType = "application/vnd.docker.distribution.manifest.v2+json"
			return m
		}, diag.Invalid, "the OCI manifest has an unsupported format"},
		{"schema 1, signed", "application/vnd.docker.distribution.manifest.v1+prettyjws", func(ocispec.Descriptor) any {
			return []byte(`{"schemaVersion":1,"name":"x/y","tag":"1.0.0","fsLayers":[{"blobSum":"sha256:` + strings.Repeat("0", 64) + `"}],"signatures":[{}]}`)
		}, diag.Invalid, "schema version 1"},
		{"schema 1 that says 2", manifestType, func(ocispec.Descriptor) any {
			return []byte(`{"schemaVersion":2,"mediaType":"` + manifestType + `","fsLayers":[]}`)
		}, diag.Invalid, "has fields of schema version 1"},
		{"a type that differs from the registry", indexType, func(l ocispec.Descriptor) any { return manifestOf(oci.MediaTypePack, l) }, diag.Invalid, "has the media type"},
		{"manifest and index in one", manifestType, func(l ocispec.Descriptor) any {
			return map[string]any{"schemaVersion": 2, "mediaType": manifestType, "layers": []any{l}, "manifests": []any{l}}
		}, diag.Invalid, "the OCI manifest has an unsupported format"},
		{"two content layers", manifestType, func(l ocispec.Descriptor) any { return manifestOf(oci.MediaTypePack, l, l) }, diag.Invalid, "2 layers"},
		{"no content layer", manifestType, func(l ocispec.Descriptor) any {
			l.MediaType = "application/octet-stream"
			return manifestOf("application/vnd.example.thing", l)
		}, diag.Invalid, "0 layers"},
		{"a hundred layers", manifestType, func(l ocispec.Descriptor) any {
			m := manifestOf(oci.MediaTypePack)
			for range 100 {
				m.Layers = append(m.Layers, l)
			}
			return m
		}, diag.Invalid, "100 layers"},
		{"a layer of a terabyte", manifestType, func(l ocispec.Descriptor) any {
			l.Size = 1 << 40
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Invalid, "the limit is"},
		{"a large layer that nothing describes", manifestType, func(l ocispec.Descriptor) any {
			l.Size = 300 << 20
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Invalid, "without a media type"},
		{"a negative size", manifestType, func(l ocispec.Descriptor) any {
			l.Size = -1
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Invalid, "size -1"},
		{"another digest algorithm", manifestType, func(l ocispec.Descriptor) any {
			l.Digest = digest.Digest("sha512:" + strings.Repeat("0", 128))
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Invalid, "use sha256: and"},
		{"an unknown digest algorithm", manifestType, func(l ocispec.Descriptor) any {
			l.Digest = "md5+crc:x"
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Invalid, "use sha256: and"},
		{"a digest that is a path", manifestType, func(l ocispec.Descriptor) any {
			l.Digest = "sha256:../../../../v2/other/blobs/x"
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Invalid, "use sha256: and"},
		{"a config with a digest of its own", manifestType, func(l ocispec.Descriptor) any {
			m := manifestOf(oci.MediaTypePack, l)
			m.Config.Digest = digest.Digest("sha1:" + strings.Repeat("0", 40))
			return m
		}, diag.Invalid, "use sha256: and"},
		{"foreign urls of the config", manifestType, func(l ocispec.Descriptor) any {
			m := manifestOf(oci.MediaTypePack, l)
			m.Config.URLs = []string{"https://evil.example/config"}
			return m
		}, diag.Denied, "from an external URL"},
		{"foreign urls in an index", indexType, func(l ocispec.Descriptor) any {
			l.MediaType, l.URLs = manifestType, []string{"https://evil.example/manifest"}
			return index(l)
		}, diag.Denied, "from an external URL"},
		{"foreign urls", manifestType, func(l ocispec.Descriptor) any {
			l.URLs = []string{"https://evil.example/layer"}
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Denied, "from an external URL"},
		{"data that does not match its digest", manifestType, func(l ocispec.Descriptor) any {
			l.Data = bytes.Repeat([]byte("x"), int(l.Size))
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Integrity, "data in the OCI manifest"},
		{"a smaller size", manifestType, func(l ocispec.Descriptor) any {
			l.Size--
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Integrity, "bytes"},
		{"a larger size", manifestType, func(l ocispec.Descriptor) any {
			l.Size++
			return manifestOf(oci.MediaTypePack, l)
		}, diag.Integrity, "bytes"},
		{"a huge manifest", manifestType, func(l ocispec.Descriptor) any {
			m := manifestOf(oci.MediaTypePack, l)
			m.Annotations = map[string]string{"x": strings.Repeat("y", 5<<20)}
			return m
		}, diag.Invalid, "larger than"},
		{"an annotation that is not canonical", manifestType, func(l ocispec.Descriptor) any {
			m := manifestOf(oci.MediaTypePack, l)
			m.Annotations = map[string]string{oci.AnnotationPack: `{"name":"a/b", "version":"1.0.0","dependencies":{},"skills":{}}`}
			return m
		}, diag.Invalid, "not canonical"},
		{"an annotation with a hostile skill", manifestType, func(l ocispec.Descriptor) any {
			m := manifestOf(oci.MediaTypePack, l)
			m.Annotations = map[string]string{oci.AnnotationPack: `{"name":"a/b","version":"1.0.0","dependencies":{},"skills":{"../x":"t1:sha256:` + strings.Repeat("0", 64) + `"}}`}
			return m
		}, diag.Invalid, "invalid skill name"},
		{"an annotation with another skill", manifestType, func(l ocispec.Descriptor) any {
			m := manifestOf(oci.MediaTypePack, l)
			m.Annotations = map[string]string{oci.AnnotationPack: `{"name":"a/b","version":"1.0.0","dependencies":{},"skills":{"other":"t1:sha256:` + strings.Repeat("0", 64) + `"}}`}
			return m
		}, diag.Integrity, "does not list"},
		{"an index of nothing", indexType, func(ocispec.Descriptor) any {
			return []byte(`{"schemaVersion":2,"mediaType":"` + indexType + `","manifests":[]}`)
		}, diag.Invalid, "the OCI index is empty"},
		{"an index of several artifacts", indexType, func(l ocispec.Descriptor) any {
			l.MediaType = manifestType
			return index(l, l)
		}, diag.Invalid, "index of 2 artifacts"},
		{"an index that contains itself", indexType, func(l ocispec.Descriptor) any {
			l.MediaType = manifestType // so it says; whatever is asked for, serveManifest answers this index
			return index(l)
		}, diag.Integrity, "does not match"},
		{"too many manifests", indexType, func(l ocispec.Descriptor) any {
			l.MediaType = manifestType
			return index(slices.Repeat([]ocispec.Descriptor{l}, 10_001)...)
		}, diag.Invalid, "lists 10001 artifacts"},
		{"an index in an index", indexType, func(l ocispec.Descriptor) any {
			l.MediaType = indexType
			return index(l)
		}, diag.Invalid, "only OCI manifests"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ocitest.New(t)
			r := registry{t, s}
			r.blob("x/y", ocispec.MediaTypeEmptyJSON, []byte("{}"))
			manifest := tt.make(r.blob("x/y", oci.MediaTypeContent, archive(t, files)))
			data, ok := manifest.([]byte)
			if !ok {
				var err error
				if data, err = json.Marshal(manifest); err != nil {
					t.Fatal(err)
				}
			}
			serveManifest(s, tt.mediaType, data) // past what the registry itself would refuse
			err := get(t, s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("x/y"), Rev: "1.0.0"})
			wantCode(t, err, tt.code, tt.words)
		})
	}
}

// TestMismatchedNames uses a version tag with a different version, and a layout with a different pack than declared.
func TestMismatchedNames(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, t.TempDir())
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	push(t, c, ref, "2.0.0", "deploy")
	copied := func(to pack.Ref, tag string) pack.Ref {
		t.Helper()
		if err := oci.CopyVersion(t.Context(), c, ref, c, to, tag); err != nil {
			t.Fatal(err)
		}
		return to
	}
	p, err := c.Open(t.Context(), copied(pack.Ref{Kind: pack.KindOCI, URL: s.URL("mirror/of/deploy")}, "2.0.0"))
	if err != nil || p.ID != (pack.ID{Owner: "acme", Name: "deploy"}) {
		t.Errorf("a mirror: %v, %v", p, err)
	}
	layout := pack.Ref{Kind: pack.KindLayout, URL: "L", ID: pack.ID{Owner: "evil", Name: "pack"}}
	_, err = c.Open(t.Context(), copied(layout, "2.0.0"))
	wantCode(t, err, diag.Invalid, "contains the pack acme/deploy under the name evil/pack")
	for _, tag := range []string{"1.0.0", "v1.0.0"} {
		moved := ref
		moved.Rev = tag
		manifest, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: ref.URL, Rev: "2.0.0"})
		if err != nil {
			t.Fatal(err)
		}
		retag(t, s, "acme/deploy", manifest.Ref.Digest, tag)
		_, err = c.Open(t.Context(), moved)
		wantCode(t, err, diag.Invalid, "tag "+tag+" of "+s.Host+"/acme/deploy contains version 2.0.0 of acme/deploy")
		moved.Digest = manifest.Ref.Digest
		_, err = c.Open(t.Context(), moved)
		wantCode(t, err, diag.Invalid, "contains version 2.0.0")
	}
	moving := ref
	moving.Rev = "latest"
	retag(t, s, "acme/deploy", p.Ref.Digest, "latest")
	if p, err := c.Open(t.Context(), moving); err != nil || p.Version != "2.0.0" {
		t.Errorf("a moving tag: %v, %v", p, err)
	}
}

// TestUnpackErrorsNameThePack checks that errors about an archive name its pack.
func TestUnpackErrorsNameThePack(t *testing.T) {
	good := archive(t, map[string]sourcetest.File{"deploy/SKILL.md": {Data: sourcetest.Skill("deploy", "Deploys.")}})
	for name, layer := range map[string][]byte{"truncated": good[:len(good)-9], "corrupt": append([]byte("x"), good...), "link": archive(t, map[string]sourcetest.File{
		"deploy/SKILL.md": {Data: sourcetest.Skill("deploy", "Deploys.")}, "deploy/a": {Link: "/etc/passwd"},
	})} {
		t.Run(name, func(t *testing.T) {
			s := ocitest.New(t)
			r := registry{t, s}
			r.blob("acme/deploy", ocispec.MediaTypeEmptyJSON, []byte("{}"))
			d := r.blob("acme/deploy", oci.MediaTypeContent, layer)
			r.manifest("acme/deploy", "foreign", ocispec.MediaTypeImageManifest, manifestOf(oci.MediaTypePack, d))
			described := manifestOf(oci.MediaTypePack, d)
			described.Annotations = map[string]string{oci.AnnotationPack: `{"name":"acme/deploy","version":"1.0.0","dependencies":{},"skills":{"deploy":"t1:sha256:` + strings.Repeat("0", 64) + `"}}`}
			r.manifest("acme/deploy", "1.0.0", ocispec.MediaTypeImageManifest, described)
			for _, tag := range []string{"foreign", "1.0.0"} {
				err := get(t, s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: tag})
				wantCode(t, err, diag.Invalid, s.Host+"/acme/deploy: ")
				if strings.Count(err.Error(), s.Host) != 1 {
					t.Errorf("%q repeats the place", err)
				}
			}
		})
	}
}

// retag puts another tag on a manifest of a registry.
func retag(t *testing.T, s *ocitest.Server, repo, digest, tag string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/"+repo+"/manifests/"+digest, nil)
	req.Header.Set("Accept", ocispec.MediaTypeImageManifest)
	rec := httptest.NewRecorder()
	s.Registry.ServeHTTP(rec, req)
	registry{t, s}.manifest(repo, tag, ocispec.MediaTypeImageManifest, rec.Body.Bytes())
}

func index(members ...ocispec.Descriptor) ocispec.Index {
	idx := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: members}
	idx.SchemaVersion = 2
	return idx
}

// serveManifest answers every request for a manifest with data.
func serveManifest(s *ocitest.Server, mediaType string, data []byte) {
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Docker-Content-Digest", string(sha(data)))
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data)
		return true
	})
}

// TestHostileAnswers makes a registry answer requests for a valid pack in ways that must be rejected.
func TestHostileAnswers(t *testing.T) {
	isManifest := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/") }
	isBlob := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request) bool
		code   diag.Code
		words  string
	}{
		{"another manifest under the digest", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("0", 64))
			w.Header().Set("Content-Length", "2")
			_, _ = w.Write([]byte("{}"))
			return isManifest(r)
		}, diag.Integrity, "does not match"},
		{"a digest algorithm of its own", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", "sha512:"+strings.Repeat("0", 128))
			w.Header().Set("Content-Length", "2")
			_, _ = w.Write([]byte("{}"))
			return isManifest(r)
		}, diag.Invalid, "sha512"},
		{"HTML with 200", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>log in to the hotel network</html>"))
			return isManifest(r)
		}, diag.Remote, "web page"},
		{"a damaged layer", func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) {
				_, _ = w.Write(bytes.Repeat([]byte("x"), 300))
			}
			return isBlob(r)
		}, diag.Integrity, "size of"},
		{"a damaged layer of unknown length", func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) {
				w.(http.Flusher).Flush()
				_, _ = w.Write([]byte("not a tar"))
			}
			return isBlob(r)
		}, diag.Integrity, "does not match"},
		{"a layer without end", func(w http.ResponseWriter, r *http.Request) bool {
			for isBlob(r) && r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
					break
				}
			}
			return isBlob(r)
		}, diag.Integrity, "more"},
		{"a connection that breaks", func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) {
				w.(http.Flusher).Flush()
				_, _ = w.Write([]byte{0x1f, 0x8b})
				panic(http.ErrAbortHandler)
			}
			return false
		}, diag.Remote, "127.0.0.1"},
		{"a redirect to a file", func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) {
				w.Header().Set("Location", "file:///etc/passwd")
				w.WriteHeader(http.StatusTemporaryRedirect)
			}
			return isBlob(r)
		}, diag.Denied, "redirects to the unsupported scheme file"},
		{"redirects without end", func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) {
				w.Header().Set("Location", r.URL.Path+"x")
				w.WriteHeader(http.StatusTemporaryRedirect)
			}
			return isBlob(r)
		}, diag.Remote, "more than 10 times"},
		{"401 always", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, diag.Denied, "skillpm login"},
		{"a realm elsewhere on this machine", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://169.254.169.254/latest/meta-data",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, diag.Denied, "169.254.169.254"},
		{"secrets and escapes in an error body", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"errors":[{"code":"X","message":"\u001b[31mred %s"}]}`, strings.Repeat("A", 4_000))
			return true
		}, diag.Remote, `\x1b[31mred`},
		{"an endless list of tags", func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/tags/list") {
				w.Header().Set("Link", `</v2/acme/deploy/tags/list?last=x>; rel="next"`)
				_, _ = w.Write([]byte(`{"tags":["1.0.0"]}`))
				return true
			}
			return false
		}, diag.Remote, "1000 pages"},
		{"a list of tags as large as a disk", func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/tags/list") {
				return false
			}
			_, _ = w.Write([]byte(`{"tags":["`))
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(`1.0.0","`), 1<<16)); err != nil {
					break
				}
			}
			return true
		}, diag.Remote, "tags is not JSON or is larger than"},
		{"a list of tags in HTML", func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/tags/list") {
				_, _ = w.Write([]byte("<html>"))
				return true
			}
			return false
		}, diag.Remote, "tags is not JSON"},
		{"a Link to the next tags that is none", func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/tags/list") {
				w.Header().Set("Link", `</v2/acme/deploy/tags/list; rel="next"`)
				_, _ = w.Write([]byte(`{"tags":["1.0.0"]}`))
				return true
			}
			return false
		}, diag.Remote, "malformed"},
		{"a manifest without end", func(w http.ResponseWriter, r *http.Request) bool {
			if isManifest(r) {
				w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
				for r.Context().Err() == nil {
					if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
						break
					}
				}
			}
			return isManifest(r)
		}, diag.Invalid, "larger than 4194304 bytes"},
		{"a manifest of no digest", func(w http.ResponseWriter, r *http.Request) bool {
			if isManifest(r) {
				w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
				w.Header().Set("Docker-Content-Digest", "none")
				_, _ = w.Write([]byte("{}"))
			}
			return isManifest(r)
		}, diag.Invalid, `digest "none"`},
		{"tokens always", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" {
				_, _ = w.Write([]byte(`{"token":"another"}`))
				return true
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, diag.Denied, "401"},
		{"a token as large as a disk", func(w http.ResponseWriter, r *http.Request) bool {
			for r.URL.Path == "/token" {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
					return true
				}
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, diag.Remote, "127.0.0.1"},
		{"tags on another host", func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/tags/list") {
				w.Header().Set("Link", `<http://evil.example/v2/tags/list>; rel="next"`)
				_, _ = w.Write([]byte(`{"tags":["1.0.0"]}`))
				return true
			}
			return false
		}, diag.Denied, "evil.example"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ocitest.New(t)
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
			push(t, s.Client(t, ""), ref, "1.0.0", "deploy")
			c := s.Client(t, "")
			if !strings.Contains(tt.name, "tags") {
				ref.Rev = "1.0.0"
			}
			s.Meddle(tt.answer)
			err := get(t, c, ref)
			wantCode(t, err, tt.code, tt.words)
			if len(err.Error()) > 600 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestHostileSizes makes a registry answer with much that is not needed, each part within its limit. The client must not
// keep it.
func TestHostileSizes(t *testing.T) {
	const most = 64 << 20 // bytes; without the limits each row has more
	link := func(w http.ResponseWriter, r *http.Request, pages int) (last bool) {
		n, _ := strconv.Atoi(r.URL.Query().Get("page"))
		if n < pages {
			w.Header().Set("Link", fmt.Sprintf(`<%s?page=%d>; rel="next"`, r.URL.Path, n+1))
		}
		return n == pages
	}
	var numbers sync.Map // of manifests, by digest
	for _, tt := range []struct {
		name string
		ask  func(*oci.Client, pack.Ref) error
		// answer reports whether it answered, and whether this was the last answer
		answer func(w http.ResponseWriter, r *http.Request) (ok, last bool)
	}{
		{"long tags", func(c *oci.Client, ref pack.Ref) error {
			_, err := c.Versions(t.Context(), ref)
			return err
		}, func(w http.ResponseWriter, r *http.Request) (ok, last bool) {
			if !strings.HasSuffix(r.URL.Path, "/tags/list") {
				return false, false
			}
			last = link(w, r, 32)
			fmt.Fprintf(w, `{"tags":["1.0.0","%s"]}`, strings.Repeat("a", 3<<20))
			return true, last
		}},
		{"empty referrers", func(c *oci.Client, ref pack.Ref) error {
			_, err := c.Referrers(t.Context(), ref, "")
			return err
		}, func(w http.ResponseWriter, r *http.Request) (ok, last bool) {
			if !strings.Contains(r.URL.Path, "/referrers/") {
				return false, false
			}
			last = link(w, r, 8)
			w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
			fmt.Fprintf(w, `{"manifests":[%s{}]}`, strings.Repeat("{},", 100_000))
			return true, last
		}},
		{"long annotations of referrers", func(c *oci.Client, ref pack.Ref) error {
			_, err := c.Referrers(t.Context(), ref, "")
			return err
		}, func(w http.ResponseWriter, r *http.Request) (ok, last bool) {
			const count = 24
			manifest := func(i int) []byte {
				return fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"%s","artifactType":"x/%d","config":{"digest":"%s"},`+
					`"annotations":{"a":"%s"}}`, ocispec.MediaTypeImageManifest, i, sha(nil), strings.Repeat("a", 3<<20))
			}
			if strings.Contains(r.URL.Path, "/referrers/") {
				var list []ocispec.Descriptor
				for i := range count {
					d := sha(manifest(i))
					list = append(list, ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: d, Size: 9})
					numbers.Store(string(d), i)
				}
				w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
				_ = json.NewEncoder(w).Encode(index(list...))
				return true, false
			}
			i, known := numbers.Load(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
			if !known {
				return false, false
			}
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			_, _ = w.Write(manifest(i.(int)))
			return true, i == count-1
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ocitest.New(t)
			c, ref := s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
			ref.Digest = push(t, c, ref, "1.0.0", "deploy").Digest
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
				ok, last := tt.answer(w, r)
				if last {
					runtime.GC()
					runtime.ReadMemStats(&after)
				}
				return ok
			})
			if err := tt.ask(c, ref); err != nil {
				t.Error(err)
			}
			if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); after.HeapAlloc == 0 || n > most {
				t.Errorf("the client keeps %d bytes", n)
			}
		})
	}
}

// TestCollectionLimits has skills in several layers, beside files that are not part of a skill. All layers count
// together, before and while they are fetched.
func TestCollectionLimits(t *testing.T) {
	limits := bundle.Limits{Files: 10, TotalBytes: 1 << 20}
	junk := sourcetest.File{Data: strings.Repeat("x", 900<<10)}
	for skills, fails := range map[int]bool{2: false, 3: true} {
		s := ocitest.New(t)
		r, idx := registry{t, s}, index()
		r.blob("x/y", ocispec.MediaTypeEmptyJSON, []byte("{}"))
		for i := range skills {
			name := fmt.Sprintf("s%d", i)
			layer := archive(t, map[string]sourcetest.File{
				name + "/SKILL.md": {Data: sourcetest.Skill(name, "Deploys.")}, "other/" + name: junk,
			})
			d := r.manifest("x/y", "", ocispec.MediaTypeImageManifest,
				manifestOf(oci.MediaTypeSkill, r.blob("x/y", oci.MediaTypeContent, layer)))
			idx.Manifests = append(idx.Manifests, d)
		}
		idx.ArtifactType = oci.MediaTypeCollection
		d := r.manifest("x/y", "1.0.0", ocispec.MediaTypeImageIndex, idx)
		c := oci.New(oci.Options{Transport: s.Transport(t), Limits: limits})
		err := get(t, c, pack.Ref{Kind: pack.KindOCI, URL: s.URL("x/y"), Rev: "1.0.0"})
		pinned := &pack.Pack{Ref: pack.Ref{Kind: pack.KindOCI, URL: s.URL("x/y"), Digest: string(d.Digest)}}
		for _, err := range []error{err, c.Fetch(t.Context(), pinned, nil, bundle.NewHasher(limits))} {
			if !fails && err != nil {
				t.Error(err)
			}
			if fails {
				wantCode(t, err, diag.Invalid, "the unpacked archive is larger than")
			}
		}
	}
}

// TestTagMoved checks that the opened version is fetched, even if its tag was moved in between.
func TestTagMoved(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: "1.0.0"}
	push(t, s.Client(t, ""), ref, "1.0.0", "deploy")
	c := s.Client(t, "")
	p, err := c.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	handMade(t, s, "acme/deploy", map[string]sourcetest.File{"skills/evil/SKILL.md": {Data: sourcetest.Skill("evil", "x")}}, false)
	_, trees := release("1.0.0", "deploy")
	checkFetched(t, s.Client(t, ""), p, trees)
}

// TestCredentialsStayWithTheirHost makes a registry redirect to another server, which must not receive credentials.
func TestCredentialsStayWithTheirHost(t *testing.T) {
	var seen atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			seen.Add(1)
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer other.Close()
	s := ocitest.New(t)
	s.User, s.Password = "ada", "secret"
	var requests atomic.Int32
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if _, password, ok := r.BasicAuth(); !ok || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		requests.Add(1)
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	})
	err := get(t, s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: "1.0.0"})
	wantCode(t, err, diag.NotFound)
	if requests.Load() == 0 || seen.Load() != 0 {
		t.Errorf("the registry was asked %d times with credentials, the other server %d times", requests.Load(), seen.Load())
	}
}

func TestUntrustedCertificate(t *testing.T) {
	s := ocitest.NewTLS(t)
	c := oci.New(oci.Options{Retries: -1})
	defer c.Close()
	_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: "1.0.0"})
	wantCode(t, err, diag.Remote, "certificate", "ca-file")
}

func TestWrongPassword(t *testing.T) {
	s := ocitest.DockerRegistry(t, ocitest.Options{User: "ada", Password: "right"})
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: "1.0.0"}
	s.Password = "wrong"
	_, err := s.Client(t, "").Open(t.Context(), ref)
	wantCode(t, err, diag.Denied, "skillpm login")
	s.User = ""
	_, err = s.Client(t, "").Open(t.Context(), ref)
	wantCode(t, err, diag.Denied, "skillpm login")
	if strings.Contains(err.Error(), "wrong") {
		t.Errorf("%q has the password", err)
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	host := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	c := oci.New(oci.Options{Retries: -1})
	_, err := c.Versions(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://" + host + "/acme/deploy"})
	wantCode(t, err, diag.Remote, host, "refused")
}
