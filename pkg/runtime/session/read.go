package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The limits of listings of a skill's directory.
const (
	maxFiles = 1000
	maxDepth = 8
)

// File is a file of a skill, or the listing of a directory.
type File struct {
	Skill *catalog.Skill
	Path  string // relative to the skill, with slashes; "." for its directory
	Data  []byte
	IsDir bool
	Names []string // sorted names in a directory; those of subdirectories end in a slash

	Started  time.Time
	Duration time.Duration
}

// Result returns the file in the form that package prompt writes.
func (f *File) Result() prompt.Result {
	body := string(f.Data)
	if f.IsDir {
		body = strings.Join(f.Names, "\n")
	}
	return prompt.Result{
		Kind: prompt.Read, Name: f.Skill.Name, Dir: f.Skill.Dir, Description: f.Skill.Description, Path: f.Path,
		Body:    body,
		Started: f.Started, Duration: f.Duration,
	}
}

// Read returns one file of a skill, or the names in one of its directories. The path is relative to the skill, with
// slashes. Read follows no link that leads out of the skill's directory. The error is a [MissingError] if there is no
// such file.
func (s *Session) Read(ctx context.Context, name, file string) (*File, error) {
	all, err := s.ReadAll(ctx, name, []string{file})
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// ReadAll returns files of a skill as Read does, and checks the policies only once, because that inspects all files of
// the skill. It stops at the first file that cannot be read.
func (s *Session) ReadAll(ctx context.Context, name string, files []string) ([]*File, error) {
	started := s.env.Now()
	k, err := s.lookup(ctx, name)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	r := audit.Record{Action: audit.Refuse, Result: audit.Denied, File: files[0]}
	_, denied := s.decide(ctx, &catalog.Loaded{Skill: k}, &r)
	all := make([]*File, 0, len(files))
	for _, file := range files {
		f, err := (*File)(nil), denied
		if err == nil {
			f, err = s.read(k, file)
		}
		if _, missing := errors.AsType[*MissingError](err); missing {
			err = s.recordFailure(err, audit.Record{
				Action: audit.Missing, Result: audit.Failed, File: file,
				Reason: err.Error(),
			}, k)
		} else if diag.CodeOf(err) == diag.Denied {
			r.Reason, r.File = err.Error(), file
			err = s.recordFailure(err, r, k)
		}
		if f != nil {
			f.Started, f.Duration = started, s.env.Now().Sub(started)
			all = append(all, f)
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func (s *Session) read(k *catalog.Skill, file string) (*File, error) {
	name, err := inside(k, file)
	if err != nil {
		return nil, err
	}
	if err := s.checkReadable(k, name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(k.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "skill %q was deleted or renamed: %w", k.Name, err).
			WithHint("list skills with: skillpm skills")
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.missing(root, k, name)
	case err != nil:
		return nil, outside(k, name, err)
	case info.IsDir() && s.env.Profile != nil && s.env.Profile.Trigger.File.Name != "":
		return nil, notOneFile(root, k, name)
	case info.IsDir():
		names, err := list(root, name)
		return &File{Skill: k, Path: name, IsDir: true, Names: names}, err
	}
	if err := s.refuseLink(root, k, name); err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() > s.env.FileLimit {
		return nil, &LimitError{
			What: fmt.Sprintf("%s of skill %q", name, k.Name), Size: info.Size(), Limit: s.env.FileLimit,
			Advice: fmt.Sprintf("read %s in parts with your own tools, or read more with --max-bytes BYTES",
				filepath.Join(k.Dir, filepath.FromSlash(name))),
		}
	}
	data, err := safefile.ReadIn(safefile.Dir(k.Dir), name, s.env.FileLimit)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "cannot read %s of skill %q: %w", name, k.Name, err).
			WithHint("use a regular file")
	}
	return &File{Skill: k, Path: name, Data: data}, nil
}

// inside returns the clean path of a file relative to the skill.
func inside(k *catalog.Skill, file string) (string, error) {
	name := filepath.ToSlash(file)
	if filepath.IsAbs(file) {
		rel, ok := pathx.Rel(k.Dir, file)
		if !ok {
			return "", outside(k, file, nil)
		}
		name = filepath.ToSlash(rel)
	}
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if file == "" || strings.ContainsRune(name, 0) || !fs.ValidPath(name) ||
		!filepath.IsLocal(filepath.FromSlash(name)) {
		return "", outside(k, file, nil)
	}
	return name, nil
}

// notOneFile returns the error for a directory under a profile whose tool reads only files.
func notOneFile(root *os.Root, k *catalog.Skill, name string) error {
	err := diag.Errorf(diag.Invalid, "cannot read %s of skill %q: it is a directory", name, k.Name)
	if names, _ := list(root, name); len(names) > 0 {
		const maxListed = 12
		return err.WithHint("read a file in the directory: %s", strings.Join(names[:min(maxListed, len(names))], ", "))
	}
	return err
}

// outside returns the error for a path that leads out of the skill.
func outside(k *catalog.Skill, file string, err error) error {
	if err == nil {
		return diag.Errorf(diag.Denied, "%q is not a path inside skill %q", file, k.Name).
			WithHint("use a path relative to the skill's directory, such as references/guide.md")
	}
	if errors.Is(err, fs.ErrPermission) {
		return diag.Errorf(diag.Denied, "cannot read %s of skill %q: %w", file, k.Name, err).
			WithHint("make the file and its directories readable for you")
	}
	const hint = "use a file in the directory of the skill"
	if cause, ok := errors.AsType[syscall.Errno](err); ok {
		return diag.Errorf(diag.Denied, "%s of skill %q leads out of the skill's directory, or is not a file: %w",
			file, k.Name, cause).WithHint(hint)
	}
	return diag.Errorf(diag.Denied, "%s of skill %q leads out of the skill's directory", file, k.Name).WithHint(hint)
}

// checkReadable refuses to read scripts if the profile only lets them run.
func (s *Session) checkReadable(k *catalog.Skill, name string) error {
	if s.env.Profile == nil || s.env.Profile.Scripts != "run-only" {
		return nil
	}
	first, rest, _ := strings.Cut(name, "/")
	if !strings.EqualFold(first, "scripts") || rest == "" {
		return nil
	}
	return diag.Errorf(diag.Denied,
		"cannot read %s of skill %q: profile %s does not allow agents to read scripts", name,
		k.Name, s.env.Profile.ID).
		WithHint("run the script with: skillpm run %s --script %s", skill.QuoteArgument(k.Name),
			skill.QuoteArgument(name))
}

// refuseLink applies [Session.checkReadable] to the target of a link inside the skill.
func (s *Session) refuseLink(root *os.Root, k *catalog.Skill, name string) error {
	info, err := root.Stat(name)
	if err != nil || s.env.Profile == nil || s.env.Profile.Scripts != "run-only" {
		return err
	}
	target, err := pathx.ResolveExisting(filepath.Join(k.Dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	dir, err := pathx.ResolveExisting(k.Dir)
	if err != nil {
		return err
	}
	rel, ok := pathx.Rel(dir, target)
	if !ok {
		return outside(k, name, fs.ErrInvalid)
	}
	if now, err := os.Stat(target); err != nil || !os.SameFile(info, now) {
		return diag.Errorf(diag.Conflict, "cannot read %s of skill %q: another program is changing the file", name, k.Name).
			WithHint("try again")
	}
	return s.checkReadable(k, filepath.ToSlash(rel))
}

// MissingError reports that a skill does not have a file.
type MissingError struct {
	Skill, Path string
	Near        string   // the closest existing file, "" for none
	Files       []string // the existing files
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("skill %q does not contain the file %s", e.Skill, e.Path)
}

// Code is NotFound.
func (e *MissingError) Code() diag.Code { return diag.NotFound }

// Hint names the closest existing file, or the files that the skill has.
func (e *MissingError) Hint() string {
	const (
		maxListed = 12
		report    = "; if SKILL.md mentions the file, report the missing file to the skill's author"
	)
	switch {
	case e.Near != "":
		return fmt.Sprintf("did you mean %s?", e.Near)
	case len(e.Files) == 0:
		return "the skill contains only SKILL.md" + report
	}
	return "use one of the skill's files: " + textx.FirstAndMore(e.Files, maxListed) + report
}

// missing returns a MissingError. It offers no scripts that must not be read.
func (s *Session) missing(root *os.Root, k *catalog.Skill, name string) error {
	all := slices.DeleteFunc(walk(root, maxFiles), func(file string) bool { return s.checkReadable(k, file) != nil })
	return &MissingError{Skill: k.Name, Path: name, Near: nearest(name, all), Files: all}
}

// nearest returns the most similar file: the same name in another letter case, the same name in another directory, or a
// name with a few different letters.
func nearest(name string, all []string) string {
	for _, same := range []func(string) bool{
		func(f string) bool { return strings.EqualFold(f, name) },
		func(f string) bool { return strings.EqualFold(path.Base(f), path.Base(name)) },
	} {
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i]
		}
	}
	return diag.Nearest(name, all)
}

// list returns the names in a directory of a skill.
func list(root *os.Root, name string) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name()+"/")
		} else if e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0 {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	if len(names) > maxFiles {
		names = append(names[:maxFiles], "…")
	}
	return names, nil
}

// walk returns the paths of at most `most` files of a skill, sorted, without SKILL.md.
func walk(root *os.Root, most int) []string {
	var found []string
	seen := 0
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch seen++; {
		case seen > 10*maxFiles || len(found) >= most:
			return fs.SkipAll
		case err != nil:
			return nil // unreadable files are not offered
		case d.IsDir():
			if name != "." && (strings.Count(name, "/") >= maxDepth || strings.HasPrefix(d.Name(), ".") ||
				d.Name() == "node_modules" || d.Name() == "__pycache__") {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && name != "SKILL.md" && !strings.HasPrefix(d.Name(), "."):
			found = append(found, name)
		}
		return nil
	})
	slices.Sort(found)
	return found
}

// Files returns the sorted paths of a skill's files, without SKILL.md and at most 1000.
func (s *Session) Files(ctx context.Context, name string) ([]string, error) {
	k, err := s.lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(k.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all := walk(root, maxFiles)
	return slices.DeleteFunc(all, func(file string) bool { return s.checkReadable(k, file) != nil }), nil
}

// declaredFiles returns the files of the skill's `files` list that exist in the skill, and a warning for each other one.
func declaredFiles(l *catalog.Loaded) (files []prompt.File, warnings []string) {
	if len(l.Front.Files) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(l.Dir)
	if err != nil {
		return nil, nil // the skill has just been read
	}
	defer root.Close()
	for i, f := range l.Front.Files {
		if i == maxFiles {
			break
		}
		name := path.Clean(f.Path)
		if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
			warnings = append(warnings, fmt.Sprintf("skill %q lists the file %s, but does not contain the file", l.Name,
				f.Path))
			continue
		}
		files = append(files, prompt.File{Path: name, Description: f.Description})
	}
	return files, warnings
}

// files returns the files that the model sees listed: those that the skill declares and has or, if it declares none and
// the profile lists files, those that exist. The warnings are about declared files that do not exist.
func (s *Session) files(l *catalog.Loaded) (files []prompt.File, warnings []string) {
	if len(l.Front.Files) > 0 || s.env.Profile.Activation.Activated.Files.Most == 0 {
		return declaredFiles(l)
	}
	root, err := os.OpenRoot(l.Dir)
	if err != nil {
		return nil, nil
	}
	defer root.Close()
	for _, name := range walk(root, maxFiles) {
		files = append(files, prompt.File{Path: name})
	}
	return files, nil
}

// String describes the file for users.
func (f *File) String() string { return fmt.Sprintf("%s of skill %s", f.Path, f.Skill.Name) }
