package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// mostInMemory is how much of an archive is held in memory when it has to be read twice.
const mostInMemory = 64 << 20

// scan reads an archive for the places of its SKILL.md files and returns a reader of the same bytes and the skills'
// directories: "" alone if one is at the root, else top directories.
func scan(r io.Reader, opts UnpackOptions) (again io.Reader, skills map[string]bool, err error) {
	again, rewind, err := rereadable(r)
	if err != nil {
		return nil, nil, err
	}
	stream, err := openStream(again, opts.Limits)
	if err != nil {
		return nil, nil, err
	}
	skills = make(map[string]bool)
	tr := tar.NewReader(stream)
	for n := 0; n <= opts.Limits.Files; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return nil, nil, stream.readError(err)
		}
		name := strings.TrimPrefix(h.Name, "./")
		dir, file, below := strings.Cut(name, "/")
		switch {
		case h.Typeflag != tar.TypeReg:
		case name == skillFile:
			skills[""] = true
		case below && file == skillFile:
			skills[Normal(dir)] = true
		}
	}
	return again, skills, rewind()
}

func rereadable(r io.Reader) (again io.Reader, rewind func() error, err error) {
	seeker, ok := r.(io.ReadSeeker)
	if !ok {
		data, err := io.ReadAll(io.LimitReader(r, mostInMemory+1))
		if err != nil {
			return nil, nil, err
		}
		if len(data) > mostInMemory {
			return nil, nil, diag.Errorf(diag.Invalid, "archive: larger than %d bytes", mostInMemory)
		}
		seeker = bytes.NewReader(data)
	}
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, nil, err
	}
	return seeker, func() error { _, err := seeker.Seek(start, io.SeekStart); return err }, nil
}
