package skillpm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// Edit is an installed skill that somebody changed since it was installed.
type Edit = workspace.Edit

// EditedError says that installed skills would be replaced or removed that somebody edited.
type EditedError = workspace.EditedError

// compare works out what has to change on disk. Where it takes the pristine text to tell an edit from what only lacks
// files, and the store has lost that, it is fetched again if it can be.
func (w *work) compare(ctx context.Context, l *workspace.Layout, o InstallOptions) (*workspace.Change, error) {
	options := o.compareOptions()
	c, err := w.Compare(l, options)
	edits := editsOf(c, err)
	if !slices.ContainsFunc(edits, func(e Edit) bool { return e.Problem != "" }) {
		return c, w.explain(ctx, o, err)
	}
	if w.fetchEdited(ctx, edits) == nil { // else it is told without that
		c, err = w.Compare(l, options)
	}
	return c, w.explain(ctx, o, err)
}

// fetchEdited puts into the store what was installed where there are edits now.
func (w *work) fetchEdited(ctx context.Context, edits []Edit) error {
	trees := func(yield func(workspace.Tree) bool) {
		for _, e := range edits {
			if p := w.Lock.Packs[e.Tree.Pack]; p != nil && p.Skills[e.Skill] == e.Tree.Digest && !yield(e.Tree) {
				return
			}
		}
	}
	return w.FetchMissing(ctx, w.Manifest, &solve.Solution{Lock: w.Lock}, trees)
}

// compareOptions says how the disk is looked at.
func (o InstallOptions) compareOptions() workspace.CompareOptions {
	return workspace.CompareOptions{Hash: o.Frozen || o.Force, Force: o.Force, Moved: o.moves, Strict: o.Frozen}
}

// editsOf returns the edits that a comparison found, whether they are in the way or not.
func editsOf(c *workspace.Change, err error) []Edit {
	if edited, ok := errors.AsType[*EditedError](err); ok {
		return edited.Edits
	}
	if c == nil {
		return nil
	}
	return c.Edited
}

// explain adds to an error about edits what they are and what can be done.
func (w *work) explain(ctx context.Context, o InstallOptions, err error) error {
	edited, ok := errors.AsType[*EditedError](err)
	if !ok {
		return err
	}
	budget := textdiff.NewBudget()
	for i := range edited.Edits {
		w.tell(ctx, budget, &edited.Edits[i])
	}
	backup := w.Rel(w.Scope.Backup())
	if w.Scope.Kind == scope.KindUser {
		backup = "~/" + backup
	}
	e := diag.Errorf(diag.Conflict, "%w", err)
	switch {
	case o.Frozen:
		return e.WithHint("skillpm install --force installs what skillpm.lock says, and keeps a copy of the edits "+
			"in %s", backup)
	case o.removes:
		return e.WithHint("--force removes it, and keeps a copy in %s", backup)
	default:
		return e.WithHint("--keep leaves the packs of edited skills as they are, --force replaces the skills and "+
			"keeps copies in %s", backup)
	}
}

// tell adds the text of an edit, if the store has what was installed.
func (w *work) tell(ctx context.Context, b *textdiff.Budget, e *Edit) {
	d, err := w.Difference(ctx, *e, b)
	if err == nil {
		e.Text = d.String()
	} else if e.Problem == "" {
		e.Problem = err.Error()
	}
}

// keeping runs a verb. With --keep it runs it again, with the packs held back that have edited skills which would have
// been replaced, until there are none.
func keeping(o InstallOptions, verb func(InstallOptions) (*InstallReport, error)) (*InstallReport, error) {
	for {
		report, err := verb(o)
		edited, ok := errors.AsType[*EditedError](err)
		if !ok || !o.Keep {
			return report, err
		}
		held := slices.Clone(o.held)
		for _, id := range edited.Packs() {
			if !slices.Contains(held, id) {
				held = append(held, id)
			}
		}
		if len(held) == len(o.held) {
			return report, err
		}
		o.held = held
	}
}

// editWarnings says which edits stay, and which packs stay where they are because of that.
func (w *work) editWarnings(o InstallOptions, c *workspace.Change) []string {
	var list []string
	for _, id := range o.held {
		p, ok := w.Lock.Packs[id]
		if !ok {
			continue
		}
		list = append(list, fmt.Sprintf("%s stays at %s, because skills of it were edited: %s",
			id, p.Version, editedSkills(id, c.Edited)))
	}
	for _, e := range c.Edited {
		if !slices.Contains(o.held, e.Tree.Pack) {
			list = append(list, fmt.Sprintf(
				"%s, and stays so; skillpm diff --edits shows the edit, skillpm install --force undoes it", e))
		}
	}
	return list
}

// editedSkills names the directories of a pack's edited skills.
func editedSkills(id pack.ID, edits []Edit) string {
	text := ""
	for _, e := range edits {
		if e.Tree.Pack == id {
			if text != "" {
				text += ", "
			}
			text += e.Path
		}
	}
	return text
}
