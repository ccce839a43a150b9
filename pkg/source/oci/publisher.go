package oci

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// publisher writes one release.
type publisher struct {
	client  *Client
	rel     Release
	info    packInfo
	dst     readWriter
	target  pack.Ref
	options PushOptions
	copied  digest.Digest // of the manifest that is copied; "" if the release is new
}

// write stores everything of a release except its manifest, which is stored with its tag.
func (p *publisher) write(ctx context.Context, trees []bundle.Tree) (document, error) {
	switch p.options.Format {
	case FormatAgentSkills:
		if len(trees) > 1 { // a single skill does not need a format
			return p.collection(ctx, trees)
		}
	case FormatFlux:
		return p.flux(ctx, trees)
	case FormatToolHive:
		return p.toolHive(ctx, trees)
	case FormatImage:
		return p.image(ctx, trees)
	}
	m, err := p.manifest(ctx, trees, p.info)
	if err != nil {
		return document{}, err
	}
	return newDocument(m, ocispec.MediaTypeImageManifest)
}

// manifest stores the layer and the configuration of trees and returns their manifest.
func (p *publisher) manifest(ctx context.Context, trees []bundle.Tree, info packInfo) (*ocispec.Manifest, error) {
	layer, err := p.layer(ctx, trees)
	if err != nil {
		return nil, err
	}
	m := &ocispec.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageManifest,
		ArtifactType: MediaTypePack,
		Layers:       []ocispec.Descriptor{layer},
		Annotations:  p.annotations(info),
	}
	config, mediaType := []byte("{}"), ocispec.MediaTypeEmptyJSON
	if len(trees) == 1 {
		name := trees[0].Name
		m.ArtifactType, mediaType = MediaTypeSkill, MediaTypeSkillConfig
		m.Annotations[annotationSkillName] = name
		m.Annotations[ocispec.AnnotationTitle] = name
		if text := cmp.Or(p.rel.Description, p.rel.meta(name).Description); text != "" {
			m.Annotations[ocispec.AnnotationDescription] = text
		}
		if config, err = skillConfig(p.rel.meta(name), p.rel); err != nil {
			return nil, err
		}
	}
	m.Config = ocispec.Descriptor{MediaType: mediaType, Digest: digestOf(config), Size: int64(len(config))}
	return m, p.dst.pushBlob(ctx, m.Config, bytes.NewReader(config))
}

// annotations returns the annotations of a manifest. They must depend only on the content: where and when it was
// published is in referrers.
func (p *publisher) annotations(info packInfo) map[string]string {
	notes := map[string]string{
		AnnotationPack:                info.encode(),
		AnnotationSkills:              p.rel.describeSkills(info),
		AnnotationTags:                p.rel.describeTags(),
		ocispec.AnnotationTitle:       p.rel.ID.String(),
		ocispec.AnnotationVersion:     p.rel.Version,
		ocispec.AnnotationDescription: p.rel.Description,
		ocispec.AnnotationLicenses:    p.rel.License,
	}
	for key, value := range notes {
		if value == "" {
			delete(notes, key)
		}
	}
	return notes
}

// layer stores an archive of trees. Its title tells oras where to unpack: the directory of the only skill, or the
// directory that oras pulls into.
func (p *publisher) layer(ctx context.Context, trees []bundle.Tree) (ocispec.Descriptor, error) {
	d := ocispec.Descriptor{
		MediaType:   MediaTypeContent,
		Annotations: map[string]string{ocispec.AnnotationTitle: ".", annotationUnpack: "true"},
	}
	if len(trees) == 1 {
		d.Annotations[ocispec.AnnotationTitle] = trees[0].Name
	}
	tarDigest, err := p.archive(ctx, &d, func(w io.Writer) (string, error) { return bundle.WriteArchive(w, trees) })
	d.Annotations[annotationTarDigest] = tarDigest
	return d, err
}

// archive writes a layer to a temporary file, completes its descriptor, and stores it.
func (p *publisher) archive(ctx context.Context, d *ocispec.Descriptor, write func(io.Writer) (string, error)) (
	tarDigest string, err error,
) {
	f, err := os.CreateTemp("", "skillpm-layer-")
	if err != nil {
		return "", diag.Errorf(diag.Internal, "%w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	sum := sha256.New()
	if tarDigest, err = write(io.MultiWriter(f, sum)); err != nil {
		return "", err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", diag.Errorf(diag.Internal, "%w", err)
	}
	d.Digest, d.Size = digest.Digest("sha256:"+hex.EncodeToString(sum.Sum(nil))), size
	return tarDigest, p.dst.pushBlob(ctx, *d, f)
}

// collection stores one artifact for each skill, and their index. Each member has its own description and pack
// annotation, so that other tools show it and it can be installed alone.
func (p *publisher) collection(ctx context.Context, trees []bundle.Tree) (document, error) {
	idx := ocispec.Index{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageIndex,
		ArtifactType: MediaTypeCollection,
		Annotations:  p.annotations(p.info),
	}
	idx.Annotations[annotationCollectionName] = p.rel.ID.String()
	sorted := slices.SortedFunc(slices.Values(trees),
		func(a, b bundle.Tree) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range sorted {
		info := p.info
		info.Skills = map[string]string{t.Name: t.Inventory.Digest()}
		m, err := p.manifest(ctx, []bundle.Tree{t}, info)
		if err != nil {
			return document{}, err
		}
		doc, err := newDocument(m, ocispec.MediaTypeImageManifest)
		if err != nil {
			return document{}, err
		}
		if err := p.dst.pushDocument(ctx, doc, ""); err != nil {
			return document{}, err
		}
		member := doc.desc
		member.ArtifactType = MediaTypeSkill
		member.Annotations = map[string]string{annotationSkillName: t.Name, ocispec.AnnotationVersion: p.rel.Version}
		if text := p.rel.meta(t.Name).Description; text != "" {
			member.Annotations[ocispec.AnnotationDescription] = text
		}
		idx.Manifests = append(idx.Manifests, member)
	}
	return newDocument(idx, ocispec.MediaTypeImageIndex)
}

func newDocument(manifest any, mediaType string) (document, error) {
	raw, err := json.Marshal(manifest)
	if err != nil {
		return document{}, diag.Errorf(diag.Internal, "%w", err)
	}
	if len(raw) > maxManifest {
		return document{}, diag.Errorf(diag.Invalid, "the OCI manifest would be larger than %d bytes", maxManifest).
			WithHint("publish the skills as several packs")
	}
	return document{
		desc: ocispec.Descriptor{MediaType: mediaType, Digest: digestOf(raw), Size: int64(len(raw))},
		raw:  raw,
	}, nil
}
