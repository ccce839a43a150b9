package watch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// run receives events and reports them in batches, until the watcher is closed or cannot continue.
func (w *Watcher) run() {
	defer close(w.stopped)
	defer close(w.events)
	defer func() { w.fs.Close() }() //nolint:errcheck // nothing can be done about it
	quiet, deadline := time.NewTimer(w.options.Quiet), time.NewTimer(w.options.Quiet)
	quiet.Stop()
	deadline.Stop()
	waiting := false      // until there are no events for a while
	var out chan []string // w.events if a batch is ready, or else nil
	var batch []string
	for {
		var err error
		select {
		case <-w.closed:
			return
		case <-quiet.C:
			waiting = false
		case <-deadline.C:
			waiting = false
		case out <- batch:
			clear(w.pending)
			out = nil
			continue
		case e, ok := <-w.fs.Events:
			if err = fsnotify.ErrClosed; ok {
				err = w.handle(e)
			}
		case e, ok := <-w.fs.Errors:
			if err = fsnotify.ErrClosed; ok {
				err = w.handleError(e)
			}
		}
		if err != nil {
			w.err = err
			return
		}
		switch {
		case w.changed:
			w.changed, out = false, nil
			quiet.Reset(w.options.Quiet)
			if !waiting {
				waiting = true
				deadline.Reset(maxDelayFactor * w.options.Quiet)
			}
		case !waiting && out == nil && len(w.pending) > 0:
			quiet.Stop()
			deadline.Stop()
			out, batch = w.events, slices.Sorted(maps.Keys(w.pending))
		}
	}
}

// handle handles the event of one path.
func (w *Watcher) handle(e fsnotify.Event) error {
	path := filepath.Clean(e.Name)
	for _, r := range w.roots {
		if path == r.eventPaths[0] || path == r.eventPaths[1] {
			if err := w.handleRoot(r, e); err != nil {
				return err
			}
		}
	}
	watched, isDir := w.dirs[path]
	switch {
	case e.Has(fsnotify.Remove | fsnotify.Rename):
		if isDir {
			w.dropTree(path)
		}
		if watched || !isDir {
			w.recordPath(path)
		}
	case e.Has(fsnotify.Create):
		return w.handleCreate(path)
	case !isDir:
		w.recordPath(path)
	}
	return nil
}

// handleCreate records a new file or directory below a root.
func (w *Watcher) handleCreate(path string) error {
	if !slices.ContainsFunc(w.roots, func(r *root) bool { _, below := r.displayPath(path); return below }) {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		w.recordPath(path)
		return nil //nolint:nilerr // it was removed again, which is a change too
	}
	if _, watched := w.dirs[path]; watched {
		w.dropTree(path)
	}
	if !w.skips(path) {
		w.recordPath(path)
	}
	return w.addTree(path, true)
}

// handleRoot handles an event of a root itself.
func (w *Watcher) handleRoot(r *root, e fsnotify.Event) error {
	moved := e.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename)
	if !moved && r.dir {
		return nil
	}
	w.record(r.name)
	if !moved {
		return nil
	}
	previous := *r
	_ = r.scan() // a root that was removed keeps its last path
	if previous.dir {
		w.dropTree(previous.real)
	}
	for _, other := range w.roots { // dropTree may have dropped other roots
		if err := w.addRoot(other, other == r); err != nil {
			return err
		}
	}
	return nil
}

// handleError handles an error of the watcher. If events were lost, it watches everything anew and reports all roots.
func (w *Watcher) handleError(err error) error {
	switch {
	case errors.Is(err, fsnotify.ErrEventOverflow):
		w.fs.Close() //nolint:errcheck // it is replaced
		for _, r := range w.roots {
			_ = r.scan() // a root that was removed keeps its last path
		}
		if err := w.start(); err != nil {
			return err
		}
		clear(w.pending)
		for _, r := range w.roots {
			w.record(r.name)
		}
		return nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, fs.ErrNotExist), errors.Is(err, fsnotify.ErrNonExistentWatch):
		return nil // the watch ended with its directory
	}
	return explain(err)
}
