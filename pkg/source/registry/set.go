package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Named is a configured registry.
type Named struct {
	Name string // "" if it is only known by its URL
	URL  string
}

// Config configures a [Set].
type Config struct {
	Registries []Named           // in the order of configuration
	Namespaces map[string]string // owner -> name or URL of its only registry
	Enforced   map[string]string // the same, set by the enterprise: users cannot rebind these
	Override   string            // the only registry of this call; "" for none

	InProject map[string]bool // owners that the project binds, and not the user
}

// Set finds the registry that answers for a pack, by the rules in the package comment. It is safe for concurrent use.
type Set struct {
	config Config
	deps   Deps

	mu   sync.Mutex
	open map[string]Registry // by URL
}

// NewSet returns a set. It opens registries on first use.
func NewSet(config Config, deps Deps) *Set {
	seen := make(map[string]bool)
	var list []Named
	for _, named := range config.Registries {
		named.URL = canonical(named.URL)
		if !seen[named.URL] { // a project and its user may configure the same one
			seen[named.URL] = true
			list = append(list, named)
		}
	}
	config.Registries = list
	return &Set{config: config, deps: deps, open: make(map[string]Registry)}
}

// canonical returns the URL of a registry without the slash that may end it.
func canonical(url string) string {
	if len(url) > 1 {
		return strings.TrimRight(url, "/")
	}
	return url
}

// AmbiguousError reports that several registries have a pack and its namespace is not bound to one.
type AmbiguousError struct {
	Pack       pack.ID
	Registries []string
}

// Error names the pack and the registries.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is ambiguous: it is in %s", e.Pack,
		strings.Join(e.Registries, " and "))
}

// Code returns [diag.Conflict].
func (e *AmbiguousError) Code() diag.Code { return diag.Conflict }

// Hint describes how to bind the namespace.
func (e *AmbiguousError) Hint() string {
	return fmt.Sprintf("select a registry with: skillpm registry bind %s %s (add --scope project for this project "+
		"only)",
		e.Pack.Owner,
		e.Registries[0])
}

// Find returns the registry that answers for a pack. locked is the source in the lockfile, or "". A locked pack is
// looked up only in its locked source, whatever the configuration.
func (s *Set) Find(ctx context.Context, id pack.ID, lockedSource string) (Registry, error) {
	enforced, isEnforced := s.config.Enforced[id.Owner]
	switch {
	case lockedSource != "":
		return s.locked(ctx, id, lockedSource)
	case isEnforced && s.config.Override != "" && s.url(s.config.Override) != s.url(enforced):
		return nil, diag.Errorf(diag.Denied, "%s must come from %s: the administrator of this machine bound %s to "+
			"this registry",
			id, enforced, id.Owner).
			WithHint("run the command without --registry")
	case s.config.Override != "":
		return s.only(ctx, id, s.config.Override, "check the name, or run the command without --registry")
	}
	if bound, ok := s.binding(id); ok {
		return s.only(ctx, id, bound, s.bindingHint(id.Owner, bound))
	}
	candidates, err := s.candidates(ctx)
	if err != nil {
		return nil, err
	}
	hits, err := registriesWith(ctx, id, candidates)
	if err != nil {
		return nil, err
	}
	switch len(hits) {
	case 0:
		return s.fallback(ctx, id, candidates)
	case 1:
		return hits[0], nil
	}
	names := make([]string, len(hits))
	for i, r := range hits {
		names[i] = r.Name()
	}
	return nil, &AmbiguousError{Pack: id, Registries: names}
}

// binding returns the registry that an owner is bound to.
func (s *Set) binding(id pack.ID) (string, bool) {
	if r, ok := s.config.Enforced[id.Owner]; ok {
		return r, true
	}
	r, ok := s.config.Namespaces[id.Owner]
	return r, ok
}

// bindingHint explains why the other registries are not asked, and how to change that.
func (s *Set) bindingHint(owner, bound string) string {
	if _, ok := s.config.Enforced[owner]; ok {
		return fmt.Sprintf("check the name: the administrator of this machine bound %s to %s", owner, bound)
	}
	undo := "skillpm registry bind " + owner + " --undo"
	if s.config.InProject[owner] {
		undo += " --scope project"
	}
	return fmt.Sprintf("%s is bound to %s: check the name, or search the other registries with: %s", owner, bound, undo)
}

// only asks one registry.
func (s *Set) only(ctx context.Context, id pack.ID, nameOrURL, hint string) (Registry, error) {
	r, err := s.registry(ctx, nameOrURL)
	if err != nil {
		return nil, err
	}
	_, err = r.Versions(ctx, id)
	if none, ok := errors.AsType[*NotFoundError](err); ok {
		return nil, diag.Errorf(diag.NotFound, "%w", none).WithHint("%s", hint)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// candidates are the configured registries that answer for unbound names.
func (s *Set) candidates(ctx context.Context) ([]Registry, error) {
	var list []Registry
	for _, named := range s.config.Registries {
		r, err := s.registry(ctx, named.URL)
		if err != nil {
			return nil, err
		}
		if _, isOCI := asOCIRegistry(r); isOCI && len(s.config.Registries) > 1 {
			continue
		}
		list = append(list, r)
	}
	return list, nil
}

// registriesWith queries registries concurrently and returns those that have a pack, in order. Errors other than "not
// found" are returned.
func registriesWith(ctx context.Context, id pack.ID, list []Registry) ([]Registry, error) {
	has := make([]bool, len(list))
	errs := make([]error, len(list))
	var group errgroup.Group
	group.SetLimit(8)
	for i, r := range list {
		group.Go(func() error {
			_, err := r.Versions(ctx, id)
			if _, ok := errors.AsType[*NotFoundError](err); ok {
				err = nil
			} else {
				has[i] = err == nil
			}
			errs[i] = err
			return nil
		})
	}
	_ = group.Wait()
	var hits []Registry
	for i, r := range list {
		if errs[i] != nil {
			return nil, diag.Errorf(diag.CodeOf(errs[i]), "cannot look up %s in %s: %w", id, r.Name(), errs[i]).
				WithHint("%s", diag.HintOf(errs[i]))
		}
		if has[i] {
			hits = append(hits, r)
		}
	}
	return hits, nil
}

// fallback queries the registries that need no configuration.
func (s *Set) fallback(ctx context.Context, id pack.ID, registries []Registry) (Registry, error) {
	names := make([]string, 0, len(registries)+2)
	for _, r := range registries {
		names = append(names, r.Name())
	}
	for _, url := range []string{Local, Embedded} {
		r, err := s.registry(ctx, url)
		if err != nil {
			continue // this program does not embed an index
		}
		names = append(names, r.Name())
		hits, err := registriesWith(ctx, id, []Registry{r})
		if err != nil {
			return nil, err
		}
		if len(hits) == 1 {
			return r, nil
		}
	}
	err := diag.Errorf(diag.NotFound, "no registry contains the pack %s (searched: %s)", id, strings.Join(names, ", "))
	if silent := s.emptyRegistries(registries); len(silent) > 0 {
		return nil, err.WithHint("skillpm searches %s only for bound owners; bind the owner with: skillpm registry "+
			"bind %s %s",
			strings.Join(silent, ", "), id.Owner, silent[0])
	}
	return nil, err.WithHint("check the name, or add the registry that contains the pack: skillpm registry add NAME " +
		"URL")
}

// emptyRegistries names the configured registries that were not queried, because no namespace is bound to them.
func (s *Set) emptyRegistries(registries []Registry) []string {
	var names []string
	for _, named := range s.config.Registries {
		if !slices.ContainsFunc(registries, func(r Registry) bool {
			return r.Name() == named.Name ||
				r.Name() == named.URL
		}) {
			names = append(names, cmp.Or(named.Name, named.URL))
		}
	}
	return names
}

// registry opens a registry once. The parameter is its configured name or its URL.
func (s *Set) registry(ctx context.Context, nameOrURL string) (Registry, error) {
	name, url := s.resolveName(nameOrURL)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.open[url]; ok {
		return r, nil
	}
	r, err := Open(ctx, name, url, s.deps)
	if diag.CodeOf(err) == diag.Usage && nameOrURL != s.config.Override { // from a file
		wrong := diag.Errorf(diag.Invalid, "invalid registries or namespaces: %w", err)
		return nil, wrong.WithHint("%s",
			cmp.Or(diag.HintOf(err), "correct the entry in skillpm.yaml or in config.yaml"))
	}
	if diag.CodeOf(err) == diag.NotFound && name == "" && !strings.ContainsAny(nameOrURL, `:/\.`) { // not an address
		return nil, diag.Errorf(diag.NotFound, "registry %s does not exist", nameOrURL).
			WithHint("list registries with: skillpm registry list")
	}
	if err != nil {
		return nil, err
	}
	s.open[url] = r
	return r, nil
}

// resolveName returns the URL of a registry, and its configured name or "".
func (s *Set) resolveName(nameOrURL string) (name, url string) {
	url = canonical(nameOrURL)
	if url == Local || url == Embedded {
		return "", url // even if a file names a registry like this
	}
	for _, named := range s.config.Registries {
		if named.URL == url || named.Name == nameOrURL && named.Name != "" {
			return named.Name, named.URL
		}
	}
	return "", url
}

func (s *Set) url(nameOrURL string) string {
	_, url := s.resolveName(nameOrURL)
	return url
}
