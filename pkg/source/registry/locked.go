package registry

import (
	"context"
	"errors"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// locked finds the registry that answers for a pack at the place where it is locked: the one that says it is there, or,
// where no configured one does any more, the place itself.
func (s *Set) locked(ctx context.Context, id pack.ID, source string) (Registry, error) {
	enforced, isEnforced := s.config.Enforced[id.Owner]
	if source == Local || source == Embedded {
		if isEnforced && enforced != source {
			return nil, otherSourceError(id, source, enforced)
		}
		return s.enforced(ctx, id, source)
	}
	candidates, err := s.lockedCandidates(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, r := range candidates {
		if p, ok := asOCIRegistry(r); ok && p.refOf(id).Source() == source {
			return r, nil
		}
	}
	for _, r := range candidates {
		if _, ok := asOCIRegistry(r); ok {
			continue
		}
		versions, err := r.Versions(ctx, id)
		if _, none := errors.AsType[*NotFoundError](err); none {
			continue
		}
		if err != nil {
			return nil, err
		}
		if matching := versionsFrom(versions, source); len(matching) > 0 {
			return &sourceFilter{Registry: r, source: source}, nil
		}
	}
	if isEnforced {
		return nil, otherSourceError(id, source, enforced)
	}
	return s.lockedSource(id, source)
}

// otherSourceError reports that a pack is locked to another source than the one that the enterprise has bound its owner
// to. A lockfile must not override that binding.
func otherSourceError(id pack.ID, source, enforced string) error {
	return diag.Errorf(diag.Denied, "%s is locked to %s, and the machine's administrator bound %s to %s", id, source,
		id.Owner, enforced).
		WithHint("remove the pack and install it again from there")
}

// lockedCandidates are the registries that may know the place: the one that the name is bound to, else all.
func (s *Set) lockedCandidates(ctx context.Context, id pack.ID) ([]Registry, error) {
	if bound, ok := s.binding(id); ok {
		r, err := s.registry(ctx, bound)
		return []Registry{r}, err
	}
	var list []Registry
	for _, named := range s.config.Registries {
		r, err := s.registry(ctx, named.URL)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// lockedSource makes a registry of the one repository or layout that a lock records.
func (s *Set) lockedSource(id pack.ID, source string) (Registry, error) {
	const anyDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	ref, err := pack.ParseLocked(source, anyDigest, id)
	if err == nil && (ref.Kind == pack.KindOCI || ref.Kind == pack.KindLayout && ref.URL != "") && s.deps.OCI != nil {
		ref.Digest = ""
		refOf := func(pack.ID) pack.Ref { return ref }
		if ref.Kind == pack.KindOCI {
			return newRemoteRegistry(source, s.deps, refOf), nil
		}
		return newOCIRegistry(source, s.deps.OCI, refOf), nil
	}
	return nil, diag.Errorf(diag.NotFound, "%s is locked to %s, which no configured registry knows", id, source).
		WithHint("configure the registry that it came from, or remove the pack and install it again")
}

// sourceFilter is a registry of which only the versions at one place count.
type sourceFilter struct {
	Registry
	source string
}

// Versions returns the versions that are at the place.
func (p *sourceFilter) Versions(ctx context.Context, id pack.ID) ([]Version, error) {
	versions, err := p.Registry.Versions(ctx, id)
	if err != nil {
		return nil, err
	}
	matching := versionsFrom(versions, p.source)
	if len(matching) == 0 {
		return nil, &NotFoundError{Pack: id, Registry: p.Name()}
	}
	return matching, nil
}

// Pack returns a version that is at the place.
func (p *sourceFilter) Pack(ctx context.Context, id pack.ID, version string) (*pack.Pack, error) {
	pk, err := p.Registry.Pack(ctx, id, version)
	if err != nil {
		return nil, err
	}
	if source := pk.Ref.Source(); source != p.source {
		return nil, diag.Errorf(diag.Conflict, "%s@%s is at %s now, and %s is locked to %s", id, version, source, id,
			p.source).
			WithHint("remove the pack and install it again if the move is meant")
	}
	return pk, nil
}

func versionsFrom(versions []Version, source string) []Version {
	var matching []Version
	for _, v := range versions {
		if v.Source == source {
			matching = append(matching, v)
		}
	}
	return matching
}
