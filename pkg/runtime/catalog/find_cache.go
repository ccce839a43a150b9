package catalog

import (
	"cmp"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/bm25"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// The search index of a catalog is a file whose name is the digest of everything that the index depends on: the format,
// and the names, descriptions, and stamps of the skills. A change leads to another file, so a file is never out of date.
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

// digest returns a digest of what the index of the candidates depends on. The stamp of a SKILL.md that may change
// without a new stamp is replaced by its content.
func (f *Finder) digest() string {
	c := &codec{data: []byte(findFormat + bm25.Magic)}
	for i := range f.candidates {
		k := &f.candidates[i]
		for _, s := range []*string{&k.Name, &k.Description, &k.WhenToUse, &k.skill.Dir} {
			c.text(s)
		}
		list(c, &k.Tags, c.text)
		c.flag(&k.skill.stable)
		if k.skill.stable {
			c.stamp(&k.skill.stamp)
			continue
		}
		body := k.skill.instructions()
		c.text(&body)
	}
	return textx.SHA256(c.data)
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
