package registry

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/internal/memo"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// artifacts are the operations that an OCI registry needs from its source.
type artifacts interface {
	Listing(ctx context.Context, ref pack.Ref) ([]string, oci.Status, error)
	Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error)
}

// ociRegistry is a registry of OCI artifacts: the repositories below a prefix, an image layout, or one repository.
type ociRegistry struct {
	name  string
	src   artifacts
	refOf func(id pack.ID) pack.Ref

	versions memo.Map[pack.ID, []Version]
	packs    memo.Map[release, *pack.Pack]
}

// release is a version of a pack.
type release struct {
	id      pack.ID
	version string
}

func newOCIRegistry(name string, src artifacts, refOf func(pack.ID) pack.Ref) *ociRegistry {
	return &ociRegistry{name: name, src: src, refOf: refOf}
}

// newRemoteRegistry is newOCIRegistry for artifacts that are not on this machine.
func newRemoteRegistry(name string, deps Deps, refOf func(pack.ID) pack.Ref) *ociRegistry {
	if deps.Offline {
		return newOCIRegistry(name, authorizedArtifacts{offlineArtifacts{}, deps.Authorize}, refOf)
	}
	return newOCIRegistry(name, authorizedArtifacts{deps.OCI, deps.Authorize}, refOf)
}

// authorizedArtifacts checks each source with an [Authorize] function before it uses it.
type authorizedArtifacts struct {
	artifacts
	authorize Authorize
}

// Listing lists the versions of a source, if the source is authorized.
func (g authorizedArtifacts) Listing(ctx context.Context, ref pack.Ref) (list []string, status oci.Status, err error) {
	if g.authorize != nil {
		if ctx, err = g.authorize(ctx, ref); err != nil {
			return nil, status, err
		}
	}
	return g.artifacts.Listing(ctx, ref)
}

// Open describes the pack at a source, if the source is authorized.
func (g authorizedArtifacts) Open(ctx context.Context, ref pack.Ref) (p *pack.Pack, err error) {
	if g.authorize != nil {
		if ctx, err = g.authorize(ctx, ref); err != nil {
			return nil, err
		}
	}
	return g.artifacts.Open(ctx, ref)
}

// Repository returns the OCI repository of a pack below a prefix: prefix/name if the prefix ends with the pack's owner,
// otherwise prefix/owner/name. A prefix that ends with owner/name is the repository itself. All are written
// oci://host/path.
func Repository(prefix string, id pack.ID) string {
	prefix = strings.TrimRight(prefix, "/")
	_, namespace, _ := strings.Cut(strings.TrimPrefix(prefix, "oci://"), "/")
	switch {
	case strings.HasSuffix("/"+namespace, "/"+id.String()):
		return prefix
	case path.Base(namespace) == id.Owner:
		return prefix + "/" + id.Name
	}
	return prefix + "/" + id.Owner + "/" + id.Name
}

func (p *ociRegistry) Name() string { return p.name }

// Versions lists tags and opens only the one that records yanked versions.
func (p *ociRegistry) Versions(ctx context.Context, id pack.ID) ([]Version, error) {
	versions, err := p.versions.Get(ctx, id, func(ctx context.Context) ([]Version, error) { return p.list(ctx, id) })
	return slices.Clone(versions), err
}

func (p *ociRegistry) list(ctx context.Context, id pack.ID) ([]Version, error) {
	ref := p.refOf(id)
	list, status, err := p.src.Listing(ctx, ref)
	if missing, ok := errors.AsType[*oci.NoDirectoryError](err); ok {
		return nil, diag.Errorf(diag.NotFound, "registry %s: directory %s does not exist", p.name, missing.Dir).
			WithHint("check registries and namespaces in skillpm.yaml")
	}
	if diag.CodeOf(err) == diag.NotFound || err == nil && len(list) == 0 {
		return nil, &NotFoundError{Pack: id, Registry: p.name}
	}
	if err != nil {
		return nil, err
	}
	versions := make([]Version, len(list))
	for i, v := range list {
		reason, yanked := status.Yanked[v]
		versions[i] = Version{
			Version: v, Source: ref.Source(), Yanked: yanked, Reason: reason,
			Deprecated: status.Deprecated,
		}
	}
	return versions, nil
}

// Pack reads one manifest.
func (p *ociRegistry) Pack(ctx context.Context, id pack.ID, version string) (*pack.Pack, error) {
	pk, err := p.packs.Get(ctx, release{id, version},
		func(ctx context.Context) (*pack.Pack, error) { return p.open(ctx, id, version) })
	if err != nil {
		return nil, err
	}
	own := *pk // callers may change their copy
	return &own, nil
}

func (p *ociRegistry) open(ctx context.Context, id pack.ID, version string) (*pack.Pack, error) {
	ref := p.refOf(id)
	ref.Rev = version
	pk, err := p.src.Open(ctx, ref)
	if diag.CodeOf(err) == diag.NotFound {
		versions, listErr := p.Versions(ctx, id)
		if none, ok := errors.AsType[*NotFoundError](listErr); ok {
			return nil, none
		}
		return nil, noVersion(p.name, id, version, versions)
	}
	if err != nil {
		return nil, err
	}
	if pk.ID != id || pk.Version != version {
		return nil, diag.Errorf(diag.Integrity, "%[1]s contains the pack %[4]s@%[5]s under the name %[2]s@%[3]s",
			p.name, id,
			version, pk.ID, pk.Version).
			WithHint("report the mismatch to the publisher: the pack is in the wrong repository")
	}
	return pk, nil
}
