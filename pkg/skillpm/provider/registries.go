package provider

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
	"github.com/skillpm/skillpm/pkg/source/credential"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/source/trust"
	registryindex "github.com/skillpm/skillpm/registry-index"
)

// Options say how a [Provider] answers.
type Options struct {
	Registry string           // where names are looked up, and nowhere else; "" for what is configured
	Frozen   bool             // ask nobody: what the lock does not have does not exist
	Offline  bool             // use no network
	Now      func() time.Time // the clock
	Progress func(Event)      // told of long work

	Signed  bool      // each pack must be signed by somebody who is trusted
	Keys    []string  // files of keys that are trusted besides those of the configuration and of policies
	Accept  []pack.ID // packs that may be signed by somebody else than before, or by nobody
	Project string    // a project whose policy holds, too, "" for none
}

// Event is a step of long work.
type Event struct {
	Text     string // what is being done, as "fetching acme/deploy 1.4.0"
	Pack     string // the pack that is being fetched, as "acme/deploy 1.4.0"; "" for other work
	Received int64  // bytes of it
	Size     int64  // bytes that there will be, 0 where nobody knows
	Finished bool   // the pack is there
	Done     bool   // all work is over, Text is empty
}

// New returns a provider for a scope.
func New(ctx context.Context, m *workspace.Machine, w *workspace.Workspace, s *Sources, o Options) (*Provider, error) {
	root := filepath.Dir(w.Scope.Manifest())
	admin, err := m.AdminConfig()
	if err != nil {
		return nil, err
	}
	config := registry.Config{Enforced: admin.Namespaces, Override: o.Registry, Namespaces: map[string]string{}}
	for _, named := range slices.Concat(w.Manifest.Registries, w.Config.Registries) {
		config.Registries = append(config.Registries, registry.Named{Name: named.Name, URL: named.URL})
	}
	maps.Copy(config.Namespaces, w.Config.Namespaces)
	maps.Copy(config.Namespaces, w.Manifest.Namespaces)
	base := root
	named := func(r registry.Named) bool {
		return r.Name != "" && r.Name == o.Registry && r.Name != registry.Local && r.Name != registry.Embedded
	}
	if i := slices.IndexFunc(config.Registries, named); i >= 0 {
		o.Registry = config.Registries[i].URL // the name of a configured registry: its address is relative to what names it
		config.Override = o.Registry
	} else if o.Registry != "" {
		base = m.Dir
	}
	deps := registry.Deps{
		OCI: s.OCI(), HTTP: s.client(), Git: gitTrees{s.Git()}, Embedded: registryindex.FS, Base: base,
		Cache: m.Paths.HTTPCache(), Recent: s.recent, Offline: o.Offline,
		Getenv: s.options.Getenv, Logins: credential.Open(credential.Options{Getenv: s.options.Getenv, Home: s.options.Paths.Home}),
	}
	minAge, minAgeIn := longest(admin.MinReleaseAge, w.Config.MinReleaseAge, w.Manifest.MinReleaseAge)
	door := w.Guard(o.Project)
	pr := &Provider{
		guard: door, policies: door.Policies(), installed: w.InstalledPack, keeper: s.Keeper(o.Offline), rules: map[ruleKey]trust.Wanted{},
		machine: m, sources: s, options: o, lock: w.Lock, root: root,
		enforced: admin.Namespaces, deps: deps, places: w.Places(), bindings: bindings(config),
		minAge: minAge, minAgeIn: minAgeIn,
		refs: map[string]pack.Ref{}, opened: map[opened]*pack.Pack{}, fresh: map[pack.ID]bool{}, freed: map[pack.ID]bool{}, held: map[pack.ID]bool{},
		moved: map[pack.ID]bool{}, direct: map[pack.ID]pack.Dependency{}, offers: map[pack.ID]*offer{}, visits: map[string]*visit{}, placed: map[pack.ID][]registry.Version{}, asking: make(chan struct{}, parallelOffers),
	}
	if len(pr.policies) > 0 {
		pr.deps.Guard = pr.guarded
	}
	if err := checkRegistry(ctx, o.Registry, pr.deps); err != nil {
		return nil, err
	}
	pr.registries = registry.NewSet(config, pr.deps)
	pr.projects = onlyProjects(w.Manifest, w.Config, admin)
	return pr, pr.trust(w.Config)
}

// onlyProjects returns the names and addresses of the registries that a project brings along and no settings of this
// machine know.
func onlyProjects(m *pack.Manifest, settings ...*pack.Config) map[string]bool {
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

// trust reads the keys that are trusted for this call.
func (pr *Provider) trust(config *pack.Config) error {
	for _, id := range pr.options.Accept {
		if pr.lock.Packs[id] == nil {
			return diag.Errorf(diag.NotFound, "--accept-signer %s: skillpm.lock has no such pack", id)
		}
	}
	if !pr.options.Signed && len(pr.options.Accept) == 0 {
		return nil
	}
	files := slices.Clone(pr.options.Keys)
	for _, name := range config.TrustedKeys {
		files = append(files, config.File(name))
	}
	for _, file := range files {
		if err := keyFile(file, &pr.trusted); err != nil {
			return err
		}
	}
	signed := slices.ContainsFunc(slices.Collect(maps.Values(pr.lock.Packs)), func(p *pack.LockedPack) bool { return p.Signer != "" })
	if pr.options.Signed && len(files) == 0 && !signed && !pr.policies.Restricts() {
		return diag.Errorf(diag.Usage, "--require-signature has to know whose signatures count").
			WithHint("name a public key: --key FILE, or trusted-keys in the settings file")
	}
	return nil
}

// Free forgets what the lock says of a pack, so that the best version is chosen.
func (pr *Provider) Free(id pack.ID) { pr.fresh[id], pr.freed[id] = true, true }

// Settle takes back that a pack is free: the lock counts again, as a preference.
func (pr *Provider) Settle(id pack.ID) { delete(pr.fresh, id) }

// Hold keeps a locked pack at its version, whatever else changes.
func (pr *Provider) Hold(id pack.ID) { pr.held[id] = true }

// settled reports whether the lock's word on a pack is final. A branch, or a tag that moves, has one thing to offer at
// a time: it stays where it is locked until the pack is free.
func (pr *Provider) settled(id pack.ID, at string) bool {
	return pr.sticky || pr.options.Frozen || pr.held[id] || at != "" && !open(pr.refs[at])
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

// Tree opens the files of a place, and says which commit they are of.
func (g gitTrees) Tree(ctx context.Context, ref pack.Ref) (fs.FS, string, error) {
	tree, at, err := g.client.Tree(ctx, ref)
	return tree, at.Digest, err
}

// dependencies returns what a chosen pack depends on, as far as it is known without opening a locked one.
func (pr *Provider) dependencies(ctx context.Context, id pack.ID, pick resolve.Chosen) ([]pack.Dependency, error) {
	if p, ok := pr.locked(id, pick.Source); ok && p.Version == pick.Version && !isDirectory(p.Source) {
		return p.Requires()
	}
	p, err := pr.pack(ctx, id, pick.Source, pick.Version)
	if err != nil {
		return nil, err
	}
	return p.Dependencies, nil
}
