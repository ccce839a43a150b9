package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/skillpm/skillpm/pkg/diag"
)

// diff reports the files that two trees have differently.
func (w *workTree) diff(ctx context.Context, prefix string, a, b plumbing.Hash) error {
	if a == b {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if len(prefix) > maxTreePath {
		return diag.Errorf(diag.Invalid, "a tree of %s has a path of %d bytes", w.root, len(prefix))
	}
	if err := w.spend(); err != nil {
		return err
	}
	as, err := w.objects.nodes(ctx, a)
	if err != nil {
		return err
	}
	bs, err := w.objects.nodes(ctx, b)
	if err != nil {
		return err
	}
	for len(as) > 0 || len(bs) > 0 {
		var x, y node
		order := min(len(bs), 1) - min(len(as), 1) // what is left on one side only
		if len(as) > 0 && len(bs) > 0 {
			order = strings.Compare(as[0].name, bs[0].name)
		}
		if order <= 0 {
			x, as = as[0], as[1:]
		}
		if order >= 0 {
			y, bs = bs[0], bs[1:]
		}
		if err := w.diffNode(ctx, prefix+cmp.Or(x.name, y.name), x, y); err != nil {
			return err
		}
	}
	return nil
}

// diffNode reports what differs at one path. A zero node is none.
func (w *workTree) diffNode(ctx context.Context, path string, a, b node) error {
	if a.mode == b.mode && a.id == b.id {
		return nil
	}
	trees := [2]plumbing.Hash{emptyTree, emptyTree}
	for i, n := range []node{a, b} {
		switch n.mode {
		case filemode.Empty, filemode.Submodule:
		case filemode.Dir:
			trees[i] = n.id
		default:
			if err := w.report(path); err != nil {
				return err
			}
		}
	}
	return w.diff(ctx, path+"/", trees[0], trees[1])
}

// walk reports the files below a directory that differ from those that are tracked there; prefix is the directory's
// path with a slash, or empty. In a directory that is ignored only tracked files count.
func (w *workTree) walk(ctx context.Context, prefix string, t *tracked, rules *ignores, ignored bool) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	list, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(prefix)))
	if err != nil {
		return w.unreadable(prefix, t, err)
	}
	if !ignored && slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" && e.Type().IsRegular() }) {
		rules = readIgnores(rules, filepath.Join(w.root, filepath.FromSlash(prefix), ".gitignore"), len(prefix), w.config.ignoreCase)
	}
	for _, e := range list {
		if err := w.visit(ctx, prefix, t, e, rules, ignored); err != nil {
			return err
		}
	}
	return w.missing(prefix, t)
}

// unreadable says that a directory with tracked files cannot be listed. One that is gone has lost them, and one that
// has none does not matter.
func (w *workTree) unreadable(prefix string, t *tracked, err error) error {
	if t != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return w.missing(prefix, t)
}

// missing reports the tracked files of a directory that were not seen, except those that a sparse checkout leaves out.
func (w *workTree) missing(prefix string, t *tracked) error {
	if t == nil {
		return nil
	}
	for _, c := range t.list {
		var err error
		switch {
		case c.seen:
		case c.entry == nil:
			err = w.missing(prefix+c.name+"/", c)
		case c.entry.Mode != filemode.Submodule && !c.entry.SkipWorktree:
			err = w.report(prefix + c.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visit looks at one entry of a directory.
func (w *workTree) visit(ctx context.Context, prefix string, t *tracked, e fs.DirEntry, rules *ignores, ignored bool) error {
	name := e.Name()
	if name == ".git" || w.config.ignoreCase && strings.EqualFold(name, ".git") {
		return nil
	}
	path := prefix + name
	var c *tracked
	if t != nil {
		c = t.byName[name]
	}
	if c != nil {
		file := c.entry != nil
		c.seen = file != e.IsDir() || file && c.entry.Mode == filemode.Submodule
		if !c.seen {
			c = nil // a directory took the place of a file, or the other way round
		} else if file && c.entry.Mode == filemode.Submodule {
			return nil
		} else if file {
			return w.compareFile(path, c.entry, e)
		}
	}
	if e.IsDir() {
		ignored = ignored || rules.match(path, true)
		if c == nil && (ignored || w.isRepository(path)) {
			return nil
		}
		return w.walk(ctx, path+"/", c, rules, ignored)
	}
	if ignored || !e.Type().IsRegular() && e.Type() != fs.ModeSymlink || rules.match(path, false) {
		return nil
	}
	return w.report(path)
}

// isRepository reports whether a directory that is not tracked is the work tree of another repository.
func (w *workTree) isRepository(path string) bool {
	_, err := os.Lstat(filepath.Join(w.root, filepath.FromSlash(path), ".git"))
	return err == nil
}

// compareFile reports a tracked file whose content, kind or executable bit is not what the index has.
func (w *workTree) compareFile(path string, entry *index.Entry, e fs.DirEntry) error {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return w.report(path)
	} else if err != nil {
		return err
	}
	if entry.IntentToAdd || !w.sameKind(entry, info) {
		return w.report(path)
	}
	if w.untouched(entry, info) {
		return nil
	}
	same, err := w.sameContent(path, entry, info)
	if err == nil && !same {
		err = w.report(path)
	}
	return err
}

func (w *workTree) sameKind(e *index.Entry, info fs.FileInfo) bool {
	switch canonicalMode(e.Mode) {
	case filemode.Symlink:
		return info.Mode().Type() == fs.ModeSymlink || info.Mode().IsRegular() && !w.config.symlinks
	case filemode.Executable:
		return info.Mode().IsRegular() && (!w.config.fileMode || info.Mode()&0o100 != 0)
	}
	return info.Mode().IsRegular() && (!w.config.fileMode || info.Mode()&0o100 == 0)
}

// untouched reports whether size and time are still those that git noted, at a time when nobody could have changed the
// file after that without a new time: the index was written later.
func (w *workTree) untouched(e *index.Entry, info fs.FileInfo) bool {
	now, written := info.ModTime(), w.written
	if e.ModifiedAt.Nanosecond() == 0 { // git may have been built without nanoseconds
		now, written = now.Truncate(time.Second), written.Truncate(time.Second)
	}
	return uint64(e.Size) == uint64(info.Size())&0xffffffff && e.ModifiedAt.Equal(now) && e.ModifiedAt.Before(written)
}

func (w *workTree) sameContent(path string, e *index.Entry, info fs.FileInfo) (bool, error) {
	name := filepath.Join(w.root, filepath.FromSlash(path))
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := os.Readlink(name)
		return plumbing.ComputeHash(plumbing.BlobObject, []byte(filepath.ToSlash(target))) == e.Hash, err
	}
	if info.Size() > maxConvert {
		return sameStream(name, e.Hash, info.Size())
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	if plumbing.ComputeHash(plumbing.BlobObject, data) == e.Hash {
		return true, nil
	}
	if !bytes.Contains(data, []byte("\r\n")) {
		return false, nil
	}
	lines := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return plumbing.ComputeHash(plumbing.BlobObject, lines) == e.Hash && w.converts(path, e, lines), nil
}

func sameStream(name string, id plumbing.Hash, size int64) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	_, err = io.Copy(h, f)
	return h.Sum() == id, err
}

// converts reports whether git, when it stores a file, makes its line ends those of lines: because attributes say so,
// or the configuration, or because it did so when it wrote the index, as the size in there shows.
func (w *workTree) converts(path string, e *index.Entry, lines []byte) bool {
	text := w.textAttribute(path)
	if text == "unset" || text == "set" {
		return text == "set"
	}
	if bytes.IndexByte(lines, 0) >= 0 || bytes.IndexByte(lines, '\r') >= 0 {
		return false // git takes it for binary
	}
	if text == "auto" || w.config.autoCRLF {
		return true
	}
	size, err := w.storage.EncodedObjectSize(e.Hash)
	return err == nil && e.Size != 0 && int64(e.Size) != size
}
