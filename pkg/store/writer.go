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
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// maxJobs is the most files that wait for one worker.
const maxJobs = 64

// Writer writes the files of skills into a store. It is a [bundle.Sink], safe for concurrent use. Commit adds the
// skills to the store.
type Writer struct {
	store   *Store
	scratch *scratch
	root    *directory // the scratch directory
	limits  bundle.Limits
	workers []*worker
	running bug.WaitGroup

	writing bug.WaitGroup // calls of WriteFile
	mu      sync.Mutex
	skills  map[string]*stagedSkill
	total   int64
	ended   bool
}

// stagedSkill is a skill in a scratch directory.
type stagedSkill struct {
	dir       string // below the scratch directory
	check     *bundle.Checker
	worker    *worker
	written   bool             // the tree exists; only the worker uses it
	inventory bundle.Inventory // only the worker uses it until it ends
	digest    string
}

// Writer returns a new Writer.
func (s *Store) Writer(limits bundle.Limits) (*Writer, error) {
	scratch, err := s.newScratch()
	if err != nil {
		return nil, syserr.Explain(err)
	}
	root, err := openDirectory(scratch.dir)
	if err != nil {
		return nil, syserr.Explain(errors.Join(err, scratch.close()))
	}
	w := &Writer{
		store: s, scratch: scratch, root: root, limits: limits.OrDefault(), skills: make(map[string]*stagedSkill),
	}
	for range workerCount() {
		k := &worker{writer: w, jobs: make(chan job, maxJobs), sum: sha256.New()}
		w.workers = append(w.workers, k)
		w.running.Go(k.run)
	}
	return w, nil
}

// WriteFile writes one file, unless [bundle.Ignored] matches it. Unsafe names, collisions, and exceeded limits are
// errors with the code Invalid. A later call or Commit may return a write error.
func (w *Writer) WriteFile(skill, name string, executable bool, size int64, r io.Reader) error {
	name = bundle.Normal(name)
	if bundle.Ignored(name, false) {
		return nil
	}
	s, err := w.startFile(skill, name, size)
	if err != nil {
		return err
	}
	defer w.writing.Done()
	j := job{skill: s, path: name, executable: executable}
	if size > maxBuffered {
		return s.worker.stream(j, size, r)
	}
	j.buffer = w.store.queue.acquire(size)
	if err := w.buffer(j, size, r); err != nil {
		w.store.queue.release(j.buffer)
		return err
	}
	if data := *j.buffer; len(data) > maxBuffered {
		defer w.store.queue.release(j.buffer)
		j.buffer = nil
		return s.worker.stream(j, size, io.MultiReader(bytes.NewReader(data), r))
	}
	return s.worker.send(j)
}

// buffer reads a file into the buffer of a job: all of it, unless it is large and its size was unknown.
func (w *Writer) buffer(j job, size int64, r io.Reader) error {
	limit := size
	if size < 0 {
		limit = maxBuffered
	}
	data, err := readUpTo(*j.buffer, r, limit)
	*j.buffer = data
	n := int64(len(data))
	switch {
	case err != nil:
		return err
	case size >= 0 && n != size:
		return sizeError(j.path, size, n)
	case size < 0 && n <= maxBuffered:
		return w.addSize(j.path, n)
	}
	return nil
}

// startFile checks a file and returns its skill, which may be new. After success the caller must call w.writing.Done.
func (w *Writer) startFile(skill, name string, size int64) (*stagedSkill, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil, diag.Errorf(diag.Internal, "store: write after the end")
	}
	s := w.skills[skill]
	if s == nil {
		n := len(w.skills)
		s = &stagedSkill{
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

// addSize adds the size of a file to the total, if it was unknown before.
func (w *Writer) addSize(name string, n int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.addLocked(name, n)
}

func (w *Writer) addLocked(name string, n int64) error {
	if w.total += n; w.total > w.limits.TotalBytes {
		return diag.Errorf(diag.Invalid, "the file %q makes the pack larger than %d bytes", name, w.limits.TotalBytes)
	}
	return nil
}

// Commit adds all skills to the store and returns their tree digests. want has the expected digests of some skills. If
// one differs or is missing, Commit adds nothing, and the error is a [bundle.MismatchError] or has the code NotFound.
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
			return nil, diag.Errorf(diag.NotFound, "the pack does not contain the skill %q", name)
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

// publish moves a skill from the scratch directory into the store. If the store already has the tree, that counts as a
// use. A directory without an inventory is not a tree and is replaced.
func (w *Writer) publish(s *stagedSkill) error {
	dir, err := w.store.entryDir(s.digest)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return syserr.Explain(err)
	}
	for range 3 { // other processes may discard and publish the same tree
		if err = os.Rename(filepath.Join(w.scratch.dir, s.dir), dir); err == nil {
			return nil
		}
		if _, inventoryErr := w.store.Inventory(s.digest); inventoryErr == nil {
			return nil
		}
		if err := w.store.Discard(s.digest); err != nil {
			return err
		}
	}
	return syserr.Explain(err)
}

// end stops the workers and returns their first error. It may be called several times.
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
		if err := k.firstError(); err != nil {
			return err
		}
	}
	return nil
}

// Close discards everything that is not committed. It may be called several times, and after Commit.
func (w *Writer) Close() error {
	if w.scratch == nil {
		return nil
	}
	_ = w.end() // Commit returns its errors
	w.root.close()
	err := w.scratch.close()
	w.scratch = nil
	return err
}

func sizeError(name string, want, actual int64) error {
	if actual > want {
		return diag.Errorf(diag.Invalid, "the file %q has more than %d bytes", name, want)
	}
	return diag.Errorf(diag.Invalid, "the file %q has %d bytes instead of %d", name, actual, want)
}

// readUpTo reads r into buf. It reads at most one byte more than limit, so that the caller detects a longer file.
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
