package lint

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The bounds of one skill, far above those of any real one (1,104 files).
const (
	maxEntries = 20_000
	maxDepth   = 64
)

// tree lists a skill's directory, with slash-separated paths relative to it.
type tree struct {
	entries   map[string]fs.DirEntry
	files     []string         // regular files that belong to this skill, in order
	links     []string         // symbolic links and other things that are neither files nor directories
	nested    []skillDir       // skills below this one
	examples  []string         // directories of skills that are examples or test data, and not validated
	skipped   []string         // directories that were not searched
	leftovers []string         // directories of tools that would be published
	unread    map[string]error // directories that could not be
	full      bool             // there was more than maxEntries

	hints int // how often nearest was called

	folded map[string]string // the paths by their folded form, made when first needed
}

// newTree lists everything below p.
func (l *lintRun) newTree(p skillDir) *tree {
	t := &tree{entries: make(map[string]fs.DirEntry, len(p.entries))}
	t.add(l, p.dir, "", p.entries, 0, true)
	return t
}

// add lists a directory; own means that its files belong to this skill and not to one nested in it.
func (t *tree) add(l *lintRun, root, dir string, entries []fs.DirEntry, depth int, own bool) {
	for _, e := range entries {
		if len(t.entries) >= maxEntries || depth > maxDepth {
			t.full = true
			return
		}
		rel := path.Join(dir, e.Name())
		t.entries[rel] = e
		switch {
		case e.IsDir() && (skill.SkipDir(e.Name()) || leftoverDir(e.Name()) && bundle.Ignored(rel, true)):
			t.skipped = append(t.skipped, rel)
		case e.IsDir():
			if own && leftoverDir(e.Name()) {
				t.leftovers = append(t.leftovers, rel)
			}
			t.descend(l, root, rel, depth, own)
		case !own:
		case e.Type().IsRegular():
			t.files = append(t.files, rel)
		default:
			t.links = append(t.links, rel)
		}
	}
}

func (t *tree) descend(l *lintRun, root, rel string, depth int, own bool) {
	full := path.Join(root, rel)
	entries, err := fs.ReadDir(l.fsys, full)
	if err != nil {
		if t.unread == nil {
			t.unread = map[string]error{}
		}
		t.unread[rel] = err
		return
	}
	if name := l.skillFile(full, entries); own && name != "" {
		if isMaterial(rel) {
			t.examples = append(t.examples, rel)
		} else {
			t.nested = append(t.nested, skillDir{dir: full, file: name, entries: entries})
			own = false
		}
	}
	t.add(l, root, rel, entries, depth+1, own)
}

// isMaterial reports whether a directory has a skill's material, such as examples and tests, and no skills.
func isMaterial(rel string) bool {
	for dir := range strings.SplitSeq(rel, "/") {
		switch dir {
		case "assets", "examples", "example", "fixtures", "templates", "template", "tests", "test", "testdata", "evals":
			return true
		}
	}
	return false
}

// has reports whether a path exists, a directory or a file.
func (t *tree) has(rel string) bool {
	_, ok := t.entries[rel]
	return ok || rel == "."
}

// isFile reports whether a path exists and is not a directory.
func (t *tree) isFile(rel string) bool {
	e, ok := t.entries[rel]
	return ok && !e.IsDir()
}

// isDir reports whether a path exists and is a directory.
func (t *tree) isDir(rel string) bool {
	e, ok := t.entries[rel]
	return ok && e.IsDir()
}

// skips reports whether a path is in a directory that was not searched, so that it may or may not exist.
func (t *tree) skips(rel string) bool {
	below := func(d string) bool { return strings.HasPrefix(rel, d+"/") }
	for d := range t.unread {
		if below(d) {
			return true
		}
	}
	return t.full || slices.ContainsFunc(t.skipped, below)
}

// foldedMatch returns the path that differs from rel only in case or in how its accents are composed, or "".
func (t *tree) foldedMatch(rel string) string {
	if t.folded == nil {
		t.folded = make(map[string]string, len(t.entries))
		for name := range t.entries {
			if k := fold(name); t.folded[k] == "" || name < t.folded[k] {
				t.folded[k] = name
			}
		}
	}
	return t.folded[fold(rel)]
}

func fold(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// Each search for a similar name takes time in proportion to the files, so their number and the number of files are
// bounded.
const (
	maxHints = 200
	maxNear  = 5000
)

// nearest returns the file that a broken path probably means: the only one of that name elsewhere, or one of nearly
// that name in the same directory; "" if there is none.
func (t *tree) nearest(rel string) string {
	if t.hints++; t.hints > maxHints || len(t.files) > maxNear {
		return ""
	}
	base, dir := path.Base(rel), path.Dir(rel)
	var same, beside []string
	for _, f := range t.files {
		switch {
		case path.Base(f) == base:
			same = append(same, f)
		case path.Dir(f) == dir && path.Ext(f) == path.Ext(base):
			beside = append(beside, path.Base(f))
		}
	}
	switch {
	case len(same) == 1:
		return same[0]
	case len(same) > 1:
		return ""
	}
	if name := diag.Nearest(base, beside); name != "" {
		return path.Join(dir, name)
	}
	return ""
}

// source is a file's text with its lines.
type source struct {
	path  string
	data  []byte
	lines []int // the offset of each line

	converted bool // the data is not as it is on disk, so that nothing can be edited in it

	last struct{ offset, line, column int } // what position answered; lines can be as long as a file
}

func newSource(path string, data []byte) *source { return &source{path: path, data: data} }

func (s *source) index() []int {
	if s.lines == nil {
		s.lines = append(make([]int, 0, 1+bytes.Count(s.data, []byte("\n"))), 0)
		for at := 0; ; {
			i := bytes.IndexByte(s.data[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
			s.lines = append(s.lines, at)
		}
	}
	return s.lines
}

// line returns the text of a line, from 1, without its ending.
func (s *source) line(n int) string {
	lines := s.index()
	if n < 1 || n > len(lines) {
		return ""
	}
	end := len(s.data)
	if n < len(lines) {
		end = lines[n] - 1
	}
	return strings.TrimSuffix(string(s.data[lines[n-1]:end]), "\r")
}

// lineLength returns how many bytes a line has, with its ending.
func (s *source) lineLength(n int) int {
	lines := s.index()
	switch {
	case n < 1 || n > len(lines):
		return 0
	case n == len(lines):
		return len(s.data) - lines[n-1]
	}
	return lines[n] - lines[n-1]
}

// position returns the line and column of a byte.
func (s *source) position(offset int) (line, column int) {
	lines := s.index()
	offset = max(0, min(offset, len(s.data)))
	low := sort.SearchInts(lines, offset+1) - 1
	from, column := lines[low], 1
	if s.last.line == low+1 && s.last.offset <= offset {
		from, column = s.last.offset, s.last.column
	}
	s.last.offset, s.last.line, s.last.column = offset, low+1, column+utf8.RuneCount(s.data[from:offset])
	return s.last.line, s.last.column
}
