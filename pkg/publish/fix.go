package publish

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	slash "path"
	"path/filepath"
	"slices"
	"strings"

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
}

// maxRounds limits how often skills are validated again, because one edit may make another possible.
const maxRounds = 8

// batchSize is the number of files that are fixed together. Their contents are in memory meanwhile.
const batchSize = 500

// Fix validates and makes the safe edits until there are none, or at most maxRounds times, and validates again. With
// Renames, it first changes names of skills. With dry it returns the same result but writes nothing. A file that changes
// meanwhile is not written, and Fix returns an error.
func (c *Client) Fix(ctx context.Context, o ValidateOptions, dry bool) (*Fixed, error) {
	m := &fixer{client: c, options: o, dry: dry, done: o.overlay(c), overlay: o.overlay(c)}
	o.Edits = true
	batches, err := c.batches(ctx, o)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, b := range batches {
		err := m.fix(ctx, b)
		if ctx.Err() != nil {
			return nil, err
		}
		failed = append(failed, err)
	}
	out := &Fixed{Files: m.files}
	slices.SortFunc(out.Files, func(a, b FixedFile) int { return strings.Compare(a.Path, b.Path) })
	if out.Report, err = c.validate(ctx, o, m.done); err != nil {
		return nil, err
	}
	executable := map[string]bool{}
	for _, f := range out.Files {
		executable[f.Path] = f.Executable
	}
	out.Report.Findings = slices.DeleteFunc(out.Report.Findings, func(f diag.Finding) bool {
		return f.Fixable && len(f.Edits) > 0 && f.Edits[0].Executable && executable[f.Edits[0].Path]
	})
	return out, errors.Join(failed...)
}

// batch is a group of skills, and of files outside of skills, that are fixed together.
type batch struct {
	paths    []string // as in reports
	findings []diag.Finding
}

// batches validates, and groups the findings that have safe edits.
func (c *Client) batches(ctx context.Context, o ValidateOptions) ([]batch, error) {
	report, err := c.validate(ctx, o, o.overlay(c))
	if err != nil {
		return nil, err
	}
	var batches []batch
	skills := map[string]bool{}
	for _, dir := range report.Skills {
		skills[dir] = true
	}
	last, files := "", 0
	for _, f := range report.Findings { // in the order of paths
		if len(f.Edits) == 0 || !f.Fixable && !(o.Renames && lint.IsRename(f)) {
			continue
		}
		path := f.Edits[0].Path
		for dir := path; ; dir = slash.Dir(dir) {
			if skills[dir] {
				path = dir
				break
			}
			if slash.Dir(dir) == dir {
				break
			}
		}
		if path != last && (files >= batchSize || len(batches) == 0) {
			batches, files = append(batches, batch{}), 0
		}
		b := &batches[len(batches)-1]
		if path != last {
			b.paths = append(b.paths, path)
		}
		last = path
		b.findings = append(b.findings, f)
		files++
	}
	return batches, nil
}

// fixer is the state of one [Client.Fix] call.
type fixer struct {
	client  *Client
	options ValidateOptions
	dry     bool
	overlay map[string][]byte // contents that replace those on disk, by absolute path
	done    map[string][]byte // the overlay, and with dry the fixed files
	files   []FixedFile
}

// fixedFile is a file of the current batch.
type fixedFile struct {
	FixedFile
	abs           string
	before, after []byte
}

// fix makes the edits of a batch, validates its skills again while there are more edits, and writes the files.
func (m *fixer) fix(ctx context.Context, b batch) error {
	files := map[string]*fixedFile{} // by absolute path
	for round := 1; ; round++ {
		// names first, and once: only the first report compares them with those of all skills
		renames := round == 1 && m.options.Renames
		changed, err := m.round(files, b.findings, renames)
		if err != nil {
			return err
		}
		b.paths = slices.DeleteFunc(b.paths, func(path string) bool {
			return !renames && !slices.ContainsFunc(changed, func(file string) bool {
				return file == path || strings.HasPrefix(file, path+"/") || path == "."
			})
		})
		if len(b.paths) == 0 || round == maxRounds {
			return m.finish(files)
		}
		contents := maps.Clone(m.overlay)
		for abs, f := range files {
			contents[abs] = f.after
		}
		o := m.options
		o.Paths, o.Edits = b.paths, true
		report, err := m.client.validate(ctx, o, contents)
		if err != nil {
			return err
		}
		b.findings = report.Findings
	}
}

// round makes the safe edits of findings, or those that change names, and returns the paths of the files whose text
// changed.
func (m *fixer) round(files map[string]*fixedFile, findings []diag.Finding, renames bool) (changed []string, err error) {
	edits := map[string][]diag.Edit{}
	for _, finding := range findings {
		if len(finding.Edits) == 0 || finding.Fixable == renames || renames && !lint.IsRename(finding) ||
			!m.isEditable(finding.Edits[0].Path) {
			continue
		}
		f, err := m.file(files, finding.Edits[0].Path)
		if err != nil {
			return nil, err
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
		f := files[abs]
		after, n := lint.Apply(f.after, list)
		if n > 0 && !bytes.Equal(after, f.after) {
			changed = append(changed, f.Path)
		}
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
func (m *fixer) file(files map[string]*fixedFile, path string) (*fixedFile, error) {
	abs := m.client.Machine.Abs(filepath.FromSlash(path))
	if f := files[abs]; f != nil {
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
	files[abs] = f
	return f, nil
}

// finish writes the files, or with dry keeps them. It continues after an error.
func (m *fixer) finish(files map[string]*fixedFile) error {
	var errs []error
	for _, abs := range slices.Sorted(maps.Keys(files)) {
		f := files[abs]
		slices.Sort(f.Rules)
		f.Rules = slices.Compact(f.Rules)
		f.Diff = f.diff()
		if m.dry {
			m.done[abs] = f.after
		} else if err := f.write(); err != nil {
			errs = append(errs, err)
			continue
		}
		m.files = append(m.files, f.FixedFile)
	}
	return errors.Join(errs...)
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
