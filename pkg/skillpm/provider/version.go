package provider

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// sameVersion checks that what was found where a pack is locked calls itself by that name and the version that is
// locked. What says nothing of its version can have any.
func sameVersion(id pack.ID, entry *pack.LockedPack, p *pack.Pack) error {
	if p.ID != id {
		return diag.Errorf(diag.Integrity, "skillpm.lock says that %s is at %s, and %s is there", id, p.Ref.Source(), p.ID).
			WithHint("restore skillpm.lock from version control, or remove the pack and install it again")
	}
	says := p.Version
	if says == entry.Version || strings.HasPrefix(says, "0.0.0-") || entry.Version == pack.DefaultVersion("", entry.Resolved) {
		return nil
	}
	return mislabelled(id, entry, "what is locked is version "+says)
}

// checkStored is sameVersion for packs that are in the store and need no fetching, as far as that can be told without a
// network: those of the registries that every machine has.
func (pr *Provider) checkStored(ctx context.Context, m *pack.Manifest, sol *Solution, ids map[pack.ID]bool) error {
	for _, id := range slices.SortedFunc(maps.Keys(ids), pack.ID.Compare) {
		entry := sol.Lock.Packs[id]
		if _, looked := sol.Packs[id]; looked || entry == nil || entry.Source != registry.Embedded && entry.Source != registry.Local {
			continue
		}
		p, err := pr.openLocked(ctx, m, sol.Lock, id)
		if err != nil {
			continue // it is gone from there; the store has it
		}
		if err := sameVersion(id, entry, p); err != nil {
			return err
		}
	}
	return nil
}

func mislabelled(id pack.ID, entry *pack.LockedPack, what string) error {
	return diag.Errorf(diag.Integrity, "skillpm.lock says that %s is version %s, and %s", id, entry.Version, what).
		WithHint("restore skillpm.lock from version control, or remove the pack and install it again")
}

// CheckVersion holds the locked version of a pack that is found by name against what its registry says of it, if the
// registry was asked: it must have that version, and with the content that is locked. Nobody is asked for that.
func (pr *Provider) CheckVersion(ctx context.Context, id pack.ID) error {
	entry, ok := pr.lock.Packs[id]
	o, asked := pr.offers[id]
	if !ok || !asked || pr.moved[id] || pr.options.Registry != "" {
		return nil
	}
	if <-o.done; o.err != nil {
		return nil // which is told where it matters
	}
	here, other := false, ""
	for _, v := range o.versions {
		if v.Source != entry.Source {
			continue
		}
		here = true
		digest := v.Digest
		if v.Version == entry.Version {
			if digest == "" {
				digest = pr.knownDigest(ctx, o.registry, id, entry)
			}
			if digest == "" || digest == entry.Resolved {
				return nil
			}
		} else if digest == entry.Resolved {
			other = v.Version
		}
	}
	switch {
	case other != "":
		return mislabelled(id, entry, "what is locked is version "+other)
	case !here:
		return nil
	case !slices.ContainsFunc(o.versions, func(v registry.Version) bool { return v.Version == entry.Version }):
		return mislabelled(id, entry, o.registry.Name()+" has no such version")
	}
	return mislabelled(id, entry, "what is locked is not that: "+o.registry.Name()+" has it with another digest")
}

// knownDigest returns the digest of a pack's locked version where a registry does not list it, "" where that would have
// to be asked over the network.
func (pr *Provider) knownDigest(ctx context.Context, r registry.Registry, id pack.ID, entry *pack.LockedPack) string {
	p, ok := pr.opened[opened{id: id, version: entry.Version}]
	if !ok && !strings.HasPrefix(entry.Source, "oci://") && !strings.HasPrefix(entry.Source, "git+") {
		p, _ = r.Pack(ctx, id, entry.Version) // one that can't be opened is told when it is
	}
	if p == nil {
		return ""
	}
	return p.Ref.Digest
}
