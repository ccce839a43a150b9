package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

const (
	inventoryName = "inventory"
	treeName      = "tree"
	tmpName       = "tmp"
)

// Store is a content-addressed store of skill trees. It is safe for concurrent use.
type Store struct {
	dir     string
	noClone atomic.Bool      // the file system cannot share blocks between files
	buffers sync.Pool        // for copying
	queue   *bufferPool      // for files to write
	now     func() time.Time // nil if uses are not recorded
}

// Open returns the store in directory dir, an absolute path. The first write creates the directory.
func Open(dir string) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, diag.Errorf(diag.Internal, "store: %s is not an absolute path", dir)
	}
	s := &Store{dir: filepath.Clean(dir), queue: newBufferPool()}
	s.buffers.New = func() any { return &copyBuffers{buf: make([]byte, 64<<10)} }
	return s, nil
}

// Has reports whether the store has a tree with a digest.
func (s *Store) Has(digest string) bool {
	entryPath, err := s.entryDir(digest)
	if err != nil {
		return false
	}
	info, err := os.Lstat(filepath.Join(entryPath, inventoryName))
	return err == nil && info.Mode().IsRegular()
}

// Inventory returns the inventory of a tree. Its errors have the code NotFound or, for a damaged entry, Integrity.
func (s *Store) Inventory(digest string) (bundle.Inventory, error) {
	dir, err := s.openEntry(digest)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	inv, lastUse, err := readInventory(dir, digest)
	if err == nil {
		s.recordUse(dir, lastUse)
	}
	return inv, err
}

// openEntry opens the directory of a tree.
func (s *Store) openEntry(digest string) (*directory, error) {
	entryPath, err := s.entryDir(digest)
	if err != nil {
		return nil, err
	}
	dir, err := openDirectory(entryPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(digest)
	}
	return dir, syserr.Explain(err)
}

// maxInventory is the size of an inventory with the greatest number of files and the longest paths.
const maxInventory = 64 << 20

// readInventory returns the inventory of a tree, and its last use.
func readInventory(dir *directory, digest string) (inv bundle.Inventory, lastUse time.Time, err error) {
	damaged := &bundle.MismatchError{What: "the list of the skill's files", Want: digest}
	f, err := dir.open(inventoryName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, lastUse, notFound(digest)
	}
	if err != nil {
		return nil, lastUse, syserr.Explain(mismatchError(err, dir, inventoryName, fs.FileMode.IsRegular))
	}
	defer f.closeRead()
	info, err := f.info()
	if err != nil {
		return nil, lastUse, syserr.Explain(err)
	}
	if !info.regular || info.size > maxInventory {
		damaged.Got = fmt.Sprintf("%d bytes that are not a list of files", info.size)
		return nil, lastUse, damaged
	}
	data := make([]byte, info.size)
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EIO) {
		return nil, lastUse, syserr.Explain(err)
	}
	data = data[:n]
	inv, err = bundle.ParseInventory(data)
	if err != nil || bundle.DigestOf(data) != digest {
		damaged.Got = bundle.DigestOf(data)
		return nil, lastUse, damaged
	}
	return inv, info.modified, nil
}

func notFound(digest string) error {
	return diag.Errorf(diag.NotFound, "the store does not contain the skill with the digest %s", digest).
		WithHint("run the command again to fetch the skill")
}

// Tree returns a tree of the store with a name. Its Open doesn't check content; [bundle.WriteArchive] does.
func (s *Store) Tree(name, digest string) (bundle.Tree, error) {
	inv, err := s.Inventory(digest)
	if err != nil {
		return bundle.Tree{}, err
	}
	open := func(path string) (io.ReadCloser, error) { return s.open(digest, path) }
	return bundle.Tree{Name: name, Inventory: inv, Open: open}, nil
}

// ReadFile returns one file of a tree, checked against the inventory.
func (s *Store) ReadFile(digest, path string) ([]byte, error) {
	inv, err := s.Inventory(digest)
	if err != nil {
		return nil, err
	}
	e, ok := inv.Find(path)
	if !ok {
		return nil, diag.Errorf(diag.NotFound,
			"the skill with the digest %[2]s does not contain the file %[1]s", path, digest)
	}
	return s.read(digest, e)
}

// read returns a file of a tree, checked against the inventory.
func (s *Store) read(digest string, e bundle.Entry) ([]byte, error) {
	path := e.Path
	f, err := s.open(digest, path)
	if errors.Is(err, fs.ErrNotExist) { // another process may have removed it and added it again
		f, err = s.open(digest, path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if !s.Has(digest) {
			return nil, notFound(digest)
		}
		return nil, &bundle.MismatchError{What: path, Want: "a file", Got: "nothing"}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, e.Size+1)
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], e.Check(data[:n])
}

func (s *Store) open(digest, path string) (*os.File, error) {
	entryPath, err := s.entryDir(digest)
	if err != nil {
		return nil, err
	}
	return os.OpenInRoot(filepath.Join(entryPath, treeName), filepath.FromSlash(path))
}

// Verify hashes a tree. The error for a difference is a [bundle.MismatchError]. It does not count as a use.
func (s *Store) Verify(digest string) error {
	dir, err := s.openEntry(digest)
	if err != nil {
		return err
	}
	defer dir.close()
	err = verify(dir, digest)
	if err != nil && dir.replaced() { // another process removed it
		return notFound(digest)
	}
	return err
}

func verify(dir *directory, digest string) error {
	want, _, err := readInventory(dir, digest)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(dir.path, treeName))
	if err != nil {
		return syserr.Explain(mismatchError(err, dir, treeName, fs.FileMode.IsDir))
	}
	defer root.Close()
	sum, err := bundle.Sum(root.FS(), ".")
	if _, unsafe := errors.AsType[*bundle.EntryError](err); unsafe || errors.Is(err, syscall.EIO) {
		return &bundle.MismatchError{What: "the content of the skill", Want: digest, Got: err.Error()}
	}
	if err != nil {
		return syserr.Explain(err)
	}
	if runtime.GOOS == "windows" { // files have no modes there
		sum = sum.WithModes(want)
	}
	return want.Check(sum)
}

// entryDir returns the directory of a tree, which need not exist.
func (s *Store) entryDir(digest string) (string, error) {
	if err := bundle.CheckDigest(digest); err != nil {
		return "", err
	}
	digits := digest[strings.LastIndexByte(digest, ':')+1:]
	return filepath.Join(s.dir, "t1", digits[:2], digits[2:]), nil
}
