package fetch

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/registry"
	registryindex "github.com/skillpm/skillpm/registry-index"
)

// RegistryOptions configure the registries of a scope.
type RegistryOptions struct {
	environ.Environment
	Clients  *source.Clients
	Recent   *registry.Recent // shared by all registries of the process
	Gate     *Gate
	Admin    *pack.Config // the settings of the machine's administrator
	Accepted Accepted     // the bindings of projects that the user accepted
	Project  string       // the directory whose bindings the user accepts; "" for the scope's
	Override string       // the registry that alone is asked, by name or address; "" for the configured ones
	Frozen   bool         // look packs up only where they are locked: only the administrator's settings count
	Offline  bool
}

// Registries finds packs by name for one scope.
type Registries struct {
	set         *registry.Set
	deps        registry.Deps
	override    string
	bindings    bindings
	directories map[string]string // of packs in OCI layouts, which lockfiles leave out
	projectOnly map[string]bool   // names and addresses that only the project has
}

// NewRegistries returns the registries of a scope.
func NewRegistries(ctx context.Context, w *workspace.Workspace, o RegistryOptions) (*Registries, error) {
	bound, err := newBindings(w, o)
	if err != nil {
		return nil, err
	}
	config := registry.Config{Enforced: bound.enforced}
	if !o.Frozen {
		config = bound.config()
		config.Registries = configured(w)
	}
	base := filepath.Dir(w.Scope.Manifest())
	if url, ok := namedRegistry(o.Override, w.Config.Registries, w.Manifest.Registries); ok {
		config.Override = url // relative to the file that names it
	} else if o.Override != "" {
		config.Override, base = o.Override, o.Dir
	}
	r := &Registries{
		override: config.Override, bindings: bound,
		directories: w.Directories(),
		projectOnly: projectOnly(w.Manifest, w.Config, o.Admin),
		deps: registry.Deps{
			Hub: o.Clients.Hub(),
			OCI: o.Clients.OCI(), HTTP: o.Clients.HTTP(), Git: gitTrees{o.Clients.Git()}, Embedded: registryindex.FS,
			Base: base, Cache: o.Paths.HTTPCache(), Recent: o.Recent, Offline: o.Offline, Getenv: o.Getenv,
			Logins: o.Clients.Logins(), Named: o.Clients.Named(),
		},
	}
	if len(o.Gate.Policies) > 0 {
		r.deps.Authorize = o.Gate.Guard
	}
	r.set = registry.NewSet(config, r.deps)
	return r, r.checkOverride(ctx)
}

// checkOverride refuses a registry of this call that can't be one, before it is asked.
func (r *Registries) checkOverride(ctx context.Context) error {
	if r.override == "" {
		return nil
	}
	dir := strings.TrimPrefix(r.override, "oci-layout:")
	isDir := !strings.ContainsAny(dir, "@") && !strings.Contains(dir, "://") && dir != registry.Local &&
		dir != registry.Embedded
	if isDir && !filepath.IsAbs(dir) {
		dir = filepath.Join(r.deps.Base, dir)
	}
	if _, err := os.Stat(dir); isDir && err != nil {
		return diag.Errorf(diag.NotFound, "cannot use --registry %s: directory %s does not exist", r.override, dir).
			WithHint(
				"use a directory, an https:// index, oci://REGISTRY/NAMESPACE, or a name that \"skillpm registry list\" shows")
	}
	_, err := registry.Open(ctx, "", r.override, r.deps)
	return err
}

// projectOnly returns the names and addresses of the registries that a project has and no settings of this machine.
func projectOnly(m *pack.Manifest, settings ...*pack.Config) map[string]bool {
	known, only := map[string]bool{}, map[string]bool{}
	for _, c := range settings {
		for _, r := range c.Registries {
			known[r.Name], known[r.URL] = true, true
		}
		for _, at := range c.Namespaces {
			known[at] = true
		}
	}
	for _, r := range m.Registries {
		if !known[r.URL] {
			only[r.Name], only[r.URL] = true, true
		}
	}
	for _, at := range m.Namespaces {
		if !known[at] {
			only[at] = true
		}
	}
	return only
}

// configured returns the registries of a scope: the project's, then the user's.
func configured(w *workspace.Workspace) []registry.Named {
	var list []registry.Named
	for _, r := range w.Manifest.Registries {
		list = append(list, registry.Named{Name: r.Name, URL: r.URL})
	}
	for _, r := range w.Config.Registries {
		list = append(list, registry.Named{Name: r.Name, URL: r.URL, Sole: len(w.Config.Registries) == 1})
	}
	return list
}

// gitTrees opens indexes in git.
type gitTrees struct{ client *git.Client }

// Tree opens the files of a repository, and returns their commit.
func (g gitTrees) Tree(ctx context.Context, ref pack.Ref) (fs.FS, string, error) {
	tree, at, err := g.client.Tree(ctx, ref)
	return tree, at.Digest, err
}

// FindRequired is Find for a pack that is not locked, and that a pack from another source than the built-in registries
// requires.
func (r *Registries) FindRequired(ctx context.Context, id pack.ID) (registry.Registry, error) {
	return r.set.FindRequired(ctx, id)
}

// Find returns the registry that answers for a pack whose locked source is given, "" if it is not locked.
func (r *Registries) Find(ctx context.Context, id pack.ID, locked string) (registry.Registry, error) {
	if !workspace.OmitsDirectory(locked) {
		return r.set.Find(ctx, id, locked)
	}
	if r.override != "" {
		return r.set.Find(ctx, id, "")
	}
	if dir, ok := r.directories[id.String()]; ok {
		return registry.Open(ctx, "", "oci-layout:"+dir, r.deps)
	}
	if reg, err := r.set.Find(ctx, id, ""); err == nil { // an index may name the layout
		return reg, nil
	}
	return nil, diag.Errorf(diag.NotFound,
		"skillpm.lock does not record the directory of the OCI layout that contains %s", id).
		WithHint("select the directory with: --registry oci-layout:DIR")
}

// Overridden reports whether the call names the registry that alone is asked.
func (r *Registries) Overridden() bool { return r.override != "" }

// Enforced returns the address that the administrator bound an owner to.
func (r *Registries) Enforced(owner string) (string, bool) {
	at, ok := r.bindings.enforced[owner]
	return at, ok
}

// Rebound returns an error if the project binds an owner to another registry than the user, who has not accepted that.
func (r *Registries) Rebound(owner string) error {
	if rebound := r.bindings.rebound[owner]; rebound != nil && r.override == "" {
		return rebound
	}
	return nil
}

// AreConfigured reports whether anybody has settings about registries. Otherwise the built-in registries are asked.
func (r *Registries) AreConfigured() bool { return r.set.IsConfigured() }

// Dated reports whether the publication dates of a registry count: a project could bring along an index with any date.
func (r *Registries) Dated(name string) bool { return !r.projectOnly[name] }

// Bound returns the addresses of the registries that owners are bound to.
func (r *Registries) Bound() []string { return slices.Sorted(maps.Values(r.bindings.effective)) }

// OwnersOf returns the owners that are bound to a registry, sorted.
func (r *Registries) OwnersOf(url string) []string {
	var owners []string
	for _, owner := range slices.Sorted(maps.Keys(r.bindings.effective)) {
		if r.bindings.effective[owner] == url {
			owners = append(owners, owner)
		}
	}
	return owners
}

// BoundTo returns the address of the registry that alone answers for an owner, "" for none.
func (r *Registries) BoundTo(owner string) string { return r.bindings.effective[owner] }

// Open opens a registry with the settings of this scope or, with cached, what this machine keeps of it. Name is what
// messages call it; "" stands for the address. It is not asked for anything.
func (r *Registries) Open(ctx context.Context, name, url string, cached bool) (registry.Registry, error) {
	deps := r.deps
	deps.Offline = deps.Offline || cached
	return registry.Open(ctx, name, url, deps)
}

// pingTime is how long a registry may take to answer [Registries.Ping].
const pingTime = 15 * time.Second

// Ping asks a registry whether it is there. That it does not have the pack that it is asked for is an answer.
func (r *Registries) Ping(ctx context.Context, url string) error {
	reg, err := registry.Open(ctx, "", url, r.deps)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	_, err = reg.Versions(limited, pack.ID{Owner: "skillpm", Name: "doctor"})
	if _, ok := errors.AsType[*registry.NotFoundError](err); ok {
		return nil
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return diag.Errorf(diag.Remote, "%s did not respond within %v", url, pingTime)
	}
	return err
}
