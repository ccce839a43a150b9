package skillpm

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/registry"
	"github.com/skillpm/skillpm/pkg/resolve"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/git"
	registryindex "github.com/skillpm/skillpm/registry-index"
)

// newWorld returns the world that a call resolves in.
func (w *workspace) newWorld(ctx context.Context, o InstallOptions) (*world, error) {
	root := filepath.Dir(w.scope.Manifest())
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
	deps := registry.Deps{
		OCI: w.client.sources.oci(), Git: gitTrees{w.client.sources.git()}, Embedded: registryindex.FS, Base: base,
		Cache: w.client.Paths.HTTPCache(), Offline: o.Offline,
	}
	if err := checkRegistry(ctx, o.Registry, deps); err != nil {
		return nil, err
	}
	return &world{
		client: w.client, lock: w.lock, registries: registry.NewSet(config, deps), root: root, sealed: o.Frozen, offline: o.Offline,
		enforced: enforced, deps: deps, override: o.Registry, places: w.state.Places, bindings: bindings(config),
		refs: map[string]source.Ref{}, opened: map[opened]*source.Pack{}, fresh: map[source.ID]bool{}, moved: map[source.ID]bool{},
	}, nil
}

// bindings returns the address of the registry that each owner is bound to.
func bindings(config registry.Config) map[string]string {
	bound := map[string]string{}
	for owner, name := range config.Namespaces {
		bound[owner] = name
		for _, r := range config.Registries {
			if r.Name == name {
				bound[owner] = r.URL
			}
		}
	}
	return bound
}

// gitTrees opens indexes in git for the registries.
type gitTrees struct{ client *git.Client }

// Tree opens the files of a place.
func (g gitTrees) Tree(ctx context.Context, ref source.Ref) (fs.FS, error) {
	tree, _, err := g.client.Tree(ctx, ref)
	return tree, err
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
