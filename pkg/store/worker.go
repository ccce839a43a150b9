package store

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sync"

	"github.com/skillpm/skillpm/pkg/bundle"
)

// worker writes and hashes the files of some of a Writer's skills, so that a skill needs no locks. It keeps the
// directory open that it wrote to last: a path below an open directory costs one system call, a deep one three a level.
type worker struct {
	writer *Writer
	jobs   chan job

	skill *staged  // the skill that tree and dir belong to
	tree  *os.Root // the skill's tree
	name  string   // dir's path in tree
	dir   *os.Root

	mu     sync.Mutex
	err    error // the first one
	copies []byte
}

// job is a file to be written: whole in buffer, or to be read from r while the sender waits for done.
type job struct {
	skill      *staged
	path       string
	executable bool
	buffer     *[]byte
	r          io.Reader
	size       int64 // of r, -1 if unknown
	done       chan error
}

func workerCount() int { return min(max(runtime.GOMAXPROCS(0), 2), 8) }

func (k *worker) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *worker) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
}

// send queues a job, unless the worker has failed.
func (k *worker) send(j job) error {
	if err := k.failure(); err != nil {
		return err
	}
	k.jobs <- j
	return nil
}

// stream has a file written while it is being read, and waits for it.
func (k *worker) stream(j job, size int64, r io.Reader) error {
	j.r, j.size, j.done = r, size, make(chan error, 1)
	if err := k.send(j); err != nil {
		return err
	}
	return <-j.done
}

// run does jobs until there are no more, and then writes the inventories. After an error it only drains.
func (k *worker) run() {
	for j := range k.jobs {
		err := k.failure()
		if err == nil {
			err = k.do(j)
		}
		if err != nil {
			k.fail(err)
		}
		if j.done != nil {
			j.done <- err
		}
		if j.buffer != nil {
			k.writer.buffers.Put(j.buffer)
		}
	}
	if err := k.leave(); err != nil {
		k.fail(err)
	}
	for _, s := range k.writer.skills {
		if s.worker != k || k.failure() != nil {
			continue
		}
		if err := s.finish(k.writer.root); err != nil {
			k.fail(err)
		}
	}
}

// finish writes a skill's inventory.
func (s *staged) finish(root *os.Root) error {
	s.inventory.Sort()
	data := s.inventory.Encode()
	s.digest = bundle.DigestOf(data)
	return root.WriteFile(path.Join(s.dir, inventoryName), data, 0o644)
}

func (k *worker) do(j job) error {
	dir, err := k.enter(j.skill, path.Dir(j.path))
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if j.executable {
		mode = 0o755
	}
	f, err := dir.OpenFile(path.Base(j.path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	e := bundle.Entry{Path: j.path, Executable: j.executable}
	if j.r != nil {
		err = k.copy(f, &e, j)
	} else {
		e.Size, e.SHA256 = int64(len(*j.buffer)), sha256.Sum256(*j.buffer)
		_, err = f.Write(*j.buffer)
	}
	j.skill.inventory = append(j.skill.inventory, e)
	return errors.Join(err, f.Close())
}

// copy writes and hashes a file that is too large to be buffered.
func (k *worker) copy(f *os.File, e *bundle.Entry, j job) error {
	if k.copies == nil {
		k.copies = make([]byte, 128<<10)
	}
	limit := k.writer.limits.FileBytes
	if j.size >= 0 {
		limit = j.size
	}
	sum := sha256.New()
	n, err := io.CopyBuffer(onlyWriter{io.MultiWriter(f, sum)}, io.LimitReader(j.r, limit+1), k.copies)
	if err != nil {
		return err
	}
	if n > limit || j.size >= 0 && n != j.size {
		return sizeError(j.path, limit, n)
	}
	e.Size = n
	sum.Sum(e.SHA256[:0])
	if j.size < 0 {
		return k.writer.account(j.path, n)
	}
	return nil
}

// onlyWriter hides ReadFrom, so that the worker's buffer is used.
type onlyWriter struct{ io.Writer }

// enter returns the directory dir of a skill's tree, and makes it if it is new.
func (k *worker) enter(s *staged, dir string) (*os.Root, error) {
	if k.skill != s {
		if err := k.leave(); err != nil {
			return nil, err
		}
		if err := k.open(s); err != nil {
			return nil, err
		}
	}
	if k.name == dir {
		return k.dir, nil
	}
	if err := k.leaveDir(); err != nil {
		return nil, err
	}
	if dir == "." {
		return k.dir, nil
	}
	if !s.dirs[dir] {
		if err := k.tree.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		s.dirs[dir] = true
	}
	opened, err := k.tree.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	k.name, k.dir = dir, opened
	return opened, nil
}

// open makes the skill's tree, or goes back to it.
func (k *worker) open(s *staged) error {
	root := k.writer.root
	tree := path.Join(s.dir, treeName)
	if len(s.dirs) == 0 {
		if err := root.MkdirAll(tree, 0o755); err != nil {
			return err
		}
		s.dirs["."] = true
	}
	opened, err := root.OpenRoot(tree)
	if err != nil {
		return err
	}
	k.skill, k.tree, k.name, k.dir = s, opened, ".", opened
	return nil
}

// leaveDir goes back to the root of the tree.
func (k *worker) leaveDir() error {
	if k.dir == k.tree {
		return nil
	}
	err := k.dir.Close()
	k.name, k.dir = ".", k.tree
	return err
}

func (k *worker) leave() error {
	if k.skill == nil {
		return nil
	}
	err := errors.Join(k.leaveDir(), k.tree.Close())
	k.skill, k.tree, k.dir = nil, nil, nil
	return err
}
