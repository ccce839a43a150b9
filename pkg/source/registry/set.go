package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Named is a configured registry.
type Named struct {
	Name string // "" if it is only known by its URL
	URL  string
	// Sole reports that the user has only this registry. If it is an OCI prefix, it answers for all names, also if a
	// project adds registries: these must not take names away from it.
	Sole bool
}

// Config configures a [Set].
type Config struct {
	Registries []Named           // in the order of configuration
	Namespaces map[string]string // owner -> URL of its only registry
	Enforced   map[string]string // the same, set by the enterprise: users cannot rebind these
	Override   string            // URL of the only registry of this call; "" for none

	InProject map[string]bool // owners whose binding is the project's
	// Rebound has the owners that the project binds to another registry than the user, who has not accepted that. They
	// are not looked up.
	Rebound map[string]*ReboundError
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
	positions := make(map[string]int)
	var list []Named
	for _, named := range config.Registries {
		named.URL = Canonical(named.URL)
		if i, ok := positions[named.URL]; ok { // a project and its user may configure the same one
			list[i].Sole = list[i].Sole || named.Sole
			continue
		}
		positions[named.URL] = len(list)
		list = append(list, named)
	}
	config.Registries = list
	return &Set{config: config, deps: deps, open: make(map[string]Registry)}
}

// Canonical returns the URL of a registry without the slash that may end it.
func Canonical(url string) string {
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
	return fmt.Sprintf("select a registry with: skillpm registry bind %s %s (add --scope project for this project only)",
		e.Pack.Owner, addressForCommand(e.Registries[0]))
}

// Find returns the registry that answers for a pack that the user names. lockedSource is the source in the lockfile, or
// "". A locked pack is looked up only in its locked source, whatever the configuration.
func (s *Set) Find(ctx context.Context, id pack.ID, lockedSource string) (Registry, error) {
	if lockedSource != "" {
		return s.locked(ctx, id, lockedSource)
	}
	return s.find(ctx, id, true)
}

// FindRequired is Find for a pack that is not locked, and that a pack from another source than the built-in registries
// requires: these are not asked.
func (s *Set) FindRequired(ctx context.Context, id pack.ID) (Registry, error) {
	return s.find(ctx, id, false)
}

func (s *Set) find(ctx context.Context, id pack.ID, isNamed bool) (Registry, error) {
	enforced, isEnforced := s.config.Enforced[id.Owner]
	switch {
	case isEnforced && s.config.Override != "" && Canonical(s.config.Override) != Canonical(enforced):
		return nil, diag.Errorf(diag.Denied,
			"%s must come from %s: the administrator of this machine bound %s to this registry", id, enforced, id.Owner).
			WithHint("run the command without --registry")
	case s.config.Override != "":
		return s.only(ctx, id, s.config.Override, "check the name, or run the command without --registry")
	}
	if bound, ok, err := s.binding(id); ok || err != nil {
		if err != nil {
			return nil, err
		}
		return s.only(ctx, id, bound, s.bindingHint(id.Owner, bound))
	}
	if r, err := s.official(ctx, id); r != nil || err != nil {
		return r, err
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
		return s.fallback(ctx, id, candidates, isNamed)
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
func (s *Set) binding(id pack.ID) (url string, ok bool, err error) {
	if url, ok := s.config.Enforced[id.Owner]; ok {
		return url, true, nil
	}
	if rebound := s.config.Rebound[id.Owner]; rebound != nil {
		return "", false, rebound
	}
	url, ok = s.config.Namespaces[id.Owner]
	return url, ok, nil
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

// only asks the registry at one URL.
func (s *Set) only(ctx context.Context, id pack.ID, url, hint string) (Registry, error) {
	r, err := s.registry(ctx, url)
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
		if _, isOCI := asOCIRegistry(r); isOCI && len(s.config.Registries) > 1 && !named.Sole {
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
	var group bug.Group
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

// IsConfigured reports whether the user, the project, or the administrator has settings about registries.
func (s *Set) IsConfigured() bool {
	return len(s.config.Registries)+len(s.config.Namespaces)+len(s.config.Enforced)+len(s.config.Rebound) > 0
}

// official returns the embedded registry for a pack of skillpm itself, which no other registry can offer.
func (s *Set) official(ctx context.Context, id pack.ID) (Registry, error) {
	if id.Owner != OfficialOwner {
		return nil, nil
	}
	return s.hit(ctx, id, Embedded)
}

// hit returns a built-in registry if it has a pack, and otherwise nil.
func (s *Set) hit(ctx context.Context, id pack.ID, url string) (Registry, error) {
	r, err := s.registry(ctx, url)
	if err != nil {
		return nil, nil //nolint:nilerr // this program does not embed an index
	}
	hits, err := registriesWith(ctx, id, []Registry{r})
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	return r, nil
}

// fallback queries the built-in registries for a pack that no other registry has: if the user names the pack, and no
// registry is configured. So a demo pack never takes the place of a real one.
func (s *Set) fallback(ctx context.Context, id pack.ID, registries []Registry, isNamed bool) (Registry, error) {
	var names []string
	for _, r := range registries {
		names = append(names, r.Name())
	}
	if isNamed && !s.IsConfigured() {
		for _, url := range []string{Local, Embedded} {
			if r, err := s.hit(ctx, id, url); r != nil || err != nil {
				return r, err
			}
			names = append(names, url)
		}
	}
	searched := "no registry is configured for the owner " + id.Owner
	if len(names) > 0 {
		searched = "searched: " + strings.Join(names, ", ")
	}
	err := diag.Errorf(diag.NotFound, "no registry contains the pack %s (%s)", id, searched)
	if silent := s.emptyRegistries(registries); len(silent) > 0 {
		return nil, err.WithHint(
			"skillpm searches %s only for bound owners; bind the owner with: skillpm registry bind %s %s",
			strings.Join(silent, ", "), id.Owner, addressForCommand(silent[0]))
	}
	if r, _ := s.hit(ctx, id, Local); r != nil && isNamed {
		return nil, err.WithHint("skillpm searches local only if no registry is configured; "+
			"install the pack that you published on this machine with: skillpm install %s --registry local", id)
	}
	return nil, err.WithHint(
		"check the name, or add the pack's registry with: skillpm registry add NAME URL --namespace %s", id.Owner)
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

// registry opens the registry at a URL once.
func (s *Set) registry(ctx context.Context, url string) (Registry, error) {
	url = Canonical(url)
	name := s.name(url)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.open[url]; ok {
		return r, nil
	}
	r, err := Open(ctx, name, url, s.deps)
	if diag.CodeOf(err) == diag.Usage && url != s.config.Override { // from a file
		wrong := diag.Errorf(diag.Invalid, "invalid registries or namespaces: %w", err)
		return nil, wrong.WithHint("%s",
			cmp.Or(diag.HintOf(err), "correct the entry in skillpm.yaml or in config.yaml"))
	}
	if diag.CodeOf(err) == diag.NotFound && name == "" && !strings.ContainsAny(url, `:/\.`) { // not an address
		return nil, diag.Errorf(diag.NotFound, "registry %s does not exist", url).
			WithHint("list registries with: skillpm registry list")
	}
	if err != nil {
		return nil, err
	}
	s.open[url] = r
	return r, nil
}

// name returns the configured name of the registry at a URL, "" if it does not have one.
func (s *Set) name(url string) string {
	for _, named := range s.config.Registries {
		if named.URL == url && url != Local && url != Embedded { // even if a file names a registry like this
			return named.Name
		}
	}
	return ""
}
