package store

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"path"
	"runtime"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// worker writes and hashes the files of some skills of a Writer. Each skill belongs to one worker, so it needs no
// locks.
type worker struct {
	writer *Writer
	jobs   chan job

	skill *stagedSkill // the skill of tree
	tree  dirPath
	sum   hash.Hash

	mu         sync.Mutex
	err        error // the first one
	copyBuffer []byte
}

// job is a file to write. Its content is in buffer, or comes from r while the sender waits for the result.
type job struct {
	skill      *stagedSkill
	path       string
	executable bool
	buffer     *[]byte
	r          io.Reader
	size       int64 // of r, -1 if unknown
	result     chan error
}

func workerCount() int { return min(max(runtime.GOMAXPROCS(0), 2), 8) }

func (k *worker) firstError() error {
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
	if err := k.firstError(); err != nil {
		k.writer.store.queue.release(j.buffer)
		return err
	}
	k.jobs <- j
	return nil
}

// stream writes a large file while it reads it.
func (k *worker) stream(j job, size int64, r io.Reader) error {
	j.r, j.size, j.result = r, size, make(chan error, 1)
	if err := k.send(j); err != nil {
		return err
	}
	return <-j.result
}

// run executes the jobs until the channel is closed, then writes the inventories. After an error it only drains the
// channel.
func (k *worker) run() {
	for j := range k.jobs {
		err := k.firstError()
		if err == nil {
			err = k.do(j)
		}
		if err != nil {
			err = syserr.Explain(err)
			k.fail(err)
		}
		if j.result != nil {
			j.result <- err
		}
		k.writer.store.queue.release(j.buffer)
	}
	k.closeTree()
	for _, s := range k.writer.skills {
		if s.worker != k || k.firstError() != nil {
			continue
		}
		if err := s.writeInventory(k.writer.root); err != nil {
			k.fail(syserr.Explain(err))
		}
	}
}

// writeInventory writes the inventory of a skill.
func (s *stagedSkill) writeInventory(root *directory) error {
	s.inventory.Sort()
	data := s.inventory.Encode()
	s.digest = bundle.DigestOf(data)
	dir, err := root.sub(s.dir)
	if err != nil {
		return err
	}
	defer dir.close()
	f, err := dir.create(inventoryName, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func (k *worker) do(j job) error {
	dir, err := k.openDir(j.skill, path.Dir(j.path))
	if err != nil {
		return err
	}
	e := bundle.Entry{Path: j.path, Executable: j.executable}
	f, err := dir.create(path.Base(j.path), modeOf(&e))
	if err != nil {
		return err
	}
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
func (k *worker) copy(f file, e *bundle.Entry, j job) error {
	if k.copyBuffer == nil {
		k.copyBuffer = make([]byte, 128<<10)
	}
	limit := k.writer.limits.FileBytes
	if j.size >= 0 {
		limit = j.size
	}
	k.sum.Reset()
	n, err := io.CopyBuffer(onlyWriter{io.MultiWriter(f, k.sum)}, io.LimitReader(j.r, limit+1), k.copyBuffer)
	if err != nil {
		return err
	}
	if n > limit || j.size >= 0 && n != j.size {
		return sizeError(j.path, limit, n)
	}
	e.Size = n
	k.sum.Sum(e.SHA256[:0])
	if j.size < 0 {
		return k.writer.addSize(j.path, n)
	}
	return nil
}

// onlyWriter hides ReadFrom, so that the worker's buffer is used.
type onlyWriter struct{ io.Writer }

// openDir returns a directory of a skill's tree, and creates it if necessary.
func (k *worker) openDir(s *stagedSkill, dir string) (*directory, error) {
	if k.skill != s {
		k.closeTree()
		if err := k.openTree(s); err != nil {
			return nil, err
		}
	}
	parent, _, err := k.tree.open(dir, true)
	return parent, err
}

// openTree opens the tree of a skill, and creates it if necessary.
func (k *worker) openTree(s *stagedSkill) error {
	if !s.written {
		if err := k.writer.root.mkdir(s.dir); err != nil {
			return err
		}
	}
	dir, err := k.writer.root.sub(s.dir)
	if err != nil {
		return err
	}
	defer dir.close()
	if !s.written {
		if err := dir.mkdir(treeName); err != nil {
			return err
		}
		s.written = true
	}
	tree, err := dir.sub(treeName)
	if err != nil {
		return err
	}
	k.skill, k.tree = s, dirPath{root: tree}
	return nil
}

func (k *worker) closeTree() {
	k.skill = nil
	k.tree.close()
}
