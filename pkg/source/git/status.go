package git

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Status says what a repository makes of a path in its work tree.
type Status struct {
	Tracked bool // it is in the index, or for a directory, something in it
	Ignored bool // git add leaves it out: it is not tracked, and a .gitignore or info/exclude says so
}

// StatusOf returns the status of files or directories in dir, which need not exist; a path that ends in a slash is a
// directory. It is an error with the code [diag.NotFound] if dir is not in the work tree of a repository. What
// [Changed] says about what is read counts here, too.
func StatusOf(dir string, paths []string) ([]Status, error) {
	w, err := openWorkTree(dir)
	if err != nil {
		return nil, err
	}
	defer w.storage.Close() //nolint:errcheck // it was only read
	index, err := w.readIndex()
	if err != nil {
		return nil, err
	}
	real, err := pathx.ResolveExisting(dir)
	if err != nil {
		return nil, err
	}
	prefix, ok := pathx.Rel(w.root, real)
	if !ok {
		return nil, diag.Errorf(diag.Internal, "%s is not inside %s", dir, w.root)
	}
	exclude := readIgnores(nil, filepath.Join(w.common, "info", "exclude"), 0, w.config.ignoreCase)
	rules := map[string]*ignores{}
	list := make([]Status, len(paths))
	for i, p := range paths {
		at := path.Join(filepath.ToSlash(prefix), p)
		list[i].Tracked = index.has(at)
		list[i].Ignored = !list[i].Tracked && w.ignores(at, strings.HasSuffix(p, "/"), exclude, rules)
	}
	return list, nil
}

// has reports whether a path, or something below it, is tracked.
func (t *tracked) has(at string) bool {
	for name := range strings.SplitSeq(at, "/") {
		if t = t.byName[name]; t == nil {
			return false
		}
	}
	return true
}

// ignores reports whether a path is ignored, or a directory above it: what is in one cannot be taken back in. The rules
// of directories are read once.
func (w *workTree) ignores(at string, dir bool, exclude *ignores, known map[string]*ignores) bool {
	above, rules := "", exclude
	for {
		if _, ok := known[above]; !ok {
			known[above] = rules
			file := filepath.Join(w.root, filepath.FromSlash(above), ".gitignore")
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				known[above] = readIgnores(rules, file, len(above), w.config.ignoreCase)
			}
		}
		rules = known[above]
		name, _, more := strings.Cut(at[len(above):], "/")
		if rules.match(above+name, more || dir) {
			return true
		}
		if !more {
			return false
		}
		above += name + "/"
	}
}
