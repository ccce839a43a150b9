package oci

import (
	"bytes"
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

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/index"
	"github.com/skillpm/skillpm/pkg/source"
)

// Release is what is said about a version that is published.
type Release struct {
	ID           source.ID
	Version      string // strict semver without build metadata; it becomes the tag
	Description  string
	License      string
	Dependencies []source.Dependency // by name only
	SourceURL    string              // where the pack's source is, "" if it does not say
	Revision     string              // the source's revision, "" if it does not say
	Skills       []SkillMeta         // one for each tree
	Collection   bool                // write an index of one artifact a skill, for other tools
}

// SkillMeta is what is said about one skill.
type SkillMeta struct {
	Name          string
	Description   string
	License       string
	Compatibility string
	AllowedTools  []string
	Metadata      map[string]string
}

// Pushed says what publishing did.
type Pushed struct {
	Digest  string // of the manifest, as a registry would lock it
	Existed bool   // the same content was published before; nothing was written
}

// Push publishes trees as a version of a pack at target, under the version as tag. A version that is there with the same
// content is left as it is; with other content it is a [ConflictError], and nothing is replaced.
func (c *Client) Push(ctx context.Context, target source.Ref, rel Release, trees []bundle.Tree) (Pushed, error) {
	info, err := rel.info(trees)
	if err != nil {
		return Pushed{}, err
	}
	if target.Kind != source.KindOCI && target.ID.IsZero() {
		target.ID = rel.ID
	}
	to, err := c.open(ctx, target)
	if err != nil {
		return Pushed{}, err
	}
	end, err := to.begin(ctx)
	if err != nil {
		return Pushed{}, err
	}
	defer end()
	if done, err := published(ctx, to, target, rel, info); err != nil || done.Existed {
		return done, err
	}
	p := &publisher{rel: rel, info: info, to: to}
	doc, err := p.write(ctx, trees)
	if err != nil {
		return Pushed{}, err
	}
	return Pushed{Digest: string(doc.desc.Digest)}, nil
}

// published looks for the version at its target.
func published(ctx context.Context, to place, target source.Ref, rel Release, info packInfo) (Pushed, error) {
	doc, err := to.document(ctx, rel.Version)
	if diag.CodeOf(err) == diag.NotFound {
		return Pushed{}, nil
	}
	if err != nil {
		return Pushed{}, err
	}
	a, err := parseArtifact(doc)
	if err != nil || a.info == nil || a.info.encode() != info.encode() {
		return Pushed{}, &ConflictError{Pack: rel.ID, Version: rel.Version, Place: trimVersion(target), Digest: string(doc.desc.Digest)}
	}
	return Pushed{Digest: string(doc.desc.Digest), Existed: true}, nil
}

// info checks a release against its trees and describes it.
func (rel *Release) info(trees []bundle.Tree) (packInfo, error) {
	if err := index.CheckVersion(rel.Version); err != nil {
		return packInfo{}, err
	}
	deps, err := index.NewDependencies(rel.Dependencies)
	if err != nil {
		return packInfo{}, err
	}
	info := packInfo{Name: rel.ID.String(), Version: rel.Version, Dependencies: deps, Skills: make(map[string]string, len(trees))}
	for _, t := range trees {
		if err := checkSkillName(t.Name); err != nil {
			return packInfo{}, err
		}
		if _, dup := info.Skills[t.Name]; dup {
			return packInfo{}, diag.Errorf(diag.Invalid, "%s has two skills named %s", rel.ID, t.Name)
		}
		if !slices.ContainsFunc(rel.Skills, func(m SkillMeta) bool { return m.Name == t.Name }) {
			return packInfo{}, diag.Errorf(diag.Internal, "the release says nothing about the skill %s", t.Name)
		}
		info.Skills[t.Name] = t.Inventory.Digest()
	}
	if len(trees) == 0 || len(rel.Skills) != len(trees) {
		return packInfo{}, diag.Errorf(diag.Invalid, "%s has %d skills and describes %d", rel.ID, len(trees), len(rel.Skills))
	}
	return info, nil
}

func (rel *Release) meta(name string) SkillMeta {
	i := slices.IndexFunc(rel.Skills, func(m SkillMeta) bool { return m.Name == name })
	return rel.Skills[i]
}

// publisher writes one release.
type publisher struct {
	rel  Release
	info packInfo
	to   writable
}

// write stores a release and tags it.
func (p *publisher) write(ctx context.Context, trees []bundle.Tree) (document, error) {
	if p.rel.Collection {
		return p.collection(ctx, trees)
	}
	m, err := p.manifest(ctx, trees, p.info)
	if err != nil {
		return document{}, err
	}
	doc, err := newDocument(m, ocispec.MediaTypeImageManifest)
	if err != nil {
		return document{}, err
	}
	return doc, p.to.pushDocument(ctx, doc, p.rel.Version)
}

// manifest stores the layer and the configuration of trees and returns the manifest over them.
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
		if m.Annotations[ocispec.AnnotationDescription] == "" && p.rel.meta(name).Description != "" {
			m.Annotations[ocispec.AnnotationDescription] = p.rel.meta(name).Description
		}
		if config, err = skillConfig(p.rel.meta(name), p.rel); err != nil {
			return nil, err
		}
	}
	m.Config = ocispec.Descriptor{MediaType: mediaType, Digest: digestOf(config), Size: int64(len(config))}
	return m, p.to.pushBlob(ctx, m.Config, bytes.NewReader(config))
}

func (p *publisher) annotations(info packInfo) map[string]string {
	notes := map[string]string{
		AnnotationPack:                info.encode(),
		AnnotationSkills:              p.rel.describeSkills(info),
		ocispec.AnnotationTitle:       p.rel.ID.String(),
		ocispec.AnnotationVersion:     p.rel.Version,
		ocispec.AnnotationDescription: p.rel.Description,
		ocispec.AnnotationLicenses:    p.rel.License,
		ocispec.AnnotationSource:      p.rel.SourceURL,
		ocispec.AnnotationRevision:    p.rel.Revision,
	}
	for key, value := range notes {
		if value == "" {
			delete(notes, key)
		}
	}
	return notes
}

// layer archives trees into a temporary file, stores it, and returns its descriptor. The title tells oras where to
// unpack: the one skill's directory, or the directory that it pulls into.
func (p *publisher) layer(ctx context.Context, trees []bundle.Tree) (ocispec.Descriptor, error) {
	f, err := os.CreateTemp("", "skillpm-layer-")
	if err != nil {
		return ocispec.Descriptor{}, diag.Errorf(diag.Internal, "%w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	sum := sha256.New()
	tarDigest, err := bundle.WriteArchive(io.MultiWriter(f, sum), trees)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return ocispec.Descriptor{}, diag.Errorf(diag.Internal, "%w", err)
	}
	title := "."
	if len(trees) == 1 {
		title = trees[0].Name
	}
	d := ocispec.Descriptor{
		MediaType: MediaTypeContent,
		Digest:    digest.Digest("sha256:" + hex.EncodeToString(sum.Sum(nil))),
		Size:      size,
		Annotations: map[string]string{
			ocispec.AnnotationTitle: title,
			annotationUnpack:        "true",
			annotationTarDigest:     tarDigest,
		},
	}
	return d, p.to.pushBlob(ctx, d, f)
}

// collection stores one artifact a skill and an index of them. The members have the skill's own description, so other
// tools show it, and a pack annotation of their own, so they install by themselves.
func (p *publisher) collection(ctx context.Context, trees []bundle.Tree) (document, error) {
	idx := ocispec.Index{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageIndex,
		ArtifactType: MediaTypeCollection,
		Annotations:  p.annotations(p.info),
	}
	idx.Annotations[annotationCollectionName] = p.rel.ID.String()
	sorted := slices.SortedFunc(slices.Values(trees), func(a, b bundle.Tree) int { return strings.Compare(a.Name, b.Name) })
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
		if err := p.to.pushDocument(ctx, doc, ""); err != nil {
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
	doc, err := newDocument(idx, ocispec.MediaTypeImageIndex)
	if err != nil {
		return document{}, err
	}
	return doc, p.to.pushDocument(ctx, doc, p.rel.Version)
}

func newDocument(manifest any, mediaType string) (document, error) {
	raw, err := json.Marshal(manifest)
	if err != nil {
		return document{}, diag.Errorf(diag.Internal, "%w", err)
	}
	if len(raw) > maxManifest {
		return document{}, diag.Errorf(diag.Invalid, "the manifest would be larger than %d bytes", maxManifest).
			WithHint("publish the skills as several packs")
	}
	return document{desc: ocispec.Descriptor{MediaType: mediaType, Digest: digestOf(raw), Size: int64(len(raw))}, raw: raw}, nil
}

// skillConfig is the configuration of the Agent Skills artifact.
func skillConfig(m SkillMeta, rel Release) ([]byte, error) {
	return json.Marshal(struct {
		SchemaVersion string            `json:"schemaVersion"`
		Name          string            `json:"name"`
		Version       string            `json:"version"`
		Description   string            `json:"description,omitempty"`
		License       string            `json:"license,omitempty"`
		Compatibility string            `json:"compatibility,omitempty"`
		AllowedTools  []string          `json:"allowedTools,omitempty"`
		Metadata      map[string]string `json:"metadata,omitempty"`
	}{"1", m.Name, rel.Version, m.Description, m.License, m.Compatibility, m.AllowedTools, m.Metadata})
}
