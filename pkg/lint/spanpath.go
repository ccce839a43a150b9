package lint

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/markdown"
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
		if plain == "" || strings.HasPrefix(word, "/") || placeholder(plain) || scheme().MatchString(plain) {
			continue
		}
		plain, fragment, _ := strings.Cut(plain, "#")
		t := target{path: plain, literal: plain, fragment: fragment}
		found := w.resolve(f.rel, t)
		switch {
		case found != "":
			w.visit(f, found)
		case w.meansOwn(f, word, plain) && !aside(f.data[:s.Offset]):
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
	case first == ".." || first == "." || !fileLike(path.Base(plain)) || stands(plain):
		return false
	case strings.Contains(word, "CLAUDE_PLUGIN_ROOT"):
		return false
	case withoutVariable(word) != strings.TrimPrefix(word, "./"):
		return true
	}
	return standardDirs[first] || w.tree.isDir(first) || w.tree.isDir(path.Join(path.Dir(f.rel), first))
}

// stands reports whether a path's name stands for others: X.md, example.md, phaseN.md, your-file.md.
func stands(p string) bool {
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	switch strings.ToLower(stem) {
	case "name", "example", "foo", "bar", "baz", "file", "filename", "script", "topic", "template", "my-file",
		"my_file", "xxx", "n", "x", "y":
		return true
	}
	last := stem[len(stem)-1]
	return strings.HasPrefix(stem, "your-") || strings.HasPrefix(stem, "your_") ||
		(last == 'N' || last == 'X') && strings.ToUpper(stem) != stem
}

// aside reports whether the text before a path says that the path is an example, is still to be made, or is another
// skill's.
func aside(before []byte) bool {
	before = before[max(0, len(before)-100):]
	if i := bytes.LastIndex(before, []byte("\n\n")); i >= 0 {
		before = before[i:]
	}
	for _, of := range []string{"`'", "` — its", "`, its", "` skill", "**'s", "’s", "'s"} {
		if bytes.Contains(before, []byte(of)) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(string(before)),
		func(r rune) bool { return (r < 'a' || r > 'z') && r != '.' }) {
		switch strings.TrimSuffix(word, ".") {
		case "e.g", "example", "like", "such", "create", "creates", "creating", "add", "adds", "adding", "write",
			"writes", "save", "saves", "saved", "keep", "keeps",
			"store", "stores", "stored", "generate", "generates", "output", "obtain", "if", "put", "move", "extract",
			"optional", "optionally":
			return true
		}
	}
	return false
}

// fileLike reports whether a name has the ending of a file: a point and up to eight letters and digits.
func fileLike(name string) bool {
	ext := path.Ext(name)
	return len(ext) > 1 && len(ext) < 10 && len(ext) < len(name) &&
		strings.Trim(strings.ToLower(ext[1:]), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
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
