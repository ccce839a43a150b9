package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/bm25"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// The search index of a catalog is a file whose name is the digest of everything that the index depends on: the format,
// and the names, directories, and stamps of the skills. A change leads to another file, so a file is never out of date.
const (
	findFormat  = "skillpm find 1\n" // the number changes with the fields, their weights, and their limits
	findSuffix  = ".find"
	maxFindFile = 256 << 20 // bytes
	maxFinders  = 8         // files; the oldest is removed first
)

// Finder returns a search over the available skills and their instructions. [Match].Index is an index of
// [Catalog.Skills]. If the catalog has a cache, the index is read from there, or written there.
func (c *Catalog) Finder() (*Finder, error) {
	f := &Finder{candidates: make([]Candidate, len(c.skills))}
	for i, s := range c.skills {
		f.candidates[i] = Candidate{
			Name: s.Name, Description: s.Description, WhenToUse: s.WhenToUse, Tags: s.Tags, skill: s,
		}
	}
	cache := c.options.Cache
	if cache == "" {
		return f, f.build()
	}
	path := filepath.Join(cache, f.digest()[:32]+findSuffix)
	if f.open(path) {
		return f, nil
	}
	if err := f.write(path); err == nil && f.open(path) {
		pruneCache(cache, findSuffix, maxFinders)
		return f, nil
	}
	return f, f.build() // without a cache that can be written
}

// digest returns a digest of what the index of the candidates depends on. What is in SKILL.md is represented by its
// stamp, or, if the file may change without a new stamp, by its content.
func (f *Finder) digest() string {
	const chunk = 32 << 10
	hash := sha256.New()
	c := &codec{data: append(make([]byte, 0, 2*chunk), findFormat+bm25.Magic...)}
	for i := range f.candidates {
		s := f.candidates[i].skill
		c.text(&s.Name)
		c.text(&s.Dir)
		described := len(s.Description) // it is a paragraph of the body in some profiles
		number(c, &described)
		if c.flag(&s.stable); s.stable {
			c.stamp(&s.stamp)
		} else if data, err := readWhole(s.Dir); err == nil {
			text := string(data)
			c.text(&text)
		}
		if len(c.data) > chunk {
			hash.Write(c.data)
			c.data = c.data[:0]
		}
	}
	hash.Write(c.data)
	return hex.EncodeToString(hash.Sum(nil))
}

// open opens an index file, and reports whether it is this user's, undamaged, and of as many skills.
func (f *Finder) open(path string) bool {
	file, err := safefile.Open(path, maxFindFile)
	if err != nil {
		return false
	}
	info, err := file.Stat()
	if err == nil && safefile.Mine(info) {
		f.index, err = bm25.Read(matchSchema(), file, info.Size())
		if err == nil && f.index.Len() == len(f.candidates) {
			f.file, f.path = file, path
			return true
		}
	}
	_ = file.Close()
	return false
}

// write indexes the candidates in a file that only the user can read.
func (f *Finder) write(path string) error {
	o := atomicfile.Options{Mode: 0o600, MkdirMode: 0o700}
	return atomicfile.Stream(path, o, func(w io.Writer) error { return bm25.Build(w, matchSchema(), f.documents()) })
}

// instructions returns what follows the frontmatter of a skill, "" if SKILL.md can't be read.
func (s *Skill) instructions() string {
	data, err := readWhole(s.Dir)
	if err != nil {
		return ""
	}
	if end := frontEnd(data); end > 0 {
		data = data[end:]
	}
	return string(data)
}

// pruneCache removes the oldest of the files with a suffix, and of the remains of interrupted writes, if there are more
// than limit.
func pruneCache(cache, suffix string, limit int) {
	f, err := os.Open(cache)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	names, _ := f.Readdirnames(8 * maxIndexes)
	oldest, when, count := "", int64(math.MaxInt64), 0
	for _, name := range names {
		if !strings.HasSuffix(name, suffix) && !strings.HasPrefix(name, ".tmp-") {
			continue
		}
		count++
		if l, err := stat(filepath.Join(cache, name)); err == nil && l.mode == 0 &&
			cmp.Or(cmp.Compare(l.modified, when), strings.Compare(name, oldest)) < 0 {
			oldest, when = name, l.modified
		}
	}
	if oldest != "" && count > limit {
		_ = os.Remove(filepath.Join(cache, oldest)) // another process may have removed it
	}
}
