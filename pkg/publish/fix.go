package publish

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/lint"
)

// Fixed is the result of [Client.Fix].
type Fixed struct {
	Files  []FixedFile `json:"files"`  // sorted by path
	Report lint.Report `json:"report"` // the remaining findings
}

// FixedFile is a changed file.
type FixedFile struct {
	Path       string   `json:"path"`  // as in reports
	Rules      []string `json:"rules"` // the rules of the fixed findings, sorted, without duplicates
	Fixes      int      `json:"fixes"` // the number of fixed findings
	Executable bool     `json:"executable,omitempty"`
	Diff       string   `json:"diff,omitempty"` // unified, with three lines of context
	Text       []byte   `json:"-"`              // the file's contents after the fixes
}

// maxRounds limits how often files are validated again, because one edit may make another possible.
const maxRounds = 8

// Fix validates and makes the safe edits, and with Renames those that change names of skills, until there are none, or
// at most maxRounds times. With dry it returns the same result but writes nothing. A file that changes meanwhile is not
// written, and Fix returns an error.
func (c *Client) Fix(ctx context.Context, o ValidateOptions, dry bool) (*Fixed, error) {
	o.Edits = true
	m := &fixer{client: c, files: map[string]*fixedFile{}, overlay: o.overlay(c)}
	for range maxRounds {
		report, err := c.validate(ctx, o, m.contents())
		if err != nil {
			return nil, err
		}
		m.report = report
		changed, err := m.round(report, func(f diag.Finding) bool { return f.Fixable })
		if err == nil && !changed && o.Renames { // once, because a rename can free a name
			o.Renames = false
			changed, err = m.round(report, lint.IsRename)
		}
		if err != nil {
			return nil, err
		}
		if !changed {
			break
		}
	}
	return m.finish(dry)
}

// fixer is the state of one [Client.Fix] call, which makes all edits in memory before it writes a file.
type fixer struct {
	client  *Client
	overlay map[string][]byte     // contents that replace those on disk, by absolute path
	files   map[string]*fixedFile // by absolute path
	report  lint.Report
}

type fixedFile struct {
	FixedFile
	abs           string
	before, after []byte
}

// contents returns the overlay with the edits made so far, by absolute path.
func (m *fixer) contents() map[string][]byte {
	out := maps.Clone(m.overlay)
	for abs, f := range m.files {
		out[abs] = f.after
	}
	return out
}

// round makes the edits of some findings of a report, and reports whether there were any.
func (m *fixer) round(report lint.Report, fixes func(diag.Finding) bool) (bool, error) {
	edits := map[string][]diag.Edit{}
	changed := false
	for _, finding := range report.Findings {
		if len(finding.Edits) == 0 || !fixes(finding) {
			continue
		}
		if !m.isEditable(finding.Edits[0].Path) {
			continue
		}
		f, err := m.file(finding.Edits[0].Path)
		if err != nil {
			return false, err
		}
		if finding.Edits[0].Executable {
			if f.Executable {
				continue
			}
			f.Executable = true
			f.Fixes++
		}
		f.Rules = append(f.Rules, finding.Rule)
		edits[f.abs] = append(edits[f.abs], finding.Edits...)
	}
	for abs, list := range edits {
		f := m.files[abs]
		after, n := lint.Apply(f.after, list)
		changed = changed || n > 0 && !bytes.Equal(after, f.after)
		f.after = after
		f.Fixes += n // edits that overlap with another are made in the next round
	}
	return changed, nil
}

// isEditable reports whether a path is a regular file or in the overlay. The target of a link is never changed.
func (m *fixer) isEditable(path string) bool {
	abs := m.client.Machine.Abs(filepath.FromSlash(path))
	if _, ok := m.overlay[abs]; ok {
		return true
	}
	info, err := os.Lstat(abs)
	return err == nil && info.Mode().IsRegular()
}

// file returns the state of a file, which it reads on the first call.
func (m *fixer) file(path string) (*fixedFile, error) {
	abs := m.client.Machine.Abs(filepath.FromSlash(path))
	if f := m.files[abs]; f != nil {
		return f, nil
	}
	data, ok := m.overlay[abs]
	if !ok {
		var err error
		if data, err = os.ReadFile(abs); err != nil {
			return nil, err
		}
	}
	f := &fixedFile{abs: abs, before: data, after: data, FixedFile: FixedFile{Path: path}}
	m.files[abs] = f
	return f, nil
}

// finish writes the files, unless dry is set, and returns the result.
func (m *fixer) finish(dry bool) (*Fixed, error) {
	out := &Fixed{Files: []FixedFile{}, Report: m.report}
	var paths []string
	for abs := range m.files {
		paths = append(paths, abs)
	}
	slices.Sort(paths)
	var errs []error
	dirs := map[string]bool{}
	for _, abs := range paths {
		f := m.files[abs]
		slices.Sort(f.Rules)
		f.Rules = slices.Compact(f.Rules)
		f.Diff, f.Text = f.diff(), f.after
		if !dry {
			if err := f.write(); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		dirs[abs] = true
		out.Files = append(out.Files, f.FixedFile)
	}
	out.Report.Findings = slices.DeleteFunc(out.Report.Findings, func(f diag.Finding) bool {
		return f.Fixable && len(f.Edits) > 0 && f.Edits[0].Executable &&
			dirs[m.client.Machine.Abs(filepath.FromSlash(f.Edits[0].Path))]
	})
	return out, errors.Join(errs...)
}

// diff returns the changes as a unified diff.
func (f *fixedFile) diff() string {
	if bytes.Equal(f.before, f.after) {
		return ""
	}
	return "--- a/" + f.Path + "\n+++ b/" + f.Path + "\n" + textdiff.Hunks(f.before, f.after)
}

// write replaces the file unless it changed since it was read.
func (f *fixedFile) write() error {
	info, err := os.Stat(f.abs)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(f.abs)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.before) {
		return diag.Errorf(diag.Conflict, "cannot fix %s: the file changed during validation", f.Path).
			WithHint("run the command again")
	}
	mode := info.Mode().Perm()
	if f.Executable {
		mode |= mode & 0o444 >> 2
	}
	if bytes.Equal(f.before, f.after) {
		return os.Chmod(f.abs, mode)
	}
	if err := replaceFile(f.abs, f.after, mode); err != nil {
		return diag.Errorf(diag.Conflict, "cannot write %s: %w", f.Path, reasonOf(err)).
			WithHint("check the permissions of the directory")
	}
	return nil
}

// reasonOf returns the cause of an error without its path, which is that of a temporary file.
func reasonOf(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// replaceFile replaces a file atomically.
func replaceFile(name string, data []byte, mode fs.FileMode) error {
	return atomicfile.Write(name, data, atomicfile.Options{Mode: mode, Sync: true})
}
