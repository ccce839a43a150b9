package skillpm

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/packsearch"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// searcher is a search in the indexes of registries and of the installed packs.
type searcher struct {
	client *Client
	*base.Services
	cache      packsearch.Cache
	registries []*searchedIndex
	searchable []*searchedIndex // without those that can't be searched, with the installed packs
	configured int              // registries in the settings of the project and the user
	installed  map[string]*InstalledVersion
	denied     *denials // nil without policies
}

// searchedIndex is the index of a registry, or of the installed packs, which has no URL.
type searchedIndex struct {
	name, url string
	owners    []string // only their packs count; nil for all
	key       string   // of its index
	index     *packsearch.Index
	tag       string
	packs     iter.Seq2[index.CatalogEntry, error]
	err       error // why it is not searched
	stale     error // why its last known state is searched
}

func (c *Client) searcher(ctx context.Context, o SearchOptions) (*searcher, error) {
	w, err := c.searchScope()
	if err != nil {
		return nil, err
	}
	return c.searcherFor(ctx, w, o)
}

// searcherFor returns the search in the registries of a scope.
func (c *Client) searcherFor(ctx context.Context, w *workspace.Workspace, o SearchOptions) (*searcher, error) {
	override := o.Registry
	configured, ok := configuredRegistry(w, override)
	if ok {
		override = ""
	}
	services, err := c.Services(ctx, w, base.ServiceOptions{Registry: override, Offline: o.Offline})
	if err != nil {
		return nil, err
	}
	s := &searcher{
		client: c, Services: services, cache: packsearch.Cache{Dir: c.Paths.HTTPCache()}, denied: c.denials(w),
		configured: len(w.Manifest.Registries) + len(w.Config.Registries),
	}
	switch {
	case ok:
		s.add(w, configured.Name, configured.URL)
	case override != "":
		s.registries = []*searchedIndex{{name: override, url: override, key: indexKey(c.Dir, override)}}
	default:
		s.list(w)
	}
	return s, nil
}

// configuredRegistry returns the configured registry with a name or an address.
func configuredRegistry(w *workspace.Workspace, nameOrURL string) (pack.Registry, bool) {
	list := slices.Concat(w.Manifest.Registries, w.Config.Registries)
	i := slices.IndexFunc(list, func(r pack.Registry) bool {
		return nameOrURL != "" &&
			(r.Name == nameOrURL || r.URL == nameOrURL)
	})
	if i < 0 {
		return pack.Registry{}, false
	}
	return list[i], true
}

// searchScope returns the project around the working directory, or the user's scope if there is none.
func (c *Client) searchScope() (*workspace.Workspace, error) {
	w, err := c.Machine.Open(scope.KindProject, false)
	if code := diag.CodeOf(err); code == diag.NotFound || code == diag.Usage {
		return c.Machine.Open(scope.KindUser, true)
	}
	return w, err
}

// list adds the configured registries, those that owners are bound to, and the built-in ones.
func (s *searcher) list(w *workspace.Workspace) {
	for _, r := range slices.Concat(w.Manifest.Registries, w.Config.Registries) {
		s.add(w, r.Name, r.URL)
	}
	for _, url := range append(s.Registries.Bound(), registry.Local, registry.Embedded) {
		if !registry.IsBuiltIn(url) || !s.Registries.AreConfigured() {
			s.add(w, "", url)
		}
	}
	if s.Registries.AreConfigured() {
		s.addBuiltIn(registry.Local)
		s.addBuiltIn(registry.Embedded, registry.OfficialOwner)
	}
}

// addBuiltIn adds a built-in registry with only the packs of some owners, and of those that are bound to it. The others
// are not asked if a registry is configured.
func (s *searcher) addBuiltIn(url string, owners ...string) {
	owners = slices.DeleteFunc(owners, func(owner string) bool { return s.Registries.BoundTo(owner) != "" })
	if owners = append(owners, s.Registries.OwnersOf(url)...); len(owners) > 0 {
		s.registries = append(s.registries, &searchedIndex{
			name: url, url: url, owners: owners, key: url + "\n" + strings.Join(owners, " "),
		})
	}
}

func (s *searcher) add(w *workspace.Workspace, name, url string) {
	if slices.ContainsFunc(s.registries, func(p *searchedIndex) bool { return p.url == url }) {
		return
	}
	s.registries = append(s.registries, &searchedIndex{
		name: cmp.Or(name, url), url: url, key: indexKey(filepath.Dir(w.Scope.Manifest()), url),
	})
}

// indexKey returns the key of a registry's index. A relative directory depends on its base.
func indexKey(base, url string) string {
	if url == registry.Local || url == registry.Embedded || strings.Contains(url, "://") {
		return url
	}
	return base + "\n" + url
}

// parallelRegistries is how many indexes are opened at once.
const parallelRegistries = 4

// open opens the indexes, several at once. A registry that can't be searched gets an error.
func (s *searcher) open(ctx context.Context) error {
	group, inner := bug.WithContext(ctx)
	group.SetLimit(parallelRegistries)
	for _, p := range s.registries {
		group.Go(func() error {
			p.err = s.openIndex(inner, p)
			return inner.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, p := range s.registries {
		if p.err == nil {
			s.searchable = append(s.searchable, p)
		}
	}
	return s.openInstalled()
}

// openIndex opens the index of a registry in its current state, and builds it if the cache does not have it.
func (s *searcher) openIndex(ctx context.Context, p *searchedIndex) error {
	err := s.catalog(ctx, p, false)
	if diag.CodeOf(err) == diag.Remote && ctx.Err() == nil && s.catalog(ctx, p, true) == nil {
		p.stale, err = err, nil
	}
	if err != nil {
		return err
	}
	p.index, err = s.cache.Open(p.key, p.tag)
	if errors.Is(err, fs.ErrNotExist) || diag.CodeOf(err) == diag.Invalid {
		err = s.build(p)
	}
	return err
}

// catalog lists the packs of a registry or, with cached, those of its last known state.
func (s *searcher) catalog(ctx context.Context, p *searchedIndex, cached bool) error {
	r, err := s.Registries.Open(ctx, p.name, p.url, cached)
	if err != nil {
		return err
	}
	l, err := registry.List(r)
	if err != nil {
		return err
	}
	p.packs, p.tag, err = l.Catalog(ctx)
	if p.owners != nil && err == nil {
		p.packs = entriesOf(p.packs, p.owners)
	}
	return err
}

// entriesOf returns the packs of some owners.
func entriesOf(packs iter.Seq2[index.CatalogEntry, error], owners []string) iter.Seq2[index.CatalogEntry, error] {
	return func(yield func(index.CatalogEntry, error) bool) {
		for e, err := range packs {
			owner, _, _ := strings.Cut(e.Name, "/")
			if (err != nil || slices.Contains(owners, owner)) && !yield(e, err) {
				return
			}
		}
	}
}

// build builds the index of a registry.
func (s *searcher) build(p *searchedIndex) (err error) {
	s.client.Progress(Event{Text: "indexing " + p.name})
	p.index, err = s.cache.Build(p.key, p.tag, catalogDocs(p.packs))
	if err != nil && diag.CodeOf(err) == diag.Internal { // the cache can't be written to
		p.index, err = packsearch.New(catalogDocs(p.packs))
	}
	return err
}

func catalogDocs(packs iter.Seq2[index.CatalogEntry, error]) iter.Seq2[packsearch.Pack, error] {
	return func(yield func(packsearch.Pack, error) bool) {
		for e, err := range packs {
			if !yield(searchedPack(e), err) || err != nil {
				return
			}
		}
	}
}

// searchedPack returns a pack of a registry as it is searched.
func searchedPack(e index.CatalogEntry) packsearch.Pack {
	o := e.Origin()
	p := packsearch.Pack{
		Name: e.Name, Version: e.Version, Description: e.Description, License: e.License, Published: e.Published,
		Deprecated: e.Deprecated, Tags: e.Tags, Content: o.Content, Since: o.ContentSince, First: o.Since,
	}
	for _, s := range e.Skills {
		p.Skills = append(p.Skills, packsearch.Skill{Name: s.Name, Description: s.Description})
	}
	return p
}

// openInstalled indexes the installed packs.
func (s *searcher) openInstalled() error {
	installed, docs := s.client.installedPacks()
	s.installed = installed
	if len(docs) == 0 {
		return nil
	}
	x, err := packsearch.New(func(yield func(packsearch.Pack, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	s.searchable = append(s.searchable, &searchedIndex{name: "installed", index: x})
	return nil
}

// find searches the indexes.
func (s *searcher) find(ctx context.Context, query string, n int) (a *packsearch.Answer, err error) {
	err = s.repairing(ctx, func() error {
		a, err = packsearch.Find(s.indexes(), query, n)
		return err
	})
	return a, err
}

// all lists the packs of the indexes.
func (s *searcher) all(ctx context.Context) (hits []packsearch.Hit, err error) {
	err = s.repairing(ctx, func() error {
		hits, err = packsearch.All(s.indexes())
		return err
	})
	return hits, err
}

// repairing calls read. If an index is damaged, it builds the indexes again, and calls read once more.
func (s *searcher) repairing(ctx context.Context, read func() error) error {
	err := read()
	if diag.CodeOf(err) != diag.Invalid {
		return err
	}
	for _, p := range s.searchable {
		if p.url == "" {
			continue
		}
		p.index.Close()
		s.cache.Drop(p.key, p.tag)
		if err := s.openIndex(ctx, p); err != nil {
			return err
		}
	}
	return read()
}

func (s *searcher) indexes() []*packsearch.Index {
	list := make([]*packsearch.Index, len(s.searchable))
	for i, p := range s.searchable {
		list[i] = p.index
	}
	return list
}

func (s *searcher) close() {
	for _, p := range s.registries {
		if p.index != nil {
			p.index.Close()
		}
	}
}

func (p *searchedIndex) report() SearchedRegistry {
	if p.err != nil {
		_, isUnlisted := errors.AsType[*registry.UnlistedError](p.err)
		return SearchedRegistry{
			Name: p.name, Unlisted: isUnlisted, Error: p.err.Error(),
			Code: int(diag.CodeOf(p.err)), Hint: diag.HintOf(p.err),
		}
	}
	r := SearchedRegistry{Name: p.name, Packs: p.index.Len()}
	if p.stale != nil {
		r.Stale, r.Error, r.Code, r.Hint = true, p.stale.Error(), int(diag.CodeOf(p.stale)), diag.HintOf(p.stale)
	}
	return r
}

// SearchedNames returns the configured registries, by name or address. It uses no network.
func (c *Client) SearchedNames() []string {
	w, err := c.searchScope()
	if err != nil {
		return []string{registry.Embedded, registry.Local}
	}
	names := []string{registry.Embedded, registry.Local}
	for _, r := range slices.Concat(w.Manifest.Registries, w.Config.Registries) {
		names = append(names, cmp.Or(r.Name, r.URL))
	}
	return names
}
