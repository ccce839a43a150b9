package registry

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
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

	mu       sync.Mutex
	versions map[source.ID][]Version
	packs    map[source.ID]map[string]*source.Pack
}

func newPlace(name string, src artifacts, at func(source.ID) source.Ref) *place {
	return &place{
		name: name, src: src, at: at,
		versions: make(map[source.ID][]Version),
		packs:    make(map[source.ID]map[string]*source.Pack),
	}
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

func (p *place) Versions(ctx context.Context, id source.ID) ([]Version, error) {
	p.mu.Lock()
	versions, ok := p.versions[id]
	p.mu.Unlock()
	if ok {
		return versions, nil
	}
	ref := p.at(id)
	list, err := p.src.Versions(ctx, ref)
	if diag.CodeOf(err) == diag.NotFound || err == nil && len(list) == 0 {
		return nil, &NotFoundError{Pack: id, Registry: p.name}
	}
	if err != nil {
		return nil, err
	}
	versions = make([]Version, len(list))
	for i, v := range list {
		versions[i] = Version{Version: v, Source: ref.Source()}
	}
	p.mu.Lock()
	p.versions[id] = versions
	p.mu.Unlock()
	return versions, nil
}

func (p *place) Pack(ctx context.Context, id source.ID, version string) (*source.Pack, error) {
	p.mu.Lock()
	pack, ok := p.packs[id][version]
	p.mu.Unlock()
	if ok {
		return pack, nil
	}
	pack, err := p.open(ctx, id, version)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.packs[id] == nil {
		p.packs[id] = make(map[string]*source.Pack)
	}
	p.packs[id][version] = pack
	return pack, nil
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
