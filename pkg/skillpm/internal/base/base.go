// Package base is what clients share: the user's settings, the sources with the user's credentials, the audit log, and
// the services of a scope: solver backend, fetcher, and admission.
//
// Clients embed [Base]. Start reading at [Base.Services], which connects the services.
package base

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/advisories"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/firstseen"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/source/trust"
	"github.com/skillpm/skillpm/pkg/store"
)

// Options configure a client.
type Options struct {
	environ.Environment

	PolicyProject string            // another project whose policy applies, "" for none
	Progress      func(fetch.Event) // called during long work; may be nil
	Warn          func(string)      // called with what the audit log could not record; may be nil
	Keyless       sign.OpenKeyless  // verifies signatures of identities; nil refuses them
}

// Base is what the clients of one user in one directory share.
type Base struct {
	Options
	Machine *workspace.Machine

	recent  *registry.Recent
	mu      sync.Mutex
	clients *source.Clients
}

// New returns a base that has touched neither disk nor network.
func New(o Options) *Base {
	if o.Progress == nil {
		o.Progress = func(fetch.Event) {}
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	machine := workspace.NewMachine(workspace.Options{Environment: o.Environment})
	return &Base{Options: o, recent: registry.NewRecent(o.Now), Machine: machine}
}

// Sources returns the clients of sources. The first call creates them with the settings.
func (b *Base) Sources(config *pack.Config) *source.Clients {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clients == nil {
		b.clients = source.NewClients(source.Options{
			Environment: b.Environment, Config: config, Keyless: b.Keyless, AdminConfig: b.Machine.AdminConfig,
		})
	}
	return b.clients
}

// UserSources is [Base.Sources] with the user's settings.
func (b *Base) UserSources() (*source.Clients, error) {
	config, err := b.Machine.UserConfig()
	if err != nil {
		return nil, err
	}
	return b.Sources(config), nil
}

// TrustedKeys returns the keys in files and those that the user's settings trust.
func (b *Base) TrustedKeys(files []string) (trust.Requirement, error) {
	config, err := b.Machine.UserConfig()
	if err != nil {
		return trust.Requirement{}, err
	}
	var all []string
	for _, file := range files {
		all = append(all, b.Abs(file))
	}
	for _, name := range config.TrustedKeys {
		all = append(all, config.File(name))
	}
	return trust.ReadKeys(all)
}

// TrustedSigners returns the keys of [Base.TrustedKeys], and the publishers that the settings of the user and the
// administrator bind owners to.
func (b *Base) TrustedSigners(files []string) (trust.Requirement, error) {
	w, err := b.TrustedKeys(files)
	if err != nil {
		return w, err
	}
	for _, read := range []func() (*pack.Config, error){b.Machine.UserConfig, b.Machine.AdminConfig} {
		config, err := read()
		if err != nil {
			return w, err
		}
		for _, owner := range slices.Sorted(maps.Keys(config.Publishers)) {
			p, err := pack.ParsePublisher(config.Publishers[owner])
			if err != nil {
				return w, err
			}
			var id trust.Identity
			id.Issuer, id.Subject, id.Repository = p.Certificate()
			if !slices.Contains(w.Identities, id) {
				w.Identities = append(w.Identities, id)
			}
		}
	}
	return w, nil
}

// DisplayPath returns an absolute path as the user would write it: relative, if it is below the working directory.
func (b *Base) DisplayPath(path string) string {
	if rel, ok := pathx.Rel(b.Dir, path); ok {
		return rel
	}
	return path
}

// Close removes temporary clones and closes connections.
func (b *Base) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clients != nil {
		b.clients.Close()
	}
}

// Services are what an installation in one scope needs.
type Services struct {
	Gate       *fetch.Gate
	Registries *fetch.Registries
	Fetcher    *fetch.Fetcher
	Backend    *solve.Backend
	Admission  *admission.Admission
}

// ServiceOptions configure [Services].
type ServiceOptions struct {
	Registry string // use only this registry, by name or address; "" for the configured ones
	Frozen   bool   // use only what the lockfile has
	Offline  bool   // use no network
	Signing  admission.Signing

	Reference *pack.Lock // see [solve.Options]
}

// Services returns the services for a scope.
func (b *Base) Services(ctx context.Context, w *workspace.Workspace, o ServiceOptions) (*Services, error) {
	admin, err := b.Machine.AdminConfig()
	if err != nil {
		return nil, err
	}
	evaluator, clients := w.Guard(b.PolicyProject), b.Sources(w.Config)
	records := firstseen.Records{Dir: filepath.Join(b.Paths.State, "seen"), Now: b.Now}
	s := &Services{Gate: fetch.NewGate(evaluator.Policies(), clients.OCI().MirrorOf)}
	if s.Registries, err = fetch.NewRegistries(ctx, w, fetch.RegistryOptions{
		Environment: b.Environment, Clients: clients, Recent: b.recent, Gate: s.Gate, Admin: admin,
		Accepted: b.AcceptedBindings(), Project: b.PolicyProject,
		Override: o.Registry, Frozen: o.Frozen, Offline: o.Offline,
	}); err != nil {
		return nil, err
	}
	s.Fetcher = fetch.New(fetch.Options{
		Clients: clients, Registries: s.Registries, Gate: s.Gate, Verifier: clients.Verifier(o.Offline),
		Machine: b.Machine,
		Root:    filepath.Dir(w.Scope.Manifest()), Offline: o.Offline, Progress: b.Progress,
	})
	s.Backend = solve.New(solve.Options{
		Fetcher: s.Fetcher, Seen: records, Previous: w.Lock, Reference: o.Reference, Frozen: o.Frozen,
		MinAge: solve.LongestAge(admin.MinReleaseAge, w.Config.MinReleaseAge, w.Manifest.MinReleaseAge),
	})
	s.Admission, err = admission.New(admission.Options{
		Evaluator: evaluator, Fetcher: s.Fetcher, Seen: records, Previous: w.Lock, Installed: w.InstalledPack,
		Signing: o.Signing, Frozen: o.Frozen, Settings: []*pack.Config{admin, w.Config},
	}, w.Config)
	return s, err
}

// Advisories returns the advisories of all feeds that the settings, the registries, and the project have. It fetches
// feeds that are older than maxAge; offline it returns those that this machine has.
func (b *Base) Advisories(ctx context.Context, w *workspace.Workspace, s *Services, offline bool,
	maxAge time.Duration,
) (*advisories.Set, error) {
	store, sources, err := b.advisoryStore(w, s)
	if err != nil {
		return nil, err
	}
	if store.Dir == "" {
		return &advisories.Set{}, nil
	}
	return store.Update(ctx, sources, offline, maxAge)
}

// Blocked opens the lists of malicious content of the feeds that this machine has. The caller closes them.
func (b *Base) Blocked(w *workspace.Workspace, s *Services) (*advisories.Blocked, error) {
	store, sources, err := b.advisoryStore(w, s)
	if err != nil || store.Dir == "" {
		return &advisories.Blocked{}, err
	}
	return store.Blocked(sources)
}

// advisoryStore returns the store of advisories, whose directory is "" if there is none, and the sources of feeds.
func (b *Base) advisoryStore(w *workspace.Workspace, s *Services) (store advisories.Store, sources []advisories.Source,
	err error,
) {
	admin, err := b.Machine.AdminConfig()
	if err != nil {
		return store, nil, err
	}
	sources, err = advisorySources(admin, w, s.Registries)
	return advisories.Store{Dir: w.Guard(b.PolicyProject).AdvisoryDir(), Now: b.Now}, sources, err
}

// advisorySources returns the indexes that may have advisories: the administrator's, the user's, and the project's.
func advisorySources(admin *pack.Config, w *workspace.Workspace, r *fetch.Registries) ([]advisories.Source, error) {
	var list []advisories.Source
	add := func(name, url string, keys []*sign.PublicKey, project bool) {
		url = registry.Canonical(url)
		known := slices.ContainsFunc(list, func(s advisories.Source) bool { return s.URL == url })
		if known || registry.KindOf(url) != "index" {
			return
		}
		list = append(list, advisories.Source{
			Name: cmp.Or(name, url), URL: url, Keys: keys, Project: project,
			Open: func(ctx context.Context) (registry.Registry, error) { return r.Open(ctx, name, url, false) },
		})
	}
	for _, c := range []*pack.Config{admin, w.Config} { // first, because they have keys
		for _, feed := range c.Advisories {
			var keys []*sign.PublicKey
			for _, name := range feed.Keys {
				data, err := safefile.ReadFile(c.File(name), 1<<16)
				if err == nil {
					var key *sign.PublicKey
					key, err = sign.ParsePublic(data)
					keys = append(keys, key)
				}
				if errors.Is(err, fs.ErrNotExist) {
					return nil, diag.Errorf(diag.NotFound, "the key %s of the advisories of %s does not exist", c.File(name),
						feed.URL).
						WithHint("create the file with the public key, or correct keys under advisories in the settings")
				}
				if err != nil {
					return nil, diag.Errorf(diag.Invalid, "cannot read the key %s of the advisories of %s: %w",
						c.File(name), feed.URL, err)
				}
			}
			add("", feed.URL, keys, false)
		}
	}
	for _, c := range []*pack.Config{admin, w.Config} {
		for _, one := range c.Registries {
			add(one.Name, one.URL, nil, false)
		}
	}
	for _, one := range w.Manifest.Registries {
		add(one.Name, one.URL, nil, true)
	}
	return list, nil
}

// AcceptedBindings returns the bindings of projects that the user accepted.
func (b *Base) AcceptedBindings() fetch.Accepted {
	return fetch.Accepted{Dir: filepath.Join(b.Paths.State, "bindings")}
}

// RegistryPack returns a version of a pack from the registry that answers for its name.
func (b *Base) RegistryPack(ctx context.Context, id pack.ID, version string) (*pack.Pack, error) {
	w, err := b.Machine.Open("", true)
	if err != nil {
		return nil, err
	}
	s, err := b.Services(ctx, w, ServiceOptions{})
	if err != nil {
		return nil, err
	}
	reg, err := s.Backend.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	return reg.Pack(ctx, id, version)
}

// FetchMissing fetches the packs of a solution of which the store lacks one of the trees. Warnings go to the solution.
func (s *Services) FetchMissing(ctx context.Context, m *pack.Manifest, sol *solve.Solution,
	trees iter.Seq[workspace.Tree],
) error {
	warnings, err := s.Fetcher.Missing(ctx, fetch.Locked{
		Manifest: m, Lock: sol.Lock, Opened: sol.Packs, Yanked: s.Backend.Yanked,
	}, trees)
	sol.Warnings = append(sol.Warnings, warnings...)
	return err
}

// Candidates returns the packs of a layout for admission, with what a change writes of them.
func (s *Services) Candidates(
	m *pack.Manifest, l *workspace.Layout, c *workspace.Change,
) admission.Candidates {
	candidates := admission.Candidates{
		Manifest: m, Packs: l.Packs, Placed: map[pack.ID]bool{},
		Linked: func(id pack.ID) bool { return l.Linked[id] != nil },
	}
	for _, tree := range c.Trees {
		candidates.Placed[tree.Pack] = true
	}
	if s.Admission.HasPolicies() {
		candidates.Names = SkillNames(l)
	}
	return candidates
}

// SkillNames returns the names under which a layout makes skills available.
func SkillNames(l *workspace.Layout) map[pack.SkillKey]string {
	names := make(map[pack.SkillKey]string, len(l.Named))
	for _, n := range l.Named {
		names[pack.SkillKey{Pack: n.Pack, Skill: n.Skill}] = n.Link
	}
	return names
}

// SkillFiles returns where admission finds the files of skills: in the directory of a linked pack, in the store, or
// where they are installed. In a dry run some may be nowhere yet.
func SkillFiles(w *workspace.Workspace, s *store.Store, l *workspace.Layout) admission.Files {
	return func(id pack.ID, name, digest string) (fs.FS, error) {
		if linked := l.Linked[id]; linked != nil {
			return safefile.Dir(linked.Skills[name]), nil
		}
		fsys, err := s.FS(digest)
		if err == nil || diag.CodeOf(err) != diag.NotFound {
			return fsys, err
		}
		if dir := w.Scope.PluginSkill(id, name); w.SkillStatus(l, id, name).Installed {
			return safefile.Dir(dir), nil
		}
		return nil, nil
	}
}
