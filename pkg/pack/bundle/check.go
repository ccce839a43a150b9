package bundle

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits are for all skills of a pack together. A field that is zero has the value in [DefaultLimits].
type Limits struct {
	Files      int   // files and directories
	FileBytes  int64 // bytes of one file
	TotalBytes int64 // bytes of all files
	PathBytes  int   // bytes of a path inside a skill
	Depth      int   // components of a path inside a skill
}

// DefaultLimits returns limits far above those of real packs: the largest of 4,739 public skills had 1,104 files and
// 14.7 MB, and a pack may have a thousand skills.
func DefaultLimits() Limits {
	return Limits{Files: 100_000, FileBytes: 128 << 20, TotalBytes: 1 << 30, PathBytes: 240, Depth: 16}
}

// OrDefault returns l with the defaults instead of zeros.
func (l Limits) OrDefault() Limits {
	d := DefaultLimits()
	return Limits{
		Files: cmp.Or(l.Files, d.Files), FileBytes: cmp.Or(l.FileBytes, d.FileBytes),
		TotalBytes: cmp.Or(l.TotalBytes, d.TotalBytes), PathBytes: cmp.Or(l.PathBytes, d.PathBytes),
		Depth: cmp.Or(l.Depth, d.Depth),
	}
}

// Checker checks the paths of one tree one after the other: each by itself, for collisions with earlier ones, and for
// limits. The zero Checker has the default limits.
type Checker struct {
	limits  Limits
	paths   map[string]checkedPath // by folded path
	files   int
	entries int
	bytes   int64
}

type checkedPath struct {
	path string
	dir  bool
}

// NewChecker returns a Checker with the given limits.
func NewChecker(limits Limits) *Checker { return &Checker{limits: limits} }

// AddFile checks one more file of size bytes; a size below zero is unknown and counts as zero.
func (c *Checker) AddFile(p string, size int64) error {
	if err := c.check(p); err != nil {
		return err
	}
	if err := c.addPath(p, false); err != nil {
		return err
	}
	c.files++
	return c.addBytes(p, size)
}

// AddDir checks one more directory. Adding a directory is optional, and may be repeated.
func (c *Checker) AddDir(p string) error {
	if err := c.check(p); err != nil {
		return err
	}
	return c.addPath(p, true)
}

// Files returns the number of files.
func (c *Checker) Files() int { return c.files }

func (c *Checker) check(p string) error {
	if c.paths == nil {
		c.paths = make(map[string]checkedPath)
		c.limits = c.limits.OrDefault()
	}
	if len(p) > c.limits.PathBytes {
		return entryErrorf(p, "has a path of %d bytes; the limit is %d", len(p), c.limits.PathBytes)
	}
	if err := CheckPath(p); err != nil {
		return err
	}
	if depth := strings.Count(p, "/") + 1; depth > c.limits.Depth {
		return entryErrorf(p, "has a path of %d components; the limit is %d", depth, c.limits.Depth)
	}
	return nil
}

func (c *Checker) addBytes(p string, size int64) error {
	if size > c.limits.FileBytes {
		return entryErrorf(p, "has %d bytes; the limit is %d", size, c.limits.FileBytes)
	}
	c.bytes += max(size, 0)
	if c.bytes > c.limits.TotalBytes {
		return entryErrorf(p, "makes the skill larger than %d bytes", c.limits.TotalBytes)
	}
	return nil
}

// addPath records p and the directories above it, and finds collisions.
func (c *Checker) addPath(p string, dir bool) error {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		if _, err := c.record(p, p[:i], true); err != nil {
			return err
		}
	}
	isNew, err := c.record(p, p, dir)
	if err == nil && !isNew && !dir {
		return entryErrorf(p, "is duplicated")
	}
	return err
}

func (c *Checker) record(entry, p string, dir bool) (isNew bool, err error) {
	key := fold(p)
	old, ok := c.paths[key]
	switch {
	case !ok:
		if c.entries++; c.entries > c.limits.Files {
			return false, entryErrorf(entry, "exceeds the limit of %d files and directories", c.limits.Files)
		}
		c.paths[key] = checkedPath{path: p, dir: dir}
		return true, nil
	case old.path != p:
		return false, entryErrorf(entry, "collides with %s on file systems that ignore case or Unicode normalization",
			quoteName(old.path))
	case old.dir != dir:
		return false, entryErrorf(entry, "uses %s as both a file and a directory", quoteName(p))
	}
	return false, nil
}

// fold returns the same key for all names that are the same on some file system: it ignores case, normalization and
// emoji presentation.
func fold(p string) string {
	if !strings.ContainsFunc(p, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(p)
	}
	p = strings.ReplaceAll(norm.NFD.String(p), "\ufe0f", "")
	return norm.NFC.String(strings.Map(leastCase, cases.Fold().String(p)))
}

// leastCase returns the least character that differs from r by case only, ASCII in lower case: full folding leaves a
// few pairs different.
func leastCase(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if least >= 'A' && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
