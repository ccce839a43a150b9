package provider

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// checkDependencies refuses what a pack from that place may not depend on: only the root manifest reaches into the
// machine, what a registry serves depends on names, and a pack in a repository may depend on others in it.
func (pr *Provider) checkDependencies(p *pack.Pack) error {
	for _, d := range p.Dependencies {
		switch {
		case d.Ref == nil:
		case p.Ref.Kind == pack.KindPath && d.Ref.Kind == pack.KindPath:
			if !pr.together(p.Ref.URL, d.Ref.URL) {
				return outside(p, d).WithHint("packs in one git repository, or of one workspace, may name each other by path; else name both in skillpm.yaml")
			}
		case p.Ref.Kind == pack.KindPath && d.Ref.Kind == pack.KindOCI:
		case p.Ref.Kind == pack.KindPath && d.Ref.Kind == pack.KindGit && safeGit(p, d):
		case p.Ref.Kind == pack.KindPath:
			return outside(p, d)
		case p.Ref.Kind != pack.KindGit:
			return diag.Errorf(diag.Invalid, "%s %s depends on %s at a place; a published pack depends on names only", p.ID, p.Version, d.ID)
		case d.Ref.Kind != pack.KindOCI && (d.Ref.Kind != pack.KindGit || !safeGit(p, d)):
			return outside(p, d)
		}
	}
	return nil
}

// safeGit reports whether a pack may name a git place: one over https or ssh, or in the pack's own repository.
func safeGit(p *pack.Pack, d pack.Dependency) bool {
	return strings.HasPrefix(d.Ref.URL, "https://") || strings.HasPrefix(d.Ref.URL, "ssh://") || d.Ref.URL == p.Ref.URL
}

func outside(p *pack.Pack, d pack.Dependency) *diag.Error {
	return diag.Errorf(diag.Denied, "%s %s depends on %s at %s: only the root skillpm.yaml may name places of this machine, or plain http",
		p.ID, p.Version, d.ID, d.Ref.Source())
}

// together reports whether a pack in one directory may name one in another by its path: both are below the root
// manifest, or in the repository or workspace that the pack is in.
func (pr *Provider) together(from, to string) bool {
	from, fromErr := pathx.Resolve(pr.abs(from))
	to, toErr := pathx.Resolve(pr.abs(to))
	root, rootErr := pathx.Resolve(pr.abs("."))
	if fromErr != nil || toErr != nil || rootErr != nil {
		return false
	}
	if pathx.Contains(root, from) && pathx.Contains(root, to) {
		return true
	}
	home := pathx.ResolveOrClean(pr.machine.Paths.Home)
	for dir := from; ; dir = filepath.Dir(dir) {
		if dir == home || dir == filepath.Dir(dir) {
			return false
		}
		if isRepository(dir) || isWorkspaceOf(dir, from) {
			return pathx.Contains(dir, to)
		}
	}
}

// abs returns the absolute path of a directory that is relative to the root manifest.
func (pr *Provider) abs(dir string) string {
	dir = filepath.FromSlash(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(pr.root, dir)
	}
	return dir
}

func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// isWorkspaceOf reports whether dir has a workspace that a pack is in.
func isWorkspaceOf(dir, pk string) bool {
	file := filepath.Join(dir, pack.ManifestName)
	data, err := workspace.ReadOptional(file)
	if err != nil || data == nil {
		return false
	}
	m, err := pack.ParseManifest(file, data)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, pk)
	if err != nil {
		return false
	}
	for _, pattern := range m.Workspace {
		if pack.MatchGlob(strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/"), filepath.ToSlash(rel)) {
			return true
		}
	}
	return false
}
