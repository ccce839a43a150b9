package oci

import (
	"cmp"
	"context"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/pack"
)

// Provenance is where a version was published from. It is a referrer of the version and not part of it, so that equal
// content has an equal digest. Anybody who can push can state it; only a signed attestation is evidence.
type Provenance struct {
	Source   string // URL of the repository, "" if it has no public address
	Revision string // the commit
}

// Annotations returns the annotations that state the provenance in a referrer of any type. They are nil if there is no
// revision.
func (p Provenance) Annotations() map[string]string {
	if p.Revision == "" {
		return nil
	}
	notes := map[string]string{ocispec.AnnotationRevision: p.Revision}
	if p.Source != "" {
		notes[ocispec.AnnotationSource] = p.Source
	}
	return notes
}

// Provenance returns what a referrer states: the zero value if it has no revision.
func (a *Artifact) Provenance() Provenance {
	p := Provenance{
		Source:   oneLine(a.Annotations[ocispec.AnnotationSource]),
		Revision: oneLine(a.Annotations[ocispec.AnnotationRevision]),
	}
	if p.Revision == "" {
		return Provenance{}
	}
	return p
}

// firstProvenance returns the first provenance that referrers state, or the zero value.
func firstProvenance(referrers []*Artifact) (p Provenance) {
	for _, a := range referrers {
		p = cmp.Or(p, a.Provenance())
	}
	return p
}

// provenanceOf returns the provenance of the manifest with ref's digest, or the zero value.
func (c *Client) provenanceOf(ctx context.Context, p reader, ref pack.Ref) (Provenance, error) {
	list, err := c.referrersIn(ctx, p, ref, "")
	return firstProvenance(list), err
}

// subjectRef is the target of a release, pinned to a digest.
func (p *publisher) subjectRef(digest string) pack.Ref {
	ref := p.target
	ref.Rev, ref.Digest = "", digest
	return ref
}

// attachProvenance attaches the release's provenance, unless the version has one. That of its first publication stays:
// otherwise each run of a CI system would add another.
func (p *publisher) attachProvenance(ctx context.Context, doc document, pushed *Pushed) error {
	if pushed.Provenance != (Provenance{}) || p.options.Provenance.Revision == "" {
		return nil
	}
	pushed.Provenance = p.options.Provenance
	if _, isDryRun := p.dst.(dryRun); isDryRun {
		return nil
	}
	a := Artifact{Type: MediaTypeProvenance, Annotations: p.options.Provenance.Annotations()}
	_, err := putArtifact(ctx, p.dst, a, doc.subject())
	return err
}
