package lint

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag/rule"
)

// checkOrphans reports files that nothing mentions. A file is mentioned if SKILL.md, or another mentioned file, links
// to it, has its name or its directory's name, or imports it.
func (u *skillCheck) checkOrphans() {
	if u.doc == nil || u.doc.Front == nil || u.tree.full {
		return
	}
	var unmentioned, texts []*file
	names := u.sortedFiles()
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(path.Dir(a), path.Dir(b)) })
	for _, rel := range names {
		f := u.files[rel]
		switch {
		case f.reached:
			texts = append(texts, f)
		case !companion(rel):
			unmentioned = append(unmentioned, f)
		}
	}
	for ; len(texts) > 0 && len(unmentioned) > 0; texts = texts[1:] {
		if !texts[0].isText() {
			continue
		}
		s, walked := newMentions(texts[0], unmentioned), false
		unmentioned = slices.DeleteFunc(unmentioned, func(f *file) bool {
			if !s.namesFile(f) {
				return false
			}
			f.reached = true
			texts = append(texts, f)
			if isMarkdown(f.rel) && !isTemplate(f.rel) {
				(&walk{skillCheck: u, queue: []*file{f}}).run()
				walked = true
			}
			return true
		})
		for _, rel := range names { // what those pages link to
			if !walked {
				break
			}
			if f := u.files[rel]; f.reached && slices.Contains(unmentioned, f) {
				unmentioned = slices.DeleteFunc(unmentioned, func(l *file) bool { return l == f })
				texts = append(texts, f)
			}
		}
	}
	unmentioned = u.withoutCompanions(names, unmentioned)
	for len(unmentioned) > 0 {
		dir := path.Dir(unmentioned[0].rel)
		n := slices.IndexFunc(unmentioned, func(f *file) bool { return path.Dir(f.rel) != dir })
		if n < 0 {
			n = len(unmentioned)
		}
		u.reportOrphans(dir, unmentioned[:n])
		unmentioned = unmentioned[n:]
	}
	u.checkDeepFiles()
}

// The limits of searching companions for the names of other files: bytes of a companion, and companions of a skill.
const (
	maxCompanion  = 256 << 10
	maxCompanions = 50
)

// withoutCompanions leaves out the files that belong to companions: what a tool's configuration names, such as an icon
// or a program, what such a program needs, and what is not for agents of that which a page for users names.
func (u *skillCheck) withoutCompanions(names []string, files []*file) []*file {
	var texts []*file
	for _, rel := range names {
		if companion(rel) {
			texts = append(texts, u.files[rel])
		}
	}
	for searched := 0; len(texts) > 0 && len(files) > 0 && searched < maxCompanions; texts = texts[1:] {
		text := texts[0]
		if !text.isText() || len(text.data) > maxCompanion {
			continue
		}
		searched++
		m, forUsers := newMentions(text, files), isMarkdown(text.rel) && !strings.Contains(text.rel, "/")
		files = slices.DeleteFunc(files, func(f *file) bool {
			if forUsers && (isMarkdown(f.rel) || scriptExtension(f.rel)) || !m.namesFile(f) {
				return false
			}
			if scriptExtension(f.rel) {
				texts = append(texts, f)
			}
			return true
		})
	}
	return files
}

// fewOrphans is how many files of a directory are reported one by one.
const fewOrphans = 3

func (u *skillCheck) reportOrphans(dir string, files []*file) {
	if len(files) > fewOrphans {
		u.add(finding{
			rule: rule.Orphan, path: files[0].path,
			message: fmt.Sprintf("neither SKILL.md nor its references mention %s or %d other files in %s",
				files[0].rel, len(files)-1, dir),
		})
		return
	}
	for _, f := range files {
		u.add(finding{rule: rule.Orphan, path: f.path, message: "neither SKILL.md nor its references mention " + f.rel})
	}
}

// companion reports whether a file is meant for users or tools and not for an agent.
func companion(rel string) bool {
	base := strings.ToLower(path.Base(rel))
	stem, _, _ := strings.Cut(base, ".")
	switch stem {
	case "license", "licence", "copying", "notice", "readme", "changelog", "contributing", "authors", "security",
		"code_of_conduct", "agents", "claude", "creation-log", "ofl", "":
		return true
	}
	if base[0] == '_' || path.Ext(base) == ".xsd" || strings.HasSuffix(stem, "-ofl") || strings.HasSuffix(stem, "-license") {
		return true // _meta.json and _template.md are for tools; schemas name each other
	}
	switch base {
	case "apm.yml", "skillpm.yaml", "skillpm.lock", "package.json", "package-lock.json", "pyproject.toml", "requirements.txt",
		"go.mod", "go.sum",
		"tsconfig.json", "__init__.py", "makefile", "dockerfile", "cargo.toml", "cargo.lock", "uv.lock",
		"pnpm-lock.yaml", "yarn.lock", "bun.lock", "poetry.lock", "taskfile.yml", "taskfile.yaml", "justfile",
		"metadata.json", "metadata.yaml":
		return true
	}
	if strings.HasSuffix(base, ".d.ts") || strings.HasSuffix(base, ".plugin.json") {
		return true // types of a program beside it, and the manifest of an agent's plugin
	}
	for dir := range strings.SplitSeq(path.Dir(rel), "/") {
		switch {
		case dir == "tests", dir == "test", dir == "evals", dir == "evaluations", dir == "__tests__", dir == "agents",
			strings.HasPrefix(dir, ".") && dir != ".":
			return true
		}
	}
	return strings.HasPrefix(base, "test_") || strings.HasPrefix(base, "test-") || strings.HasSuffix(stem, "_test")
}

// wordIndexFrom is how many files are searched for one by one in a text. For more, the text's words are indexed first.
const wordIndexFrom = 24

// mentions answers whether a text mentions a file.
type mentions struct {
	text  *file
	words map[string]bool // its words and paths, where many files are looked for
	dirs  map[string]bool // results of containsDirOf
	grams *grams
}

// grams are hashes of the three bytes at each position of a text. A text without those of a word does not contain it.
type grams [1 << (gramBits - 6)]uint64

const gramBits = 15

func gram(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> (32 - gramBits)
}

func (g *grams) add(text []byte) {
	for i := 2; i < len(text); i++ {
		h := gram(text[i-2], text[i-1], text[i])
		g[h>>6] |= 1 << (h & 63)
	}
}

func (g *grams) mayContain(word string) bool {
	for i := 2; i < len(word); i++ {
		if h := gram(word[i-2], word[i-1], word[i]); g[h>>6]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return true
}

func newMentions(text *file, files []*file) *mentions {
	m := &mentions{text: text, dirs: map[string]bool{}}
	if len(files) > 1 {
		m.grams = new(grams)
		m.grams.add(text.data)
	}
	if len(files) > wordIndexFrom {
		m.words = map[string]bool{}
		for word := range bytes.FieldsFuncSeq(text.data, func(r rune) bool { return !wordChar(r) }) {
			word := strings.Trim(string(word), ".")
			m.words[word] = true
			m.words[path.Base(word)] = true
		}
	}
	return m
}

func wordChar(r rune) bool {
	return r == '.' || r == '_' || r == '-' || r == '/' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' &&
		r <= '9' || r > 127
}

// namesFile reports whether the text has a file's name, its directory's, or, in a script, its module's.
func (m *mentions) namesFile(f *file) bool {
	base := path.Base(f.rel)
	if m.contains(base) {
		return true
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	if path.Ext(base) == ".py" && m.contains(path.Base(path.Dir(f.rel))+"."+stem) ||
		isMarkdown(base) && m.contains(strings.ToUpper(stem)+path.Ext(base)) { // as many write FORMS.md for forms.md
		return true
	}
	if !isMarkdown(m.text.rel) && len(stem) > 1 && m.contains(stem) {
		return true
	}
	if strings.ContainsAny(stem, "-_") && m.has("`"+stem+"`") || // in a list of names
		m.contains(path.Base(path.Dir(f.rel))+"/"+stem) {
		return true
	}
	return m.containsDirOf(f.rel)
}

// containsDirOf reports whether the text names a directory that a path is in.
func (m *mentions) containsDirOf(rel string) bool {
	dir := path.Dir(rel)
	if dir == "." {
		return false
	}
	contains, cached := m.dirs[dir]
	if !cached {
		contains = m.containsDir(dir) || dir != path.Base(dir) && m.containsDir(path.Base(dir)) || m.containsDirOf(dir)
		m.dirs[dir] = contains
	}
	return contains
}

// has reports whether the text has another one.
func (m *mentions) has(text string) bool {
	return (m.grams == nil || m.grams.mayContain(text)) && bytes.Contains(m.text.data, []byte(text))
}

// contains reports whether a word is in the text and not a part of a longer word.
func (m *mentions) contains(word string) bool {
	if m.words != nil {
		return m.words[word]
	}
	return m.hasWord(word, func(next byte) bool { return !wordByte(next) })
}

// containsDir reports whether the text names a directory itself: with a slash after it, and no file name after that.
func (m *mentions) containsDir(dir string) bool {
	if m.has("`"+dir+"`") || m.has("./"+dir+"`") {
		return true
	}
	if m.words != nil {
		return m.words[dir+"/"]
	}
	return m.hasWord(dir+"/", func(next byte) bool { return !wordByte(next) || next == '.' })
}

// hasWord is [findWord] in the text.
func (m *mentions) hasWord(word string, next func(byte) bool) bool {
	return (m.grams == nil || m.grams.mayContain(word)) && findWord(m.text.data, word, next)
}

// findWord searches for a word between other characters than letters, digits, and hyphens; next decides about the
// character after it.
func findWord(text []byte, word string, next func(byte) bool) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(word))
		if i < 0 {
			return false
		}
		at += i
		end := at + len(word)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || next(text[end])) {
			return true
		}
		at = end
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// checkDeepFiles reports Markdown files that SKILL.md leads to only through other files.
func (u *skillCheck) checkDeepFiles() {
	for _, rel := range u.sortedFiles() {
		f := u.files[rel]
		if f.depth < 2 || !isMarkdown(rel) || companion(rel) {
			continue
		}
		main := u.files[path.Base(u.file)]
		if m := newMentions(main, nil); m.namesFile(f) {
			continue
		}
		u.add(finding{
			rule: rule.Deep, path: f.path,
			message: fmt.Sprintf("SKILL.md references %s only through %s", f.rel, f.via.rel),
		})
	}
}
