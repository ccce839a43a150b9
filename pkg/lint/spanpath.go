package lint

import (
	"fmt"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/lint/rule"
	"github.com/skillpm/skillpm/pkg/markdown"
)

// maxSpan is the length in bytes beyond which a code span is no path and no command.
const maxSpan = 400

// standardDirs are the directories that the standard names: a path below one is the skill's, whether it exists or not.
var standardDirs = map[string]bool{"scripts": true, "references": true, "assets": true}

// span follows the paths in a code span, which is how many skills refer to their files, and reports those that lead
// nowhere.
func (w *walk) span(f *file, p *page, s markdown.Span) {
	if len(s.Text) > maxSpan || !strings.ContainsAny(s.Text, "./") {
		return
	}
	for word := range strings.FieldsSeq(s.Text) {
		word = strings.Trim(word, "\"'`,;:()[]")
		plain := withoutVariable(word)
		if plain == "" || strings.HasPrefix(word, "/") || placeholder(plain) || scheme.MatchString(plain) {
			continue
		}
		plain, fragment, _ := strings.Cut(plain, "#")
		t := target{path: plain, literal: plain, fragment: fragment}
		found := w.resolve(f.rel, t)
		switch {
		case found != "":
			w.visit(f, found)
		case w.meansOwn(f, word, plain):
			w.missing(f, p, s, word, plain)
		}
	}
}

// meansOwn reports whether a word that no file is called by means a file of the skill nevertheless.
func (w *walk) meansOwn(f *file, word, plain string) bool {
	first, rest, below := strings.Cut(plain, "/")
	switch {
	case !below || rest == "" || strings.HasPrefix(plain, "-") || strings.ContainsAny(plain, "@=\\?&%!,:;'\"()[]"):
		return false
	case first == ".." || first == "." || !fileLike(path.Base(plain)):
		return false
	case withoutVariable(word) != strings.TrimPrefix(word, "./"):
		return true
	}
	return standardDirs[first] || w.tree.isDir(first) || w.tree.isDir(path.Join(path.Dir(f.rel), first))
}

// fileLike reports whether a name has the ending of a file: a point and up to eight letters and digits.
func fileLike(name string) bool {
	ext := path.Ext(name)
	return len(ext) > 1 && len(ext) < 10 && len(ext) < len(name) && strings.Trim(strings.ToLower(ext[1:]), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func (w *walk) missing(f *file, p *page, s markdown.Span, word, plain string) {
	at, ok := inside(".", plain)
	if !ok || w.tree.skips(at) {
		return
	}
	fix := ""
	if other := w.tree.likely(at); other != "" {
		fix = "write " + other
	} else if near := w.tree.near(at); near != "" {
		fix = fmt.Sprintf("did you mean %s?", near)
	}
	start := s.Offset
	if i := strings.Index(string(p.src.data[s.Offset:s.End]), word); i >= 0 {
		start += i
	}
	w.at(p.src, start, min(start+len(word), s.End), finding{
		rule: rule.SpanPath, message: fmt.Sprintf("%s does not exist in the skill", at), fix: fix,
	})
}
