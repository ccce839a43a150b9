package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Formats of published packs. All have [AnnotationPack], so that a pack in another tool's format is resolved with one
// GET and installed in the same way.
const (
	FormatPack        = ""            // one manifest for all skills
	FormatAgentSkills = "agentskills" // an index of one artifact for each skill
	FormatFlux        = "flux"        // as flux-operator publishes skills
	FormatToolHive    = "toolhive"    // as ToolHive publishes a skill
	FormatImage       = "image"       // a container image whose root has a directory for each skill
)

// Formats returns the names of the formats except skillpm's own, which does not have a name.
func Formats() []string { return []string{FormatAgentSkills, FormatFlux, FormatToolHive, FormatImage} }

func checkFormat(name string) error {
	if name == FormatPack || slices.Contains(Formats(), name) {
		return nil
	}
	return diag.Errorf(diag.Usage, "unknown format %q", name).
		WithHint("use one of %s", strings.Join(Formats(), ", "))
}

// FormatOf returns the format of a manifest. A single skill looks the same in [FormatAgentSkills] as in [FormatPack],
// and counts as [FormatPack].
func FormatOf(manifest []byte) string {
	var m struct {
		ArtifactType string               `json:"artifactType"`
		Config       ocispec.Descriptor   `json:"config"`
		Manifests    []ocispec.Descriptor `json:"manifests"`
	}
	if json.Unmarshal(manifest, &m) != nil {
		return FormatPack
	}
	switch {
	case m.ArtifactType == MediaTypeCollection:
		return FormatAgentSkills
	case m.ArtifactType == mediaTypeToolHive:
		return FormatToolHive
	case m.Config.MediaType == mediaTypeFluxConfig:
		return FormatFlux
	case m.ArtifactType == "" && len(m.Manifests) > 0 && m.Manifests[0].Platform != nil:
		return FormatImage
	}
	return FormatPack
}

// storeJSON stores a configuration.
func (p *publisher) storeJSON(ctx context.Context, mediaType string, v any) (ocispec.Descriptor, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return ocispec.Descriptor{}, diag.Errorf(diag.Internal, "%w", err)
	}
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digestOf(data), Size: int64(len(data))}
	return d, p.dst.pushBlob(ctx, d, bytes.NewReader(data))
}

// imageConfig is the configuration of an image with one layer, which image tools expect.
type imageConfig struct {
	Created string `json:"created,omitempty"`
	ocispec.Platform
	Config ocispec.ImageConfig `json:"config"`
	RootFS ocispec.RootFS      `json:"rootfs"`
}

func rootFS(tarDigest string) ocispec.RootFS {
	return ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.Digest(tarDigest)}}
}

// flux stores a release as flux-operator does: an image manifest without an artifact type, whose layer has a directory
// for each skill.
func (p *publisher) flux(ctx context.Context, trees []bundle.Tree) (document, error) {
	layer, err := p.layer(ctx, trees)
	if err != nil {
		return document{}, err
	}
	layer.MediaType = mediaTypeFlux
	m := &ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Layers: []ocispec.Descriptor{layer}, Annotations: p.annotations(p.info),
	}
	if m.Config, err = p.storeJSON(ctx, mediaTypeFluxConfig,
		imageConfig{RootFS: rootFS(layer.Annotations[annotationTarDigest])}); err != nil {
		return document{}, err
	}
	return newDocument(m, ocispec.MediaTypeImageManifest)
}

// ToolHive's names for annotations of manifests and labels of configurations.
const (
	toolHiveName         = "dev.toolhive.skills.name"
	toolHiveDescription  = "dev.toolhive.skills.description"
	toolHiveVersion      = "dev.toolhive.skills.version"
	toolHiveAllowedTools = "dev.toolhive.skills.allowedTools"
	toolHiveLicense      = "dev.toolhive.skills.license"
	toolHiveFiles        = "dev.toolhive.skills.files"
)

// imageEpoch is the time at which every image was made, so that the same pack gives the same image.
const imageEpoch = "1970-01-01T00:00:00Z"

// toolHive stores a release as ToolHive does: an index with one manifest for each platform, all with the same layer,
// which is the skill.
func (p *publisher) toolHive(ctx context.Context, trees []bundle.Tree) (document, error) {
	if err := p.checkToolHive(trees); err != nil {
		return document{}, err
	}
	layer := ocispec.Descriptor{
		MediaType: ocispec.MediaTypeImageLayerGzip, Annotations: map[string]string{
			ocispec.AnnotationTitle: "skill.tar.gz",
		},
	}
	tarDigest, err := p.archive(ctx, &layer,
		func(w io.Writer) (string, error) { return bundle.WriteSingle(w, trees[0]) })
	if err != nil {
		return document{}, err
	}
	notes := p.annotations(p.info)
	meta := p.rel.meta(trees[0].Name)
	notes[ocispec.AnnotationCreated] = imageEpoch
	notes[toolHiveName], notes[toolHiveDescription], notes[toolHiveVersion] = meta.Name, meta.Description, p.rel.Version
	idx := ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex,
		ArtifactType: mediaTypeToolHive, Annotations: notes,
	}
	platforms := []ocispec.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
	labels := p.toolHiveLabels(meta, trees[0])
	return p.forPlatforms(ctx, idx, platforms, layer, imageConfig{RootFS: rootFS(tarDigest)}, labels)
}

// forPlatforms completes and stores an index with one image for each platform. All images have the same layer.
func (p *publisher) forPlatforms(ctx context.Context, idx ocispec.Index, platforms []ocispec.Platform,
	layer ocispec.Descriptor, config imageConfig, labels map[string]string,
) (document, error) {
	config.Created, config.Config.Labels = imageEpoch, labels
	for _, platform := range platforms {
		config.Platform = platform
		m := &ocispec.Manifest{
			Versioned: idx.Versioned, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: idx.ArtifactType,
			Layers: []ocispec.Descriptor{layer}, Annotations: idx.Annotations,
		}
		var err error
		if m.Config, err = p.storeJSON(ctx, ocispec.MediaTypeImageConfig, config); err != nil {
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
		member.Platform = &platform
		idx.Manifests = append(idx.Manifests, member)
	}
	return newDocument(idx, ocispec.MediaTypeImageIndex)
}

// imagePlatforms are those of Kubernetes nodes. The skills do not depend on the platform, but container engines accept
// only an image for theirs without a warning.
func imagePlatforms() []ocispec.Platform {
	var list []ocispec.Platform
	for _, architecture := range []string{"amd64", "arm64", "ppc64le", "riscv64", "s390x"} {
		list = append(list, ocispec.Platform{OS: "linux", Architecture: architecture})
	}
	return list
}

// image stores a release as a container image, which Kubernetes can mount as a volume. The layer has the bytes of
// [FormatPack]: the root of the image has a directory for each skill, which every user can read.
func (p *publisher) image(ctx context.Context, trees []bundle.Tree) (document, error) {
	layer, err := p.layer(ctx, trees)
	if err != nil {
		return document{}, err
	}
	layer.MediaType = ocispec.MediaTypeImageLayerGzip
	idx := ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex,
		Annotations: p.annotations(p.info),
	}
	labels := map[string]string{}
	for _, name := range []string{
		ocispec.AnnotationTitle, ocispec.AnnotationVersion, ocispec.AnnotationDescription, ocispec.AnnotationLicenses,
	} {
		if text := idx.Annotations[name]; text != "" {
			labels[name] = text
		}
	}
	config := imageConfig{RootFS: rootFS(layer.Annotations[annotationTarDigest])}
	return p.forPlatforms(ctx, idx, imagePlatforms(), layer, config, labels)
}

// checkToolHive fails if ToolHive could not install the pack.
func (p *publisher) checkToolHive(trees []bundle.Tree) error {
	if len(trees) != 1 {
		return diag.Errorf(diag.Invalid, "the ToolHive format allows one skill, but %s has %d", p.rel.ID, len(trees)).
			WithHint("publish each skill as a separate pack, or use another format")
	}
	r, ok := p.registry()
	if name := trees[0].Name; ok && path.Base(r.repo.Reference.Repository) != name {
		return diag.Errorf(diag.Invalid,
			"ToolHive installs the skill %s only from a repository with the name of the skill, not from %s",
			name, r.name).
			WithHint("publish the skill to oci://%s", path.Join(r.host, path.Dir(r.repo.Reference.Repository), name))
	}
	return nil
}

// registry returns the target registry, if the target is one.
func (p *publisher) registry() (*repository, bool) {
	dst := p.dst
	if d, ok := dst.(dryRun); ok {
		dst = d.readWriter
	}
	r, ok := dst.(*repository)
	return r, ok
}

func (p *publisher) toolHiveLabels(meta SkillMeta, t bundle.Tree) map[string]string {
	files, tools := make([]string, 0, len(t.Inventory)), append([]string{}, meta.AllowedTools...)
	for _, e := range t.Inventory {
		files = append(files, e.Path)
	}
	return map[string]string{
		toolHiveName: meta.Name, toolHiveDescription: meta.Description, toolHiveVersion: p.rel.Version,
		toolHiveLicense:      meta.License,
		toolHiveAllowedTools: canonical(tools), toolHiveFiles: canonical(files),
	}
}
