package git

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Status is how a repository treats a path in its work tree.
type Status struct {
	Tracked bool // the index has the path, or a file in this directory
	Ignored bool // git add skips it: it is not tracked, and an ignore rule matches
}

// StatusOf returns the status of paths in dir, which need not exist. A path that ends in a slash is a directory. It
// needs the git program. The error has the code [diag.NotFound] if dir is not in a work tree of this user.
func StatusOf(ctx context.Context, dir string, paths []string) ([]Status, error) {
	w, prefix, tracked, err := openTracked(ctx, dir)
	if err != nil {
		return nil, err
	}
	list, names := make([]Status, len(paths)), make([]string, len(paths))
	var input strings.Builder
	for i, p := range paths {
		file := path.Join(prefix, p)
		names[i] = file
		if strings.HasSuffix(p, "/") {
			names[i] += "/"
		}
		list[i].Tracked = tracked[file]
		if !w.underSymlink(file) { // git check-ignore fails for these
			input.WriteString(names[i] + "\x00")
		}
	}
	if input.Len() == 0 {
		return list, nil
	}
	out, err := w.git(ctx, input.String(), "check-ignore", "-z", "--stdin")
	if err != nil {
		return nil, err
	}
	ignored := make(map[string]bool)
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[name] = true
	}
	for i := range list {
		list[i].Ignored = !list[i].Tracked && ignored[names[i]]
	}
	return list, nil
}

// Tracked returns the paths in dir that git tracks. It starts one git process; [StatusOf] starts two. It returns the
// same errors as StatusOf.
func Tracked(ctx context.Context, dir string, paths []string) (map[string]bool, error) {
	_, prefix, tracked, err := openTracked(ctx, dir)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	for _, p := range paths {
		if tracked[path.Join(prefix, p)] {
			found[p] = true
		}
	}
	return found, nil
}

// openTracked returns the work tree that contains dir, dir's path in it, and its tracked paths.
func openTracked(ctx context.Context, dir string) (w *workTree, prefix string, tracked map[string]bool, err error) {
	if w, err = openWorkTree(ctx, dir); err != nil {
		return nil, "", nil, err
	}
	if prefix, err = w.prefix(dir); err != nil {
		return nil, "", nil, err
	}
	tracked, err = w.trackedPaths(ctx)
	return w, prefix, tracked, err
}

// prefix returns the path of dir relative to the root of the work tree, with slashes.
func (w *workTree) prefix(dir string) (string, error) {
	real, err := pathx.ResolveExisting(dir)
	if err != nil {
		return "", err
	}
	prefix, ok := pathx.Rel(w.root, real)
	if !ok {
		return "", diag.Errorf(diag.Internal, "%s is not inside %s", dir, w.root)
	}
	return filepath.ToSlash(prefix), nil
}

// trackedPaths returns the files of the index and their parent directories.
func (w *workTree) trackedPaths(ctx context.Context) (map[string]bool, error) {
	out, err := w.git(ctx, "", "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	tracked := make(map[string]bool)
	for name := range strings.SplitSeq(string(out), "\x00") {
		for name != "" && name != "." && !tracked[name] {
			tracked[name] = true
			name = path.Dir(name)
		}
	}
	return tracked, nil
}

// underSymlink reports whether a directory above a path is a symbolic link.
func (w *workTree) underSymlink(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(w.root, filepath.FromSlash(dir)))
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			return true
		}
	}
	return false
}
