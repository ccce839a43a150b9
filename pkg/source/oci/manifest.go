package oci

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Limits for untrusted documents.
const (
	maxManifest = 4 << 20  // bytes of a manifest, the limit of most registries
	maxLayers   = 32       // layers of a manifest
	maxMembers  = 10_000   // manifests of a collection
	maxIndex    = 64 << 20 // bytes of a layout's index.json
)

// document is the bytes of a manifest or index, verified against their descriptor.
type document struct {
	desc ocispec.Descriptor
	raw  []byte
}

// artifact is a parsed and checked manifest or index.
type artifact struct {
	document
	manifest ocispec.Manifest     // of a single artifact
	members  []ocispec.Descriptor // of an index
	kind     string               // artifact type
	notes    map[string]string    // annotations
	info     *packInfo            // nil if another tool wrote it
}

// anyManifest has the fields of manifests and indexes, and those that only hostile documents mix.
type anyManifest struct {
	ocispec.Manifest
	Manifests []ocispec.Descriptor `json:"manifests"`
	Signed    json.RawMessage      `json:"signatures"` // Docker schema 1
	FSLayers  json.RawMessage      `json:"fsLayers"`   // Docker schema 1
}

// parseArtifact reads and checks a document.
func parseArtifact(doc document) (*artifact, error) {
	var m anyManifest
	if err := json.Unmarshal(doc.raw, &m); err != nil {
		return nil, diag.Errorf(diag.Invalid, "the OCI manifest is not JSON: %v", err)
	}
	const hint = "ask the publisher to publish the pack again with: skillpm publish"
	switch {
	case m.SchemaVersion != 2:
		return nil, diag.Errorf(diag.Invalid, "the OCI manifest has schema version %d instead of 2", m.SchemaVersion).
			WithHint(hint)
	case m.FSLayers != nil || m.Signed != nil:
		return nil, diag.Errorf(diag.Invalid, "the OCI manifest has fields of schema version 1").WithHint(hint)
	}
	kind := m.MediaType
	if kind == "" {
		kind = doc.desc.MediaType
	}
	if doc.desc.MediaType != "" && kind != doc.desc.MediaType {
		return nil, diag.Errorf(diag.Invalid, "the OCI manifest has the media type %q, but the source reports %q",
			kind, doc.desc.MediaType)
	}
	a := &artifact{document: doc, kind: m.ArtifactType, notes: m.Annotations}
	var err error
	switch {
	case kind == ocispec.MediaTypeImageManifest && m.Manifests == nil:
		a.manifest = m.Manifest
		err = a.checkManifest()
	case kind == ocispec.MediaTypeImageIndex && m.Layers == nil && m.Config.Digest == "":
		a.members = m.Manifests
		err = a.checkIndex()
	default:
		err = diag.Errorf(diag.Invalid, "the OCI manifest has an unsupported format (media type %q)", kind)
	}
	if err != nil {
		return nil, err
	}
	if text, ok := a.notes[AnnotationPack]; ok {
		a.info, err = parsePackInfo(text)
	}
	return a, err
}

func (a *artifact) checkManifest() error {
	if a.kind == "" {
		a.kind = a.manifest.Config.MediaType
	}
	most := maxLayers
	if a.kind == index.ArtifactType {
		most = index.MaxBlobs
	}
	if n := len(a.manifest.Layers); n > most {
		return diag.Errorf(diag.Invalid, "the OCI manifest has %d layers; the limit is %d", n, most)
	}
	for _, d := range slices.Concat([]ocispec.Descriptor{a.manifest.Config}, a.manifest.Layers) {
		if err := checkDescriptor(d); err != nil {
			return err
		}
	}
	return nil
}

func (a *artifact) checkIndex() error {
	switch n := len(a.members); {
	case n == 0:
		return diag.Errorf(diag.Invalid, "the OCI index is empty")
	case n > maxMembers:
		return diag.Errorf(diag.Invalid, "the OCI index lists %d artifacts; the limit is %d", n, maxMembers)
	}
	for _, d := range a.members {
		if err := checkDescriptor(d); err != nil {
			return err
		}
		if d.MediaType != ocispec.MediaTypeImageManifest {
			return diag.Errorf(diag.Invalid,
				"the OCI index lists content of the type %q; only OCI manifests are allowed", d.MediaType)
		}
	}
	return nil
}

// mediaTypeOf returns the media type of a manifest, or the one that its fields imply.
func mediaTypeOf(raw []byte) string {
	var m struct {
		MediaType string          `json:"mediaType"`
		Manifests json.RawMessage `json:"manifests"`
	}
	_ = json.Unmarshal(raw, &m) // parsed before
	switch {
	case m.MediaType != "":
		return m.MediaType
	case m.Manifests != nil:
		return ocispec.MediaTypeImageIndex
	}
	return ocispec.MediaTypeImageManifest
}

// isIndex reports whether the artifact is an index of other artifacts.
func (a *artifact) isIndex() bool { return a.members != nil }

// layer returns the only layer that holds skills.
func (a *artifact) layer() (ocispec.Descriptor, error) {
	var found []ocispec.Descriptor
	for _, d := range a.manifest.Layers {
		if isContent(d.MediaType) {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		return ocispec.Descriptor{}, diag.Errorf(diag.Invalid,
			"the artifact has %d layers with skills instead of one (type %q)", len(found), a.kind).
			WithHint("use a pack, an Agent Skills artifact, or a collection")
	}
	return found[0], nil
}

// checkDescriptor rejects descriptors that are unsafe to follow.
func checkDescriptor(d ocispec.Descriptor) error {
	switch {
	case !pack.IsDigest(string(d.Digest)):
		return diag.Errorf(diag.Invalid, "invalid digest %q: use sha256: and 64 hexadecimal digits", d.Digest)
	case d.Size < 0:
		return diag.Errorf(diag.Invalid, "the OCI manifest lists %s with the invalid size %d", d.Digest, d.Size)
	case len(d.URLs) > 0:
		return diag.Errorf(diag.Denied, "skillpm does not download %s from an external URL", d.Digest)
	case d.Data != nil && (int64(len(d.Data)) != d.Size || digestOf(d.Data) != d.Digest):
		return &bundle.MismatchError{
			What: "data in the OCI manifest", Want: string(d.Digest),
			Got: string(digestOf(d.Data)),
		}
	}
	return nil
}

func checkTree(s string) error {
	if d, ok := strings.CutPrefix(s, "t1:"); !ok || !pack.IsDigest(d) {
		return diag.Errorf(diag.Invalid, "invalid tree digest %q", s)
	}
	return nil
}

func checkSkillName(name string) error {
	if !skill.LegalName(name) {
		return diag.Errorf(diag.Invalid, "invalid skill name %q", name)
	}
	return nil
}

func digestOf(data []byte) digest.Digest {
	return digest.Digest("sha256:" + textx.SHA256(data))
}
