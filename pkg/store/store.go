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
	noClone atomic.Bool      // the file systems at hand can't share blocks between files
	buffers sync.Pool        // to copy with
	queue   *buffers         // of files that are to be written
	now     func() time.Time // nil: use is not recorded
}

// Open returns the store in directory dir, an absolute path. The directory is created when something is written.
func Open(dir string) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, diag.Errorf(diag.Internal, "store: %s is not an absolute path", dir)
	}
	s := &Store{dir: filepath.Clean(dir), queue: newBuffers()}
	s.buffers.New = func() any {
		b := make([]byte, 64<<10)
		return &b
	}
	return s, nil
}

// Has reports whether the store has a tree of that digest.
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
	inv, used, err := readInventory(dir, digest)
	if err == nil {
		s.use(dir, used)
	}
	return inv, err
}

// openEntry opens the directory of a tree.
func (s *Store) openEntry(digest string) (*folder, error) {
	entryPath, err := s.entryDir(digest)
	if err != nil {
		return nil, err
	}
	dir, err := openFolder(entryPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absent(digest)
	}
	return dir, syserr.Explain(err)
}

// mostInventory is the size of an inventory with as many files as a pack may have, and paths as long as they may be.
const mostInventory = 64 << 20

// readInventory returns the inventory in an entry, and when the tree was last used.
func readInventory(dir *folder, digest string) (inv bundle.Inventory, used time.Time, err error) {
	damaged := &bundle.MismatchError{What: "inventory in the store", Want: digest}
	f, err := dir.open(inventoryName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, used, absent(digest)
	}
	if err != nil {
		return nil, used, syserr.Explain(damage(err, dir, inventoryName, fs.FileMode.IsRegular))
	}
	defer f.drop()
	known, err := f.facts()
	if err != nil {
		return nil, used, syserr.Explain(err)
	}
	if !known.regular || known.size > mostInventory {
		damaged.Got = fmt.Sprintf("what is no inventory, of %d bytes", known.size)
		return nil, used, damaged
	}
	data := make([]byte, known.size)
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EIO) {
		return nil, used, syserr.Explain(err)
	}
	data = data[:n]
	inv, err = bundle.ParseInventory(data)
	if err != nil || bundle.DigestOf(data) != digest {
		damaged.Got = bundle.DigestOf(data)
		return nil, used, damaged
	}
	return inv, known.modified, nil
}

func absent(digest string) error {
	return diag.Errorf(diag.NotFound, "skill tree %s is not in the store", digest).
		WithHint("it has to be fetched again: repeat the command")
}

// Tree returns a tree of the store under the given name. What its Open returns is not checked against the inventory;
// [bundle.WriteArchive] does that.
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
		return nil, diag.Errorf(diag.NotFound, "no file %s in skill tree %s", path, digest)
	}
	return s.read(digest, e)
}

// read returns a file of a tree, checked against its entry of the inventory.
func (s *Store) read(digest string, e bundle.Entry) ([]byte, error) {
	path := e.Path
	f, err := s.open(digest, path)
	if errors.Is(err, fs.ErrNotExist) { // unless it left the store meanwhile, and may be back
		f, err = s.open(digest, path)
	}
	if errors.Is(err, fs.ErrNotExist) && !s.Has(digest) {
		return nil, absent(digest)
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

// Verify hashes a tree again. A difference is a [bundle.MismatchError]. It does not count as a use.
func (s *Store) Verify(digest string) error {
	dir, err := s.openEntry(digest)
	if err != nil {
		return err
	}
	defer dir.close()
	err = verify(dir, digest)
	if err != nil && dir.moved() { // it left the store meanwhile
		return absent(digest)
	}
	return err
}

func verify(dir *folder, digest string) error {
	want, _, err := readInventory(dir, digest)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(dir.path, treeName))
	if err != nil {
		return syserr.Explain(damage(err, dir, treeName, fs.FileMode.IsDir))
	}
	defer root.Close()
	sum, err := bundle.Sum(root.FS(), ".")
	if _, unsafe := errors.AsType[*bundle.EntryError](err); unsafe || errors.Is(err, syscall.EIO) {
		return &bundle.MismatchError{What: "skill tree in the store", Want: digest, Got: err.Error()}
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
	hexed := digest[strings.LastIndexByte(digest, ':')+1:]
	return filepath.Join(s.dir, "t1", hexed[:2], hexed[2:]), nil
}
