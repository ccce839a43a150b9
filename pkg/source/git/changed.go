package git

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

const (
	maxChanged  = 1 << 20  // files and directories that may differ: trees can be made that have no end
	maxRules    = 1 << 20  // bytes of one .gitignore or .gitattributes
	maxConvert  = 64 << 20 // bytes of a file whose line ends are converted before it is compared
	maxTreePath = 1 << 14  // bytes of a path
)

// emptyTree is the id of a tree without entries.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// Changed returns the files of a work tree that differ from a commit: their paths with slashes, in bytewise order,
// relative to root, which is the real path of the work tree that dir is in. Files that were deleted are among them, and
// of a file that was renamed both names: what pointed to the old one has to be looked at again, too.
//
// With an empty since these are the files that differ from HEAD in the index or in the work tree, and the untracked ones
// that .gitignore files and info/exclude let pass. With a branch, a tag or a commit, those that differ between its merge
// base with HEAD and HEAD, as git diff since...HEAD has it, are added. Without any commit yet, every file is changed.
// Submodules and other repositories inside are left out.
//
// The repository is read and nothing else: git is not run, nor are hooks, filters, or anything else that its
// configuration names. Of the configuration only what says how bytes on disk relate to those that are stored counts. A
// file that differs only by line ends which git converts is not changed; one that a filter other than that has made
// is, unless size and time say that nobody touched it. Ignore files and conversions that only the user's own
// configuration has are not known here.
func Changed(ctx context.Context, dir, since string) (root string, paths []string, err error) {
	w, err := openWorkTree(dir)
	if err != nil {
		return "", nil, err
	}
	defer w.storage.Close() //nolint:errcheck // it was only read
	if err := w.compare(ctx, since); err != nil {
		return "", nil, err
	}
	return w.root, slices.Sorted(maps.Keys(w.changed)), nil
}

// workTree is a work tree that is compared.
type workTree struct {
	root    string // where files are
	gitDir  string // where HEAD and the index are
	common  string // where everything else is: gitDir, unless this is an additional work tree
	storage *filesystem.Storage
	objects *commit // the trees
	config  treeConfig
	written time.Time // when the index was written
	attrs   map[string][]attribute
	budget  int
	changed map[string]struct{}
}

// treeConfig is what counts of a repository's configuration.
type treeConfig struct {
	fileMode   bool // executable bits on disk mean something
	symlinks   bool // symbolic links are made as such
	autoCRLF   bool
	ignoreCase bool
}

func (w *workTree) compare(ctx context.Context, since string) error {
	tracked, err := w.readIndex()
	if err != nil {
		return err
	}
	head, err := w.head()
	if err != nil {
		return err
	}
	headTree := emptyTree
	if head != nil {
		headTree = head.TreeHash
	}
	if since != "" && head != nil {
		base, err := w.mergeBase(ctx, since, head)
		if err != nil {
			return err
		}
		if err := w.diff(ctx, "", base.TreeHash, headTree); err != nil {
			return err
		}
	}
	if err := w.diff(ctx, "", headTree, w.writeTree(tracked)); err != nil {
		return err
	}
	exclude := readIgnores(nil, filepath.Join(w.common, "info", "exclude"), 0, w.config.ignoreCase)
	return w.walk(ctx, "", tracked, exclude, false)
}

// report adds a file, and spends one of what may be found.
func (w *workTree) report(path string) error {
	w.changed[path] = struct{}{}
	return w.spend()
}

func (w *workTree) spend() error {
	if w.budget--; w.budget < 0 {
		return diag.Errorf(diag.Invalid, "%s differs in more than %d files", w.root, maxChanged)
	}
	return nil
}

// openWorkTree finds the work tree that dir is in.
func openWorkTree(dir string) (*workTree, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "%s does not exist", dir)
	} else if err != nil {
		return nil, err
	}
	for root := abs; ; root = filepath.Dir(root) {
		gitDir, err := gitDirOf(root)
		if err != nil {
			return nil, err
		}
		if gitDir != "" {
			return newWorkTree(root, gitDir)
		}
		if root == filepath.Dir(root) {
			return nil, diag.Errorf(diag.NotFound, "%s is not in the work tree of a git repository", dir).
				WithHint("only there it is known what changed: name the files and directories instead")
		}
	}
}

// gitDirOf returns the directory of the repository whose work tree is at root, or "" if there is none.
func gitDirOf(root string) (string, error) {
	at := filepath.Join(root, ".git")
	info, err := os.Stat(at)
	switch {
	case err != nil || !info.IsDir() && !info.Mode().IsRegular():
		return "", nil //nolint:nilerr // what cannot be looked at is no repository
	case info.IsDir() && isGitDir(at, at):
		return at, nil
	case info.IsDir():
		return "", nil
	}
	text, err := readSmall(at)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return "", diag.Errorf(diag.Invalid, "%s does not say where the repository is", at)
	}
	if dir = filepath.FromSlash(dir); !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	if common, err := commonDir(dir); err != nil || !isGitDir(dir, common) {
		return "", diag.Errorf(diag.NotFound, "%s names %s, where there is no repository", at, dir).
			WithHint("if the repository was moved, run git worktree repair there")
	}
	return dir, nil
}

// isGitDir reports whether directories have what every repository has.
func isGitDir(dir, common string) bool {
	head, err := os.Lstat(filepath.Join(dir, "HEAD"))
	objects, err2 := os.Stat(filepath.Join(common, "objects"))
	return err == nil && !head.IsDir() && err2 == nil && objects.IsDir()
}

// commonDir returns the directory that an additional work tree's repository shares with the main one, or dir.
func commonDir(dir string) (string, error) {
	text, err := readSmall(filepath.Join(dir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	} else if err != nil {
		return "", err
	}
	common := filepath.FromSlash(strings.TrimSpace(string(text)))
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return common, nil
}

// readSmall reads a regular file of no more than maxRules bytes.
func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRules {
		return nil, diag.Errorf(diag.Invalid, "%s is not a regular file of at most %d bytes", name, maxRules)
	}
	return os.ReadFile(name)
}

func newWorkTree(root, gitDir string) (*workTree, error) {
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, err
	}
	w := &workTree{
		root: root, gitDir: gitDir, common: common,
		attrs: make(map[string][]attribute), budget: maxChanged, changed: make(map[string]struct{}),
	}
	if err := w.readConfig(); err != nil {
		return nil, err
	}
	files := osfs.New(gitDir)
	if common != gitDir {
		files = dotgit.NewRepositoryFilesystem(files, osfs.New(common))
	}
	w.storage = filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(cacheSize), filesystem.Options{
		KeepDescriptors: true, LargeObjectThreshold: largeObject, AlternatesFS: osfs.New(filepath.VolumeName(common) + string(filepath.Separator)),
	})
	w.objects = &commit{storage: w.storage, trees: map[plumbing.Hash][]node{emptyTree: nil}}
	return w, nil
}

// readConfig reads what counts of the repository's configuration. A configuration that cannot be read counts as empty:
// then more files may count as changed, and none less.
func (w *workTree) readConfig() error {
	w.config = treeConfig{fileMode: runtime.GOOS != "windows", symlinks: true}
	text, err := readSmall(filepath.Join(w.common, "config"))
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	raw := config.New()
	if err := config.NewDecoder(bytes.NewReader(text)).Decode(raw); err != nil {
		return nil //nolint:nilerr // see above
	}
	core, extensions := raw.Section("core"), raw.Section("extensions")
	w.config.fileMode = w.config.fileMode && truth(core, "filemode", true)
	w.config.symlinks = truth(core, "symlinks", true)
	w.config.autoCRLF = truth(core, "autocrlf", false) || strings.EqualFold(core.Option("autocrlf"), "input")
	w.config.ignoreCase = truth(core, "ignorecase", false)
	for key, usual := range map[string]string{"objectformat": "sha1", "refstorage": "files"} {
		if v := extensions.Option(key); v != "" && !strings.EqualFold(v, usual) {
			return diag.Errorf(diag.Invalid, "%s has %s %s, which skillpm cannot read", w.root, key, v).
				WithHint("name the files and directories instead")
		}
	}
	return nil
}

func truth(s *config.Section, key string, otherwise bool) bool {
	switch strings.ToLower(s.Option(key)) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	return otherwise
}

// tracked is a file of the index, or a directory that has some.
type tracked struct {
	name   string
	entry  *index.Entry // nil for a directory
	seen   bool         // in the work tree
	list   []*tracked
	byName map[string]*tracked
}

// readIndex returns the root directory of the index.
func (w *workTree) readIndex() (*tracked, error) {
	root := &tracked{}
	f, err := os.Open(filepath.Join(w.gitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return root, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	w.written = info.ModTime()
	var idx index.Index
	err = index.NewDecoder(bufio.NewReaderSize(f, 1<<16)).Decode(&idx)
	switch {
	case errors.Is(err, index.ErrUnknownExtension):
		return nil, diag.Errorf(diag.Invalid, "the index of %s is split or sparse, which skillpm cannot read", w.root).
			WithHint("run git update-index --no-split-index, or git sparse-checkout reapply --no-sparse-index")
	case errors.Is(err, index.ErrInvalidChecksum) && withoutChecksum(f, info.Size()):
	case err != nil:
		return nil, diag.Errorf(diag.Invalid, "the index of %s cannot be read: %s", w.root, oneLine(err))
	}
	for _, e := range idx.Entries {
		if e.Stage != 0 { // a conflict: it differs, whatever is there
			err = w.report(e.Name)
		} else {
			err = root.add(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return root, nil
}

// withoutChecksum reports whether an index ends in the zeros that git writes when it is told to save the time that a
// checksum takes.
func withoutChecksum(f *os.File, size int64) bool {
	var sum plumbing.Hash
	_, err := f.ReadAt(sum[:], size-int64(len(sum)))
	return err == nil && sum.IsZero()
}

// add puts an entry of the index in its place.
func (t *tracked) add(e *index.Entry) error {
	rest := strings.TrimSuffix(e.Name, "/")
	if len(rest) > maxTreePath {
		return diag.Errorf(diag.Invalid, "the index has a path of %d bytes", len(rest))
	}
	for more := true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		next := t.byName[name]
		if next == nil {
			if err := checkName(name); err != nil {
				return diag.Errorf(diag.Invalid, "the index has %q: %w", e.Name, err)
			}
			next = &tracked{name: name}
			if t.byName == nil {
				t.byName = make(map[string]*tracked)
			}
			t.byName[name] = next
			t.list = append(t.list, next)
		}
		t = next
	}
	t.entry = e
	return nil
}

// writeTree returns the id of the tree that a commit of the index would have, and lets the trees be found by their ids.
// The entries of an index are in the order of those of trees.
func (w *workTree) writeTree(t *tracked) plumbing.Hash {
	var nodes []node
	var data []byte
	for _, c := range t.list {
		n := node{name: c.name, mode: filemode.Dir, commit: w.objects}
		if c.entry == nil {
			n.id = w.writeTree(c)
		} else if !c.entry.IntentToAdd {
			n.mode, n.id = canonicalMode(c.entry.Mode), c.entry.Hash
		}
		if n.id == emptyTree || n.id.IsZero() {
			continue
		}
		nodes = append(nodes, n)
		data = append(data, strconv.FormatUint(uint64(n.mode), 8)+" "+n.name+"\x00"...)
		data = append(data, n.id[:]...)
	}
	id := plumbing.ComputeHash(plumbing.TreeObject, data)
	slices.SortFunc(nodes, func(a, b node) int { return strings.Compare(a.name, b.name) })
	w.objects.trees[id] = nodes
	return id
}

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
	as, err := w.objects.nodes(a)
	if err != nil {
		return err
	}
	bs, err := w.objects.nodes(b)
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

// head returns the commit that is checked out, or nil when there is none yet.
func (w *workTree) head() (*object.Commit, error) {
	ref, err := storer.ResolveReference(w.storage, plumbing.HEAD)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, nil //nolint:nilnil // a repository without commits is no error
	} else if err != nil {
		return nil, diag.Errorf(diag.Invalid, "HEAD of %s cannot be read: %s", w.root, oneLine(err))
	}
	w.objects.id = ref.Hash()
	head, err := object.GetCommit(w.storage, ref.Hash())
	return head, w.objects.damaged(ref.Hash(), err)
}

// history is what walking the commits of a work tree needs.
type history struct {
	ctx     context.Context
	w       *workTree
	shallow []plumbing.Hash
	cut     bool // the history ended where a shallow clone ends it
}

// mergeBase returns the commit at which HEAD's history and that of since parted.
func (w *workTree) mergeBase(ctx context.Context, since string, head *object.Commit) (*object.Commit, error) {
	h := &history{ctx: ctx, w: w}
	var err error
	if h.shallow, err = w.storage.Shallow(); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", w.root, oneLine(err))
	}
	other, err := h.resolve(since)
	if err != nil {
		return nil, err
	}
	bases, err := h.bases(other, head)
	if err != nil {
		return nil, err
	}
	if len(bases) == 0 && h.cut {
		return nil, h.tooShallow("%s and HEAD have no commit in common among those that are here", since)
	}
	if len(bases) == 0 {
		return nil, diag.Errorf(diag.NotFound, "%s and HEAD have no commit in common", since)
	}
	return bases[0], nil
}

func (h *history) tooShallow(format string, args ...any) error {
	return diag.Errorf(diag.NotFound, format+": the clone is shallow", args...).
		WithHint("fetch more of the history: git fetch --unshallow, or fetch-depth: 0 where CI checks out")
}

// parents returns the ids of those parents of a commit that are here.
func (h *history) parents(c *object.Commit) []plumbing.Hash {
	if slices.Contains(h.shallow, c.Hash) {
		h.cut = h.cut || c.NumParents() > 0
		return nil
	}
	return c.ParentHashes
}

func (h *history) commit(id plumbing.Hash) (*object.Commit, error) {
	if err := h.ctx.Err(); err != nil {
		return nil, context.Cause(h.ctx)
	}
	c, err := object.GetCommit(h.w.storage, id)
	return c, h.w.objects.damaged(id, err)
}

// Marks of commits: reached from the one, from the other, and behind a commit that is reached from both.
const (
	fromOne = 1 << iota
	fromOther
	behind
)

// bases returns the best common ancestors of two commits, newest first: those that are no ancestor of another.
func (h *history) bases(one, other *object.Commit) ([]*object.Commit, error) {
	var found []*object.Commit
	marks, err := h.paint(one, other, func(c *object.Commit) { found = append(found, c) })
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(c *object.Commit) bool { return marks[c.Hash]&behind != 0 })
	for i := 0; len(found) > 1 && i < len(found); i++ { // dates that run backwards leave more than the best ones
		for j := range found {
			if j == i {
				continue
			}
			marks, err := h.paint(found[i], found[j], func(*object.Commit) {})
			if err != nil {
				return nil, err
			}
			if marks[found[i].Hash]&fromOther != 0 {
				found = slices.Delete(found, i, i+1)
				i--
				break
			}
		}
	}
	return found, nil
}

// paint walks back from two commits, newest first, until only what both have is left, and calls common with each commit
// that both have and that was not known to be behind another one.
func (h *history) paint(one, other *object.Commit, common func(*object.Commit)) (map[plumbing.Hash]int, error) {
	marks := map[plumbing.Hash]int{one.Hash: fromOne}
	marks[other.Hash] |= fromOther
	q := &queue{marks: marks}
	heap.Push(q, one)
	heap.Push(q, other)
	met := make(map[plumbing.Hash]bool)
	for q.open > 0 {
		c := heap.Pop(q).(*object.Commit)
		mark := marks[c.Hash]
		if mark == fromOne|fromOther {
			if !met[c.Hash] {
				met[c.Hash] = true
				common(c)
			}
			mark |= behind
		}
		for _, id := range h.parents(c) {
			if marks[id]&mark == mark {
				continue
			}
			parent, err := h.commit(id)
			if err != nil {
				return nil, err
			}
			q.mark(id, mark)
			heap.Push(q, parent)
		}
	}
	return marks, nil
}

// queue has commits, newest first, and knows how many of them are not behind a common one.
type queue struct {
	commits []*object.Commit
	marks   map[plumbing.Hash]int
	inside  map[plumbing.Hash]int // how often a commit is queued
	open    int
}

// mark adds marks to a commit; those that are queued and become behind are not open any more.
func (q *queue) mark(id plumbing.Hash, mark int) {
	before := q.marks[id]
	q.marks[id] = before | mark
	if before&behind == 0 && mark&behind != 0 {
		q.open -= q.inside[id]
	}
}

func (q *queue) count(id plumbing.Hash, n int) {
	if q.inside == nil {
		q.inside = make(map[plumbing.Hash]int)
	}
	q.inside[id] += n
	if q.marks[id]&behind == 0 {
		q.open += n
	}
}

func (q *queue) Len() int      { return len(q.commits) }
func (q *queue) Swap(i, j int) { q.commits[i], q.commits[j] = q.commits[j], q.commits[i] }
func (q *queue) Less(i, j int) bool {
	return q.commits[i].Committer.When.After(q.commits[j].Committer.When)
}

func (q *queue) Push(x any) {
	c := x.(*object.Commit)
	q.commits = append(q.commits, c)
	q.count(c.Hash, 1)
}

func (q *queue) Pop() any {
	last := len(q.commits) - 1
	c := q.commits[last]
	q.commits = q.commits[:last]
	q.count(c.Hash, -1)
	return c
}

// resolve returns the commit that a revision names: HEAD, a branch, tag or remote branch, or the digits of a commit,
// and ~ and ^ after it as git has them.
func (h *history) resolve(rev string) (*object.Commit, error) {
	name, steps := rev, ""
	if at := strings.IndexAny(rev, "~^"); at >= 0 {
		name, steps = rev[:at], rev[at:]
	}
	c, err := h.named(name)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, h.unknown(rev, name)
	}
	for steps != "" {
		kind, digits := steps[0], len(steps[1:])-len(strings.TrimLeft(steps[1:], "0123456789"))
		n := 1
		if digits > 0 {
			n, err = strconv.Atoi(steps[1 : 1+digits])
		}
		steps = steps[1+digits:]
		if err != nil || steps != "" && steps[0] != '~' && steps[0] != '^' {
			return nil, h.unknown(rev, name)
		}
		if kind == '^' && n > 0 {
			c, err = h.parent(c, n, rev)
		}
		for ; kind == '~' && n > 0 && err == nil; n-- {
			c, err = h.parent(c, 1, rev)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// parent returns the nth parent of a commit.
func (h *history) parent(c *object.Commit, n int, rev string) (*object.Commit, error) {
	switch ids := h.parents(c); {
	case len(ids) >= n:
		return h.commit(ids[n-1])
	case h.cut:
		return nil, h.tooShallow("%s is not among the commits that are here", rev)
	}
	return nil, diag.Errorf(diag.NotFound, "%s does not exist: the history of %s ends before it", rev, h.w.root)
}

// named returns the commit that a name without ~ and ^ stands for, or nil.
func (h *history) named(name string) (*object.Commit, error) {
	if name == "@" {
		name = "HEAD"
	}
	if source.CheckRev(name) != nil {
		return nil, nil //nolint:nilnil // no revision has such a name
	}
	if isCommit(name) {
		return h.peeled(name, plumbing.NewHash(name))
	}
	for _, pattern := range []string{"*", "refs/*", "refs/tags/*", "refs/heads/*", "refs/remotes/*", "refs/remotes/*/HEAD"} {
		full := strings.Replace(pattern, "*", name, 1)
		if pattern == "*" && !strings.HasPrefix(name, "refs/") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
			continue // a file of git's directory that is no reference
		}
		if full == "FETCH_HEAD" {
			return h.fetched()
		}
		if ref, err := storer.ResolveReference(h.w.storage, plumbing.ReferenceName(full)); err == nil {
			return h.peeled(name, ref.Hash())
		}
	}
	return h.abbreviated(name)
}

// fetched returns the commit that git fetch has noted first.
func (h *history) fetched() (*object.Commit, error) {
	text, err := readSmall(filepath.Join(h.w.gitDir, "FETCH_HEAD"))
	if len(text) < 40 || err != nil || !isCommit(string(text[:40])) {
		return nil, nil //nolint:nilnil,nilerr // there is none
	}
	return h.peeled("FETCH_HEAD", plumbing.NewHash(string(text[:40])))
}

// abbreviated returns the commit whose id starts with at least four digits.
func (h *history) abbreviated(digits string) (*object.Commit, error) {
	prefix, err := hex.DecodeString(digits[:len(digits)&^1])
	if len(digits) < 4 || err != nil || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, nil //nolint:nilnil,nilerr // it is not the id of a commit
	}
	ids, err := h.w.storage.HashesWithPrefix(prefix)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", h.w.root, oneLine(err))
	}
	var found *object.Commit
	for _, id := range ids {
		c, err := object.GetCommit(h.w.storage, id)
		if err != nil || !strings.HasPrefix(id.String(), digits) || found != nil && found.Hash == id {
			continue
		}
		if found != nil {
			return nil, diag.Errorf(diag.Usage, "%s stands for more than one commit", digits).
				WithHint("write more digits, as %s", id.String()[:12])
		}
		found = c
	}
	return found, nil
}

// peeled returns the commit that an object is, or that a tag is on.
func (h *history) peeled(name string, id plumbing.Hash) (*object.Commit, error) {
	for range 10 {
		c, err := object.GetCommit(h.w.storage, id)
		if err == nil {
			return c, nil
		}
		tag, err := object.GetTag(h.w.storage, id)
		if err != nil {
			break
		}
		id = tag.Target
	}
	if _, err := h.w.storage.EncodedObjectSize(id); err == nil {
		return nil, diag.Errorf(diag.Usage, "%s is not a commit", name)
	}
	if len(h.shallow) > 0 {
		return nil, h.tooShallow("the commit %s is not here", name)
	}
	return nil, diag.Errorf(diag.NotFound, "%s has no commit %s", h.w.root, name)
}

// unknown says that there is no such revision, and what may have been meant.
func (h *history) unknown(rev, name string) error {
	var local, remote []string
	if iter, err := h.w.storage.IterReferences(); err == nil {
		_ = iter.ForEach(func(r *plumbing.Reference) error { // what cannot be read is not suggested
			switch n := r.Name(); {
			case n.IsBranch(), n.IsTag():
				local = append(local, n.Short())
			case n.IsRemote() && !strings.HasSuffix(n.String(), "/HEAD"):
				remote = append(remote, n.Short())
			}
			return nil
		})
	}
	slices.Sort(local)
	slices.Sort(remote)
	e := diag.Errorf(diag.NotFound, "%s has no branch, tag or commit %q", h.w.root, rev)
	at := slices.IndexFunc(remote, func(s string) bool { return strings.HasSuffix(s, "/"+name) })
	switch near := diag.Nearest(name, slices.Concat(local, remote)); {
	case at >= 0:
		return e.WithHint("did you mean %s?", remote[at])
	case near != "":
		return e.WithHint("did you mean %s?", near)
	case len(local)+len(remote) > 0:
		return e.WithHint("there are %s", shortList(slices.Concat(local, remote)))
	}
	return e
}

// ignores are the patterns of one .gitignore, and behind them those of the directories above.
type ignores struct {
	above    *ignores
	base     int // length of the path of its directory, with the slash
	patterns []pattern
	fold     bool
}

// readIgnores reads a file of patterns. One that cannot be read has none.
func readIgnores(above *ignores, name string, base int, fold bool) *ignores {
	text, err := readSmall(name)
	if err != nil {
		return above
	}
	r := &ignores{above: above, base: base, fold: fold}
	for line := range strings.Lines(strings.TrimPrefix(string(text), bom)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if p, ok := parsePattern(trimSpaces(line), fold); ok {
			r.patterns = append(r.patterns, p)
		}
	}
	if len(r.patterns) == 0 {
		return above
	}
	return r
}

const bom = "\xef\xbb\xbf"

// trimSpaces removes the spaces at the end of a pattern that have no backslash before them.
func trimSpaces(s string) string {
	for strings.HasSuffix(s, " ") {
		rest := s[:len(s)-1]
		if (len(rest)-len(strings.TrimRight(rest, `\`)))%2 == 1 {
			break
		}
		s = rest
	}
	return s
}

// match reports whether a path is ignored: the last pattern of the nearest file that matches decides.
func (r *ignores) match(path string, dir bool) bool {
	if r == nil {
		return false
	}
	if r.fold {
		path = lower(path)
	}
	for ; r != nil; r = r.above {
		for _, p := range slices.Backward(r.patterns) {
			if (dir || !p.dirOnly) && p.match(path[r.base:]) {
				return !p.negated
			}
		}
	}
	return false
}

// lower returns s with small letters for A to Z, which leaves all other bytes where they are.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// pattern is a line of a .gitignore or .gitattributes. It is matched part by part, so that brackets never hold a slash, and
// two asterisks that are not all of a part are one, as git's documentation has it.
type pattern struct {
	parts    []string
	anchored bool // the whole path is matched, not the name alone
	dirOnly  bool
	negated  bool
}

func parsePattern(s string, fold bool) (p pattern, ok bool) {
	if fold {
		s = lower(s)
	}
	s, p.negated = strings.CutPrefix(s, "!")
	s, p.dirOnly = strings.CutSuffix(s, "/")
	p.anchored = strings.Contains(s, "/")
	p.parts = strings.Split(strings.TrimPrefix(s, "/"), "/")
	for i, part := range p.parts {
		if len(part) > 2 && strings.Trim(part, "*") == "" {
			p.parts[i] = "**"
		}
		if end := len(strings.TrimRight(part, `\`)); i+1 < len(p.parts) && (len(part)-end)%2 == 1 {
			p.parts[i] = part[:len(part)-1] // the backslash was the slash's
		}
	}
	return p, s != "" && s != "/"
}

// match reports whether a path, relative to the file of the pattern, matches.
func (p pattern) match(path string) bool {
	if !p.anchored {
		return glob(p.parts[0], path[strings.LastIndexByte(path, '/')+1:])
	}
	parts, more := p.parts, true
	var again []string // the parts after the last **, and what is left of the path there
	var rest string
	for more {
		if len(parts) > 0 && parts[0] == "**" {
			if parts = parts[1:]; len(parts) == 0 {
				return true
			}
			again, rest = parts, path
			continue
		}
		name, after, slash := strings.Cut(path, "/")
		if len(parts) > 0 && glob(parts[0], name) {
			parts, path, more = parts[1:], after, slash
			if more || len(parts) == 0 {
				continue
			}
		}
		if again == nil {
			return false
		}
		if _, rest, more = strings.Cut(rest, "/"); !more {
			return false
		}
		parts, path = again, rest
	}
	return len(parts) == 0
}

// glob matches a name with the wildcards of the shell, as git does: bytewise, with [!a-z] and classes.
func glob(p, s string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(s) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if i < len(p) {
			if n, ok := element(p[i:], s[j]); ok {
				i, j = i+n, j+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	return strings.Trim(p[i:], "*") == ""
}

// element matches one byte with what a pattern starts with, and returns how long that is.
func element(p string, c byte) (n int, ok bool) {
	switch {
	case p[0] == '?':
		return 1, true
	case p[0] == '\\' && len(p) > 1:
		return 2, p[1] == c
	case p[0] == '[':
		return class(p, c)
	}
	return 1, p[0] == c && c != '\\'
}

// class matches one byte with a bracket expression. One that does not end matches nothing.
func class(p string, c byte) (n int, ok bool) {
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	for first := i; i < len(p); i++ {
		if p[i] == ']' && i > first {
			return i + 1, ok != negated
		}
		if name, _, found := strings.Cut(p[i:], ":]"); found && strings.HasPrefix(name, "[:") {
			ok = ok || inClass(name[2:], c)
			i += len(name) + 1
			continue
		}
		low := p[i]
		if low == '\\' && i+1 < len(p) {
			i++
			low = p[i]
		}
		high := low
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			i += 2
			if high = p[i]; high == '\\' && i+1 < len(p) {
				i++
				high = p[i]
			}
		}
		ok = ok || c == low || low <= c && c <= high
	}
	return 0, false
}

// inClass reports whether a byte is in a class of POSIX.
func inClass(name string, c byte) bool {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	space, print := c == ' ' || '\t' <= c && c <= '\r', ' ' <= c && c <= '~'
	switch name {
	case "alnum":
		return lower || upper || digit
	case "alpha":
		return lower || upper
	case "blank":
		return c == ' ' || c == '\t'
	case "cntrl":
		return c < ' ' || c == 0x7f
	case "digit":
		return digit
	case "graph":
		return print && c != ' '
	case "lower":
		return lower
	case "print":
		return print
	case "punct":
		return print && c != ' ' && !lower && !upper && !digit
	case "space":
		return space
	case "upper":
		return upper
	case "xdigit":
		return digit || 'a' <= c|0x20 && c|0x20 <= 'f'
	}
	return false
}

// attribute is what a line of a .gitattributes says of a file's line ends.
type attribute struct {
	pattern
	text string // "set", "unset", "auto" or "unspecified"; "" for nothing
	eol  bool   // eol=lf or eol=crlf, which makes a text of what is not said to be none
}

// textAttribute returns what attributes say of a file's line ends: "set", "unset", "auto", or "" for nothing.
func (w *workTree) textAttribute(path string) string {
	name := path
	if w.config.ignoreCase {
		name = lower(path)
	}
	text, eol := "", false
	apply := func(list []attribute, base int) {
		for _, a := range list {
			if a.match(name[base:]) {
				text, eol = cmp.Or(a.text, text), eol || a.eol
			}
		}
	}
	for at := 0; ; {
		file := filepath.Join(w.root, filepath.FromSlash(path[:at]), ".gitattributes")
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
			apply(w.attributes(file), at)
		}
		dir, _, more := strings.Cut(path[at:], "/")
		if !more {
			break
		}
		at += len(dir) + 1
	}
	apply(w.attributes(filepath.Join(w.common, "info", "attributes")), 0)
	if eol && (text == "" || text == "unspecified") {
		return "set"
	}
	return text
}

// attributes reads a file of attributes once. One that cannot be read has none.
func (w *workTree) attributes(file string) []attribute {
	list, done := w.attrs[file]
	if done {
		return list
	}
	text, err := readSmall(file)
	if err != nil {
		text = nil
	}
	for line := range strings.Lines(strings.TrimPrefix(string(text), bom)) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.HasPrefix(words[0], "#") || strings.HasPrefix(words[0], "!") {
			continue
		}
		p, ok := parsePattern(words[0], w.config.ignoreCase)
		if a := textOf(words[1:]); ok && !p.dirOnly && (a.text != "" || a.eol) {
			a.pattern = p
			list = append(list, a)
		}
	}
	w.attrs[file] = list
	return list
}

// textOf returns what attributes say of line ends.
func textOf(words []string) (a attribute) {
	for _, word := range words {
		switch word {
		case "text", "crlf", "crlf=input":
			a.text = "set"
		case "-text", "-crlf", "binary":
			a.text = "unset"
		case "text=auto", "crlf=auto":
			a.text = "auto"
		case "!text", "!crlf":
			a.text = "unspecified"
		case "eol=lf", "eol=crlf":
			a.eol = true
		}
	}
	return a
}
