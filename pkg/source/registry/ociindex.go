package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/internal/memo"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// ociIndexScheme marks an OCI repository that holds an index instead of packs below it. The user writes the scheme, so
// that a server's answer cannot change how names are resolved.
const ociIndexScheme = "index+oci://"

// DefaultTag is the tag of an index in an OCI repository if the address does not name one.
const DefaultTag = "latest"

// OCIIndex returns the repository of an index that is written index+oci://host/repo[:tag].
func OCIIndex(url string) (pack.Ref, error) {
	ref, err := pack.Parse(strings.TrimPrefix(url, "index+"))
	if err != nil || ref.Kind != pack.KindOCI || !strings.HasPrefix(url, ociIndexScheme) {
		return pack.Ref{}, diag.Errorf(diag.Usage, "invalid OCI index address %q", redacted(url)).
			WithHint("use index+oci://REGISTRY/REPOSITORY[:TAG]")
	}
	if ref.Rev == "" && ref.Digest == "" {
		ref.Rev = DefaultTag
	}
	return ref, nil
}

func openOCIIndex(name, url string, deps Deps) (Registry, error) {
	if deps.OCI == nil {
		return nil, diag.Errorf(diag.Internal, "registry %s: this build does not support OCI sources", name)
	}
	ref, err := OCIIndex(url)
	if err != nil {
		return nil, err
	}
	files := &ociFiles{
		ref: ref, client: deps.OCI, cache: cache{dir: deps.Cache}, recent: deps.Recent,
		offline: deps.Offline,
	}
	return newIndexRegistry(name, files, pack.Ref{}).on(strings.TrimPrefix(url, "index+"), deps.Named), nil
}

// ociFiles reads an index that is an OCI artifact: its manifest, and the blobs that it needs. It caches blobs by digest
// and fetches only changed ones.
type ociFiles struct {
	ref     pack.Ref
	client  *oci.Client
	cache   cache
	recent  *Recent
	offline bool

	found memo.Map[string, *artifact]
}

// artifact holds what the registry needs from the manifest.
type artifact struct {
	digest  string
	config  oci.Blob
	catalog oci.Blob
	shards  map[string]oci.Blob // by prefix
	feed    map[string]oci.Blob // the files of a feed of advisories, by path
	bits    int                 // the length of all prefixes
}

func (s *ociFiles) read(ctx context.Context, path string) ([]byte, error) {
	a, err := s.artifact(ctx)
	if err != nil {
		return nil, err
	}
	if path == index.ConfigPath {
		return s.blob(ctx, a, a.config, index.MaxBytes)
	}
	if slices.Contains(advisory.FeedFiles(), path) {
		return s.blob(ctx, a, a.feed[path], advisory.MaxFeedBytes)
	}
	id, err := index.IDAt(path)
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	shard, ok := a.shards[index.Prefix(id, a.bits)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	data, err := s.blob(ctx, a, shard, index.MaxShardBytes)
	if err != nil {
		return nil, err
	}
	data, err = index.ReadShard(bytes.NewReader(data), path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", s.ref, err)
	}
	return data, err
}

// artifact finds the manifest that the tag names now. It downloads the manifest only if it is not in the cache.
func (s *ociFiles) artifact(ctx context.Context) (*artifact, error) {
	return s.found.Get(ctx, "", func(ctx context.Context) (*artifact, error) {
		target := s.ref
		if target.Digest == "" {
			digest, err := s.pin(ctx)
			if err != nil {
				return nil, err
			}
			target.Digest = digest
		}
		raw, ok := s.cache.loadBlob(strings.TrimPrefix(target.Digest, "sha256:"))
		if !ok && s.offline {
			return nil, offlineError("the index " + s.ref.String())
		}
		if !ok {
			var err error
			if raw, _, err = s.client.Manifest(ctx, target); err != nil {
				return nil, err
			}
			s.cache.keep(raw)
		}
		a, err := parseIndexManifest(raw)
		if err != nil {
			return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", s.ref, err).WithHint("%s", diag.HintOf(err))
		}
		a.digest = target.Digest
		return a, nil
	})
}

// pin returns the digest that the tag names now, or the last known one when offline.
func (s *ociFiles) pin(ctx context.Context) (string, error) {
	key := "index+" + s.ref.String()
	if s.offline {
		note, ok := s.cache.load(key)
		if !ok {
			return "", offlineError("the index " + s.ref.String())
		}
		return string(note.Body), nil
	}
	digest, err := s.recent.read(ctx, key, func(ctx context.Context) ([]byte, error) {
		digest, err := s.client.Pin(ctx, s.ref)
		if note, ok := s.cache.load(key); err == nil && !(ok && string(note.Body) == digest) {
			s.cache.store(key, cached{Body: []byte(digest)})
		}
		return []byte(digest), err
	})
	return string(digest), err
}

// blob returns a blob of the artifact.
func (s *ociFiles) blob(ctx context.Context, a *artifact, b oci.Blob, limit int64) ([]byte, error) {
	if b.Digest == "" {
		return nil, fs.ErrNotExist
	}
	if data, ok := s.cache.loadBlob(strings.TrimPrefix(b.Digest, "sha256:")); ok {
		return data, nil
	}
	if s.offline {
		return nil, offlineError("the index " + s.ref.String())
	}
	target := s.ref
	target.Digest = a.digest
	data, err := s.client.ReadBlob(ctx, target, b, limit)
	if err != nil {
		return nil, err
	}
	s.cache.keep(data)
	return data, nil
}

// catalog returns the artifact's catalog. Its tag is its digest.
func (s *ociFiles) catalog(ctx context.Context) (func() (io.ReadCloser, error), string, error) {
	a, err := s.artifact(ctx)
	if err != nil {
		return nil, "", err
	}
	if a.catalog.Digest == "" {
		return nil, "", fs.ErrNotExist
	}
	digest := strings.TrimPrefix(a.catalog.Digest, "sha256:")
	if s.offline && !s.cache.has(digest) {
		return nil, "", offlineError("the index " + s.ref.String())
	}
	return func() (io.ReadCloser, error) {
		data, err := s.blob(ctx, a, a.catalog, index.MaxCatalogBytes)
		return io.NopCloser(bytes.NewReader(data)), err
	}, digest, nil
}

// parseIndexManifest reads the descriptors of an index's blobs.
func parseIndexManifest(raw []byte) (*artifact, error) {
	var m struct {
		ArtifactType string `json:"artifactType"`
		Layers       []struct {
			MediaType   string            `json:"mediaType"`
			Digest      string            `json:"digest"`
			Size        int64             `json:"size"`
			Annotations map[string]string `json:"annotations"`
		} `json:"layers"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, diag.Errorf(diag.Invalid, "the OCI manifest is not JSON: %v", err)
	}
	if m.ArtifactType != index.ArtifactType {
		return nil, diag.Errorf(diag.Invalid, "the artifact is not an index: it has the type %q", m.ArtifactType).
			WithHint("use oci:// without index+ for a repository with packs, or publish an index with: skillpm index publish")
	}
	if len(m.Layers) > index.MaxBlobs {
		return nil, diag.Errorf(diag.Invalid, "the index has %d blobs; the limit is %d", len(m.Layers), index.MaxBlobs)
	}
	a := &artifact{shards: make(map[string]oci.Blob, len(m.Layers)), feed: map[string]oci.Blob{}, bits: -1}
	for _, l := range m.Layers {
		b := oci.Blob{MediaType: l.MediaType, Digest: l.Digest, Size: l.Size}
		switch l.MediaType {
		case index.MediaTypeConfig:
			a.config = b
		case index.MediaTypeCatalog:
			a.catalog = b
		case index.MediaTypeAdvisories:
			a.feed[l.Annotations[ocispec.AnnotationTitle]] = b
		case index.MediaTypeShard:
			prefix := l.Annotations[index.AnnotationPrefix]
			_, twice := a.shards[prefix]
			if err := index.CheckPrefix(prefix); err != nil {
				return nil, err
			}
			switch {
			case twice:
				return nil, diag.Errorf(diag.Invalid, "the shard prefix %q is duplicated", prefix)
			case a.bits >= 0 && len(prefix) != a.bits:
				return nil, diag.Errorf(diag.Invalid, "the shards of the index have prefixes of different lengths")
			}
			a.bits, a.shards[prefix] = len(prefix), b
		}
	}
	a.bits = max(a.bits, 0)
	return a, nil
}
