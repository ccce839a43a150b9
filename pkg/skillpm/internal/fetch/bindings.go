package fetch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// bindings are the registries that owners are bound to, by address.
//
// Each file is read with its own names of registries: otherwise a project could take over the user's binding to "corp"
// by calling one of its registries so.
type bindings struct {
	enforced  map[string]string // by the administrator
	effective map[string]string // by anybody, for each owner the one that counts
	inProject map[string]bool   // the effective one is the project's
	rebound   map[string]*registry.ReboundError
}

// ReboundBy returns the project's binding of an owner if the user's settings bind the owner to another registry.
func ReboundBy(w *workspace.Workspace, owner string) (AcceptedBinding, bool) {
	user, isBound := addresses(w.Config.Namespaces, w.Config.Registries)[owner]
	url, isRebound := addresses(w.Manifest.Namespaces, w.Manifest.Registries, w.Config.Registries)[owner]
	binding := AcceptedBinding{
		Root: w.Scope.Root, ReboundError: registry.ReboundError{Owner: owner, Project: url, User: user},
	}
	return binding, isBound && isRebound && user != url && w.Scope.Kind == scope.KindProject
}

func newBindings(w *workspace.Workspace, o RegistryOptions) (bindings, error) {
	b := bindings{
		enforced:  addresses(o.Admin.Namespaces, o.Admin.Registries),
		effective: addresses(w.Config.Namespaces, w.Config.Registries),
		inProject: map[string]bool{}, rebound: map[string]*registry.ReboundError{},
	}
	isProject := w.Scope.Kind == scope.KindProject
	for owner, url := range addresses(w.Manifest.Namespaces, w.Manifest.Registries, w.Config.Registries) {
		_, isEnforced := b.enforced[owner]
		if binding, ok := ReboundBy(w, owner); ok && !isEnforced {
			binding.Root = cmp.Or(o.Project, binding.Root)
			accepted, err := o.Accepted.Has(binding)
			if err != nil {
				return b, err
			}
			if !accepted {
				b.rebound[owner] = &binding.ReboundError
				continue
			}
		}
		b.effective[owner], b.inProject[owner] = url, isProject
	}
	maps.Copy(b.effective, b.enforced)
	return b, nil
}

// config returns the bindings for lookups.
func (b bindings) config() registry.Config {
	return registry.Config{
		Enforced: b.enforced, Namespaces: b.effective, InProject: b.inProject, Rebound: b.rebound,
	}
}

// addresses returns the addresses of the registries that owners are bound to. The lists have the registries that a
// binding may name.
func addresses(namespaces map[string]string, lists ...[]pack.Registry) map[string]string {
	bound := make(map[string]string, len(namespaces))
	for owner, name := range namespaces {
		url, ok := namedRegistry(name, lists...)
		if !ok {
			url = name
		}
		bound[owner] = registry.Canonical(url)
	}
	return bound
}

// namedRegistry returns the address of the first registry with a name. The names of the built-in ones are taken.
func namedRegistry(name string, lists ...[]pack.Registry) (url string, ok bool) {
	if name == "" || registry.IsBuiltIn(name) {
		return "", false
	}
	for _, list := range lists {
		if i := slices.IndexFunc(list, func(r pack.Registry) bool { return r.Name == name }); i >= 0 {
			return list[i].URL, true
		}
	}
	return "", false
}
