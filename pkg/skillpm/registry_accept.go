package skillpm

import (
	"context"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
)

// RegistryAcceptOptions are the options of [Client.RegistryAccept].
type RegistryAcceptOptions struct {
	Owner    string
	Registry string // to which the project binds the owner, by name or address
	Undo     bool
}

// RegistryAccept accepts that the project binds an owner to another registry than the user's settings. The user's state
// records that, for this project and this binding only.
func (c *Client) RegistryAccept(_ context.Context, o RegistryAcceptOptions) (*RegistryChange, error) {
	if err := c.mayBind(o.Owner); err != nil {
		return nil, err
	}
	w, err := c.Machine.Open(scope.KindProject, false)
	if err != nil {
		return nil, err
	}
	binding, ok := fetch.ReboundBy(w, o.Owner)
	if !ok {
		return nil, diag.Errorf(diag.NotFound, "skillpm.yaml does not change your binding of the owner %s", o.Owner).
			WithHint("list bindings with: skillpm registry list")
	}
	if o.Registry != binding.Project && o.Registry != w.Manifest.Namespaces[o.Owner] {
		return nil, diag.Errorf(diag.Conflict, "skillpm.yaml binds the owner %s to %s, not to %s", o.Owner,
			binding.Project, o.Registry).WithHint("list bindings with: skillpm registry list")
	}
	r := &RegistryChange{Name: o.Registry, URL: binding.Project, Namespaces: []string{o.Owner}, Notes: []string{}}
	accepted := c.AcceptedBindings()
	if o.Undo {
		r.File, r.Changed, err = accepted.Remove(binding)
		return r, err
	}
	if before, err := accepted.Has(binding); err != nil {
		return nil, err
	} else if r.Changed = !before; before {
		return r, nil
	}
	r.File, err = accepted.Add(binding)
	return r, err
}

// acceptOwn accepts the bindings of the project that the user has just made.
func (c *Client) acceptOwn(owners ...string) error {
	w, err := c.Machine.Open(scope.KindProject, false)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if binding, ok := fetch.ReboundBy(w, owner); ok {
			if _, err := c.AcceptedBindings().Add(binding); err != nil {
				return err
			}
		}
	}
	return nil
}

// reboundOwners returns the owners that the project binds to another registry than the user, who has not accepted that.
func (c *Client) reboundOwners() (map[string]*ReboundError, error) {
	w, err := c.Machine.Open(scope.KindProject, false)
	if diag.CodeOf(err) == diag.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rebound := map[string]*ReboundError{}
	for owner := range w.Manifest.Namespaces {
		binding, ok := fetch.ReboundBy(w, owner)
		if !ok {
			continue
		}
		accepted, err := c.AcceptedBindings().Has(binding)
		if err != nil {
			return nil, err
		}
		if !accepted {
			rebound[owner] = &binding.ReboundError
		}
	}
	return rebound, nil
}
