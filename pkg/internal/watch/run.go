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

// run receives what happened and tells it, until the watcher is closed or cannot go on.
func (w *Watcher) run() {
	defer close(w.ended)
	defer close(w.events)
	defer func() { w.fs.Close() }() //nolint:errcheck // there is nothing left to do about it
	quiet, late := time.NewTimer(w.options.Quiet), time.NewTimer(w.options.Quiet)
	quiet.Stop()
	late.Stop()
	waiting := false      // for it to be quiet
	var out chan []string // the events, while there is a batch to be told
	var batch []string
	for {
		var err error
		select {
		case <-w.closed:
			return
		case <-quiet.C:
			waiting = false
		case <-late.C:
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
				err = w.fail(e)
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
				late.Reset(patience * w.options.Quiet)
			}
		case !waiting && out == nil && len(w.pending) > 0:
			quiet.Stop()
			late.Stop()
			out, batch = w.events, slices.Sorted(maps.Keys(w.pending))
		}
	}
}

// handle looks at what happened to one path.
func (w *Watcher) handle(e fsnotify.Event) error {
	path := filepath.Clean(e.Name)
	for _, r := range w.roots {
		if path == r.spots[0] || path == r.spots[1] {
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
			w.change(path)
		}
	case e.Has(fsnotify.Create):
		return w.appear(path)
	case !isDir:
		w.change(path)
	}
	return nil
}

// appear notes what is new at a path that is below a root.
func (w *Watcher) appear(path string) error {
	if !slices.ContainsFunc(w.roots, func(r *root) bool { _, below := r.tell(path); return below }) {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		w.change(path)
		return nil //nolint:nilerr // it is gone again, which is told, too
	}
	if _, known := w.dirs[path]; known {
		w.dropTree(path)
	}
	if !w.skips(path) {
		w.change(path)
	}
	return w.addTree(path, true)
}

// handleRoot looks at what happened where a root, or the link that it is, appears and goes.
func (w *Watcher) handleRoot(r *root, e fsnotify.Event) error {
	moved := e.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename)
	if !moved && r.dir {
		return nil
	}
	w.note(r.name)
	if !moved {
		return nil
	}
	before := *r
	_ = r.scan() // while it is gone, it is where it was
	if before.dir {
		w.dropTree(before.real)
	}
	for _, each := range w.roots { // some may have been dropped with it
		if err := w.addRoot(each, each == r); err != nil {
			return err
		}
	}
	return nil
}

// fail deals with an error. When events were lost, anything can have happened: everything is watched anew, and told.
func (w *Watcher) fail(err error) error {
	switch {
	case errors.Is(err, fsnotify.ErrEventOverflow):
		w.fs.Close() //nolint:errcheck // it is replaced
		for _, r := range w.roots {
			_ = r.scan() // while it is gone, it is where it was
		}
		if err := w.start(); err != nil {
			return err
		}
		clear(w.pending)
		for _, r := range w.roots {
			w.note(r.name)
		}
		return nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, fs.ErrNotExist), errors.Is(err, fsnotify.ErrNonExistentWatch):
		return nil // a watch that is gone with its directory
	}
	return explain(err)
}
