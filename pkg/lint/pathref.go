package lint

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/markdown"
)

// Besides links, a page refers to files by paths in code spans, in commands, and in its text. Whatever exists is
// followed. Of what does not exist, only what cannot be an example, an output, or a file of another project is
// reported.

// maxSpan is the length in bytes beyond which a code span is no path and no command.
const maxSpan = 400

// standardDirs are the directories that the standard names: a path below one is the skill's, whether it exists or not.
var standardDirs = map[string]bool{"scripts": true, "references": true, "assets": true}

// pathUse is how a page uses a path.
type pathUse struct {
	pathWord
	start, end int  // of the word in the page
	certain    bool // only files of the skill are used in this way
	runs       bool // a command in a code span runs it
}

// followSpan follows the paths in a code span, which is how many skills refer to their files, and reports broken ones.
func (w *walk) followSpan(f *file, p *page, s markdown.Span) {
	if len(s.Text) > maxSpan || !strings.ContainsAny(s.Text, "./") {
		return
	}
	for word := range strings.FieldsSeq(s.Text) {
		pw, ok := w.pathWord(word)
		if !ok || w.followPath(f, p, s.Offset, pw) || strings.HasPrefix(s.Text, "import ") || isLinkText(f.data, s) {
			continue
		}
		use := pathUse{pathWord: pw, start: s.Offset, end: s.End, runs: word != s.Text && runs(s.Text, pw.name, true)}
		if i := bytes.Index(p.src.data[s.Offset:s.End], []byte(word)); i >= 0 {
			use.start, use.end = s.Offset+i, s.Offset+i+len(word)
		}
		first, _, below := strings.Cut(pw.name, "/")
		if pw.sure || below && (standardDirs[first] || w.tree.isDir(first) ||
			w.tree.isDir(path.Join(path.Dir(f.rel), first))) {
			w.checkMissing(f, p, use)
		}
	}
}

// isLinkText reports whether a code span is the whole text of a link, which is checked instead.
func isLinkText(text []byte, s markdown.Span) bool {
	before, after := bytes.TrimRight(text[:s.Offset], "`"), bytes.TrimLeft(text[s.End:], "`")
	return bytes.HasSuffix(before, []byte("[")) && bytes.HasPrefix(after, []byte("]("))
}

// followText follows the paths in the text of a page, outside of code and links: scripts/extract.py, @references/a.md,
// and [[references/a]].
func (w *walk) followText(f *file, p *page) {
	text, from := f.data, 0
	if f.source == w.src {
		from = w.doc.BodyStart
	}
	for at, last := from, from; ; { // last is the end of the last path
		i := bytes.IndexByte(text[at:], '/')
		if i < 0 {
			break
		}
		start := at + i
		at = start + 1
		for start > last && wordByte(text[start-1]) {
			start--
		}
		if dir := text[start : at-1]; !standardDirs[string(dir)] && string(dir) != "skills" && !w.tree.isDir(string(dir)) {
			continue
		}
		for start > last && pathByte(text[start-1]) {
			start--
		}
		for at < len(text) && pathByte(text[at]) {
			at++
		}
		last = at
		w.followTextWord(f, p, start, at)
	}
	w.followMarked(f, p, from)
}

// pathByte reports whether a byte can be in a path in text.
func pathByte(c byte) bool {
	return wordByte(c) || c == '.' || c == '/' || c == '@' || c == '~' || c >= 0x80
}

// followTextWord follows one word of the text that has a slash.
func (w *walk) followTextWord(f *file, p *page, start, end int) {
	text := f.data
	for end > start && (text[end-1] == '.' || text[end-1] == '/') {
		end--
	}
	if end-start > maxSpan || !endsText(text, start, end) {
		return
	}
	if end <= start || !w.mayBeOwn(text[start:end]) || p.InCode(start) || p.inComment(start) {
		return
	}
	pw, ok := w.pathWord(string(text[start:end]))
	if !ok || w.followPath(f, p, start, pw) || inHeading(text, start) {
		return
	}
	if first, _, _ := strings.Cut(pw.name, "/"); !standardDirs[first] && !pw.sure {
		return
	}
	w.checkMissing(f, p, pathUse{pathWord: pw, start: start, end: end})
}

// inHeading reports whether an offset is in a heading, which often names the file whose content follows.
func inHeading(text []byte, at int) bool {
	from := max(0, at-maxParagraph)
	line := text[from+bytes.LastIndexByte(text[from:at], '\n')+1 : at]
	return bytes.HasPrefix(line, []byte("#"))
}

// endsText reports whether the characters around a word of the text are not parts of a link, an address, or code.
func endsText(text []byte, start, end int) bool {
	if start > 0 {
		switch c := text[start-1]; c {
		case ' ', '\t', '\n', '"', '\'', '*', '|':
		case '(':
			if start > 1 && text[start-2] == ']' {
				return false
			}
		default:
			return false
		}
	}
	if end == len(text) {
		return true
	}
	switch text[end] {
	case ' ', '\t', '\n', '\r', '"', '\'', '*', '|', ')', '.', ',', ';', ':', '!', '?', '/':
		return true
	}
	return false
}

// followMarked follows the names of files that [[ ]] or a leading @ mark.
func (w *walk) followMarked(f *file, p *page, from int) {
	text := f.data
	for at := from; ; {
		i := bytes.Index(text[at:], []byte("[["))
		if i < 0 {
			break
		}
		at += i + 2
		name, _, ok := bytes.Cut(text[at:min(len(text), at+maxSpan)], []byte("]]"))
		if ok && !bytes.ContainsAny(name, "\n[]") && !p.InCode(at) {
			w.followWikilink(f, p, at, string(name))
		}
	}
	for at := from; ; {
		i := bytes.IndexByte(text[at:], '@')
		if i < 0 {
			return
		}
		start := at + i
		at = start + 1
		for at < len(text) && pathByte(text[at]) && text[at] != '@' {
			at++
		}
		word := bytes.TrimRight(text[start+1:at], ".")
		if len(word) < maxSpan && fileLike(string(word)) && bytes.IndexByte(word, '/') < 0 && endsText(text, start, at) &&
			w.tree.isFile(path.Join(path.Dir(f.rel), string(word))) && !p.InCode(start) {
			w.visit(f, path.Join(path.Dir(f.rel), string(word)))
		}
	}
}

// followWikilink follows a link of the form [[NAME]], [[NAME|TEXT]], or [[NAME#HEADING]]. NAME can be without .md.
func (w *walk) followWikilink(f *file, p *page, at int, link string) {
	name, _, _ := strings.Cut(link, "|")
	pw, ok := w.pathWord(strings.TrimSpace(name))
	if !ok || strings.ContainsAny(pw.name, " $=") {
		return
	}
	if w.followPath(f, p, at, pw) {
		return
	}
	page := pw
	page.name += ".md"
	if w.followPath(f, p, at, page) {
		return
	}
	if first, _, below := strings.Cut(pw.name, "/"); below && (standardDirs[first] || pw.sure) {
		if path.Ext(pw.name) == "" {
			pw = page
		}
		w.checkMissing(f, p, pathUse{pathWord: pw, start: at, end: at + len(name)})
	}
}

// followPath visits the file that a word of a page names, and reports whether it exists.
func (w *walk) followPath(f *file, p *page, at int, pw pathWord) bool {
	var found string
	if pw.sure {
		found = w.lookup(".", pw.name)
	} else {
		found = w.resolve(f.rel, linkTarget{path: pw.name, literal: pw.name, fragment: pw.fragment})
	}
	if found == "" {
		return false
	}
	w.visit(f, found)
	if pw.home {
		w.reportInstalledPath(p, at, pw, found)
	}
	return true
}

// pathFinding is a finding of a rule about a path in a page. Pages name their scripts in many commands, so the first of
// them stands for all.
type pathFinding struct{ rule, page, path string }

// isFirst reports whether a finding about a path is the first of its page.
func (w *walk) isFirst(id, page, name string) bool {
	key := pathFinding{id, page, name}
	if w.pathFindings[key] {
		return false
	}
	if w.pathFindings == nil {
		w.pathFindings = map[pathFinding]bool{}
	}
	w.pathFindings[key] = true
	return true
}

// reportInstalledPath reports a path that contains the directory in which one user has installed the skill.
func (w *walk) reportInstalledPath(p *page, at int, pw pathWord, found string) {
	if !w.isFirst(rule.Absolute, p.src.path, found) {
		return
	}
	line, column := p.src.position(at)
	w.add(finding{
		rule: rule.Absolute, src: p.src, line: line, column: column, severity: new(diag.SeverityNote),
		message: "the path works only if the skill is installed in " + strings.TrimSuffix(pw.dir, "/"),
		fix:     "write " + found,
	})
}
