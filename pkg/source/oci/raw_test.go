package oci_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
)

// registry writes malformed content to an in-process registry.
type registry struct {
	t testing.TB
	s *ocitest.Server
}

func sha(data []byte) digest.Digest {
	sum := sha256.Sum256(data)
	return digest.Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// blob stores data and returns its descriptor.
func (r registry) blob(repo, mediaType string, data []byte) ocispec.Descriptor {
	r.t.Helper()
	d := ocispec.Descriptor{MediaType: mediaType, Digest: sha(data), Size: int64(len(data))}
	at := "http://" + r.s.Host + "/v2/" + repo + "/blobs/uploads/"
	resp, err := http.Post(at, "application/octet-stream", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		r.t.Fatal(err)
	}
	q := to.Query()
	q.Set("digest", string(d.Digest))
	to.RawQuery = q.Encode()
	r.send(http.MethodPut, to.String(), "application/octet-stream", data)
	return d
}

// manifest stores any manifest under a tag, or by its digest if tag is "".
func (r registry) manifest(repo, tag, mediaType string, manifest any) ocispec.Descriptor {
	r.t.Helper()
	data, ok := manifest.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(manifest); err != nil {
			r.t.Fatal(err)
		}
	}
	d := ocispec.Descriptor{MediaType: mediaType, Digest: sha(data), Size: int64(len(data))}
	if tag == "" {
		tag = string(d.Digest)
	}
	r.send(http.MethodPut, "http://"+r.s.Host+"/v2/"+repo+"/manifests/"+tag, mediaType, data)
	return d
}

func (r registry) send(method, at, mediaType string, data []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, at, bytes.NewReader(data))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", mediaType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		r.t.Fatalf("%s %s: %s", method, at, resp.Status)
	}
}

// archive writes files into a tar.gz without safety checks.
func archive(t testing.TB, files map[string]sourcetest.File) []byte {
	t.Helper()
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	tw := tar.NewWriter(zip)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(f.Data))}
		if f.Executable {
			h.Mode = 0o755
		}
		if f.Link != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, f.Link, 0
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if f.Link == "" {
			if _, err := tw.Write([]byte(f.Data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// below returns the files below a directory, by their paths there.
func below(files map[string]sourcetest.File, dir string) map[string]sourcetest.File {
	moved := make(map[string]sourcetest.File)
	for name, f := range files {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			moved[rest] = f
		}
	}
	return moved
}

func manifestOf(artifactType string, layers ...ocispec.Descriptor) ocispec.Manifest {
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, ArtifactType: artifactType, Layers: layers}
	m.SchemaVersion = 2
	m.Config = ocispec.DescriptorEmptyJSON
	return m
}
