package bundle

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits bound what one pack may hold, all of its skills together. A field that is zero has the value that
// [DefaultLimits] gives it.
type Limits struct {
	Files      int   // files and directories
	FileBytes  int64 // bytes of one file
	TotalBytes int64 // bytes of all files
	PathBytes  int   // bytes of a path inside a skill
	Depth      int   // components of a path inside a skill
}

// DefaultLimits returns limits that no honest pack comes near: of 4,739 public skills the largest had 1,104 files
// and 14.7 MB, and a pack may have a thousand skills.
func DefaultLimits() Limits {
	return Limits{Files: 100_000, FileBytes: 128 << 20, TotalBytes: 1 << 30, PathBytes: 240, Depth: 16}
}

// OrDefault returns l with the default in the place of every zero.
func (l Limits) OrDefault() Limits {
	d := DefaultLimits()
	if l.Files == 0 {
		l.Files = d.Files
	}
	if l.FileBytes == 0 {
		l.FileBytes = d.FileBytes
	}
	if l.TotalBytes == 0 {
		l.TotalBytes = d.TotalBytes
	}
	if l.PathBytes == 0 {
		l.PathBytes = d.PathBytes
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	return l
}

// Checker judges the paths of one tree as they come in: each by itself, against those before it, and against limits.
// The zero Checker is ready and has the default limits.
type Checker struct {
	limits  Limits
	seen    map[string]seenPath // by folded path
	files   int
	entries int
	bytes   int64
}

type seenPath struct {
	path string
	dir  bool
}

// NewChecker returns a Checker with the given limits.
func NewChecker(limits Limits) *Checker { return &Checker{limits: limits} }

// AddFile checks one more file of size bytes; a size below zero is not known yet and counts as none.
func (c *Checker) AddFile(p string, size int64) error {
	if err := c.check(p); err != nil {
		return err
	}
	if err := c.enter(p, false); err != nil {
		return err
	}
	c.files++
	return c.addBytes(p, size)
}

// AddDir checks one more directory. A directory may come more than once and may be left out.
func (c *Checker) AddDir(p string) error {
	if err := c.check(p); err != nil {
		return err
	}
	return c.enter(p, true)
}

// Files returns how many files were added.
func (c *Checker) Files() int { return c.files }

func (c *Checker) check(p string) error {
	if c.seen == nil {
		c.seen = make(map[string]seenPath)
		c.limits = c.limits.OrDefault()
	}
	if len(p) > c.limits.PathBytes {
		return entryErrorf(p, "has a path of more than %d bytes", c.limits.PathBytes)
	}
	if err := CheckPath(p); err != nil {
		return err
	}
	if strings.Count(p, "/") >= c.limits.Depth {
		return entryErrorf(p, "is more than %d directories deep", c.limits.Depth)
	}
	return nil
}

func (c *Checker) addBytes(p string, size int64) error {
	if size > c.limits.FileBytes {
		return entryErrorf(p, "is larger than %d bytes", c.limits.FileBytes)
	}
	c.bytes += max(size, 0)
	if c.bytes > c.limits.TotalBytes {
		return entryErrorf(p, "makes the whole larger than %d bytes", c.limits.TotalBytes)
	}
	return nil
}

// enter records p and the directories above it, and finds what collides with them.
func (c *Checker) enter(p string, dir bool) error {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		if _, err := c.record(p, p[:i], true); err != nil {
			return err
		}
	}
	fresh, err := c.record(p, p, dir)
	if err == nil && !fresh && !dir {
		return entryErrorf(p, "is there twice")
	}
	return err
}

func (c *Checker) record(whole, p string, dir bool) (fresh bool, err error) {
	key := fold(p)
	old, ok := c.seen[key]
	switch {
	case !ok:
		if c.entries++; c.entries > c.limits.Files {
			return false, entryErrorf(whole, "is one more than %d files and directories", c.limits.Files)
		}
		c.seen[key] = seenPath{path: p, dir: dir}
		return true, nil
	case old.path != p:
		return false, entryErrorf(whole, "collides with %s where case or Unicode form does not count",
			quoteName(old.path))
	case old.dir != dir:
		return false, entryErrorf(whole, "needs %s as a file and as a directory", quoteName(p))
	}
	return false, nil
}

// fold maps to one key all names that some file system holds for one: case, normalisation and emoji presentation.
func fold(p string) string {
	ascii := true
	for i := range len(p) {
		if p[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(p)
	}
	p = strings.ReplaceAll(norm.NFD.String(p), "\ufe0f", "")
	return norm.NFC.String(strings.Map(first, cases.Fold().String(p)))
}

// first returns the least of all characters that differ from r by case alone, ASCII in lower case: full folding leaves
// a few pairs apart.
func first(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if least >= 'A' && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
