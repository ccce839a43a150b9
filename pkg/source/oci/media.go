package oci

import (
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Media and artifact types that skillpm writes.
const (
	// MediaTypeSkill is the artifact type of one skill, MediaTypeSkillConfig that of its configuration.
	MediaTypeSkill       = "application/vnd.agentskills.skill.v1"
	MediaTypeSkillConfig = "application/vnd.agentskills.skill.config.v1+json"
	// MediaTypeContent is the type of a layer that has a directory for each skill.
	MediaTypeContent = "application/vnd.agentskills.skill.content.v1.tar+gzip"
	// MediaTypePack is the artifact type of a pack of several skills.
	MediaTypePack = "application/vnd.skillpm.pack.v1"
	// MediaTypeCollection is the artifact type of an index of skill artifacts.
	MediaTypeCollection = "application/vnd.agentskills.collection.v1"
	// MediaTypeProvenance is the artifact type of a [Provenance] that is not signed.
	MediaTypeProvenance = "application/vnd.skillpm.provenance.v1"
	// MediaTypeStatus is the artifact type of a repository's [Status].
	MediaTypeStatus     = "application/vnd.skillpm.status.v1"
	MediaTypeStatusBlob = "application/vnd.skillpm.status.v1+json"
)

// Types of other tools.
const (
	mediaTypeFlux       = "application/vnd.cncf.flux.content.v1.tar+gzip" // flux-operator's layer and configuration
	mediaTypeFluxConfig = "application/vnd.cncf.flux.config.v1+json"
	mediaTypeToolHive   = "dev.toolhive.skills.v1" // ToolHive's artifact type; its layer is that of an image
)

// Annotations of manifests and layers.
const (
	// AnnotationPack describes the pack in canonical JSON: name, version, dependencies and skills' tree digests.
	AnnotationPack = "io.skillpm.pack.v1"

	// AnnotationList marks the list of an enterprise layer: JSON with name and version.
	AnnotationList = "io.skillpm.enterprise.v1"
	// AnnotationSkills has the skills' descriptions in canonical JSON, for display before a download. Two releases that
	// differ only in it have the same content.
	AnnotationSkills = "io.skillpm.skills.v1"

	// AnnotationTags has the pack's search terms, as a JSON list. Two releases that differ only in it have the same
	// content.
	AnnotationTags = "io.skillpm.tags.v1"

	// annotationSubject marks the referrers of a version in a layout's index.json, so that only those must be read.
	annotationSubject = "io.skillpm.subject"

	annotationSkillName = "io.agentskills.skill.name"
	// in collections, the repository that a skill was published to
	annotationSkillRef       = "io.agentskills.skill.ref"
	annotationCollectionName = "io.agentskills.collection.name"
	annotationUnpack         = "io.deis.oras.content.unpack"
	annotationTarDigest      = "io.deis.oras.content.digest"
)

// isContent reports whether a layer of the given type holds skills.
func isContent(mediaType string) bool {
	switch mediaType {
	case MediaTypeContent, mediaTypeFlux, ocispec.MediaTypeImageLayerGzip, ocispec.MediaTypeImageLayer:
		return true
	}
	kind, isTar := strings.CutSuffix(strings.TrimSuffix(mediaType, "+gzip"), "tar") // v1.tar+gzip, v1.tar, v1+tar
	return isTar && kind != "" && (strings.HasPrefix(kind, "application/vnd.cncf.skill.") || strings.HasPrefix(kind,
		"application/vnd.redhat.agentskill."))
}
