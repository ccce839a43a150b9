package skillpm

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// RemoveOptions says which packs to remove.
type RemoveOptions struct {
	Packs  []string // owner/name
	Scope  string   // scope.KindProject or scope.KindUser; "" means the project
	DryRun bool     // write nothing
	Force  bool     // remove installed skills that were edited
}

// Remove takes packs out of the manifest and removes what nothing needs any more: their skills, copies and links, and
// the packs that only they required.
func (c *Client) Remove(ctx context.Context, o RemoveOptions) (*InstallReport, error) {
	return c.retry(func() (*InstallReport, error) { return c.remove(ctx, o) })
}

func (c *Client) remove(ctx context.Context, o RemoveOptions) (*InstallReport, error) {
	io := InstallOptions{Scope: o.Scope, DryRun: o.DryRun, Force: o.Force, removes: true}
	w, err := c.open(ctx, io, false)
	if err != nil {
		return nil, err
	}
	m := w.Manifest.Clone()
	for _, name := range o.Packs {
		id, err := pack.ParseID(name)
		if err != nil {
			return nil, err
		}
		found, err := m.RemoveDependency(id)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, w.notRequired(id)
		}
		if _, err := m.RemoveAliasesOf(id); err != nil {
			return nil, err
		}
	}
	t := &target{manifest: m}
	if t.Solution, err = w.Backend.Lock(ctx, m); err != nil {
		return nil, err
	}
	for _, a := range slices.Clone(m.Aliases) {
		if _, stays := t.Lock.Packs[a.Pack]; !stays {
			if _, err := m.RemoveAliasesOf(a.Pack); err != nil {
				return nil, err
			}
		}
	}
	return w.install(ctx, io, t)
}

// notRequired explains why a pack can't be removed.
func (w *work) notRequired(id pack.ID) error {
	err := diag.Errorf(diag.NotFound, "skillpm.yaml does not require %s", id)
	if _, ok := w.Lock.Packs[id]; ok {
		for by, p := range w.Lock.Packs {
			if _, ok := p.Dependencies[id.String()]; ok {
				return err.WithHint("it is installed because %s requires it", by)
			}
		}
	}
	var have []string
	for _, d := range w.Manifest.Dependencies {
		have = append(have, d.ID.String())
	}
	if near := diag.Nearest(id.String(), have); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("skillpm list shows what is installed")
}
