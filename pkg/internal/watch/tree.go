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

// start begins anew to watch all roots.
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

// addRoot watches what is below a root, and the directories that it can vanish from and appear in.
func (w *Watcher) addRoot(r *root, tell bool) error {
	for _, spot := range r.spots {
		parent := filepath.Dir(spot)
		if spot == "" || parent == spot || r.dir && opensFiles() {
			continue
		}
		if err := w.fs.Add(parent); fatal(err) {
			return explain(err)
		}
	}
	if !r.dir {
		return nil
	}
	return w.addTree(r.real, tell)
}

// opensFiles reports whether watching a directory opens every file in it, which is too much for one that is only
// watched to see a root that is removed and made again.
func opensFiles() bool { return runtime.GOOS != "linux" && runtime.GOOS != "windows" }

// addTree watches a directory and those below it. Where tell is set, all that is in them has changed. It is watched
// before it is listed, so that nothing can appear in between.
func (w *Watcher) addTree(dir string, tell bool) error {
	if w.skips(dir) {
		w.dirs[dir] = false
		return nil
	}
	if err := w.fs.Add(dir); fatal(err) {
		return explain(err)
	} else if err != nil {
		return nil //nolint:nilerr // it is gone again, or nobody may look
	}
	w.dirs[dir] = true
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		if tell && !e.IsDir() {
			w.change(path)
		}
		if e.IsDir() {
			if tell && !w.skips(path) {
				w.change(path)
			}
			if err := w.addTree(path, tell); err != nil {
				return err
			}
		}
	}
	return nil
}

// skips reports whether a directory is left out under every root that it is below, and is not one itself.
func (w *Watcher) skips(dir string) bool {
	skip := false
	for _, r := range w.roots {
		if dir == r.real {
			return false
		}
		if name, ok := r.tell(dir); ok {
			if !w.options.Skip(name) {
				return false
			}
			skip = true
		}
	}
	return skip
}

// dropTree forgets a directory and those below it. Their watches would go on under names that they may not have any
// more.
func (w *Watcher) dropTree(dir string) {
	below := dir + string(filepath.Separator)
	for d, watched := range w.dirs {
		if d != dir && !strings.HasPrefix(d, below) {
			continue
		}
		delete(w.dirs, d)
		if watched {
			_ = w.fs.Remove(d) // most are gone with the directory
		}
	}
}

// change notes that a path changed, under every root that it is below.
func (w *Watcher) change(path string) {
	for _, r := range w.roots {
		if name, ok := r.tell(path); ok {
			w.note(name)
		}
	}
}

func (w *Watcher) note(name string) {
	w.pending[name] = struct{}{}
	w.changed = true
}

// fatal reports whether an error of one watch means that there can be no more. Other errors are about the directory: it
// is gone again, or nobody may look.
func fatal(err error) bool {
	for _, limit := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, fsnotify.ErrClosed} {
		if errors.Is(err, limit) {
			return true
		}
	}
	return false
}

// explain says what can be done about the limits of the operating system.
func explain(err error) error {
	e := diag.Errorf(diag.Internal, "files cannot be watched: %w", err)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return e.WithHint("there are too many directories for the system's limit: raise it with sysctl " +
			"fs.inotify.max_user_watches=1048576, or watch fewer")
	case errors.Is(err, syscall.EMFILE) && runtime.GOOS == "linux":
		return e.WithHint("too many programs watch files: raise the limit with sysctl " +
			"fs.inotify.max_user_instances=1024, or end some")
	case errors.Is(err, syscall.EMFILE):
		return e.WithHint("too many files are open: raise the limit with ulimit -n, or watch fewer")
	}
	return e
}
