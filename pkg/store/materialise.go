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

// cloneFrom is the size from which it is worth asking the file system to share a file's blocks.
const cloneFrom = 64 << 10

// Materialise makes the directory dst a copy of a tree. dst must not exist, its parent must. Blocks are shared with the
// store where the file system can do that; modes are those of the inventory, less the umask. Any number may run at
// once.
//
// What is written is hashed. If the store's tree is damaged, dst is removed, the tree is discarded from the store, so
// that it will be fetched again, and the error is a [bundle.MismatchError]. If the tree is not in the store, or leaves
// it meanwhile, the error is that or has the code NotFound: either way fetching it again helps.
func (s *Store) Materialise(ctx context.Context, digest, dst string) error {
	return s.materialise(ctx, digest, dst, false)
}

// Link is Materialise with hard links: dst's files are those of the store, so that an edit in one place is an edit, and
// damage, in all. Files are hashed before they are linked, and copied where they can't be linked, as from another file
// system, or where their mode is not the inventory's.
func (s *Store) Link(ctx context.Context, digest, dst string) error {
	return s.materialise(ctx, digest, dst, true)
}

func (s *Store) materialise(ctx context.Context, digest, dst string, link bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := s.openEntry(digest)
	if err != nil {
		return err
	}
	defer dir.close()
	inv, used, err := readInventory(dir, digest)
	if err == nil {
		s.use(dir, used)
		err = s.project(ctx, dir, dst, inv, link)
	}
	if _, damaged := errors.AsType[*bundle.MismatchError](err); !damaged {
		return err
	}
	if dir.moved() { // it left the store meanwhile, and may be back
		return absent(digest)
	}
	found := func(aside string) (bool, error) { return dir.isDir(aside), nil }
	return errors.Join(fmt.Errorf("store: %w", err), s.discard(digest, found))
}

// project copies a tree, and removes the copy if anything goes wrong.
func (s *Store) project(ctx context.Context, dir *folder, dst string, inv bundle.Inventory, link bool) (err error) {
	if err := os.Mkdir(dst, 0o755); errors.Is(err, fs.ErrExist) {
		return diag.Errorf(diag.Conflict, "%s is in the way", dst)
	} else if err != nil {
		return syserr.Explain(err)
	}
	buf := s.buffers.Get().(*[]byte)
	p := &projection{store: s, buf: *buf, sum: sha256.New(), link: link}
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

// projection copies one tree.
type projection struct {
	store          *Store
	source, target branch
	buf            []byte // to copy with
	sum            hash.Hash
	link           bool
}

func (p *projection) open(dir *folder, dst string) (err error) {
	if p.source.root, err = dir.sub(treeName); err != nil {
		return damage(err, dir, treeName, fs.FileMode.IsDir)
	}
	p.target.root, err = openFolder(dst)
	return err
}

// damage turns an error of opening name in dir into a mismatch if there is nothing, or something else than the
// inventory promises.
func damage(err error, dir *folder, name string, isWanted func(fs.FileMode) bool) error {
	mode, statErr := dir.mode(name)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return &bundle.MismatchError{What: name, Want: "what the inventory says", Got: "nothing"}
	case statErr == nil && !isWanted(mode):
		return &bundle.MismatchError{What: name, Want: "what the inventory says", Got: mode.String()}
	}
	return err
}

func (p *projection) file(e *bundle.Entry) error {
	dir, name := path.Dir(e.Path), path.Base(e.Path)
	source, missing, err := p.source.enter(dir, false)
	if err != nil {
		return damage(err, source, missing, fs.FileMode.IsDir)
	}
	target, _, err := p.target.enter(dir, true)
	if err != nil {
		return err
	}
	src, err := source.open(name)
	if err != nil {
		return damage(err, source, name, fs.FileMode.IsRegular)
	}
	defer src.drop()
	if p.link {
		linked, err := p.linkFile(e, src, source, target, name)
		if linked || err != nil {
			return err
		}
		if src, err = source.open(name); err != nil {
			return damage(err, source, name, fs.FileMode.IsRegular)
		}
		defer src.drop()
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

// linkFile hashes a file and links it, and reports whether it could.
func (p *projection) linkFile(e *bundle.Entry, src file, source, target *folder, name string) (bool, error) {
	if f, err := src.facts(); err != nil || !f.regular || f.executable != e.Executable && runtime.GOOS != "windows" {
		return false, err
	}
	if err := p.pump(io.Discard, src, e); err != nil {
		return false, err
	}
	return target.link(source, name) == nil, nil
}

// copy fills dst and checks what it got. Blocks that are shared are read all the same, to be hashed.
func (p *projection) copy(dst, src file, e *bundle.Entry) error {
	if e.Size >= cloneFrom && !p.store.noClone.Load() {
		if dst.cloneOf(src) {
			return p.pump(io.Discard, src, e)
		}
		p.store.noClone.Store(true)
	}
	return p.pump(dst, src, e)
}

// pump reads src, hashes it on the way to dst, and checks it. A read that gives less than it might is a file's last.
func (p *projection) pump(dst io.Writer, src io.Reader, e *bundle.Entry) error {
	p.sum.Reset()
	var size int64
	for size <= e.Size {
		buf := p.buf[:min(int64(len(p.buf)), e.Size-size+1)]
		n, err := src.Read(buf)
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EISDIR) {
			return &bundle.MismatchError{What: e.Path, Want: "what the inventory says", Got: err.Error()}
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
