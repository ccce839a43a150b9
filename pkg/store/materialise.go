package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
)

// cloneFrom is the size from which it is worth asking the file system to share a file's blocks.
const cloneFrom = 64 << 10

// Materialise makes the directory dst a copy of a tree. dst must not exist, its parent must. Blocks are shared with the
// store where the file system can do that; modes are those of the inventory, less the umask. Any number may run at once.
//
// What is written is hashed. If the store's tree is damaged, dst is removed, the tree is discarded from the store, so
// that it will be fetched again, and the error is a [bundle.MismatchError].
func (s *Store) Materialise(ctx context.Context, digest, dst string) error {
	inv, err := s.Inventory(digest)
	if err == nil {
		err = s.project(ctx, digest, dst, inv)
	}
	if _, ok := errors.AsType[*bundle.MismatchError](err); ok {
		return errors.Join(fmt.Errorf("store: %w", err), s.Discard(digest))
	}
	return err
}

// project copies a tree, and removes the copy if anything goes wrong.
func (s *Store) project(ctx context.Context, digest, dst string, inv bundle.Inventory) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	entry, err := s.entry(digest)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dst, 0o755); errors.Is(err, fs.ErrExist) {
		return diag.Errorf(diag.Conflict, "%s is in the way", dst)
	} else if err != nil {
		return err
	}
	buf := s.buffers.Get().(*[]byte)
	p := &projection{store: s, buf: *buf}
	defer func() {
		s.buffers.Put(buf)
		err = errors.Join(err, p.leave())
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dst))
		}
	}()
	if err := p.open(entry, dst); err != nil {
		return err
	}
	for _, e := range inv {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.file(e); err != nil {
			return err
		}
	}
	return nil
}

// damage turns an error of opening name in root into a mismatch if there is nothing, or something else than the
// inventory promises.
func damage(err error, root *os.Root, name string, isWanted func(fs.FileMode) bool) error {
	info, statErr := root.Lstat(name)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return &bundle.MismatchError{What: name, Want: "what the inventory says", Got: "nothing"}
	case statErr == nil && !isWanted(info.Mode()):
		return &bundle.MismatchError{What: name, Want: "what the inventory says", Got: info.Mode().String()}
	}
	return err
}

// projection copies one tree. It keeps the two directories open that it is in.
type projection struct {
	store    *Store
	from, to *os.Root // the trees
	name     string   // where both of the next are
	src, dst *os.Root
	buf      []byte // to copy with
}

func (p *projection) open(entry, to string) error {
	root, err := os.OpenRoot(entry)
	if err != nil {
		return err
	}
	defer root.Close()
	if p.from, err = root.OpenRoot(treeName); err != nil {
		return damage(err, root, treeName, fs.FileMode.IsDir)
	}
	if p.to, err = os.OpenRoot(to); err != nil {
		return err
	}
	p.name, p.src, p.dst = ".", p.from, p.to
	return nil
}

func (p *projection) enter(dir string) error {
	if p.name == dir {
		return nil
	}
	if err := p.leaveDir(); err != nil {
		return err
	}
	if dir == "." {
		return nil
	}
	src, err := p.from.OpenRoot(dir)
	if err != nil {
		return damage(err, p.from, dir, fs.FileMode.IsDir)
	}
	err = p.to.MkdirAll(dir, 0o755)
	if err == nil {
		var dst *os.Root
		if dst, err = p.to.OpenRoot(dir); err == nil {
			p.name, p.src, p.dst = dir, src, dst
			return nil
		}
	}
	return errors.Join(err, src.Close())
}

func (p *projection) leaveDir() error {
	if p.name == "." {
		return nil
	}
	err := errors.Join(p.src.Close(), p.dst.Close())
	p.name, p.src, p.dst = ".", p.from, p.to
	return err
}

func (p *projection) leave() error {
	if p.to == nil {
		if p.from == nil {
			return nil
		}
		return p.from.Close()
	}
	return errors.Join(p.leaveDir(), p.from.Close(), p.to.Close())
}

func (p *projection) file(e bundle.Entry) error {
	if err := p.enter(path.Dir(e.Path)); err != nil {
		return err
	}
	name := path.Base(e.Path)
	src, err := p.src.Open(name)
	if err != nil {
		return damage(err, p.src, name, fs.FileMode.IsRegular)
	}
	defer src.Close()
	mode := fs.FileMode(0o644)
	if e.Executable {
		mode = 0o755
	}
	dst, err := p.dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	return errors.Join(p.copy(dst, src, e), dst.Close())
}

// copy fills dst and checks what it got. Blocks that are shared are read all the same, to be hashed.
func (p *projection) copy(dst, src *os.File, e bundle.Entry) error {
	out := io.Writer(dst)
	if e.Size >= cloneFrom && !p.store.noClone.Load() {
		if clone(dst, src) {
			out = io.Discard
		} else {
			p.store.noClone.Store(true)
		}
	}
	sum := sha256.New()
	n, err := io.CopyBuffer(onlyWriter{io.MultiWriter(out, sum)}, onlyReader{io.LimitReader(src, e.Size+1)}, p.buf)
	if err != nil {
		return err
	}
	return e.CheckSum(n, [sha256.Size]byte(sum.Sum(nil)))
}

// onlyReader hides WriteTo, so that the projection's buffer is used.
type onlyReader struct{ io.Reader }
