package validate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/watch"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skill"
)

// watch checks and reports again whenever a file changes, until the context ends. It reports errors, for example a
// missing path, and continues.
func (a *app) watch(ctx context.Context, c *publish.Client, o publish.ValidateOptions, out render.Outcome,
	destinations []render.Destination,
) error {
	roots := []string{c.Dir}
	if len(o.Paths) > 0 {
		roots = nil
		for _, p := range o.Paths {
			roots = append(roots, render.OutputPath(a.App, p))
		}
	}
	w, err := watch.New(roots, watch.Options{Skip: func(dir string) bool {
		return skill.SkipDir(filepath.Base(dir)) && filepath.Base(dir) != ".skillpm"
	}})
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		if err := a.checkOnce(ctx, c, o, out, destinations); err != nil {
			return err
		}
		a.Note("Watching for changes. Press Ctrl-C to stop.")
		changed, err := a.nextChange(ctx, w, destinations)
		if err != nil || changed == nil {
			return err
		}
		a.Note("%s: %s", a.Now().Format(time.TimeOnly), a.changedFiles(c.Dir, changed))
	}
}

// nextChange waits until files other than the reports change, and returns them; nil when watching ends.
func (a *app) nextChange(ctx context.Context, w *watch.Watcher, destinations []render.Destination) ([]string, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, console.Reported{Exit: diag.Interrupted} // the context ended
		case changed, ok := <-w.Events():
			if !ok {
				return nil, w.Err()
			}
			changed = slices.DeleteFunc(changed, func(path string) bool {
				return slices.ContainsFunc(destinations, func(d render.Destination) bool {
					return d.File != "" && isOutput(render.OutputPath(a.App, d.File), path)
				})
			})
			if len(changed) > 0 {
				return changed, nil
			}
		}
	}
}

// isOutput reports whether a path is a report's file or the temporary file for it.
func isOutput(file, path string) bool {
	rest, ok := strings.CutPrefix(path, file)
	return ok && (rest == "" || strings.HasPrefix(rest, render.PartMark))
}

// checkOnce checks and reports once.
func (a *app) checkOnce(ctx context.Context, c *publish.Client, o publish.ValidateOptions, out render.Outcome,
	destinations []render.Destination,
) error {
	var err error
	if out.Report, err = c.Validate(ctx, o); err == nil {
		return render.WriteReport(a.App, out, destinations)
	}
	if ctx.Err() != nil || diag.CodeOf(err) == diag.Usage {
		return err
	}
	a.Warn("%v", err)
	return nil
}

// changedFiles returns the first of the changed files, for a message.
func (a *app) changedFiles(dir string, changed []string) string {
	const most = 3
	var names []string
	for _, path := range changed {
		if rel, ok := pathx.Rel(dir, path); ok {
			path = rel
		}
		names = append(names, filepath.ToSlash(path))
	}
	slices.Sort(names)
	if len(names) > most {
		return fmt.Sprintf("%s, and %d more changed", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ") + " changed"
}
