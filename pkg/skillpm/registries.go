package skillpm

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	registryindex "github.com/skillpm/skillpm/registry-index"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/registry"
	"github.com/skillpm/skillpm/pkg/resolve"
	"github.com/skillpm/skillpm/pkg/source"
)

// newWorld returns the world that a call resolves in.
func (w *workspace) newWorld(_ context.Context, o InstallOptions) (*world, error) {
	root := filepath.Dir(w.scope.Manifest())
	ocis, err := w.client.sources.oci()
	if err != nil {
		return nil, err
	}
	enforced, err := w.client.enforced()
	if err != nil {
		return nil, err
	}
	config := registry.Config{Enforced: enforced, Override: o.Registry, Namespaces: map[string]string{}}
	for _, named := range slices.Concat(w.manifest.Registries, w.config.Registries) {
		config.Registries = append(config.Registries, registry.Named{Name: named.Name, URL: named.URL})
	}
	maps.Copy(config.Namespaces, w.config.Namespaces)
	maps.Copy(config.Namespaces, w.manifest.Namespaces)
	base := root
	if o.Registry != "" {
		base = w.client.Dir
	}
	set := registry.NewSet(config, registry.Deps{
		OCI: ocis, Git: w.client.sources.git(), Embedded: registryindex.FS, Base: base,
		Cache: w.client.Paths.HTTPCache(), Offline: o.Offline,
	})
	return &world{
		client: w.client, lock: w.lock, registries: set, root: root, sealed: o.Frozen, offline: o.Offline,
		refs: map[string]source.Ref{}, opened: map[opened]*source.Pack{},
	}, nil
}

// enforced returns the namespace bindings of the machine's administrator, which no one can change.
func (c *Client) enforced() (map[string]string, error) {
	file := filepath.Join(c.Paths.Enterprise, project.ConfigName)
	data, err := readOptional(file)
	if err != nil || data == nil {
		return nil, err
	}
	config, err := project.ParseConfig(file, data)
	if err != nil {
		return nil, err
	}
	return config.Namespaces, nil
}

// dependencies returns what a chosen pack depends on, as far as it is known without opening a locked one.
func (w *world) dependencies(ctx context.Context, id source.ID, pick resolve.Chosen) ([]source.Dependency, error) {
	if p, ok := w.locked(id, pick.Source); ok && p.Version == pick.Version && !isDirectory(p.Source) {
		return lockedDependencies(p)
	}
	p, err := w.pack(ctx, id, pick.Source, pick.Version)
	if err != nil {
		return nil, err
	}
	return p.Dependencies, nil
}

// lockedDependencies reads the dependencies that the lock remembers.
func lockedDependencies(p *project.LockedPack) ([]source.Dependency, error) {
	deps := make([]source.Dependency, 0, len(p.Dependencies))
	for name, text := range p.Dependencies {
		id, err := source.ParseID(name)
		if err != nil {
			return nil, err
		}
		d, err := parseRequired(id, text)
		if err != nil {
			return nil, err
		}
		deps = append(deps, d)
	}
	slices.SortFunc(deps, func(a, b source.Dependency) int { return a.ID.Compare(b.ID) })
	return deps, nil
}

// rebase turns the paths that a pack depends on into places of their own: inside its repository, or relative to the
// directory that it is in. A path that leads out of a repository is refused.
func rebase(p *source.Pack) error {
	for i, d := range p.Dependencies {
		if d.Ref == nil || d.Ref.Kind != source.KindPath {
			continue
		}
		switch p.Ref.Kind {
		case source.KindPath:
			if filepath.IsAbs(filepath.FromSlash(d.Ref.URL)) {
				continue
			}
			ref := *d.Ref
			ref.URL = path.Join(filepath.ToSlash(p.Ref.URL), d.Ref.URL)
			if !filepath.IsAbs(ref.URL) && !strings.HasPrefix(ref.URL, "../") {
				ref.URL = "./" + ref.URL
			}
			p.Dependencies[i].Ref = &ref
		case source.KindGit:
			inside := path.Join(p.Ref.Subdir, d.Ref.URL)
			if path.IsAbs(d.Ref.URL) || inside == ".." || strings.HasPrefix(inside, "../") {
				return diag.Errorf(diag.Denied, "%s %s depends on %s at %s, outside its repository", p.ID, p.Version, d.ID, d.Ref.URL)
			}
			ref := p.Ref
			ref.Subdir = strings.TrimPrefix(inside, ".")
			p.Dependencies[i].Ref = &ref
		}
	}
	return nil
}

// highest returns the highest of the versions that the reference's constraint allows.
func highest(versions []string, ref source.Ref) (string, error) {
	return resolve.Highest(ref.ID, versions, ref.Constraint)
}
