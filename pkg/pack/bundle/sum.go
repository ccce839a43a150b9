package bundle

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Sink receives the files of skills. WriteFile reads r to its end before it returns; size is -1 if it is unknown. The
// path is checked and in NFC, but a Sink checks what its security depends on again.
type Sink interface {
	WriteFile(skill, path string, executable bool, size int64, r io.Reader) error
}

// Tree is a readable skill: its inventory, and its files by the paths in the inventory.
type Tree struct {
	Name      string
	Inventory Inventory
	Open      func(path string) (io.ReadCloser, error)
}

// File is one file that [Walk] found.
type File struct {
	Path string      // inside the skill, NFC
	Name string      // in the file system
	Info fs.FileInfo // of a regular file
}

// Executable reports whether the file's owner may execute it.
func (f File) Executable() bool { return f.Info.Mode()&0o100 != 0 }

// Walk visits the files of the skill in directory dir of fsys in lexical order. It leaves out paths inside the skill
// for which [Ignored] or skip, which may be nil, return true. Links, devices, and unsafe and colliding names are
// errors.
func Walk(fsys fs.FS, dir string, skip func(path string, dir bool) bool, visit func(File) error) error {
	var check Checker
	return fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		p := Normal(relative(dir, name))
		if Ignored(p, d.IsDir()) || skip != nil && skip(p, d.IsDir()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return check.AddDir(p)
		}
		if !d.Type().IsRegular() {
			return entryErrorf(p, "is a %s: a skill can contain only files and directories", typeName(d.Type()))
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if err := check.AddFile(p, info.Size()); err != nil {
			return err
		}
		return visit(File{Path: p, Name: name, Info: info})
	})
}

// relative returns the path of name, which is in dir, relative to dir.
func relative(dir, name string) string {
	if dir == "." {
		return name
	}
	return name[len(dir)+1:]
}

func typeName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeDevice != 0:
		return "device"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeIrregular != 0:
		return "submodule or special file" // file systems of git repositories have submodules as such entries
	}
	return "special file"
}

// Sum returns the inventory of the files that [Walk] visits in directory dir of fsys.
func Sum(fsys fs.FS, dir string) (Inventory, error) {
	tree, err := DirTree(fsys, dir, nil)
	return tree.Inventory, err
}

// DirTree returns the files that [Walk] visits in directory dir of fsys as a tree with the name of the directory.
func DirTree(fsys fs.FS, dir string, skip func(path string, dir bool) bool) (Tree, error) {
	var inv Inventory
	names := make(map[string]string) // by path, if they differ
	h := newFileHasher()
	err := Walk(fsys, dir, skip, func(f File) error {
		e, err := h.file(fsys, f)
		if err != nil {
			return err
		}
		inv = append(inv, e)
		if path.Join(dir, f.Path) != f.Name {
			names[f.Path] = f.Name
		}
		return nil
	})
	if err != nil {
		return Tree{}, err
	}
	inv.Sort()
	open := func(p string) (io.ReadCloser, error) {
		name, ok := names[p]
		if !ok {
			name = path.Join(dir, p)
		}
		return fsys.Open(name)
	}
	return Tree{Name: path.Base(dir), Inventory: inv, Open: open}, nil
}

// fileHasher hashes files with one buffer.
type fileHasher struct{ buf []byte }

func newFileHasher() *fileHasher { return &fileHasher{buf: make([]byte, 32<<10)} }

func (h *fileHasher) file(fsys fs.FS, f File) (Entry, error) {
	file, err := fsys.Open(f.Name)
	if err != nil {
		return Entry{}, err
	}
	defer file.Close()
	return h.entry(f.Path, f.Executable(), file)
}

func (h *fileHasher) entry(p string, executable bool, r io.Reader) (Entry, error) {
	e := Entry{Path: p, Executable: executable}
	sum := sha256.New()
	n, err := io.CopyBuffer(sum, onlyReader{r}, h.buf)
	if err != nil {
		return Entry{}, fmt.Errorf("cannot read %s: %w", quoteName(p), err)
	}
	e.Size = n
	sum.Sum(e.SHA256[:0])
	return e, nil
}

// onlyReader hides WriteTo, so that the caller's buffer is used.
type onlyReader struct{ io.Reader }

// MapTree returns a tree in memory for a skill that a program makes. executable, which may be nil, reports which files
// are executable. MapTree checks nothing.
func MapTree(name string, files map[string][]byte, executable func(path string) bool) Tree {
	var inv Inventory
	for p, data := range files {
		inv = append(inv, Entry{
			Path: p, Executable: executable != nil && executable(p),
			Size: int64(len(data)), SHA256: sha256.Sum256(data),
		})
	}
	inv.Sort()
	open := func(p string) (io.ReadCloser, error) {
		data, ok := files[p]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	return Tree{Name: name, Inventory: inv, Open: open}
}
