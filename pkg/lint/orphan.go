package lint

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag/rule"
)

// orphans reports files that nothing mentions. A file is mentioned when SKILL.md, or a file that is mentioned itself,
// links to it, says its name or its directory's, or imports it.
func (u *unit) orphans() {
	if u.doc == nil || u.doc.Front == nil || u.tree.full {
		return
	}
	var lost, texts []*file
	names := u.sortedFiles()
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(path.Dir(a), path.Dir(b)) })
	for _, rel := range names {
		f := u.files[rel]
		switch {
		case f.reached:
			texts = append(texts, f)
		case !companion(rel):
			lost = append(lost, f)
		}
	}
	for ; len(texts) > 0 && len(lost) > 0; texts = texts[1:] {
		if !texts[0].isText() {
			continue
		}
		s, walked := newMentions(texts[0], lost), false
		lost = slices.DeleteFunc(lost, func(f *file) bool {
			if !s.mention(f) {
				return false
			}
			f.reached = true
			texts = append(texts, f)
			if isMarkdown(f.rel) && !isTemplate(f.rel) {
				(&walk{unit: u, queue: []*file{f}}).run()
				walked = true
			}
			return true
		})
		for _, rel := range names { // what those pages link to
			if !walked {
				break
			}
			if f := u.files[rel]; f.reached && slices.Contains(lost, f) {
				lost = slices.DeleteFunc(lost, func(l *file) bool { return l == f })
				texts = append(texts, f)
			}
		}
	}
	for len(lost) > 0 {
		dir := path.Dir(lost[0].rel)
		n := slices.IndexFunc(lost, func(f *file) bool { return path.Dir(f.rel) != dir })
		if n < 0 {
			n = len(lost)
		}
		u.orphan(dir, lost[:n])
		lost = lost[n:]
	}
	u.deep()
}

// fewOrphans is how many files of a directory are reported one by one.
const fewOrphans = 3

func (u *unit) orphan(dir string, files []*file) {
	if len(files) > fewOrphans {
		u.add(finding{
			rule: rule.Orphan, path: files[0].path,
			message: fmt.Sprintf("neither SKILL.md nor what it leads to mentions %s and %d other files of %s",
				files[0].rel, len(files)-1, dir),
		})
		return
	}
	for _, f := range files {
		u.add(finding{rule: rule.Orphan, path: f.path, message: "neither SKILL.md nor what it leads to mentions " +
			f.rel})
	}
}

// companion reports whether a file is there for people or tools and not for an agent.
func companion(rel string) bool {
	base := strings.ToLower(path.Base(rel))
	stem, _, _ := strings.Cut(base, ".")
	switch stem {
	case "license", "licence", "copying", "notice", "readme", "changelog", "contributing", "authors", "security",
		"code_of_conduct", "":
		return true
	}
	switch base {
	case "skillpm.yaml", "skillpm.lock", "package.json", "package-lock.json", "pyproject.toml", "requirements.txt",
		"go.mod", "go.sum",
		"tsconfig.json", "__init__.py", "makefile", "dockerfile", "cargo.toml", "cargo.lock", "uv.lock",
		"metadata.json", "metadata.yaml":
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(rel), "/") {
		switch {
		case dir == "tests", dir == "test", dir == "evals", dir == "__tests__", dir == "agents",
			strings.HasPrefix(dir, ".") && dir != ".":
			return true
		}
	}
	return strings.HasPrefix(base, "test_") || strings.HasSuffix(stem, "_test")
}

// manyLost is how many files may be looked for one by one in a text; more are looked up among its words.
const manyLost = 24

// mentions answers whether a text mentions a file.
type mentions struct {
	text  *file
	words map[string]bool // its words and paths, where many files are looked for
	dirs  map[string]bool // what saysDir answered
}

func newMentions(text *file, lost []*file) *mentions {
	m := &mentions{text: text, dirs: map[string]bool{}}
	if len(lost) > manyLost {
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

// mention reports whether the text says a file's name, the directory that it is in, or, in a script, its module.
func (m *mentions) mention(f *file) bool {
	base := path.Base(f.rel)
	if m.says(base) {
		return true
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	if path.Ext(base) == ".py" && m.says(path.Base(path.Dir(f.rel))+"."+stem) ||
		isMarkdown(base) && m.says(strings.ToUpper(stem)+path.Ext(base)) { // as many write FORMS.md for forms.md
		return true
	}
	if !isMarkdown(m.text.rel) && len(stem) > 2 && m.says(stem) {
		return true
	}
	return m.saysDirOf(f.rel)
}

// saysDirOf reports whether the text names a directory that a path is in.
func (m *mentions) saysDirOf(rel string) bool {
	dir := path.Dir(rel)
	if dir == "." {
		return false
	}
	said, asked := m.dirs[dir]
	if !asked {
		said = m.saysDir(dir) || dir != path.Base(dir) && m.saysDir(path.Base(dir)) || m.saysDirOf(dir)
		m.dirs[dir] = said
	}
	return said
}

// says reports whether a word is in the text, not as a part of a longer one.
func (m *mentions) says(word string) bool {
	if m.words != nil {
		return m.words[word]
	}
	return findWord(m.text.data, word, func(next byte) bool { return !wordByte(next) })
}

// saysDir reports whether the text names a directory as a whole: a slash after it and no file's name after that.
func (m *mentions) saysDir(dir string) bool {
	if m.words != nil {
		return m.words[dir+"/"]
	}
	return findWord(m.text.data, dir+"/", func(next byte) bool { return !wordByte(next) || next == '.' })
}

// findWord looks for a word that no letter, digit or hyphen stands before and after which next holds.
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

// deep reports Markdown files that SKILL.md leads to only through other files.
func (u *unit) deep() {
	for _, rel := range u.sortedFiles() {
		f := u.files[rel]
		if f.depth < 2 || !isMarkdown(rel) {
			continue
		}
		main := u.files[path.Base(u.file)]
		if m := newMentions(main, nil); m.mention(f) {
			continue
		}
		u.add(finding{
			rule: rule.Deep, path: f.path,
			message: fmt.Sprintf("SKILL.md leads to %s only through %s", f.rel, f.via.rel),
		})
	}
}
