package registry

import (
	"context"
	"errors"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// locked finds the registry for a locked pack: a configured one that offers the pack from the locked source, or
// otherwise the locked source itself.
func (s *Set) locked(ctx context.Context, id pack.ID, source string) (Registry, error) {
	enforced, isEnforced := s.config.Enforced[id.Owner]
	if source == Local || source == Embedded {
		if isEnforced && enforced != source {
			return nil, otherSourceError(id, source, enforced)
		}
		return s.only(ctx, id, source, "publish "+id.String()+" to the registry "+source+" again, or "+moveHint(id))
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

// moveHint says how to take a locked pack from elsewhere. Its content is still compared with the lock.
func moveHint(id pack.ID) string {
	return "move the pack with: skillpm update " + id.String() + " --registry REGISTRY"
}

// otherSourceError reports that a pack is locked to another source than the one to which the enterprise binds its
// owner. A lockfile must not override that binding.
func otherSourceError(id pack.ID, source, enforced string) error {
	return diag.Errorf(diag.Denied, "%s is locked to %s, but the administrator of this machine bound %s to %s", id,
		source,
		id.Owner, enforced).
		WithHint("move the pack with: skillpm update %s", id)
}

// lockedCandidates returns the registries that may offer the locked source: the one that the name is bound to,
// otherwise all.
func (s *Set) lockedCandidates(ctx context.Context, id pack.ID) ([]Registry, error) {
	bound, ok, err := s.binding(id)
	if err != nil {
		return nil, err
	}
	if ok {
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

// lockedSource makes a registry of the one repository or layout that a lockfile records.
func (s *Set) lockedSource(id pack.ID, source string) (Registry, error) {
	const anyDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	ref, err := pack.ParseLocked(source, anyDigest, id)
	if err == nil && pack.IsHub(ref.Kind) && s.deps.Hub != nil {
		ref.Digest = ""
		return newHubRegistry(source, s.deps, func(pack.ID) pack.Ref { return ref }), nil
	}
	if err == nil && (ref.Kind == pack.KindOCI || ref.Kind == pack.KindLayout && ref.URL != "") && s.deps.OCI != nil {
		ref.Digest = ""
		refOf := func(pack.ID) pack.Ref { return ref }
		if ref.Kind == pack.KindOCI {
			return newRemoteRegistry(source, s.deps, refOf), nil
		}
		return newOCIRegistry(source, s.deps.OCI, refOf), nil
	}
	return nil, diag.Errorf(diag.NotFound, "%s is locked to %s, which is not in a configured registry", id, source).
		WithHint("add the registry with \"skillpm registry add\", or %s", moveHint(id))
}

// sourceFilter offers only the versions of a registry that come from one source.
type sourceFilter struct {
	Registry
	source string
}

// Versions returns the versions that come from the source.
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

// Pack returns a version that comes from the source.
func (p *sourceFilter) Pack(ctx context.Context, id pack.ID, version string) (*pack.Pack, error) {
	pk, err := p.Registry.Pack(ctx, id, version)
	if err != nil {
		return nil, err
	}
	if source := pk.Ref.Source(); source != p.source {
		return nil, diag.Errorf(diag.Conflict, "%s@%s is now at %s, but %s is locked to %s", id, version, source, id,
			p.source).
			WithHint("if the move is intended, %s", moveHint(id))
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
