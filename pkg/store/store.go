package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
)

const (
	inventoryName = "inventory"
	treeName      = "tree"
	tmpName       = "tmp"
)

// Store is a content-addressed store of skill trees. It is safe for concurrent use.
type Store struct {
	dir     string
	noClone atomic.Bool // the file systems at hand can't share blocks between files
	buffers sync.Pool
}

// Open returns the store in directory dir, an absolute path. The directory is created when something is written.
func Open(dir string) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, diag.Errorf(diag.Internal, "store: %s is not an absolute path", dir)
	}
	s := &Store{dir: filepath.Clean(dir)}
	s.buffers.New = func() any {
		b := make([]byte, 64<<10)
		return &b
	}
	return s, nil
}

// Has reports whether the store has a tree of that digest.
func (s *Store) Has(digest string) bool {
	entry, err := s.entry(digest)
	if err != nil {
		return false
	}
	info, err := os.Lstat(filepath.Join(entry, inventoryName))
	return err == nil && info.Mode().IsRegular()
}

// Inventory returns the inventory of a tree. Its errors have the code NotFound or, for a damaged entry, Integrity.
func (s *Store) Inventory(digest string) (bundle.Inventory, error) {
	entry, err := s.entry(digest)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(entry, inventoryName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absent(digest)
	}
	if err != nil {
		return nil, err
	}
	inv, err := bundle.ParseInventory(data)
	if err != nil || inv.Digest() != digest {
		return nil, &bundle.MismatchError{What: "inventory in the store", Want: digest, Got: bundle.DigestOf(data)}
	}
	return inv, nil
}

func absent(digest string) error {
	return diag.Errorf(diag.NotFound, "skill tree %s is not in the store", digest)
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
	f, err := s.open(digest, path)
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
	entry, err := s.entry(digest)
	if err != nil {
		return nil, err
	}
	return os.OpenInRoot(filepath.Join(entry, treeName), filepath.FromSlash(path))
}

// Verify hashes a tree again. A difference is a [bundle.MismatchError].
func (s *Store) Verify(digest string) error {
	want, err := s.Inventory(digest)
	if err != nil {
		return err
	}
	entry, err := s.entry(digest)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(entry, treeName))
	if err != nil {
		return err
	}
	defer root.Close()
	got, err := bundle.Sum(root.FS(), ".")
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // files have no modes there
		got = got.WithModes(want)
	}
	return want.Check(got)
}

// Discard moves a tree out of the store, as when it is damaged. Processes that are reading it are not disturbed.
func (s *Store) Discard(digest string) error {
	entry, err := s.entry(digest)
	if err != nil {
		return err
	}
	scratch, err := s.scratch()
	if err != nil {
		return err
	}
	err = os.Rename(entry, filepath.Join(scratch.dir, "discarded"))
	return errors.Join(err, scratch.close())
}

// entry returns the directory of a tree, which need not exist.
func (s *Store) entry(digest string) (string, error) {
	if err := bundle.CheckDigest(digest); err != nil {
		return "", err
	}
	hexed := digest[strings.LastIndexByte(digest, ':')+1:]
	return filepath.Join(s.dir, "t1", hexed[:2], hexed[2:]), nil
}
