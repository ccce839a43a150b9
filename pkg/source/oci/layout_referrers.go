package oci

import (
	"context"
	"encoding/json"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// referrers of a layout are among the manifests that its index.json lists; those with a reference name are versions.
func (l *layout) referrers(ctx context.Context, subject, artifactType string) ([]ocispec.Descriptor, error) {
	idx, err := l.index()
	if err != nil {
		return nil, err
	}
	var found []ocispec.Descriptor
	for _, d := range idx.Manifests {
		about := d.Annotations[annotationSubject]
		other := artifactType != "" && d.ArtifactType != "" && d.ArtifactType != artifactType || about != "" && about != subject
		if other || d.Annotations[ocispec.AnnotationRefName] != "" || d.MediaType != ocispec.MediaTypeImageManifest || checkDescriptor(d) != nil {
			continue
		}
		doc, err := l.document(ctx, string(d.Digest))
		if err != nil {
			return nil, err
		}
		var m struct {
			Subject struct {
				Digest string `json:"digest"`
			} `json:"subject"`
		}
		if json.Unmarshal(doc.raw, &m) == nil && m.Subject.Digest == subject {
			found = append(found, d)
		}
	}
	return found, nil
}

// attach stores a manifest about another and lists it.
func (l *layout) attach(ctx context.Context, doc document, m *ocispec.Manifest) error {
	if err := l.pushDocument(ctx, doc, ""); err != nil {
		return err
	}
	idx, err := l.index()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(idx.Manifests, func(d ocispec.Descriptor) bool {
		return d.Digest == doc.desc.Digest && d.Annotations[ocispec.AnnotationRefName] == ""
	}) {
		return nil
	}
	entry := referrerEntry(doc, m)
	// The manifest's annotations stay its own: in an index.json those of an entry say what to look for.
	entry.Annotations = map[string]string{annotationSubject: string(m.Subject.Digest)}
	idx.Manifests = append(idx.Manifests, entry)
	return l.writeIndex(idx)
}
