package enterprise

import (
	"context"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// The types of a list in an OCI registry, and of its files.
const (
	ArtifactType  = "application/vnd.skillpm.enterprise.v1"
	mediaTypeFile = "application/vnd.skillpm.enterprise.file.v1"
)

// ociSource is a repository of an OCI registry. A release is a version tag whose manifest is signed.
type ociSource struct {
	ref      pack.Ref
	name     pack.ID
	oci      *oci.Client
	verifier *trust.Verifier
}

func (o ociSource) versions(ctx context.Context) ([]string, error) { return o.oci.Versions(ctx, o.ref) }

func (o ociSource) resolve(ctx context.Context, version string) (string, error) {
	ref := o.ref
	ref.Rev = version
	return o.oci.Pin(ctx, ref)
}

func (o ociSource) open(ctx context.Context, version, resolved string, required trust.Requirement) (*release, error) {
	ref := o.ref
	ref.Digest = resolved
	signers, err := o.verifier.Signers(ctx, &pack.Pack{ID: o.name, Version: version, Ref: ref}, nil, required)
	if err != nil {
		return nil, err
	}
	artifact := sync.OnceValues(func() (*oci.Artifact, error) {
		a, err := o.oci.Artifact(ctx, ref)
		if err == nil && a.Type != ArtifactType {
			err = diag.Errorf(diag.Invalid, "%s %s is not a fleet list: its type is %q",
				sourceText(o.ref), version, a.Type).
				WithHint("publish a list with: skillpm enterprise publish")
		}
		return a, err
	})
	return &release{
		source: sourceText(o.ref), name: o.name, version: version, resolved: resolved, signers: signers,
		read: func(name string) ([]byte, error) {
			a, err := artifact()
			if err != nil {
				return nil, err
			}
			for _, b := range a.Blobs {
				if b.MediaType == mediaTypeFile && b.Annotations[ocispec.AnnotationTitle] == name {
					return o.oci.ReadBlob(ctx, ref, b, maxFileSize)
				}
			}
			return nil, nil
		},
	}, nil
}
