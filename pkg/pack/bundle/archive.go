package bundle

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// gzipLevel is part of the format: published digests depend on it and on the version of the compressor.
const gzipLevel = 6

// WriteArchive writes a tar of trees, each in the directory <Name>/, compressed with gzip. It returns the digest of the
// uncompressed tar as "sha256:<hex>".
//
// Equal trees give equal bytes: trees and paths are sorted, every directory has an entry before its content, modes are
// 0644 and 0755, times are the epoch and owners are 0. The error for a file that doesn't match its inventory is a
// [MismatchError].
func WriteArchive(w io.Writer, trees []Tree) (tarDigest string, err error) {
	return writeArchive(w, trees, false)
}

// WriteSingle is [WriteArchive] for one tree whose files are at the root of the archive, as other tools expect.
func WriteSingle(w io.Writer, t Tree) (tarDigest string, err error) {
	return writeArchive(w, []Tree{t}, true)
}

func writeArchive(w io.Writer, trees []Tree, atRoot bool) (tarDigest string, err error) {
	zip, err := gzip.NewWriterLevel(w, gzipLevel)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	a := &archiver{tar: tar.NewWriter(io.MultiWriter(zip, sum)), buf: make([]byte, 64<<10), atRoot: atRoot}
	sorted := slices.SortedFunc(slices.Values(trees), func(a, b Tree) int { return strings.Compare(a.Name, b.Name) })
	for i, t := range sorted {
		if i > 0 && sorted[i-1].Name == t.Name {
			return "", entryErrorf(t.Name, "is duplicated")
		}
		if err := a.tree(t); err != nil {
			return "", err
		}
	}
	if err := a.tar.Close(); err != nil {
		return "", err
	}
	if err := zip.Close(); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

type archiver struct {
	tar    *tar.Writer
	last   string // directory
	buf    []byte
	atRoot bool // files are at the root, not below the tree's name
}

func (a *archiver) tree(t Tree) error {
	var check Checker
	if err := checkRoot(t.Name); err != nil {
		return err
	}
	for _, e := range t.Inventory {
		if err := check.AddFile(e.Path, e.Size); err != nil {
			return err
		}
		if err := a.file(t, e); err != nil {
			return fmt.Errorf("cannot archive skill %s: %w", t.Name, err)
		}
	}
	return nil
}

func (a *archiver) file(t Tree, e Entry) error {
	name := t.Name + "/" + e.Path
	if a.atRoot {
		name = e.Path
	}
	if err := a.parents(path.Dir(name)); err != nil {
		return err
	}
	mode := int64(0o644)
	if e.Executable {
		mode = 0o755
	}
	if err := a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: e.Size, Mode: mode}); err != nil {
		return err
	}
	r, err := t.Open(e.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(a.tar, sum), io.LimitReader(r, e.Size), a.buf)
	if err != nil {
		return err
	}
	more, err := r.Read(a.buf[:1])
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return e.CheckSum(n+int64(more), [sha256.Size]byte(sum.Sum(nil)))
}

// parents writes the missing entries of dir and of the directories above it. Paths are sorted bytewise, so that the
// content of a directory is contiguous.
func (a *archiver) parents(dir string) error {
	if dir == "." {
		return nil
	}
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		if a.last == dir[:i] || strings.HasPrefix(a.last, dir[:i]+"/") {
			continue
		}
		if err := a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir[:i] + "/", Mode: 0o755}); err != nil {
			return err
		}
	}
	a.last = dir
	return nil
}
