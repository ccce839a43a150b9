package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/skill"
)

// wrongCase is the problem of a SKILL.md in another letter case.
const wrongCase = "the file name must be exactly SKILL.md, with uppercase SKILL and lowercase .md"

// wrongCaseRecord returns a record with that problem if the directory has such a file, else nil.
func wrongCaseRecord(dir string) *record {
	if l, err := lstat(filepath.Join(dir, "skill.md")); err == nil && l.mode == 0 {
		return &record{fatal: wrongCase}
	}
	return nil
}

// open reads the head of a SKILL.md.
func (s *scanner) open(path string, n *node) {
	f, l, err := openFile(path)
	if err != nil {
		n.record = &record{fatal: reason(err)}
		return
	}
	defer func() { _ = f.Close() }()
	n.stat, n.stable = l.stamp, l.stable(s.now)
	if !sameCase(filepath.Dir(path), skill.File) {
		n.record = &record{fatal: wrongCase}
		return
	}
	n.record = readHead(f, l.size)
}

// readLinked reads a SKILL.md that is a link, which must not lead out of its directory.
func readLinked(dir string) *record {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return &record{fatal: reason(err)}
	}
	defer func() { _ = root.Close() }()
	f, err := openRegular(root)
	if err != nil {
		return &record{fatal: err.Error()}
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return &record{fatal: reason(err)}
	}
	return readHead(f, info.Size())
}

// openRegular opens the SKILL.md of a directory. It follows a link that stays in the directory.
func openRegular(root *os.Root) (*os.File, error) {
	info, err := root.Stat(skill.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, errors.New("SKILL.md is not readable, or is a link that leads out of the skill's directory")
	}
	if err := safefile.Check(skill.File, info, skill.MaxFile); err != nil {
		return nil, err
	}
	return root.Open(skill.File)
}

// Sizes of the parts of a file that are read, in bytes: the first read, and the body if the first paragraph is needed.
const (
	firstRead = 4 << 10
	bodyRead  = 16 << 10
)

// readHead makes the record of an open SKILL.md, reading no more of it than necessary.
func readHead(f io.Reader, size int64) *record {
	if size > skill.MaxFile {
		return &record{fatal: fmt.Sprintf("SKILL.md has %d bytes; the limit is %d", size, skill.MaxFile)}
	}
	head, atEOF, err := readMore(f, nil, firstRead)
	for want := 4 * firstRead; err == nil && !atEOF && frontEnd(head) < 0; want *= 4 {
		if len(head) >= maxFront {
			return &record{fatal: fmt.Sprintf("the frontmatter is larger than %d bytes, or does not have a closing ---",
				maxFront)}
		}
		head, atEOF, err = readMore(f, head, want)
	}
	if err != nil {
		return &record{fatal: reason(err)}
	}
	r := newRecord(head)
	if r.description == "" && r.fatal == "" && !atEOF {
		if head, _, err = readMore(f, head, max(0, frontEnd(head))+bodyRead); err != nil {
			return &record{fatal: reason(err)}
		}
		r = newRecord(head)
	}
	return r
}

// readMore reads until head has want bytes, and reports whether that is the whole file.
func readMore(f io.Reader, head []byte, want int) ([]byte, bool, error) {
	head = slices.Grow(head, max(0, want-len(head)))
	for len(head) < want {
		n, err := f.Read(head[len(head):want])
		head = head[:len(head)+n]
		if errors.Is(err, io.EOF) {
			return head, true, nil
		}
		if err != nil {
			return head, false, err
		}
	}
	return head, false, nil
}

// reason returns why a file cannot be used, without its path.
func reason(err error) string {
	return flat(syserr.Reason(err), maxShort)
}
