// Package overlayfs is a file system that replaces the content of some files: by an editor's unsaved buffers, or by
// standard input. Start reading at [New].
//
// The rules it keeps:
//
//   - It never writes to the base, and shows everything else exactly as the base has it.
//   - A replaced file keeps its mode and time; only content and size differ. A symbolic link to a file stays a link in
//     listings; reading it returns the replaced content.
//   - A replaced file need not exist in the base. The overlay adds it and the directories above it.
//   - A file system never changes. It does not copy the content, which the caller must not change.
//
// This package may change at any time.
package overlayfs

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// FS is a base file system with some files replaced. It is safe for concurrent use if the base is.
type FS struct {
	base   fs.FS
	files  map[string][]byte
	dirs   map[string][]string // by directory the names of overlaid files and of directories that lead to them, sorted
	inBase map[string]bool     // which of the directories exist in the base
}

// New returns a file system over base that replaces files, given by their paths in package fs's form. The error is an
// *[fs.PathError] for an invalid path, or for a path below another one that is a file.
func New(base fs.FS, files map[string][]byte) (*FS, error) {
	o := &FS{base: base, files: files, dirs: map[string][]string{}, inBase: map[string]bool{}}
	for name := range files {
		if !fs.ValidPath(name) || name == "." {
			return nil, &fs.PathError{Op: "overlay", Path: name, Err: fs.ErrInvalid}
		}
		for p := name; p != "."; {
			dir, base := path.Dir(p), path.Base(p)
			if _, file := files[dir]; file {
				return nil, &fs.PathError{Op: "overlay", Path: name, Err: errBelowFile}
			}
			names, listed := o.dirs[dir]
			if i, ok := slices.BinarySearch(names, base); !ok {
				o.dirs[dir] = slices.Insert(names, i, base)
			}
			if listed {
				break // and so are the directories above
			}
			info, err := fs.Stat(o.base, dir)
			o.inBase[dir] = err == nil && info.IsDir()
			p = dir
		}
	}
	return o, nil
}

var errBelowFile = errors.New("a directory above it is listed as a file")

// Open opens a file or directory.
func (o *FS) Open(name string) (fs.File, error) {
	if data, ok := o.files[name]; ok {
		return &openFile{info: o.info(name, data), Reader: bytes.NewReader(data)}, nil
	}
	if _, ok := o.dirs[name]; !ok {
		if o.hidesBase(name) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: wrapNotExist(name)}
		}
		return o.base.Open(name)
	}
	info, err := o.Stat(name)
	if err != nil {
		return nil, err
	}
	entries, err := o.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return &openDir{info: info, name: name, entries: entries}, nil
}

// ReadFile returns the content of a file.
func (o *FS) ReadFile(name string) ([]byte, error) {
	if data, ok := o.files[name]; ok {
		return slices.Clone(data), nil
	}
	if _, ok := o.dirs[name]; ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
	}
	if o.hidesBase(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: wrapNotExist(name)}
	}
	return fs.ReadFile(o.base, name)
}

// Stat describes a file or directory, or the target of a symbolic link.
func (o *FS) Stat(name string) (fs.FileInfo, error) {
	if data, ok := o.files[name]; ok {
		return o.info(name, data), nil
	}
	if _, dir := o.dirs[name]; dir && !o.inBase[name] {
		return fileInfo{name: path.Base(name), mode: fs.ModeDir | 0o755}, nil
	}
	if o.hidesBase(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: wrapNotExist(name)}
	}
	return fs.Stat(o.base, name)
}

// Lstat describes a file or directory without following a symbolic link, if the base supports that.
func (o *FS) Lstat(name string) (fs.FileInfo, error) {
	if link := o.baseLink(name); link != nil {
		return link, nil
	}
	_, file := o.files[name]
	_, dir := o.dirs[name]
	if file || dir || o.hidesBase(name) {
		return o.Stat(name)
	}
	return fs.Lstat(o.base, name)
}

// ReadLink returns the target of a symbolic link, if the base supports that.
func (o *FS) ReadLink(name string) (string, error) {
	if o.hidesBase(name) {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: wrapNotExist(name)}
	}
	return fs.ReadLink(o.base, name)
}

// ReadDir lists a directory, sorted by name.
func (o *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	names, ok := o.dirs[name]
	if !ok {
		if _, file := o.files[name]; file {
			return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
		}
		if o.hidesBase(name) {
			return nil, &fs.PathError{Op: "readdir", Path: name, Err: wrapNotExist(name)}
		}
		return fs.ReadDir(o.base, name)
	}
	var entries []fs.DirEntry
	if o.inBase[name] {
		below, err := fs.ReadDir(o.base, name)
		if err != nil {
			return nil, err
		}
		entries = slices.Clone(below)
	}
	for _, n := range names {
		e := o.dirEntry(path.Join(name, n))
		i, found := slices.BinarySearchFunc(entries, n,
			func(e fs.DirEntry, n string) int { return cmp.Compare(e.Name(), n) })
		switch {
		case !found:
			entries = slices.Insert(entries, i, e)
		case entries[i].Type()&fs.ModeSymlink == 0 || o.baseLink(path.Join(name, n)) == nil:
			entries[i] = e
		}
	}
	return entries, nil
}

// dirEntry describes an overlaid file, or a directory that leads to one, for a listing.
func (o *FS) dirEntry(name string) fs.DirEntry {
	if data, ok := o.files[name]; ok {
		return fs.FileInfoToDirEntry(o.info(name, data))
	}
	info, err := o.Stat(name)
	if err != nil {
		info = fileInfo{name: path.Base(name), mode: fs.ModeDir | 0o755}
	}
	return fs.FileInfoToDirEntry(info)
}

// hidesBase reports whether a path cannot exist in the base: it is not valid, or the base has a file where a directory
// above it is overlaid, or a directory where a file is.
func (o *FS) hidesBase(name string) bool {
	if !fs.ValidPath(name) {
		return true
	}
	for dir := name; dir != "."; {
		dir = path.Dir(dir)
		if _, file := o.files[dir]; file {
			return true
		}
		if real, ok := o.inBase[dir]; ok {
			return !real
		}
	}
	return false
}

// baseLink returns the info of the base's symbolic link at an overlaid path, or nil. It ignores a dangling link, and a
// link to something of another kind, which the overlay replaces.
func (o *FS) baseLink(name string) fs.FileInfo {
	_, file := o.files[name]
	_, dir := o.dirs[name]
	if !file && !dir || o.hidesBase(name) {
		return nil
	}
	lstat, err := fs.Lstat(o.base, name)
	if err != nil || lstat.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	if info, err := fs.Stat(o.base, name); err != nil || info.IsDir() != dir {
		return nil
	}
	return lstat
}

// info describes an overlaid file.
func (o *FS) info(name string, data []byte) fs.FileInfo {
	f := fileInfo{name: path.Base(name), size: int64(len(data)), mode: 0o644}
	if o.hidesBase(name) {
		return f
	}
	if info, err := fs.Stat(o.base, name); err == nil && info.Mode().IsRegular() {
		f.mode, f.time = info.Mode(), info.ModTime()
	}
	return f
}

func wrapNotExist(name string) error {
	if !fs.ValidPath(name) {
		return fs.ErrInvalid
	}
	return fs.ErrNotExist
}

// openFile is an open overlaid file.
type openFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing.
func (f *openFile) Close() error { return nil }

// openDir is an open directory.
type openDir struct {
	info    fs.FileInfo
	name    string
	entries []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }

// Close does nothing.
func (d *openDir) Close() error { return nil }

// Read fails: a directory has no bytes.
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a directory")}
}

// ReadDir returns the next n entries, or all remaining ones.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.entries) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.entries) {
		n = len(d.entries)
	}
	next := d.entries[:n:n]
	d.entries = d.entries[n:]
	return next, nil
}

// fileInfo describes an overlaid file or directory.
type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
	time time.Time
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return i.time }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }
