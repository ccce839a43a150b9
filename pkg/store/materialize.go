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
	_, err := s.Copy(ctx, digest, dst, CopyOptions{})
	return err
}

// CopyOptions configure [Store.Copy].
type CopyOptions struct {
	// Link creates hard links: editing a file of dst also changes, and damages, the store. Files are hashed before they
	// are linked. Files that cannot be linked, for example to another file system, or whose mode differs from the
	// inventory, are copied.
	Link bool

	// Inspect gets the verified content of the file at the path File, if the tree has it. So a caller need not read a
	// file again that was just copied. The data is valid only during the call. After an error there is no copy.
	File    string
	Inspect func(data []byte) error
}

// Copy is [Store.Materialize] with options, and returns the inventory of the copy.
func (s *Store) Copy(ctx context.Context, digest, dst string, o CopyOptions) (bundle.Inventory, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := s.openEntry(digest)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	inv, lastUse, err := readInventory(dir, digest)
	if err == nil {
		s.recordUse(dir, lastUse)
		err = s.copyTree(ctx, dir, dst, inv, o)
	}
	if err == nil {
		return inv, nil
	}
	if _, damaged := errors.AsType[*bundle.MismatchError](err); !damaged {
		return nil, err
	}
	if dir.replaced() { // another process removed it, and maybe added it again
		return nil, notFound(digest)
	}
	isSame := func(aside string) (bool, error) { return dir.isAt(aside), nil }
	return nil, errors.Join(fmt.Errorf("store: %w", err), s.discard(digest, isSame))
}

// copyTree copies a tree, and removes the copy after an error.
func (s *Store) copyTree(
	ctx context.Context, dir *directory, dst string, inv bundle.Inventory, o CopyOptions,
) (err error) {
	if err := os.Mkdir(dst, 0o755); errors.Is(err, fs.ErrExist) {
		return diag.Errorf(diag.Conflict, "%s already exists", dst)
	} else if err != nil {
		return syserr.Explain(err)
	}
	buf := s.buffers.Get().(*copyBuffers)
	p := &treeCopy{store: s, copyBuffers: buf, sum: sha256.New(), CopyOptions: o}
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
		if err := p.copyFile(&inv[i]); err != nil {
			return err
		}
		if o.Inspect == nil || inv[i].Path != o.File {
			continue
		}
		if err := o.Inspect(p.file); err != nil {
			return err
		}
	}
	return nil
}

// treeCopy is the state of copying a tree.
type treeCopy struct {
	store          *Store
	source, target dirPath
	sum            hash.Hash
	*copyBuffers
	CopyOptions
}

// copyBuffers are used for one tree after another.
type copyBuffers struct {
	buf  []byte // for copying
	file []byte // the content for CopyOptions.Inspect
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

func (p *treeCopy) copyFile(e *bundle.Entry) error {
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
	if p.Link {
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
	p.file = p.file[:0]
	inspect := p.Inspect != nil && e.Path == p.File
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
		if inspect {
			p.file = append(p.file, buf[:n]...)
		}
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
