package provider

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Bound returns the addresses of the registries that namespaces are bound to, by the administrator, too.
func (pr *Provider) Bound() []string {
	return slices.Sorted(maps.Values(pr.bindings))
}

// Reach asks a registry whether it is there. That it does not have the pack that it is asked for is an answer.
func (pr *Provider) Reach(ctx context.Context, url string) error {
	r, err := registry.Open(ctx, "", url, pr.deps)
	if err != nil {
		return err
	}
	_, err = r.Versions(ctx, pack.ID{Owner: "skillpm", Name: "doctor"})
	if _, ok := errors.AsType[*registry.NotFoundError](err); ok {
		return nil
	}
	return err
}

// Registry opens a registry as this provider does, or, if kept is set, what is kept of it on this machine. Name is what
// messages call it; "" stands for the address. It is not asked for anything.
func (pr *Provider) Registry(ctx context.Context, name, url string, kept bool) (registry.Registry, error) {
	deps := pr.deps
	deps.Offline = deps.Offline || kept
	return registry.Open(ctx, name, url, deps)
}

// BoundTo returns the address of the registry that alone answers for an owner, "" for none.
func (pr *Provider) BoundTo(owner string) string { return pr.bindings[owner] }
