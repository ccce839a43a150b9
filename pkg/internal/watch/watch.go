// Package watch reports which files changed below directories. Start reading at [New].
//
// It watches directories and not files, so that it notices files that are replaced, as most editors do. It reports
// changes in batches: an editor's save, which writes one file and renames it to another, or a checkout of a branch. It
// watches new directories as soon as it sees them, and reports everything in them as changed. It follows a symbolic
// link only if it is a root. If the operating system loses events, it reports a change of all roots.
//
// This package may change at any time.
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
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// defaultQuiet is the default of [Options].Quiet.
const defaultQuiet = 50 * time.Millisecond

// maxDelayFactor limits how long changes are delayed while events keep coming, in multiples of Options.Quiet.
const maxDelayFactor = 10

// Options configure a watcher.
type Options struct {
	// Skip reports whether a directory and its content are left out. Its path has the form in which changes are
	// reported. Skip is not called for roots, and from one goroutine at a time.
	Skip func(dir string) bool

	// Quiet is the time without events after which changes are reported; 0 means 50 ms. If events keep coming, changes
	// are reported after ten times as long.
	Quiet time.Duration
}

// Watcher watches files and directories until it is closed.
type Watcher struct {
	options Options
	roots   []*root
	events  chan []string
	closed  chan struct{}
	stopped chan struct{}
	once    sync.Once
	err     error // reason of the stop, set before events is closed

	// The following fields belong to the goroutine of run.
	fs *fsnotify.Watcher
	// directories below roots, by real path: true if they are watched, false if they are skipped
	dirs    map[string]bool
	pending map[string]struct{} // unreported changes
	changed bool                // pending has new changes
}

// root is a watched file or directory, with everything below it.
type root struct {
	name       string    // as reported
	real       string    // path with all links followed
	dir        bool      // it is a directory, or was when it last existed
	eventPaths [2]string // paths with events of the root: of its link, and of the link's target
}

// New starts watching files and directories, which must exist. It reports changes after it returns.
func New(roots []string, o Options) (*Watcher, error) {
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if o.Skip == nil {
		o.Skip = func(string) bool { return false }
	}
	w := &Watcher{
		options: o, events: make(chan []string), closed: make(chan struct{}), stopped: make(chan struct{}),
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
			return nil, diag.Errorf(diag.Internal, "cannot watch %s: the directory no longer exists", r.name)
		}
	}
	bug.Go(w.run)
	return w, nil
}

// Events returns the channel of changes: sorted paths of files and directories that were changed, created, or removed.
// Each starts with the name of its root. The channel is closed when the watcher stops.
func (w *Watcher) Events() <-chan []string { return w.events }

// Err returns the reason why the watcher stopped: nil after Close. It waits for the stop.
func (w *Watcher) Err() error {
	<-w.stopped
	return w.err
}

// Close stops watching and waits until the resources are released. It can be called several times.
func (w *Watcher) Close() {
	w.once.Do(func() { close(w.closed) })
	<-w.stopped
}

// scan reads the real path and the type of the root.
func (r *root) scan() error {
	abs, err := filepath.Abs(r.name)
	if err != nil {
		return err
	}
	if parent, err := pathx.ResolveExisting(filepath.Dir(abs)); err == nil {
		r.eventPaths[0] = filepath.Join(parent, filepath.Base(abs))
	}
	real, err := pathx.ResolveExisting(abs)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	r.real, r.dir, r.eventPaths[1] = real, info.IsDir(), real
	return nil
}

// displayPath returns the reported form of a real path below the root.
func (r *root) displayPath(path string) (string, bool) {
	if path == r.real {
		return r.name, true
	}
	rest, ok := strings.CutPrefix(path,
		strings.TrimSuffix(r.real, string(filepath.Separator))+string(filepath.Separator))
	return filepath.Join(r.name, rest), ok && r.dir
}
