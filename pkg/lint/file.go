package lint

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
	"unique"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The sizes in bytes beyond which a file is not scanned. Real skills are far below: the largest of 20,000
// has 14.7 MB in all.
const (
	maxText    = 4 << 20
	maxArchive = 16 << 20
)

// A file of up to readAtOnceSize bytes is read at once; of a larger one headSize bytes first. The format is
// detected from the first sniffSize.
const (
	readAtOnceSize = 64 << 10
	headSize       = 8 << 10
	sniffSize      = 2 << 10
)

// file is one regular file of a skill. Every file is read once, when the check of its skill starts.
type file struct {
	*source             // its text; the data is nil where it was not read, and of binaries only archives are kept
	rel     string      // its path in the skill
	mode    fs.FileMode // of the open file
	size    int64       // on disk
	format  scan.Format // what it is by its content
	head    []byte      // its first bytes, while the skill is checked
	hits    []scan.Hit  // of SKILL.md: what the scanner found
	summary *flow.Summary
	page    *page // as Markdown, once something led to it
	reached bool  // SKILL.md, or something that leads from there, mentions it
	via     *file // what links to it, where that is a page
	depth   int   // how many links lead there from SKILL.md
}

// isText reports whether the file was read and is text.
func (f *file) isText() bool { return f.data != nil && f.format == scan.Text }

// excerpt returns a text at an offset of the file with its position.
func (f *file) excerpt(start int, text string) excerpt {
	line, column := f.position(start)
	return excerpt{intern(text), f.path, int32(line), int32(column), int32(utf8.RuneCountInString(text))}
}

// intern returns the same string for equal texts. Names of skills repeat in many skills, and texts are parts of files
// that need not stay in memory.
func intern(text string) string { return unique.Make(text).Value() }

// load reads the files of the skill. What is never published is passed over, unless it is the skill's own text.
func (u *skillCheck) load(a *arena) {
	u.files = make(map[string]*file, len(u.tree.files)+1)
	main := path.Base(u.file)
	for _, rel := range u.tree.files {
		if rel != main && bundle.Ignored(rel, false) {
			continue
		}
		u.files[rel] = u.loadFile(a, rel)
	}
	if u.files[main] == nil { // a link could lead to a secret, and opening a pipe would block
		u.files[main] = &file{rel: main, source: newSource(u.file, nil)}
		if u.tree.entries[main] == nil {
			u.files[main] = u.loadFile(a, main)
		} else {
			u.add(finding{rule: rule.Unreadable, path: u.file, message: main + " is not a regular file"})
		}
	}
	u.files[main].reached = true
}

func (u *skillCheck) loadFile(a *arena, rel string) *file {
	f := &file{rel: rel, source: newSource(path.Join(u.dir, rel), nil)}
	limit := int64(maxText)
	if rel == path.Base(u.file) {
		limit = skill.MaxFile
	}
	data, info, err := a.read(u.l.fsys, f.path, limit)
	if err != nil {
		u.add(finding{rule: rule.Unreadable, path: f.path, message: "cannot read the file: " + syserr.Reason(err)})
		return f
	}
	f.mode, f.size, f.head = info.Mode(), info.Size(), data
	f.format = scan.Sniff(data[:min(len(data), sniffSize)])
	if rel == path.Base(u.file) { // a wrong byte in it is reported as a problem of its text
		f.format = scan.Text
	}
	complete := int64(len(data)) == info.Size() || !info.Mode().IsRegular() && int64(len(data)) <= limit
	if u.disguised(f, data) {
		u.add(finding{
			rule: rule.Disguised, path: f.path,
			message: rel + " has the name of a text file, but its format is " + f.format.String(),
		})
		f.format = scan.Text
	}
	switch {
	case complete && (f.format == scan.Text || f.format.Archive()):
		f.data = data
	case complete && f.format == scan.UTF16:
		f.data, f.format, f.converted = scan.FromUTF16(data), scan.Text, true
	case complete:
	case f.format == scan.Text && rel == path.Base(u.file):
		u.add(finding{
			rule: rule.Unreadable, path: f.path,
			message: "the file has " + size(info.Size()) + "; the limit is " + size(limit),
		})
	case f.format == scan.Text:
		large := finding{
			rule: rule.TooLarge, path: f.path,
			message: "the file has " + size(info.Size()) + "; skillpm does not scan such large files",
		}
		if !isMarkdown(rel) && !scriptExtension(rel) {
			large.severity = new(diag.SeverityWarning)
		}
		u.add(large)
	case f.format.Archive():
		u.add(finding{
			rule: rule.OpaqueArchive, path: f.path,
			message: "the archive has " + size(info.Size()) + "; skillpm does not scan archives of this size",
		})
	}
	return f
}

// disguised reports whether a file is a script or a page by its name or first line, but binary by its first bytes.
// Agents go by the name, and shells run it.
func (u *skillCheck) disguised(f *file, head []byte) bool {
	named := isMarkdown(f.rel) || scriptExtension(f.rel) && strings.ToLower(path.Ext(f.rel)) != ".ts" || isShebang(head)
	return named && f.format != scan.Text && f.format != scan.UTF16 && !f.format.Native() && len(head) > 0
}

// arena is the memory for one skill's files, in chunks that the next skill reuses.
type arena struct {
	chunks [][]byte
	used   int // chunks in use; the last of them is being filled
}

// arenaPool is the arenas that no skill uses: without it, validating 1,100 skills takes 8% more CPU time. A [sync.Pool]
// would lose them at each garbage collection.
type arenaPool chan *arena

// chunkSize is large enough for most skills, and maxKept for 99 of 100. An arena keeps no more for the next skill.
const (
	chunkSize = 256 << 10
	maxKept   = 1 << 20
)

func (p arenaPool) take() *arena {
	select {
	case a := <-p:
		return a
	default:
		return new(arena)
	}
}

// release gives an arena back. What was read into it is no longer valid.
func (p arenaPool) release(a *arena) {
	total := 0
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
		if total += cap(a.chunks[i]); total > maxKept {
			a.chunks = a.chunks[:i]
			break
		}
	}
	a.used = 0
	select {
	case p <- a:
	default:
	}
}

// reserve returns an empty slice with room for n bytes.
func (a *arena) reserve(n int) []byte {
	for ; a.used < len(a.chunks); a.used++ {
		if c := a.chunks[a.used]; cap(c)-len(c) >= n {
			return c[len(c):len(c):cap(c)]
		}
	}
	a.chunks = append(a.chunks, make([]byte, 0, max(n, chunkSize)))
	return a.chunks[a.used]
}

// commit marks b, which was written into the result of reserve, as used.
func (a *arena) commit(b []byte) []byte {
	c := a.chunks[a.used]
	a.chunks[a.used] = c[:len(c)+len(b)]
	return slices.Clip(b)
}

// read returns a file's bytes. Of one that is larger than limit, or binary and no archive, it returns the head only.
func (a *arena) read(fsys fs.FS, name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		data, err := io.ReadAll(io.LimitReader(f, limit+1))
		return data, info, err
	}
	want := int(min(info.Size(), maxArchive))
	if want <= readAtOnceSize {
		b, err := readFull(f, a.reserve(want), want)
		return a.commit(b), info, err
	}
	head, err := readFull(f, a.reserve(headSize), headSize)
	if err != nil || !worthReading(name, head, info.Size(), limit) {
		return a.commit(head), info, err
	}
	b, err := readFull(f, append(a.reserve(want), head...), want)
	return a.commit(b), info, err
}

// worthReading reports whether the rest of a file is read after its head.
func worthReading(name string, head []byte, size, limit int64) bool {
	what := scan.Sniff(head[:min(len(head), sniffSize)])
	return (what == scan.Text || what == scan.UTF16 || isMarkdown(name) || scriptExtension(name)) && size <= limit ||
		what.Archive() && size <= maxArchive
}

// readFull reads until b has n bytes or the file ends. An early end is not an error: the file was truncated meanwhile.
func readFull(f io.Reader, b []byte, n int) ([]byte, error) {
	m, err := io.ReadFull(f, b[len(b):n])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return b[:len(b)+m], err
}
