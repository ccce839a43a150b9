package skillpm

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// LinkOptions are the options of [Client.Link] and [Client.Unlink].
type LinkOptions struct {
	ChangeOptions
	Dir string // of the working copy; only for Link
}

// Link makes a scope use the working copy of a pack in a directory instead of a release. Manifest and lockfile stay as
// they are.
func (c *Client) Link(ctx context.Context, o LinkOptions) (*InstallReport, error) {
	dir, err := pathx.ResolveExisting(c.Machine.Abs(o.Dir))
	if err != nil {
		return nil, diag.Errorf(diag.NotFound, "directory %s does not exist", o.Dir)
	}
	p, err := workspace.ReadLinked(dir)
	if err != nil {
		return nil, err
	}
	if len(p.Skills) == 0 {
		return nil, diag.Errorf(diag.Invalid, "%s does not contain skills", o.Dir).
			WithHint("use the directory of a pack, or create a skill with: skillpm new NAME")
	}
	return c.relink(ctx, request{ChangeOptions: o.ChangeOptions}, func(in *installer, linked map[string]string) error {
		if dir == in.Scope.Root {
			return diag.Errorf(diag.Usage, "cannot link %s: it is the directory of this project", o.Dir).
				WithHint("run the command in the project that uses the pack: skillpm -C PROJECT link %s", dir)
		}
		linked[p.ID.String()] = dir
		return nil
	})
}

// Unlink ends the link of a pack, which its name or its directory identifies. If the lockfile has a release of it, that
// is installed again.
func (c *Client) Unlink(ctx context.Context, name string, o LinkOptions) (*InstallReport, error) {
	unlinked := ""
	req := request{ChangeOptions: o.ChangeOptions, command: commandUnlink}
	r, err := c.relink(ctx, req, func(_ *installer, linked map[string]string) error {
		var known []string
		for pk, dir := range linked {
			if pk == name || pathx.ResolveOrClean(c.Machine.Abs(name)) == dir {
				delete(linked, pk)
				unlinked = pk
				return nil
			}
			known = append(known, pk)
		}
		err := diag.Errorf(diag.NotFound, "%s is not linked", name)
		if near := diag.Nearest(name, known); near != "" {
			return err.WithHint("did you mean %s?", near)
		}
		return err.WithHint("list linked packs with: skillpm list")
	})
	if err == nil && !slices.ContainsFunc(r.Packs, func(p PackReport) bool { return p.Pack == unlinked }) {
		r.Packs = append(r.Packs, PackReport{
			Pack: unlinked, Action: ActionRemoved, Source: "a directory", Skills: []SkillReport{},
		})
	}
	return r, err
}

// relink changes which packs are linked.
func (c *Client) relink(
	ctx context.Context, r request, edit func(*installer, map[string]string) error,
) (*InstallReport, error) {
	return c.change(ctx, r, func(in *installer) (*resolution, error) {
		linked := in.Linked()
		if linked == nil {
			linked = map[string]string{}
		}
		if err := edit(in, linked); err != nil {
			return nil, err
		}
		in.SetLinked(linked)
		return lockedResolution(in.Workspace), nil
	})
}
