package oci

import (
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Media and artifact types that are written.
const (
	// MediaTypeSkill is the artifact type of one skill, MediaTypeSkillConfig that of its configuration.
	MediaTypeSkill       = "application/vnd.agentskills.skill.v1"
	MediaTypeSkillConfig = "application/vnd.agentskills.skill.config.v1+json"
	// MediaTypeContent is the type of a layer with skills, each below a directory with its name.
	MediaTypeContent = "application/vnd.agentskills.skill.content.v1.tar+gzip"
	// MediaTypePack is the artifact type of a pack of several skills.
	MediaTypePack = "application/vnd.skillpm.pack.v1"
	// MediaTypeCollection is the artifact type of an index of skill artifacts.
	MediaTypeCollection = "application/vnd.agentskills.collection.v1"
	// MediaTypeStatus is the artifact type of what a repository says about its versions.
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

	// AnnotationList says of the list of an enterprise layer what it is: JSON of name and version.
	AnnotationList = "io.skillpm.enterprise.v1"
	// AnnotationSkills has the skills' descriptions in canonical JSON, so that they can be shown before anything is
	// downloaded. It is not part of what makes two releases the same.
	AnnotationSkills = "io.skillpm.skills.v1"

	// AnnotationTags has the words that a pack is found by, as a JSON list. It is not part of what makes two releases
	// the same.
	AnnotationTags = "io.skillpm.tags.v1"

	// annotationSubject stands in a layout's index.json beside what is about a version, so that not everything has to
	// be read.
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
