package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxInMemory is the greatest size of an archive that is kept in memory to be read twice.
const maxInMemory = 64 << 20

// scan finds the SKILL.md files of an archive, and returns a reader of the same bytes and the directories of the
// skills: "" alone if one is at the root, otherwise top directories.
func scan(r io.Reader, opts UnpackOptions) (rewound io.Reader, skills map[string]bool, err error) {
	seeker, rewind, err := rewindable(r)
	if err != nil {
		return nil, nil, err
	}
	stream, err := openStream(seeker, opts.Limits)
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
	return seeker, skills, rewind()
}

// rewindable returns a reader of the same bytes, and a function that rewinds it.
func rewindable(r io.Reader) (seeker io.Reader, rewind func() error, err error) {
	s, ok := r.(io.ReadSeeker)
	if !ok {
		data, err := io.ReadAll(io.LimitReader(r, maxInMemory+1))
		if err != nil {
			return nil, nil, err
		}
		if len(data) > maxInMemory {
			return nil, nil, diag.Errorf(diag.Invalid, "the archive is larger than %d bytes", maxInMemory)
		}
		s = bytes.NewReader(data)
	}
	start, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, nil, err
	}
	return s, func() error { _, err := s.Seek(start, io.SeekStart); return err }, nil
}
