package publish

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
)

// WorkspaceReport lists the published packs of a workspace, each after those that it requires.
type WorkspaceReport struct {
	Packs []*ReleaseReport `json:"packs"`
}

// Valid reports whether every pack can be published.
func (r *WorkspaceReport) Valid() bool {
	return !slices.ContainsFunc(r.Packs, func(p *ReleaseReport) bool { return !p.Valid })
}

// PublishWorkspace publishes the packs of the workspace at a directory. It checks all of them first and publishes none
// if one is not valid. If it returns an error, the report has the packs that were published; another call continues
// there, because published versions are left as they are.
func (c *Client) PublishWorkspace(ctx context.Context, o ReleaseOptions) (*WorkspaceReport, error) {
	members, err := c.members(c.packDir(o.Dir))
	if err != nil {
		return nil, err
	}
	report := &WorkspaceReport{Packs: []*ReleaseReport{}}
	o.checkouts, o.Test = &checkouts{}, rememberTests(o.Test)
	check := o
	check.DryRun = true
	for _, m := range members {
		check.Dir = m.dir
		r, err := c.Publish(ctx, check)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.DisplayPath(m.dir), err)
		}
		report.Packs = append(report.Packs, r)
	}
	if o.DryRun || !report.Valid() {
		return report, nil
	}
	report.Packs = report.Packs[:0]
	for _, m := range members {
		o.Dir = m.dir
		r, err := c.Publish(ctx, o)
		if err != nil {
			return report, fmt.Errorf("%s %s: %w", m.manifest.Name, m.manifest.Version, err)
		}
		report.Packs = append(report.Packs, r)
	}
	return report, nil
}

// member is one pack of a workspace.
type member struct {
	dir      string
	manifest *pack.Manifest
}

// members returns the packs of the workspace at dir, each after those that it requires.
func (c *Client) members(dir string) ([]member, error) {
	file := filepath.Join(dir, pack.ManifestName)
	root, err := c.readManifest(file)
	if err != nil {
		return nil, err
	}
	if len(root.Workspace) == 0 {
		return nil, diag.Errorf(diag.NotFound, "%s does not have a workspace", file).
			WithHint(`add the directories of the packs, such as workspace: ["packs/*"]`)
	}
	dirs, err := memberDirs(dir, root.Workspace)
	if err != nil {
		return nil, err
	}
	var list []member
	for _, d := range dirs {
		m, err := c.releaseManifest(d)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(list, func(o member) bool { return o.manifest.Name == m.Name }); i >= 0 {
			return nil, diag.Errorf(diag.Conflict, "the packs in %s and %s have the same name, %s",
				c.DisplayPath(list[i].dir), c.DisplayPath(d), m.Name).
				WithHint("change the name in one of the two skillpm.yaml files")
		}
		list = append(list, member{dir: d, manifest: m})
	}
	return sortByDependency(list)
}

// memberDirs returns the directories below root that a pattern means and that hold a manifest, sorted.
func memberDirs(root string, patterns []string) ([]string, error) {
	var dirs []string
	visited := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == root {
			return err
		}
		if name := d.Name(); strings.HasPrefix(name, ".") || name == "node_modules" {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, p := range patterns {
			if !pack.MatchGlob(strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/"), filepath.ToSlash(rel)) {
				continue
			}
			if _, err := os.Lstat(filepath.Join(path, pack.ManifestName)); err == nil {
				visited[p] = true
				dirs = append(dirs, path)
			}
		}
		return nil
	})
	for _, p := range patterns {
		if err == nil && !visited[p] {
			return nil, diag.Errorf(diag.NotFound, "the workspace pattern %q matches no directory with a skillpm.yaml", p).
				WithHint("correct the pattern under workspace in skillpm.yaml")
		}
	}
	return slices.Compact(dirs), err
}

// sortByDependency sorts packs so that each comes after those that it requires, and otherwise by name. It accepts
// cycles, because a published pack refers to others by name and version only.
func sortByDependency(list []member) ([]member, error) {
	slices.SortFunc(list, func(a, b member) int { return a.manifest.Name.Compare(b.manifest.Name) })
	byName := map[pack.ID]member{}
	for _, m := range list {
		byName[m.manifest.Name] = m
	}
	var sorted []member
	seen := map[pack.ID]bool{}
	var visit func(m member)
	visit = func(m member) {
		if seen[m.manifest.Name] {
			return
		}
		seen[m.manifest.Name] = true
		for _, d := range m.manifest.Dependencies {
			if needed, ok := byName[d.ID]; ok {
				visit(needed)
			}
		}
		sorted = append(sorted, m)
	}
	for _, m := range list {
		visit(m)
	}
	for _, m := range sorted {
		for _, d := range m.manifest.Dependencies {
			if err := checkConstraint(m.manifest, d, byName); err != nil {
				return nil, err
			}
		}
	}
	return sorted, nil
}

// checkConstraint returns an error if a pack of the workspace requires a version of another one that differs from that
// one's current version: users would install an older release than the one it was developed with.
func checkConstraint(m *pack.Manifest, d pack.Dependency, members map[pack.ID]member) error {
	other, ok := members[d.ID]
	if !ok || d.Constraint == "" {
		return nil
	}
	allowed, err := semver.NewConstraint(d.Constraint)
	if err != nil {
		return diag.Errorf(diag.Invalid, "%s: invalid version range %q", m.Path, d.Constraint)
	}
	version, err := semver.StrictNewVersion(other.manifest.Version)
	if err == nil && allowed.Check(version) {
		return nil
	}
	return diag.Errorf(diag.Conflict,
		"%s requires %s %s, but the workspace contains version %s", m.Name, d.ID, d.Constraint, other.manifest.Version).
		WithHint("change the range in %s", m.Path)
}

// readManifest reads a manifest that has to exist.
func (c *Client) readManifest(file string) (*pack.Manifest, error) {
	data, err := safefile.ReadOptional(file)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, diag.Errorf(diag.NotFound, "%s does not exist", file).
			WithHint("create skillpm.yaml with: skillpm init owner/name")
	}
	return pack.ParseManifest(file, data)
}

// packDir returns the absolute directory of a pack; the client's directory for "".
func (c *Client) packDir(dir string) string {
	if dir == "" {
		return c.Dir
	}
	return c.Machine.Abs(dir)
}

// requireByVersion returns a dependency as a published pack has it. A dependency at a path becomes a range of versions:
// the one next to the path in the manifest, or else the one that fits the version at the path.
func (c *Client) requireByVersion(dir string, m *pack.Manifest, d pack.Dependency) (pack.Dependency, error) {
	if d.Ref == nil {
		return d, nil
	}
	pathError := diag.Errorf(diag.Invalid,
		"%s depends on %s with a source, but a published pack may require other packs only by name and version",
		m.Name, d.ID).
		WithHint("publish %s and require the pack by version, or move the dependency to dev-dependencies", d.ID)
	if d.Ref.Kind != pack.KindPath {
		return d, pathError
	}
	published := pack.Dependency{ID: d.ID, Constraint: d.Constraint, Skills: d.Skills}
	path := filepath.FromSlash(d.Ref.URL)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, statErr := os.Lstat(path)
	other, err := c.readManifest(filepath.Join(path, pack.ManifestName))
	switch {
	case statErr != nil || !info.IsDir():
		return d, diag.Errorf(diag.NotFound, "%s requires %s at %s, but the directory does not exist", m.Name, d.ID,
			d.Ref.URL).
			WithHint("correct the path in %s", m.Path)
	case err != nil && diag.CodeOf(err) != diag.NotFound:
		return d, err
	case err == nil && !other.Name.IsZero() && other.Name != d.ID:
		return d, diag.Errorf(diag.Conflict, "%s requires %s at %s, but that directory contains %s", m.Name, d.ID,
			d.Ref.URL,
			other.Name).
			WithHint("correct the path in %s", m.Path)
	case published.Constraint != "" && (err != nil || other.Version == ""):
		return published, nil
	case published.Constraint != "":
		return published, checkConstraint(m, published, map[pack.ID]member{d.ID: {dir: path, manifest: other}})
	case err != nil || other.Name != d.ID || other.Version == "":
		return d, pathError
	}
	published.Constraint = "^" + other.Version
	return published, nil
}
