package registry_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// anyLine returns a line of a pack that no test fetches.
func anyLine(name, version string) index.Line {
	return index.Line{
		Name: name, Version: version, Published: "2026-11-20T09:30:00Z", Source: "oci://registry.example/" + name,
		Digest: "sha256:" + strings.Repeat("b", 64),
		Skills: []index.Skill{{Name: "deploy", Description: "Deploys.", Tree: "t1:sha256:" + strings.Repeat("a", 64)}},
	}
}

// bigIndex writes an index of n packs, acme/pack-0 and so on.
func bigIndex(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(index.ConfigPath, (&index.Config{Version: index.FormatVersion}).Encode())
	for i := range n {
		id := pack.ID{Owner: "acme", Name: fmt.Sprintf("pack-%d", i)}
		write(index.Path(id), anyLine(id.String(), "1.0.0").Encode())
	}
	return dir
}

// TestOCIIndexCosts checks that a pack of an index in an OCI repository needs the manifest and one shard, and only a
// request for the tag if nothing has changed.
func TestOCIIndexCosts(t *testing.T) {
	s := ocitest.New(t)
	dir := bigIndex(t, 300)
	pushIndex(t, s.Client(t, ""), s.URL("team/index"), dir)
	cache := t.TempDir()
	countRequests := func(name string) (int, error) {
		r := open(t, "index+"+s.URL("team/index"), registry.Deps{OCI: s.Client(t, ""), Cache: cache})
		s.Requests()
		_, err := r.Versions(t.Context(), parseID(t, name))
		return len(inRegistry(s.Requests())), err
	}
	for _, tt := range []struct {
		name string
		want int
		code diag.Code
	}{
		{"acme/pack-7", 3, diag.OK}, // the head, the manifest, a shard
		{"acme/pack-7", 1, diag.OK},
		{"acme/none", 3, diag.NotFound}, // a shard, and the configuration
	} {
		if got, err := countRequests(tt.name); got > tt.want || diag.CodeOf(err) != tt.code {
			t.Errorf("%s: %d requests, want %d; %v", tt.name, got, tt.want, err)
		}
	}
	grown, err := index.AppendYank("f", anyLine("acme/pack-7", "1.0.0").Encode(), "1.0.0", "broken")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(index.Path(parseID(t, "acme/pack-7")))), grown, 0o644); err != nil {
		t.Fatal(err)
	}
	pushIndex(t, s.Client(t, ""), s.URL("team/index"), dir)
	r := open(t, "index+"+s.URL("team/index"), registry.Deps{OCI: s.Client(t, ""), Cache: cache})
	if versions, err := r.Versions(t.Context(), parseID(t, "acme/pack-7")); err != nil || versions[0].Reason != "broken" {
		t.Errorf("what was published since is not seen: %+v %v", versions, err)
	}
	s.Requests()
	off := open(t, "index+"+s.URL("team/index"), registry.Deps{OCI: s.Client(t, ""), Cache: cache, Offline: true})
	if versions, err := off.Versions(t.Context(), parseID(t, "acme/pack-7")); err != nil || len(versions) != 1 {
		t.Errorf("offline: %+v %v", versions, err)
	}
	if got := s.Requests(); len(got) > 0 {
		t.Errorf("offline, and asked %q", got)
	}
}

func shard(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	var seq iter.Seq2[string, []byte] = func(yield func(string, []byte) bool) {
		for name, data := range files {
			if !yield(name, data) {
				return
			}
		}
	}
	if err := index.WriteShard(&buf, seq); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestHostileOCIIndex checks that an artifact cannot make a client trust wrong data or run without end.
func TestHostileOCIIndex(t *testing.T) {
	id := parseID(t, "acme/deploy")
	at := index.Path(id)
	good := anyLine("acme/deploy", "1.0.0").Encode()
	config := oci.Blob{MediaType: index.MediaTypeConfig, Data: (&index.Config{Version: index.FormatVersion}).Encode()}
	of := func(prefix string, data []byte) oci.Blob {
		return oci.Blob{MediaType: index.MediaTypeShard, Annotations: map[string]string{index.AnnotationPrefix: prefix}, Data: data}
	}
	var bomb, text bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&bomb, 1)
	_ = tar.NewWriter(zw).WriteHeader(&tar.Header{Name: "packs/00/00/acme/a.ndjson", Size: 1 << 30, Mode: 0o644, Format: tar.FormatUSTAR})
	zeros := make([]byte, 1<<20)
	for range 300 {
		_, _ = zw.Write(zeros)
	}
	_ = zw.Close()
	tw := gzip.NewWriter(&text)
	_, _ = tw.Write(bytes.Repeat([]byte("packs"), 1000))
	_ = tw.Close()
	prefix := index.Prefix(id, 1)
	other := map[string]string{"0": "1", "1": "0"}[prefix]
	for _, tt := range []struct {
		name string
		a    oci.Artifact
		code diag.Code
		want string
	}{
		{"good", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("", shard(t, map[string][]byte{at: good}))}}, diag.OK, ""},
		{"another type", oci.Artifact{Type: "application/vnd.example", Blobs: []oci.Blob{config}}, diag.Invalid, "is not an index: it has the type"},
		{"another pack", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("", shard(t, map[string][]byte{at: anyLine("evil/deploy", "1.0.0").Encode()}))}}, diag.Invalid, "contains entries of evil/deploy"},
		{"another path", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("", shard(t, map[string][]byte{"packs/00/00/acme/deploy.ndjson": good}))}}, diag.NotFound, "does not contain the pack"},
		{"another shard", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of(other, shard(t, map[string][]byte{at: good}))}}, diag.NotFound, "does not contain the pack"},
		{"a prefix", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("../x", nil)}}, diag.Invalid, "invalid shard prefix"},
		{"a long prefix", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of(strings.Repeat("0", 13), nil)}}, diag.Invalid, "invalid shard prefix"},
		{"two shards", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("0", []byte("a")), of("0", []byte("b"))}}, diag.Invalid, "is duplicated"},
		{"two lengths", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("0", []byte("a")), of("01", []byte("b"))}}, diag.Invalid, "prefixes of different lengths"},
		{"no gzip", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("", []byte("packs"))}}, diag.Invalid, "not compressed"},
		{"no tar", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("", text.Bytes())}}, diag.Invalid, "cannot read the shard"},
		{"a bomb", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("", bomb.Bytes())}}, diag.Invalid, "is larger than"},
		{"no configuration", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{of("", shard(t, nil))}}, diag.Invalid, "does not contain config.json"},
		{"a local file", oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{config, of("", shard(t, map[string][]byte{
			at: bytes.ReplaceAll(bytes.Replace(good, []byte("oci://registry.example/acme/deploy"), []byte("git+file"), 1), []byte("sha256:"+strings.Repeat("b", 64)), bytes.Repeat([]byte("b"), 40)),
		}))}}, diag.Invalid, "git+file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ocitest.New(t)
			at := pack.Ref{Kind: pack.KindOCI, URL: s.URL("team/index")}
			c := s.Client(t, "")
			if _, err := c.PutArtifact(t.Context(), at, tt.a, "latest"); err != nil {
				t.Fatal(err)
			}
			r := open(t, "index+"+at.URL, registry.Deps{OCI: s.Client(t, ""), Cache: t.TempDir()})
			_, err := r.Pack(t.Context(), id, "1.0.0")
			if diag.CodeOf(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v (%v), want %q (%v)", err, diag.CodeOf(err), tt.want, tt.code)
			}
		})
	}
}

// TestManyLayers checks that a manifest can have as many blobs as an index needs, and not more.
func TestManyLayers(t *testing.T) {
	var layers []string
	for i := range 10_000 {
		layers = append(layers, fmt.Sprintf(`{"mediaType":%q,"digest":"sha256:%064x","size":1,"annotations":{%q:"%012b"}}`, index.MediaTypeShard, i, index.AnnotationPrefix, i%4096))
	}
	manifest := fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":%q,"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:%064x","size":2},"layers":[%s]}`,
		index.ArtifactType, 1, strings.Join(layers, ","))
	s := ocitest.New(t)
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		_, _ = w.Write([]byte(manifest))
		return true
	})
	r := open(t, "index+"+s.URL("team/index"), registry.Deps{OCI: s.Client(t, "")})
	if _, err := r.Versions(t.Context(), parseID(t, "acme/deploy")); diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "the limit is") {
		t.Errorf("got %v", err)
	}
}

// TestOCIIndexAddress checks that a written address is read back unchanged.
func TestOCIIndexAddress(t *testing.T) {
	for url, want := range map[string]string{
		"index+oci://registry.example/acme/index":    "oci://registry.example/acme/index:latest",
		"index+oci://registry.example/acme/index:v2": "oci://registry.example/acme/index:v2",
		"index+oci://registry.example":               "",
		"index+https://registry.example/x":           "",
		"oci://registry.example/acme/index":          "",
		"index+oci://u:p@registry.example/acme":      "",
	} {
		ref, err := registry.OCIIndex(url)
		if (err == nil) != (want != "") || err == nil && ref.String() != want {
			t.Errorf("%s: %q %v, want %q", url, ref, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("%v repeats credentials", err)
		}
	}
}

// BenchmarkOCIIndex reads one pack of an index of 10,000, with nothing in the cache and with all of it.
func BenchmarkOCIIndex(b *testing.B) {
	s := ocitest.New(b)
	pushIndex(b, s.Client(b, ""), s.URL("team/index"), bigIndex(b, 10_000))
	c := s.Client(b, "")
	id := pack.ID{Owner: "acme", Name: "pack-7"}
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprintf("kept=%t", kept), func(b *testing.B) {
			cache := b.TempDir()
			for b.Loop() {
				if !kept {
					cache = b.TempDir()
				}
				r, err := registry.Open(b.Context(), "", "index+"+s.URL("team/index"), registry.Deps{OCI: c, Cache: cache})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Versions(b.Context(), id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDirectory reads one pack of an index of 10,000 in a directory.
func BenchmarkDirectory(b *testing.B) {
	dir := bigIndex(b, 10_000)
	id := pack.ID{Owner: "acme", Name: "pack-7"}
	for b.Loop() {
		r, err := registry.Open(b.Context(), "", dir, registry.Deps{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Versions(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzReadShard checks that reading any shard ends, and that a written shard is read back.
func FuzzReadShard(f *testing.F) {
	var buf bytes.Buffer
	_ = index.WriteShard(&buf, func(yield func(string, []byte) bool) { yield("packs/a", []byte("x")) })
	f.Add(buf.Bytes(), "packs/a")
	f.Add([]byte{0x1f, 0x8b}, "packs/a")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		got, err := index.ReadShard(bytes.NewReader(data), name)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if index.WriteShard(&again, func(yield func(string, []byte) bool) { yield(name, got) }) != nil {
			return // a name that tar cannot hold in this form
		}
		if second, err := index.ReadShard(&again, name); err != nil || !bytes.Equal(second, got) {
			t.Fatalf("%q is read as %q: %v", got, second, err)
		}
	})
}
