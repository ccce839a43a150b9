package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Edit is an installed skill with local edits.
type Edit struct {
	Path  string       `json:"path"` // its directory, relative to the root
	Pack  string       `json:"pack"`
	Skill string       `json:"skill"`
	Files []EditedFile `json:"files"`
	// Problem says why files or the diff are missing.
	Problem string `json:"problem,omitempty"`
	// Text is the diff against the installed version in the format of git, "" if the store does not have that.
	Text string `json:"text,omitempty"`

	Tree Tree `json:"-"` // what was installed
}

// EditedFile is a file of an edited skill.
type EditedFile struct {
	Path   string          `json:"path"` // in the skill
	Status textdiff.Status `json:"status"`
}

// String names the skill's directory and the changed files.
func (e Edit) String() string {
	var names []string
	for _, f := range e.Files {
		names = append(names, f.Path)
	}
	const maxNames = 4
	if more := len(names) - maxNames; more > 0 {
		names = append(names[:maxNames], fmt.Sprintf("%d more", more))
	}
	s := e.Path + " has local edits"
	switch {
	case len(names) > 0:
		s += ": " + strings.Join(names, ", ")
	case e.Problem != "":
		s += ": " + e.Problem
	}
	return s
}

// EditedError is the error for local edits that would be replaced or removed.
type EditedError struct{ Edits []Edit }

// Error names every skill and its files.
func (e *EditedError) Error() string {
	var lines []string
	for _, edit := range e.Edits {
		lines = append(lines, edit.String())
	}
	return strings.Join(lines, "\n")
}

// Code is [diag.Conflict].
func (e *EditedError) Code() diag.Code { return diag.Conflict }

// Packs returns the packs of the skills, sorted.
func (e *EditedError) Packs() []pack.ID {
	var ids []pack.ID
	for _, edit := range e.Edits {
		if !edit.Tree.Pack.IsZero() {
			ids = append(ids, edit.Tree.Pack)
		}
	}
	slices.SortFunc(ids, pack.ID.Compare)
	return slices.Compact(ids)
}

// installedTree returns the tree that was installed in a directory, by its state and its path.
func (w *Workspace) installedTree(at string, state treeState) Tree {
	t := Tree{Digest: state.Digest}
	if state.Source != "" {
		t.Digest, t.Alias, _ = strings.Cut(state.Source, " ")
	}
	if rest, ok := strings.CutPrefix(at, w.Rel(w.Scope.Plugins())+"/"); ok {
		if owner, rest, ok := strings.Cut(rest, "/"); ok {
			name, skill, _ := strings.Cut(rest, "/")
			t.Pack, t.Skill = pack.ID{Owner: owner, Name: name}, skill
			return t
		}
	}
	for _, id := range w.Lock.IDs() { // a copy for an agent: any skill with this content is right
		for name, digest := range w.Lock.Packs[id].Skills {
			if digest == t.Digest && (t.Skill == "" || name == path.Base(at)) {
				t.Pack, t.Skill = id, name
			}
		}
	}
	return t
}

// edit describes a directory with local edits. The inventory is of its files, unless an error kept them from being
// read.
func (w *Workspace) edit(at string, installed Tree, got bundle.Inventory, err error) Edit {
	e := Edit{Path: at, Pack: installed.Pack.String(), Skill: installed.Skill, Files: []EditedFile{}, Tree: installed}
	if err != nil {
		e.Problem = err.Error()
		return e
	}
	want, _, err := w.machine.expected(installed)
	if err != nil {
		e.Problem = "the store no longer contains the installed version"
		return e
	}
	e.Files = append(e.Files, changedFiles(want, got)...)
	slices.SortFunc(e.Files, func(a, b EditedFile) int { return strings.Compare(a.Path, b.Path) })
	return e
}

// changedFiles returns how an inventory differs from another: first the expected files, then the added ones.
func changedFiles(want, got bundle.Inventory) []EditedFile {
	var files []EditedFile
	for _, f := range want {
		switch current, ok := got.Find(f.Path); {
		case !ok:
			files = append(files, EditedFile{f.Path, textdiff.Removed})
		case current.SHA256 != f.SHA256:
			files = append(files, EditedFile{f.Path, textdiff.Changed})
		case current.Executable != f.Executable:
			files = append(files, EditedFile{f.Path, textdiff.Mode})
		}
	}
	for _, f := range got {
		if _, ok := want.Find(f.Path); !ok {
			files = append(files, EditedFile{f.Path, textdiff.Added})
		}
	}
	return files
}

// Edits returns the installed skills with local edits. Missing files and missing skills are not edits.
func (w *Workspace) Edits() ([]Edit, error) {
	l, err := w.InstalledLayout()
	if err != nil {
		return nil, err
	}
	c, err := w.Compare(l, CompareOptions{})
	if edited := (*EditedError)(nil); errors.As(err, &edited) {
		return edited.Edits, nil
	}
	if err != nil {
		return nil, err
	}
	return c.Edited, nil
}

// Difference returns the diff of an edited skill against the installed tree, which must be in the store. Paths are
// relative to the root. A nil budget stands for a new one.
func (w *Workspace) Difference(ctx context.Context, e Edit, b *textdiff.Budget) (textdiff.Diff, error) {
	before, err := w.machine.Files(e.Tree)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(w.Scope.Abs(e.Path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	after, err := filesIn(ctx, root)
	if err != nil {
		return nil, err
	}
	return textdiff.Trees(ctx, Below(e.Path, before), Below(e.Path, after), textdiff.Options{Budget: b})
}

// Below returns files with a directory in front of their paths.
func Below(dir string, files []textdiff.File) []textdiff.File {
	moved := slices.Clone(files)
	for i := range moved {
		moved[i].Path = path.Join(dir, moved[i].Path)
	}
	return moved
}

// Files returns the files of a tree as an installation writes them. They are read on demand.
func (m *Machine) Files(t Tree) ([]textdiff.File, error) {
	inv, spliced, err := m.expected(t)
	if err != nil {
		return nil, err
	}
	s, err := m.Store()
	if err != nil {
		return nil, err
	}
	files := make([]textdiff.File, 0, len(inv))
	for _, e := range inv {
		f := textdiff.File{Path: e.Path, Executable: e.Executable}
		if t.Alias == "" || e.Path != skill.File {
			f.Read = func() ([]byte, error) { return s.ReadFile(t.Digest, e.Path) }
		} else {
			f.Data = spliced
		}
		files = append(files, f)
	}
	return files, nil
}

// filesIn returns the regular files of an installed skill, which can be read while root is open.
func filesIn(ctx context.Context, root *os.Root) ([]textdiff.File, error) {
	var files []textdiff.File
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if name != "." && bundle.Ignored(name, d.IsDir()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files = append(files, textdiff.File{
			Path: bundle.Normal(name), Executable: info.Mode()&0o100 != 0,
			Read: func() ([]byte, error) { return root.ReadFile(name) },
		})
		return nil
	})
	return files, err
}

// backupPath returns where a copy of an edited directory goes: its name and an ID of its content, with a number if
// another copy has that name.
func (w *Workspace) backupPath(at string, got bundle.Inventory, current fingerprint) string {
	id := contentID(w.Scope.Abs(at), current)
	if got != nil {
		digest := got.Digest()
		id = digest[strings.LastIndex(digest, ":")+1:][:8]
	}
	name := w.Rel(filepath.Join(w.Scope.Backup(), path.Base(at)+"-"+id))
	for i, unused := 2, name; ; i++ {
		if _, err := os.Lstat(w.Scope.Abs(unused)); errors.Is(err, fs.ErrNotExist) ||
			sameContent(w.Scope.Abs(at), w.Scope.Abs(unused)) {
			return unused
		}
		unused = name + "-" + strconv.Itoa(i)
	}
}

// contentID identifies the content of a directory, with files that are never part of a skill. If it can't be read, the
// fingerprint has to do.
func contentID(dir string, current fingerprint) string {
	sum, err := contentSum(dir)
	if err != nil {
		sum = sha256.Sum256([]byte(current.digest))
	}
	return hex.EncodeToString(sum[:4])
}

// hasUserFiles reports whether a directory has files that are never part of a skill but may be somebody's work: a
// repository, an editor's unsaved file, patched modules. Files that systems and interpreters create don't count.
func hasUserFiles(dir string) bool {
	found := errors.New("found")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(name, dir), string(filepath.Separator)))
		if err != nil || rel == "" || !bundle.Ignored(rel, d.IsDir()) {
			return err
		}
		switch base := strings.ToLower(d.Name()); {
		case base == "__pycache__":
			return fs.SkipDir
		case base == ".ds_store", base == "thumbs.db", base == "desktop.ini", strings.HasPrefix(base, "._"),
			strings.HasSuffix(base, ".pyc"), strings.HasSuffix(base, ".pyo"):
			return nil
		}
		return found
	})
	return errors.Is(err, found)
}

// sameContent reports whether two directories have the same content.
func sameContent(a, b string) bool {
	info, err := os.Lstat(b)
	if err != nil || !info.IsDir() {
		return false
	}
	sumA, errA := contentSum(a)
	sumB, errB := contentSum(b)
	return errA == nil && errB == nil && sumA == sumB
}

// contentSum hashes everything in a directory.
func contentSum(dir string) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %s\n", strings.TrimPrefix(name, dir), d.Type())
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			fmt.Fprintf(h, "%q\n", target)
			return err
		case !d.Type().IsRegular():
			return nil
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(h, f)
		fmt.Fprintf(h, "\n%d\n", n)
		return err
	})
	return [sha256.Size]byte(h.Sum(nil)), err
}

// Backups returns where copies of replaced or removed directories with local edits go, by path.
func (c *Change) Backups() map[string]string { return c.backups }

// stageBackups stages copies of directories with local edits that the change replaces or removes.
func (w *Workspace) stageBackups(tx *txn.Tx, c *Change) error {
	for at, backup := range c.backups {
		if _, err := os.Lstat(w.Scope.Abs(backup)); err == nil { // the same edit was kept before
			continue
		}
		dir, err := tx.StageDir(backup)
		if err != nil {
			return err
		}
		if err := copyAll(w.Scope.Abs(at), dir); err != nil {
			return fmt.Errorf("cannot back up the edited skill %s: %w", at, err)
		}
	}
	return nil
}

// copyAll copies a directory, or one file into a new directory. Links stay links.
func copyAll(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dst := filepath.Join(to, strings.TrimPrefix(name, from))
		switch {
		case d.IsDir():
			return os.Mkdir(dst, 0o755)
		case name == from:
			if err := os.Mkdir(to, 0o755); err != nil {
				return err
			}
			dst = filepath.Join(to, filepath.Base(from))
		}
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(target, dst)
		}
		return copyFile(name, dst, d)
	})
}

// copyFile copies a regular file with its mode, and skips anything else.
func copyFile(from, to string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm()|0o600)
}
