package registry

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// artifacts is what a registry of OCI artifacts asks of their source.
type artifacts interface {
	Versions(ctx context.Context, ref source.Ref) ([]string, error)
	Open(ctx context.Context, ref source.Ref) (*source.Pack, error)
}

// place is a registry whose packs are found by where they are: a prefix of repositories, a layout, one repository.
type place struct {
	name string
	src  artifacts
	at   func(id source.ID) source.Ref

	versions memo[source.ID, []Version]
	packs    memo[release, *source.Pack]
}

// release is a version of a pack.
type release struct {
	id      source.ID
	version string
}

func newPlace(name string, src artifacts, at func(source.ID) source.Ref) *place {
	return &place{name: name, src: src, at: at}
}

// newRemotePlace is newPlace for what is not on this machine.
func newRemotePlace(name string, deps Deps, at func(source.ID) source.Ref) *place {
	if deps.Offline {
		return newPlace(name, nobody{}, at)
	}
	return newPlace(name, deps.OCI, at)
}

// Repository returns the OCI repository of a pack below a prefix: prefix/name where the prefix ends with the pack's
// owner, and prefix/owner/name elsewhere. Both are written oci://host/path.
func Repository(prefix string, id source.ID) string {
	prefix = strings.TrimRight(prefix, "/")
	_, namespace, _ := strings.Cut(strings.TrimPrefix(prefix, "oci://"), "/")
	if path.Base(namespace) == id.Owner {
		return prefix + "/" + id.Name
	}
	return prefix + "/" + id.Owner + "/" + id.Name
}

func (p *place) Name() string { return p.name }

// Versions lists tags and opens none of them.
func (p *place) Versions(ctx context.Context, id source.ID) ([]Version, error) {
	versions, err := p.versions.get(ctx, id, func(ctx context.Context) ([]Version, error) { return p.list(ctx, id) })
	return slices.Clone(versions), err
}

func (p *place) list(ctx context.Context, id source.ID) ([]Version, error) {
	ref := p.at(id)
	list, err := p.src.Versions(ctx, ref)
	if gone, ok := errors.AsType[*oci.NoDirectoryError](err); ok {
		return nil, diag.Errorf(diag.NotFound, "registry %s: there is no directory %s", p.name, gone.Dir).WithHint("look at registries and namespaces in skillpm.yaml")
	}
	if diag.CodeOf(err) == diag.NotFound || err == nil && len(list) == 0 {
		return nil, &NotFoundError{Pack: id, Registry: p.name}
	}
	if err != nil {
		return nil, err
	}
	versions := make([]Version, len(list))
	for i, v := range list {
		versions[i] = Version{Version: v, Source: ref.Source()}
	}
	return versions, nil
}

// Pack reads one manifest.
func (p *place) Pack(ctx context.Context, id source.ID, version string) (*source.Pack, error) {
	pack, err := p.packs.get(ctx, release{id, version}, func(ctx context.Context) (*source.Pack, error) { return p.open(ctx, id, version) })
	if err != nil {
		return nil, err
	}
	own := *pack // each caller has its own, as from an index
	return &own, nil
}

func (p *place) open(ctx context.Context, id source.ID, version string) (*source.Pack, error) {
	ref := p.at(id)
	ref.Rev = version
	pack, err := p.src.Open(ctx, ref)
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
	if pack.ID != id || pack.Version != version {
		return nil, diag.Errorf(diag.Integrity, "%s: what is published as %s@%s calls itself %s@%s", p.name, id, version, pack.ID, pack.Version).
			WithHint("it was published to the wrong place: ask its publisher")
	}
	return pack, nil
}
