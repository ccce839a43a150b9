package file

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the ids of git objects are SHA-1
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// maxConverted is the size up to which a file may have other line endings than its repository has. Larger files are
// taken for what they are on disk.
const maxConverted = 16 << 20

// checkout is a directory as a file system. Files that are in the index of a git repository have the bytes that the
// repository has, if they only differ in line endings, and its modes, where the disk has none. Symbolic links are
// followed only inside the directory. What is neither a file nor a directory is not opened.
type checkout struct {
	dir   string
	index index
}

// Open opens a file or directory.
func (c checkout) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := safefile.Dir(c.dir).Open(name)
	if err != nil {
		return nil, err
	}
	entry, ok := c.index.files[name]
	if !ok {
		return f, nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, err
	}
	info = c.index.mode(name, info)
	if info.Size() > maxConverted {
		return &diskFile{f, info}, nil
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	data = repositoryBytes(data, entry.id)
	return &memoryFile{Reader: bytes.NewReader(data), info: infoWithSize{info, int64(len(data))}}, nil
}

// ReadDir lists a directory in order of names.
func (c checkout) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	entries, err := fs.ReadDir(safefile.Dir(c.dir), name)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		entries[i] = dirEntry{e, path.Join(name, e.Name()), &c.index}
	}
	sortEntries(entries)
	return entries, nil
}

// Stat describes what name leads to inside the directory.
func (c checkout) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	info, err := safefile.Dir(c.dir).Stat(name)
	if err != nil {
		return nil, err
	}
	return c.index.mode(name, info), nil
}

// repositoryBytes returns the bytes that a repository has of a file with this content on disk, if its object is the
// same but for line endings; else the content.
func repositoryBytes(data []byte, id [sha1.Size]byte) []byte {
	if !bytes.Contains(data, []byte("\r\n")) || blobID(data) == id {
		return data
	}
	normal := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if blobID(normal) == id {
		return normal
	}
	return data
}

// blobID returns the id that git gives a file's content.
func blobID(data []byte) (id [sha1.Size]byte) {
	h := sha1.New() //nolint:gosec // see the import
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	h.Sum(id[:0])
	return id
}

// dirEntry is an entry of a directory with the mode that the index gives it.
type dirEntry struct {
	fs.DirEntry
	path  string
	index *index
}

func (e dirEntry) Info() (fs.FileInfo, error) {
	info, err := e.DirEntry.Info()
	if err != nil {
		return nil, err
	}
	return e.index.mode(e.path, info), nil
}

// infoWithSize is a file's description with another size.
type infoWithSize struct {
	fs.FileInfo
	size int64
}

func (s infoWithSize) Size() int64 { return s.size }

type memoryFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memoryFile) Close() error               { return nil }

type diskFile struct {
	fs.File
	info fs.FileInfo
}

func (f *diskFile) Stat() (fs.FileInfo, error) { return f.info, nil }
