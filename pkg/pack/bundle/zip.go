package bundle

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// UnpackZip is [Unpack] for a zip archive of size bytes. It does not support [Auto].
func UnpackZip(r io.ReaderAt, size int64, opts UnpackOptions, sink Sink) error {
	opts.Limits = opts.Limits.OrDefault()
	u := &unpacker{opts: opts, sink: sink, skills: make(map[string]*unpackedSkill), folded: make(map[string]string)}
	if err := u.zipArchive(r, size); err != nil {
		return fmt.Errorf("cannot unpack the archive: %w", err)
	}
	return nil
}

func (u *unpacker) zipArchive(r io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // CheckPath rejects unsafe names
		return diag.Errorf(diag.Invalid, "it is not a valid zip archive: %w", err)
	}
	for _, f := range archive.File {
		if err := u.zipEntry(f); err != nil {
			return withEntry(err, f.Name)
		}
	}
	return u.complete()
}

// zipEntry handles an entry like the entry of a tar that has the same type, mode, and size.
func (u *unpacker) zipEntry(f *zip.File) error {
	if f.UncompressedSize64 > uint64(u.opts.Limits.FileBytes) {
		return entryErrorf(f.Name, "has %d bytes; the limit is %d", f.UncompressedSize64, u.opts.Limits.FileBytes)
	}
	h := &tar.Header{
		Name: f.Name, Typeflag: zipType(f), Mode: int64(f.Mode().Perm()), Size: int64(f.UncompressedSize64),
	}
	if h.Typeflag != tar.TypeReg {
		return u.entry(h, strings.NewReader(""))
	}
	content, err := f.Open()
	if err != nil {
		return diag.Errorf(diag.Invalid, "entry %s cannot be read: %w", quoteName(f.Name), err)
	}
	defer func() { _ = content.Close() }() // read-only
	return zipError(f.Name, u.entry(h, content))
}

// zipType returns the type of an entry as a tar has it. Links are refused, so that their targets do not matter.
func zipType(f *zip.File) byte {
	switch mode := f.Mode(); {
	case mode.IsDir():
		return tar.TypeDir
	case mode.IsRegular():
		return tar.TypeReg
	case mode&fs.ModeSymlink != 0:
		return tar.TypeSymlink
	case mode&fs.ModeNamedPipe != 0:
		return tar.TypeFifo
	case mode&fs.ModeDevice != 0:
		return tar.TypeBlock
	default:
		return tar.TypeCont // which unpacking refuses as unknown
	}
}

// zipError gives the errors of a damaged archive a code.
func zipError(name string, err error) error {
	for _, damage := range []error{zip.ErrFormat, zip.ErrChecksum, zip.ErrAlgorithm, io.ErrUnexpectedEOF} {
		if errors.Is(err, damage) {
			return diag.Errorf(diag.Invalid, "entry %s is damaged: %w", quoteName(name), err)
		}
	}
	return err
}
