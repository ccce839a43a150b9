package indexer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// history compares the files with an earlier commit. Lines may only have been appended.
func (k *checker) history(ctx context.Context) error {
	if _, err := git.StatusOf(ctx, k.dir.dir, nil); diag.CodeOf(err) == diag.NotFound && k.options.Since == "" {
		k.report.Notes = append(k.report.Notes, "skillpm did not check the history: "+err.Error())
		return nil
	}
	// forges use this as the commit before a branch's first
	if len(k.options.Since) >= 40 && strings.Trim(k.options.Since, "0") == "" {
		k.report.Notes = append(k.report.Notes, "skillpm did not check the history: the branch is new")
		return nil
	}
	before, err := git.OpenBase(ctx, k.dir.dir, k.options.Since)
	if err != nil {
		return err
	}
	defer before.Close() //nolint:errcheck // read only
	if before.Commit == "" {
		k.report.Notes = append(k.report.Notes, "skillpm did not check the history: no earlier commit found")
		return nil
	}
	k.report.Since = before.Commit
	k.changed, k.before = map[string]bool{}, map[string]*index.Entry{}
	for _, name := range before.Changed {
		if !strings.HasPrefix(name, "packs/") || !strings.HasSuffix(name, ".ndjson") {
			continue
		}
		k.changed[name] = true
		if err := k.checkAppended(before.FS, name, before.Commit); err != nil {
			return err
		}
	}
	return nil
}

// checkAppended reports the lines of an earlier file that are missing or moved.
func (k *checker) checkAppended(earlier fs.FS, name, commit string) error {
	was, err := safefile.ReadIn(earlier, name, index.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a new file
	}
	if err != nil {
		return err
	}
	if entry, err := index.Parse(name, was); err == nil {
		k.before[name] = entry
	}
	is, err := safefile.ReadIn(k.dir.fsys, name, index.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		k.find(diag.Integrity, diag.Finding{
			Rule: ruleHistory, Path: name, Message: "the file is missing, but commit " + commit[:12] + " contains it",
			Fix: "restore the file; to withdraw a version, run \"skillpm yank\"",
		})
		return nil
	}
	if err != nil {
		return nil //nolint:nilerr // already reported
	}
	old, now := slices.Collect(bytes.Lines(was)), slices.Collect(bytes.Lines(is))
	n := 0
	for n < len(old) && n < len(now) && bytes.Equal(bytes.TrimRight(old[n], "\r\n"), bytes.TrimRight(now[n], "\r\n")) {
		n++
	}
	if n == len(old) {
		return nil // only the end of the last line differs
	}
	what := fmt.Sprintf("line %d differs from commit %s", n+1, commit[:12])
	if n == len(now) {
		what = fmt.Sprintf("line %d of commit %s is missing", n+1, commit[:12])
	}
	k.find(diag.Integrity, diag.Finding{
		Rule: ruleHistory, Path: name, Line: n + 1, Message: what,
		Fix: "restore the line, and append a new line for each change; published versions never change",
	})
	return nil
}
