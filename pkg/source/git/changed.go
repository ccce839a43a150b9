package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
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
// With an empty since these are the files that differ from HEAD in the index or in the work tree, and the untracked
// ones that .gitignore files and info/exclude let pass. With a branch, a tag or a commit, those that differ between its
// merge base with HEAD and HEAD, as git diff since...HEAD has it, are added. Without any commit yet, every file is
// changed. Submodules and other repositories inside are left out.
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
		abs, err = pathx.ResolveExisting(abs)
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
			if err := checkOwner(root, gitDir); err != nil {
				return nil, err
			}
			return newWorkTree(root, gitDir)
		}
		if root == filepath.Dir(root) {
			return nil, diag.Errorf(diag.NotFound, "%s is not in the work tree of a git repository", dir).
				WithHint("only there it is known what changed: name the files and directories instead")
		}
	}
}

// checkOwner refuses a repository of another user, as git does: in a directory that others may write to, anybody can
// put one, and say what is ignored and what has changed.
func checkOwner(root, gitDir string) error {
	at := filepath.Join(root, ".git")
	link, err := os.Lstat(at)
	dir, err2 := os.Stat(gitDir)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !safefile.Mine(link) || !safefile.Mine(dir) {
		return diag.Errorf(diag.NotFound, "the repository %s belongs to another user, and is left alone", at).
			WithHint("run the command as its owner, or name the files and directories instead")
	}
	return nil
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
func readSmall(name string) ([]byte, error) { return safefile.ReadFile(name, maxRules) }

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
	w.storage = filesystem.NewStorageWithOptions(repositoryFiles(gitDir, common), cache.NewObjectLRU(basesBytes), filesystem.Options{
		KeepDescriptors: true, LargeObjectThreshold: largeObject, AlternatesFS: allFiles(common),
	})
	w.objects = &commit{objects: &repository{storage: w.storage}, whole: true, trees: map[plumbing.Hash][]node{emptyTree: nil}}
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
