package watch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/skillpm/skillpm/pkg/diag"
)

// start starts watching all roots.
func (w *Watcher) start() error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return explain(err)
	}
	w.fs, w.dirs = watcher, make(map[string]bool)
	for _, r := range w.roots {
		if err := w.addRoot(r, false); err != nil {
			watcher.Close() //nolint:errcheck // the first error matters
			return err
		}
	}
	return nil
}

// addRoot watches a root with everything below it, and the directories in which the root may disappear and reappear.
func (w *Watcher) addRoot(r *root, changed bool) error {
	for _, path := range r.eventPaths {
		parent := filepath.Dir(path)
		if path == "" || parent == path || r.dir && opensFiles() {
			continue
		}
		if err := w.fs.Add(parent); isFatal(err) {
			return explain(err)
		}
	}
	if !r.dir {
		return nil
	}
	return w.addTree(r.real, changed)
}

// opensFiles reports whether watching a directory opens every file in it. That is too expensive for the parent of a
// root.
func opensFiles() bool { return runtime.GOOS != "linux" && runtime.GOOS != "windows" }

// addTree watches a directory and those below it. With changed, it records everything in them as changed. It watches a
// directory before it lists it, so that it misses no new file.
func (w *Watcher) addTree(dir string, changed bool) error {
	if w.skips(dir) {
		w.dirs[dir] = false
		return nil
	}
	if err := w.fs.Add(dir); isFatal(err) {
		return explain(err)
	} else if err != nil {
		return nil //nolint:nilerr // it was removed again, or is unreadable
	}
	w.dirs[dir] = true
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		if changed && !e.IsDir() {
			w.recordPath(path)
		}
		if e.IsDir() {
			if changed && !w.skips(path) {
				w.recordPath(path)
			}
			if err := w.addTree(path, changed); err != nil {
				return err
			}
		}
	}
	return nil
}

// skips reports whether a directory is skipped under every root that it is below, and is not a root itself.
func (w *Watcher) skips(dir string) bool {
	skip := false
	for _, r := range w.roots {
		if dir == r.real {
			return false
		}
		if name, ok := r.displayPath(dir); ok {
			if !w.options.Skip(name) {
				return false
			}
			skip = true
		}
	}
	return skip
}

// dropTree stops watching a directory and those below it, because later events would have names that are no longer
// valid.
func (w *Watcher) dropTree(dir string) {
	below := dir + string(filepath.Separator)
	for d, watched := range w.dirs {
		if d != dir && !strings.HasPrefix(d, below) {
			continue
		}
		delete(w.dirs, d)
		if watched {
			_ = w.fs.Remove(d) // the system has removed most watches already
		}
	}
}

// recordPath records a change of a path, under every root that it is below.
func (w *Watcher) recordPath(path string) {
	for _, r := range w.roots {
		if name, ok := r.displayPath(path); ok {
			w.record(name)
		}
	}
}

func (w *Watcher) record(name string) {
	w.pending[name] = struct{}{}
	w.changed = true
}

// isFatal reports whether an error means that no more watches can be added. Other errors are about one directory, which
// was removed or is unreadable.
func isFatal(err error) bool {
	for _, limit := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, fsnotify.ErrClosed} {
		if errors.Is(err, limit) {
			return true
		}
	}
	return false
}

// explain adds hints to errors about limits of the operating system.
func explain(err error) error {
	e := diag.Errorf(diag.Internal, "cannot watch files: %w", err)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return e.WithHint("raise the limit on watched directories with \"sysctl fs.inotify.max_user_watches=1048576\", " +
			"or watch fewer directories")
	case errors.Is(err, syscall.EMFILE) && runtime.GOOS == "linux":
		return e.WithHint("raise the limit on file watchers with \"sysctl fs.inotify.max_user_instances=1024\", " +
			"or close programs that watch files")
	case errors.Is(err, syscall.EMFILE):
		return e.WithHint("raise the limit on open files with \"ulimit -n\", or watch fewer directories")
	}
	return e
}
