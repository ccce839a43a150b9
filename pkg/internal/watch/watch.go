// Package watch tells which files changed below directories.
//
// Directories are watched, and not files, so that files that are replaced, as most editors do, stay in view. What
// happens within a short time is told at once: an editor's save, which writes one file and renames it to another, or a
// checkout of a branch. Directories that are new are watched from the moment that they are seen, and everything that is
// in them by then counts as changed. Symbolic links are followed where a root is one, and nowhere else.
//
// What the operating system could not keep up with is told as a change of everything: the roots.
package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Quiet is how long it must be quiet by default before changes are told.
const Quiet = 50 * time.Millisecond

// patience is how many times as long changes are held back at most while it is not quiet.
const patience = 10

// Options say what is watched, and how changes are told.
type Options struct {
	// Skip reports whether a directory, by the path that would be told, is left out with all that is in it. Roots are
	// not asked for. It is called from one goroutine at a time.
	Skip func(dir string) bool

	// Quiet is how long it must be quiet before changes are told: [Quiet] if it is 0. While it is never quiet, they are
	// told after ten times as long.
	Quiet time.Duration
}

// Watcher watches files and directories until it is closed.
type Watcher struct {
	options Options
	roots   []*root
	events  chan []string
	closed  chan struct{}
	ended   chan struct{}
	once    sync.Once
	err     error // why it ended, set before events is closed

	// What follows belongs to the goroutine that runs.
	fs      *fsnotify.Watcher
	dirs    map[string]bool     // directories below roots, by real path: whether they are watched, or skipped
	pending map[string]struct{} // what changed and is not told yet
	changed bool                // something was added to pending
}

// root is a file or directory that is watched, with everything below it.
type root struct {
	name  string    // how it is told
	real  string    // with all links followed
	dir   bool      // it is a directory, or was when it was last there
	spots [2]string // the real paths at which it, or the link that it is, appears and goes
}

// New starts to watch files and directories, which must exist. Changes that are made after it returned are told.
func New(roots []string, o Options) (*Watcher, error) {
	if o.Quiet <= 0 {
		o.Quiet = Quiet
	}
	if o.Skip == nil {
		o.Skip = func(string) bool { return false }
	}
	w := &Watcher{
		options: o, events: make(chan []string), closed: make(chan struct{}), ended: make(chan struct{}),
		pending: make(map[string]struct{}),
	}
	for _, name := range roots {
		r := &root{name: filepath.Clean(name)}
		if err := r.scan(); errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Errorf(diag.NotFound, "%s does not exist", name)
		} else if err != nil {
			return nil, err
		}
		w.roots = append(w.roots, r)
	}
	if err := w.start(); err != nil {
		return nil, err
	}
	for _, r := range w.roots {
		if r.dir && !w.dirs[r.real] {
			w.fs.Close() //nolint:errcheck // the other error matters
			return nil, diag.Errorf(diag.Internal, "%s cannot be watched", r.name)
		}
	}
	go w.run()
	return w, nil
}

// Events returns the channel on which changes are told: the paths of files and directories that changed, appeared or
// are gone, sorted, each as its root was given and what is below that. It is closed when nothing is watched any more.
func (w *Watcher) Events() <-chan []string { return w.events }

// Err returns, after the channel was closed, why: nil if it was by Close.
func (w *Watcher) Err() error {
	<-w.ended
	return w.err
}

// Close ends watching, and returns when all that it takes is given back. It can be called several times.
func (w *Watcher) Close() {
	w.once.Do(func() { close(w.closed) })
	<-w.ended
}

// scan finds out where the root is now, and what.
func (r *root) scan() error {
	abs, err := filepath.Abs(r.name)
	if err != nil {
		return err
	}
	if parent, err := pathx.ResolveExisting(filepath.Dir(abs)); err == nil {
		r.spots[0] = filepath.Join(parent, filepath.Base(abs))
	}
	real, err := pathx.ResolveExisting(abs)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	r.real, r.dir, r.spots[1] = real, info.IsDir(), real
	return nil
}

// tell returns how a real path is told as one of the root, if it is one.
func (r *root) tell(path string) (string, bool) {
	if path == r.real {
		return r.name, true
	}
	rest, ok := strings.CutPrefix(path,
		strings.TrimSuffix(r.real, string(filepath.Separator))+string(filepath.Separator))
	return filepath.Join(r.name, rest), ok && r.dir
}
