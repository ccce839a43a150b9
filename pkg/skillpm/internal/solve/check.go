package solve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// checkDependencies refuses dependencies that a pack may not have: only the root manifest reaches into the machine,
// what a registry serves depends on names, and a pack in a repository may depend on others in it.
func (b *Backend) checkDependencies(p *pack.Pack) error {
	for _, d := range p.Dependencies {
		if d.Ref == nil {
			continue
		}
		fromDir, fromGit := p.Ref.Kind == pack.KindPath, p.Ref.Kind == pack.KindGit
		safe := d.Ref.Kind == pack.KindOCI || d.Ref.Kind == pack.KindGit && (strings.HasPrefix(d.Ref.URL, "https://") ||
			strings.HasPrefix(d.Ref.URL, "ssh://") || d.Ref.URL == p.Ref.URL)
		outside := diag.Errorf(diag.Denied,
			"%s %s depends on %s at %s: only the root skillpm.yaml may use local directories or plain HTTP",
			p.ID, p.Version, d.ID, d.Ref.Source())
		switch {
		case fromDir && d.Ref.Kind == pack.KindPath:
			if !b.sameProject(p.Ref.URL, d.Ref.URL) {
				return outside.WithHint("add both packs to skillpm.yaml, or keep them in the same git repository or workspace")
			}
		case !fromDir && !fromGit:
			return diag.Errorf(diag.Invalid,
				"%s %s depends on %s with a source, but a published pack may require other packs only by name and version",
				p.ID, p.Version, d.ID).
				WithHint("ask the publisher to require %s by version", d.ID)
		case !safe:
			return outside.WithHint("use an OCI registry, or git over HTTPS or SSH, as the source of %s", d.ID)
		}
	}
	return nil
}

// sameProject reports whether a pack in one directory may name one in another by its path: both are below the root
// manifest, or in the repository or workspace that the pack is in.
func (b *Backend) sameProject(from, to string) bool {
	abs := func(dir string) string {
		if dir = filepath.FromSlash(dir); !filepath.IsAbs(dir) {
			dir = filepath.Join(b.Fetcher.Root, dir)
		}
		return dir
	}
	from, fromErr := pathx.Resolve(abs(from))
	to, toErr := pathx.Resolve(abs(to))
	root, rootErr := pathx.Resolve(abs("."))
	if fromErr != nil || toErr != nil || rootErr != nil {
		return false
	}
	if pathx.Contains(root, from) && pathx.Contains(root, to) {
		return true
	}
	home := pathx.ResolveOrClean(b.Fetcher.Machine.Paths.Home)
	for dir := from; dir != home && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || isWorkspaceOf(dir, from) {
			return pathx.Contains(dir, to)
		}
	}
	return false
}

// isWorkspaceOf reports whether dir has a workspace that the pack in a directory is in.
func isWorkspaceOf(dir, member string) bool {
	file := filepath.Join(dir, pack.ManifestName)
	data, err := safefile.ReadOptional(file)
	if err != nil || data == nil {
		return false
	}
	m, err := pack.ParseManifest(file, data)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, member)
	return err == nil && slices.ContainsFunc(m.Workspace, func(pattern string) bool {
		return pack.MatchGlob(strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/"), filepath.ToSlash(rel))
	})
}

// CheckVersion checks the locked version of a pack that is found by name against its registry, if that was asked: the
// registry must have the version. If the version has another digest now, it returns whether its content changed.
func (b *Backend) CheckVersion(ctx context.Context, id pack.ID) (*fetch.Change, error) {
	locked, ok := b.Previous.Packs[id]
	l, queried := b.lookups[lookupKey{pack: id}]
	if !ok || !queried || b.marks[id].moved || b.Fetcher.Registries.Overridden() {
		return nil, nil
	}
	if <-l.done; l.err != nil {
		return nil, nil // reported where it matters
	}
	found, other := false, ""
	for _, v := range l.versions {
		if v.Source != locked.Source {
			continue
		}
		found = true
		digest := v.Digest
		if v.Version == locked.Version {
			if digest == "" {
				digest = b.knownDigest(ctx, l.registry, id, locked)
			}
			if digest == "" || digest == locked.Resolved {
				return nil, nil
			}
		} else if digest == locked.Resolved {
			other = v.Version
		}
	}
	switch {
	case other != "":
		return nil, fetch.Mislabeled(id, locked, "the locked content is version "+other)
	case !found:
		return nil, nil
	case !slices.ContainsFunc(l.versions, func(v registry.Version) bool { return v.Version == locked.Version }):
		return nil, fetch.Mislabeled(id, locked, l.registry.Name()+" does not contain this version")
	}
	return b.lockedChange(ctx, id, "", b.digestNow(ctx, id, "", locked))
}

// knownDigest returns the digest of a pack's locked version if the registry does not list it, "" if that needs the
// network.
func (b *Backend) knownDigest(ctx context.Context, r registry.Registry, id pack.ID, locked *pack.LockedPack) string {
	p, ok := b.opened[openedKey{id: id, version: locked.Version}]
	if !ok && !strings.HasPrefix(locked.Source, "oci://") && !strings.HasPrefix(locked.Source, "git+") {
		p, _ = r.Pack(ctx, id, locked.Version) // one that can't be opened fails when it is
	}
	if p == nil {
		return ""
	}
	return p.Ref.Digest
}

// Yanked warns of a locked version that its registry or source has yanked since. It is for packs that are
// fetched, whose source is asked anyway. If the source does not answer, that is not an error.
func (b *Backend) Yanked(ctx context.Context, id pack.ID, locked *pack.LockedPack) []string {
	if b.Fetcher.Offline || fetch.IsDirectory(locked.Source) {
		return nil
	}
	if d, ok := b.direct[id]; ok && d.Ref != nil {
		if !fetch.IsOCI(d.Ref.Kind) {
			return nil
		}
		versions, _ := b.Fetcher.Releases(ctx, *d.Ref)
		return b.yankWarnings(id, locked.Version, versions)
	}
	reg, err := b.Fetcher.Registries.Find(ctx, id, locked.Source)
	if err != nil {
		return nil
	}
	versions, _ := reg.Versions(ctx, id)
	return b.yankWarnings(id, locked.Version, versions)
}

// yankWarnings warns of a locked version that is yanked, and proposes what to do.
func (b *Backend) yankWarnings(id pack.ID, version string, versions []registry.Version) []string {
	if !slices.ContainsFunc(versions, func(v registry.Version) bool { return v.Version == version && v.Yanked }) {
		return nil
	}
	d, direct := b.direct[id]
	others, fitting := false, false
	for _, v := range versions {
		if !v.Yanked {
			ok, err := pack.Allows(d, v.Version)
			others, fitting = true, fitting || !direct || err == nil && ok
		}
	}
	next := fmt.Sprintf("select another version with: skillpm update %s", id)
	switch {
	case d.Ref != nil && !hasReleases(*d.Ref):
		next = fmt.Sprintf("change the version in skillpm.yaml with: skillpm update --latest %s", id)
	case !others:
		next = "no other version is available"
	case !fitting:
		next = fmt.Sprintf("the range %s in skillpm.yaml allows no other version; "+
			"replace the range with: skillpm update --latest %s", d.Constraint, id)
	case b.marks[id].freed:
		next = "no other version meets all requirements"
	}
	return []string{fmt.Sprintf("the locked version %s %s is yanked (show the reason with: skillpm outdated %s); %s",
		id, version, id, next)}
}
