package selfupdate

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// unpack writes one file of an archive.
func unpack(w io.Writer, archive []byte, archiveName, file string) error {
	open := openTar
	if strings.HasSuffix(archiveName, ".zip") {
		open = openZip
	}
	r, err := open(archive, file)
	if err == nil {
		defer func() { _ = r.Close() }()
		var n int64
		if n, err = io.Copy(w, io.LimitReader(r, maxBinary+1)); n > maxBinary {
			err = fmt.Errorf("%s is larger than %d bytes", file, maxBinary)
		}
	}
	if err != nil {
		return diag.Errorf(diag.Invalid, "cannot unpack %s: %w", archiveName, err)
	}
	return nil
}

func openTar(archive []byte, file string) (io.ReadCloser, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("the archive does not contain " + file)
		case err != nil:
			return nil, err
		case h.Typeflag == tar.TypeReg && h.Name == file:
			return io.NopCloser(r), nil
		}
	}
}

func openZip(archive []byte, file string) (io.ReadCloser, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if f.Name == file && f.Mode().IsRegular() {
			return f.Open()
		}
	}
	return nil, errors.New("the archive does not contain " + file)
}
