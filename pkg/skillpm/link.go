package skillpm

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// LinkOptions says which pack to link.
type LinkOptions struct {
	Dir    string // of the pack that is worked on
	Scope  string // scope.KindProject or scope.KindUser; "" means the project
	DryRun bool   // write nothing
	Force  bool   // replace installed skills that were edited

	unlinks bool
}

// Link makes a scope use the pack that is worked on in a directory, as it is at any time, instead of a release.
// Manifest and lock stay as they are.
func (c *Client) Link(ctx context.Context, o LinkOptions) (*InstallReport, error) {
	dir, err := pathx.ResolveExisting(c.Machine.Abs(o.Dir))
	if err != nil {
		return nil, diag.Errorf(diag.NotFound, "there is no directory %s", o.Dir)
	}
	p, err := workspace.ReadLinked(dir)
	if err != nil {
		return nil, err
	}
	if len(p.Skills) == 0 {
		return nil, diag.Errorf(diag.Invalid, "%s has no skills", o.Dir)
	}
	return c.relink(ctx, o, func(w *work, linked map[string]string) error {
		if dir == w.Scope.Root {
			return diag.Errorf(diag.Usage, "%s is this project itself", o.Dir).
				WithHint("link it where it is used: skillpm -C DIR link %s", o.Dir)
		}
		linked[p.ID.String()] = dir
		return nil
	})
}

// Unlink goes back from a linked pack, named by its name or its directory, to the release that the lock has, or to
// none.
func (c *Client) Unlink(ctx context.Context, name string, o LinkOptions) (*InstallReport, error) {
	gone := ""
	o.unlinks = true
	r, err := c.relink(ctx, o, func(_ *work, linked map[string]string) error {
		var known []string
		for pk, dir := range linked {
			if pk == name || pathx.ResolveOrClean(c.Machine.Abs(name)) == dir {
				delete(linked, pk)
				gone = pk
				return nil
			}
			known = append(known, pk)
		}
		err := diag.Errorf(diag.NotFound, "%s is not linked", name)
		if near := diag.Nearest(name, known); near != "" {
			return err.WithHint("did you mean %s?", near)
		}
		return err.WithHint("skillpm list shows what is linked")
	})
	if err == nil && !slices.ContainsFunc(r.Packs, func(p PackReport) bool { return p.Pack == gone }) {
		r.Packs = append(r.Packs, PackReport{
			Pack: gone, Action: ActionRemoved, Source: "a directory", Skills: []SkillReport{},
		})
	}
	return r, err
}

// relink changes which packs are linked.
func (c *Client) relink(
	ctx context.Context, o LinkOptions, change func(*work, map[string]string) error,
) (*InstallReport, error) {
	return c.retry(func() (*InstallReport, error) {
		io := InstallOptions{Scope: o.Scope, DryRun: o.DryRun, Force: o.Force, unlinks: o.unlinks}
		w, err := c.open(ctx, io, false)
		if err != nil {
			return nil, err
		}
		linked := w.Linked()
		if linked == nil {
			linked = map[string]string{}
		}
		if err := change(w, linked); err != nil {
			return nil, err
		}
		w.SetLinked(linked)
		t := &target{manifest: w.Manifest.Clone(), Solution: &solve.Solution{
			Lock:  w.Lock.Clone(),
			Packs: map[pack.ID]*pack.Pack{},
		}}
		return w.install(ctx, io, t)
	})
}
