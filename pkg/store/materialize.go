package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// minCloneSize is the size from which sharing blocks is faster than copying a file.
const minCloneSize = 64 << 10

// Materialize creates the directory dst as a copy of a tree. dst must not exist, its parent must. The copy shares
// blocks with the store if the file system supports that. Modes are those of the inventory without the umask.
//
// The copy is hashed. If the tree in the store is damaged, Materialize removes dst and discards the tree, so that it is
// fetched again, and the error is a [bundle.MismatchError]. If the tree is not in the store, or leaves it meanwhile,
// the error is that or has the code NotFound.
func (s *Store) Materialize(ctx context.Context, digest, dst string) error {
	return s.materialize(ctx, digest, dst, false)
}

// Link is [Store.Materialize] with hard links: editing a file of dst also changes, and damages, the store. Link hashes
// files before it links them, and copies files that it cannot link, for example to another file system, or whose mode
// differs from the inventory.
func (s *Store) Link(ctx context.Context, digest, dst string) error {
	return s.materialize(ctx, digest, dst, true)
}

func (s *Store) materialize(ctx context.Context, digest, dst string, link bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := s.openEntry(digest)
	if err != nil {
		return err
	}
	defer dir.close()
	inv, lastUse, err := readInventory(dir, digest)
	if err == nil {
		s.recordUse(dir, lastUse)
		err = s.copyTree(ctx, dir, dst, inv, link)
	}
	if _, damaged := errors.AsType[*bundle.MismatchError](err); !damaged {
		return err
	}
	if dir.replaced() { // another process removed it, and maybe added it again
		return notFound(digest)
	}
	isSame := func(aside string) (bool, error) { return dir.isAt(aside), nil }
	return errors.Join(fmt.Errorf("store: %w", err), s.discard(digest, isSame))
}

// copyTree copies a tree, and removes the copy after an error.
func (s *Store) copyTree(ctx context.Context, dir *directory, dst string, inv bundle.Inventory, link bool) (err error) {
	if err := os.Mkdir(dst, 0o755); errors.Is(err, fs.ErrExist) {
		return diag.Errorf(diag.Conflict, "%s already exists", dst)
	} else if err != nil {
		return syserr.Explain(err)
	}
	buf := s.buffers.Get().(*[]byte)
	p := &treeCopy{store: s, buf: *buf, sum: sha256.New(), link: link}
	defer func() {
		s.buffers.Put(buf)
		p.source.close()
		p.target.close()
		if err = syserr.Explain(err); err != nil {
			err = errors.Join(err, os.RemoveAll(dst))
		}
	}()
	if err := p.open(dir, dst); err != nil {
		return err
	}
	for i := range inv {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.file(&inv[i]); err != nil {
			return err
		}
	}
	return nil
}

// treeCopy is the state of copying a tree.
type treeCopy struct {
	store          *Store
	source, target dirPath
	buf            []byte // for copying
	sum            hash.Hash
	link           bool
}

func (p *treeCopy) open(dir *directory, dst string) (err error) {
	if p.source.root, err = dir.sub(treeName); err != nil {
		return mismatchError(err, dir, treeName, fs.FileMode.IsDir)
	}
	p.target.root, err = openDirectory(dst)
	return err
}

// mismatchError returns a [bundle.MismatchError] if name does not exist in dir or has another type than in the
// inventory. Otherwise it returns err.
func mismatchError(err error, dir *directory, name string, hasType func(fs.FileMode) bool) error {
	mode, statErr := dir.mode(name)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return &bundle.MismatchError{What: name, Want: "the file or directory that skillpm stored", Got: "nothing"}
	case statErr == nil && !hasType(mode):
		return &bundle.MismatchError{What: name, Want: "the file or directory that skillpm stored", Got: mode.String()}
	}
	return err
}

func (p *treeCopy) file(e *bundle.Entry) error {
	dir, name := path.Dir(e.Path), path.Base(e.Path)
	source, missing, err := p.source.open(dir, false)
	if err != nil {
		return mismatchError(err, source, missing, fs.FileMode.IsDir)
	}
	target, _, err := p.target.open(dir, true)
	if err != nil {
		return err
	}
	src, err := source.open(name)
	if err != nil {
		return mismatchError(err, source, name, fs.FileMode.IsRegular)
	}
	defer src.closeRead()
	if p.link {
		linked, err := p.linkFile(e, src, source, target, name)
		if linked || err != nil {
			return err
		}
		if src, err = source.open(name); err != nil {
			return mismatchError(err, source, name, fs.FileMode.IsRegular)
		}
		defer src.closeRead()
	}
	dst, err := target.create(name, modeOf(e))
	if err != nil {
		return err
	}
	return errors.Join(p.copy(dst, src, e), dst.Close())
}

func modeOf(e *bundle.Entry) fs.FileMode {
	if e.Executable {
		return 0o755
	}
	return 0o644
}

// linkFile verifies a file and links it, and reports whether it did. The caller copies other files.
func (p *treeCopy) linkFile(e *bundle.Entry, src file, source, target *directory, name string) (bool, error) {
	if f, err := src.info(); err != nil || !f.regular || f.executable != e.Executable && runtime.GOOS != "windows" {
		return false, err
	}
	if err := p.copyAndHash(io.Discard, src, e); err != nil {
		return false, err
	}
	return target.link(source, name) == nil, nil
}

// copy copies a file or shares its blocks, and verifies the content.
func (p *treeCopy) copy(dst, src file, e *bundle.Entry) error {
	if e.Size >= minCloneSize && !p.store.noClone.Load() {
		if dst.cloneOf(src) {
			return p.copyAndHash(io.Discard, src, e)
		}
		p.store.noClone.Store(true)
	}
	return p.copyAndHash(dst, src, e)
}

// copyAndHash copies src to dst and verifies the content. At the end of a file, it takes a short read for the last one.
func (p *treeCopy) copyAndHash(dst io.Writer, src io.Reader, e *bundle.Entry) error {
	p.sum.Reset()
	var size int64
	for size <= e.Size {
		buf := p.buf[:min(int64(len(p.buf)), e.Size-size+1)]
		n, err := src.Read(buf)
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EISDIR) {
			return &bundle.MismatchError{What: e.Path, Want: "the file that skillpm stored", Got: err.Error()}
		}
		if err != nil {
			return err
		}
		size += int64(n)
		p.sum.Write(buf[:n])
		if _, err := dst.Write(buf[:n]); err != nil {
			return err
		}
		if size == e.Size && n < len(buf) {
			break
		}
	}
	var sum [sha256.Size]byte
	p.sum.Sum(sum[:0])
	return e.CheckSum(size, sum)
}
