package skillpm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// Edit is an installed skill with local edits.
type Edit = workspace.Edit

// EditedError is the error if an operation would replace or remove installed skills with local edits.
type EditedError = workspace.EditedError

// compare finds what has to change on disk. Telling a local edit from missing files needs the installed version, which
// is fetched again if the store lacks it.
func (in *installer) compare(ctx context.Context, l *workspace.Layout) (*workspace.Change, error) {
	c, err := in.Compare(l, in.compareOptions())
	edits := editsOf(c, err)
	if slices.ContainsFunc(edits, func(e Edit) bool { return e.Problem != "" }) && in.fetchPristine(ctx, edits) == nil {
		c, err = in.Compare(l, in.compareOptions())
	}
	return c, in.explainEdits(ctx, err)
}

// fetchPristine puts the installed versions of locally edited skills into the store.
func (in *installer) fetchPristine(ctx context.Context, edits []Edit) error {
	trees := func(yield func(workspace.Tree) bool) {
		for _, e := range edits {
			if p := in.Lock.Packs[e.Tree.Pack]; p != nil && p.Skills[e.Skill] == e.Tree.Digest && !yield(e.Tree) {
				return
			}
		}
	}
	return in.FetchMissing(ctx, in.Manifest, &solve.Solution{Lock: in.Lock}, trees)
}

// compareOptions configure the comparison of installed files.
func (in *installer) compareOptions() workspace.CompareOptions {
	r := in.request
	o := workspace.CompareOptions{
		Hash: r.frozen || r.Force, Force: r.Force, OnlyMoved: r.command == commandUpdate, Strict: r.frozen,
		KeepsOnlyOwn: !r.Keep && (r.command == commandInstall || r.command == commandUpdate),
	}
	if len(r.unlink) > 0 {
		// On an error, such as for a directory outside the scope, there are none.
		o.Unlink, _, _ = in.AgentDirs(workspace.AgentChoice{Only: r.unlink})
	}
	return o
}

// editsOf returns the local edits that a comparison found, whether they are in the way or not.
func editsOf(c *workspace.Change, err error) []Edit {
	if edited, ok := errors.AsType[*EditedError](err); ok {
		return edited.Edits
	}
	if c == nil {
		return nil
	}
	return c.Edited
}

// explainEdits adds to an error about local edits their text, and a hint.
func (in *installer) explainEdits(ctx context.Context, err error) error {
	edited, ok := errors.AsType[*EditedError](err)
	if !ok {
		return err
	}
	budget := textdiff.NewBudget()
	for i := range edited.Edits {
		e := &edited.Edits[i]
		d, err := in.Difference(ctx, *e, budget)
		if err == nil {
			e.Text = d.String()
		} else if e.Problem == "" {
			e.Problem = err.Error()
		}
	}
	backup := in.Rel(in.Scope.Backup())
	if in.Scope.Kind == scope.KindUser {
		backup = "~/" + backup
	}
	conflict := diag.Errorf(diag.Conflict, "%w", err)
	switch {
	case in.request.frozen:
		return conflict.WithHint(
			"restore the locked content with: skillpm install --force (skillpm keeps a copy of the edits in %s)", backup)
	case in.request.command == commandRemove:
		return conflict.WithHint("use --force to remove the pack and keep a copy of the edits in %s", backup)
	}
	return conflict.WithHint(
		"use --keep to skip packs with edited skills, or --force to replace the skills and keep copies in %s", backup)
}

// editWarnings names the local edits that stay, and the packs that stay at their version because of them.
func (in *installer) editWarnings(c *workspace.Change) []string {
	var list []string
	for _, id := range in.request.edited {
		if p, ok := in.Lock.Packs[id]; ok {
			list = append(list, fmt.Sprintf("%s stays at %s because it has locally edited skills: %s",
				id, p.Version, editedSkills(id, c.Edited)))
		}
	}
	for _, e := range c.Edited {
		if !slices.Contains(in.request.edited, e.Tree.Pack) {
			list = append(list, fmt.Sprintf(
				"%s; skillpm kept the edit (show it with: skillpm diff --edits; undo it with: skillpm install --force)",
				e))
		}
	}
	return list
}

// editedSkills lists the directories of a pack's locally edited skills.
func editedSkills(id pack.ID, edits []Edit) string {
	var dirs []string
	for _, e := range edits {
		if e.Tree.Pack == id {
			dirs = append(dirs, e.Path)
		}
	}
	return strings.Join(dirs, ", ")
}
