package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// queued is how many files wait for one worker, as long as the Store has buffers for them.
const queued = 64

// Writer takes the files of skills into a store. It is a [bundle.Sink], safe for concurrent use. Nothing is in the
// store before Commit.
type Writer struct {
	store   *Store
	scratch *scratch
	root    *folder // the scratch directory
	limits  bundle.Limits
	workers []*worker
	running sync.WaitGroup

	writing sync.WaitGroup // calls of WriteFile
	mu      sync.Mutex
	skills  map[string]*staged
	total   int64
	ended   bool
}

// staged is a skill that is being written.
type staged struct {
	dir       string // below the scratch directory
	check     *bundle.Checker
	worker    *worker
	written   bool             // its tree is there; the worker's own
	inventory bundle.Inventory // the worker's own until it has ended
	digest    string
}

// Writer starts to write skills.
func (s *Store) Writer(limits bundle.Limits) (*Writer, error) {
	scratch, err := s.scratch()
	if err != nil {
		return nil, syserr.Explain(err)
	}
	root, err := openFolder(scratch.dir)
	if err != nil {
		return nil, syserr.Explain(errors.Join(err, scratch.close()))
	}
	w := &Writer{store: s, scratch: scratch, root: root, limits: limits.OrDefault(), skills: make(map[string]*staged)}
	for range workerCount() {
		k := &worker{writer: w, jobs: make(chan job, queued), sum: sha256.New()}
		w.workers = append(w.workers, k)
		w.running.Go(k.run)
	}
	return w, nil
}

// WriteFile takes one file. What is litter by [bundle.Ignored] is dropped; unsafe names, collisions and whatever
// exceeds the limits are errors with the code Invalid. A failure to write may be reported by a later call or by Commit.
func (w *Writer) WriteFile(skill, name string, executable bool, size int64, r io.Reader) error {
	name = bundle.Normal(name)
	if bundle.Ignored(name, false) {
		return nil
	}
	s, err := w.enter(skill, name, size)
	if err != nil {
		return err
	}
	defer w.writing.Done()
	j := job{skill: s, path: name, executable: executable}
	if size > mostBuffered {
		return s.worker.stream(j, size, r)
	}
	j.buffer = w.store.queue.lend(size)
	if err := w.buffer(j, size, r); err != nil {
		w.store.queue.take(j.buffer)
		return err
	}
	if data := *j.buffer; len(data) > mostBuffered {
		defer w.store.queue.take(j.buffer)
		j.buffer = nil
		return s.worker.stream(j, size, io.MultiReader(bytes.NewReader(data), r))
	}
	return s.worker.send(j)
}

// buffer reads a file into a job's buffer: all of it, unless it is large and did not say so.
func (w *Writer) buffer(j job, size int64, r io.Reader) error {
	limit := size
	if size < 0 {
		limit = mostBuffered
	}
	data, err := readUpTo(*j.buffer, r, limit)
	*j.buffer = data
	n := int64(len(data))
	switch {
	case err != nil:
		return err
	case size >= 0 && n != size:
		return sizeError(j.path, size, n)
	case size < 0 && n <= mostBuffered:
		return w.account(j.path, n)
	}
	return nil
}

// enter checks a file and finds its skill, which it starts if it is new. Without an error the caller ends w.writing.
func (w *Writer) enter(skill, name string, size int64) (*staged, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil, diag.Errorf(diag.Internal, "store: written to after the end")
	}
	s := w.skills[skill]
	if s == nil {
		n := len(w.skills)
		s = &staged{
			dir: strconv.Itoa(n), check: bundle.NewChecker(w.limits),
			worker: w.workers[n%len(w.workers)],
		}
		w.skills[skill] = s
	}
	if err := s.check.AddFile(name, size); err != nil {
		return nil, fmt.Errorf("skill %q: %w", skill, err)
	}
	if err := w.addLocked(name, max(size, 0)); err != nil {
		return nil, err
	}
	w.writing.Add(1)
	return s, nil
}

// account adds to the pack's size what became known late.
func (w *Writer) account(name string, n int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.addLocked(name, n)
}

func (w *Writer) addLocked(name string, n int64) error {
	if w.total += n; w.total > w.limits.TotalBytes {
		return diag.Errorf(diag.Invalid, "entry %q makes the whole larger than %d bytes", name, w.limits.TotalBytes)
	}
	return nil
}

// Commit puts all skills into the store and returns their tree digests. want has the digests that skills must have; it
// may be nil or name only some. If one differs or is missing, the error is a [bundle.MismatchError] or has the code
// NotFound, and nothing is kept.
func (w *Writer) Commit(want map[string]string) (map[string]string, error) {
	if err := w.end(); err != nil {
		return nil, err
	}
	digests := make(map[string]string, len(w.skills))
	for name, s := range w.skills {
		digests[name] = s.digest
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch actual, ok := digests[name]; {
		case !ok:
			return nil, diag.Errorf(diag.NotFound, "skill %q was promised and did not come", name)
		case actual != want[name]:
			return nil, &bundle.MismatchError{What: fmt.Sprintf("skill %q", name), Want: want[name], Got: actual}
		}
	}
	for _, s := range w.skills {
		if err := w.publish(s); err != nil {
			return nil, err
		}
	}
	return digests, w.Close()
}

// publish moves a staged skill to its place. That it is there already is as good, and a use of it; what is there
// without an inventory is none.
func (w *Writer) publish(s *staged) error {
	dir, err := w.store.entryDir(s.digest)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return syserr.Explain(err)
	}
	for range 3 { // others may discard and publish the same meanwhile
		if err = os.Rename(filepath.Join(w.scratch.dir, s.dir), dir); err == nil {
			return nil
		}
		if _, known := w.store.Inventory(s.digest); known == nil {
			return nil
		}
		if err := w.store.Discard(s.digest); err != nil {
			return err
		}
	}
	return syserr.Explain(err)
}

// end stops the workers and returns the first of their errors. It may be called again.
func (w *Writer) end() error {
	w.mu.Lock()
	ended := w.ended
	w.ended = true
	w.mu.Unlock()
	w.writing.Wait()
	if !ended {
		for _, k := range w.workers {
			close(k.jobs)
		}
	}
	w.running.Wait()
	for _, k := range w.workers {
		if err := k.failure(); err != nil {
			return err
		}
	}
	return nil
}

// Close discards what was not committed. It may be called again, and after Commit.
func (w *Writer) Close() error {
	if w.scratch == nil {
		return nil
	}
	_ = w.end() // its errors are Commit's business
	w.root.close()
	err := w.scratch.close()
	w.scratch = nil
	return err
}

func sizeError(name string, want, actual int64) error {
	return diag.Errorf(diag.Invalid, "entry %q has %d bytes or more, not the %d announced", name, actual, want)
}

// readUpTo reads r into buf, which has room for limit bytes and one more, so that a longer file is noticed.
func readUpTo(buf []byte, r io.Reader, limit int64) ([]byte, error) {
	for int64(len(buf)) <= limit {
		n, err := r.Read(buf[len(buf) : limit+1])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

var _ bundle.Sink = (*Writer)(nil)
