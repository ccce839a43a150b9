package provider

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/registry"
	"github.com/skillpm/skillpm/pkg/source"
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
	_, err = r.Versions(ctx, source.ID{Owner: "skillpm", Name: "doctor"})
	if _, ok := errors.AsType[*registry.NotFoundError](err); ok {
		return nil
	}
	return err
}
