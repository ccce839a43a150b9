package lint

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Apply makes the edits of one file's findings in its data. Of edits that overlap the first counts; the others may be
// made when the result has been checked again. applied counts the edits that were
// made.
func Apply(data []byte, edits []diag.Edit) (out []byte, applied int) {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e diag.Edit) bool { return e.Executable })
	slices.SortStableFunc(edits, func(a, b diag.Edit) int { return a.Start - b.Start })
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(data) || e.Start == at && applied > 0 {
			continue
		}
		out = append(append(out, data[at:e.Start]...), e.Text...)
		at = e.End
		applied++
	}
	return append(out, data[at:]...), applied
}

// rewrite returns the one edit that makes after of the file's data.
func (s *source) rewrite(after []byte) []diag.Edit {
	before := s.data
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	end := 0
	for end < len(before)-start && end < len(after)-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return []diag.Edit{{
		Path: s.path, Start: start, End: len(before) - end,
		Text: string(after[start : len(after)-end]),
	}}
}

// rewriting returns edits that make after of the file, for a finding; nil where there is no such text.
func (s *source) rewriting(after []byte, ok bool) func() []diag.Edit {
	if !ok || bytes.Equal(after, s.data) {
		return nil
	}
	return func() []diag.Edit { return s.rewrite(after) }
}

func (s *source) withoutBOM() []diag.Edit { return []diag.Edit{{Path: s.path, End: 3}} }

func (s *source) unixLines() []diag.Edit {
	return s.rewrite(bytes.ReplaceAll(s.data, []byte("\r\n"), []byte("\n")))
}

func (s *source) makeExecutable() []diag.Edit {
	return []diag.Edit{{Path: s.path, Executable: true}}
}

func (s *source) endLine() []diag.Edit {
	eol := "\n"
	if bytes.Contains(s.data, []byte("\r\n")) {
		eol = "\r\n"
	}
	return []diag.Edit{{Path: s.path, Start: len(s.data), End: len(s.data), Text: eol}}
}

// replaceField returns edits that give a field of the frontmatter another value, written as YAML.
func (u *skillCheck) replaceField(key, text string) func() []diag.Edit {
	return u.src.rewriting(u.doc.Replace(key, text))
}

// quote returns edits that put a scalar of the frontmatter in double quotes.
func (u *skillCheck) quote(v *yaml.Node) func() []diag.Edit {
	start, end, ok := u.doc.Span(v)
	if !ok || v.Style != 0 {
		return nil
	}
	text := `"` + v.Value + `"`
	if strings.ContainsAny(v.Value, "\"\\") {
		return nil
	}
	return func() []diag.Edit { return []diag.Edit{{Path: u.src.path, Start: start, End: end, Text: text}} }
}

// replaceNode returns edits that write another text in the place of a scalar of the frontmatter.
func (u *skillCheck) replaceNode(v *yaml.Node, text string) func() []diag.Edit {
	start, end, ok := u.doc.Span(v)
	if !ok {
		return nil
	}
	return func() []diag.Edit {
		return []diag.Edit{{Path: u.src.path, Start: start, End: end, Text: yamlx.Scalar(text)}}
	}
}

// oneText returns edits that write a list as one text.
func (u *skillCheck) oneText(key string, list *yaml.Node) func() []diag.Edit {
	for _, item := range list.Content {
		if item.Kind != yaml.ScalarNode || strings.ContainsAny(item.Value, " \t,") &&
			!strings.Contains(item.Value, "(") {
			return nil
		}
	}
	return u.replaceField(key, yamlx.Scalar(strings.Join(items(list), " ")))
}

// checkFieldOrder reports that name and description do not come first.
func (u *skillCheck) checkFieldOrder() {
	if u.doc.Front == nil {
		return
	}
	var want []string
	for _, key := range []string{"name", "description"} {
		if k, _ := u.doc.Lookup(key); k != nil {
			want = append(want, key)
		}
	}
	for i, key := range want {
		k := u.doc.Front.Content[2*i]
		if k.Value == key {
			continue
		}
		at, _ := u.doc.Lookup(key)
		u.atNode(at, finding{
			rule: rule.FieldOrder, message: "the field " + key + " is below the field " + k.Value, edits: u.reorder(),
		})
		return
	}
}

// reorder returns edits that put name and description first. A comment that suppresses something at the start of the
// frontmatter is about the field that is there now.
func (u *skillCheck) reorder() func() []diag.Edit {
	if bytes.Contains(u.src.data[u.doc.FrontStart:u.doc.FrontEnd], []byte(marker)) {
		return nil
	}
	return u.src.rewriting(u.doc.First("name", "description"))
}

// checkFinalNewline reports a text whose last line has no newline.
func (u *skillCheck) checkFinalNewline(f *file) {
	if !f.isText() || len(f.data) == 0 || f.data[len(f.data)-1] == '\n' ||
		!(isMarkdown(f.rel) || scriptExtension(f.rel)) {
		return
	}
	line, column := f.position(len(f.data))
	u.add(finding{
		rule: rule.FinalNewline, src: f.source, line: line, column: column,
		message: "the last line does not end with a newline", edits: f.endLine,
	})
}

// hasLineEndings reports whether a file is a shell script with Windows line endings that no other finding is about: a
// shebang with such an ending is one, if something executes the script by its path.
func (u *skillCheck) hasLineEndings(f *file) bool {
	i := bytes.Index(f.data, []byte("\r\n"))
	return shellExtension(f.rel) && i >= 0 &&
		!(isShebang(f.data) && bytes.IndexByte(f.data, '\n') == i+1 && u.runsDirectly(f.rel))
}

// checkLineEndings reports a shell script with Windows line endings.
func (u *skillCheck) checkLineEndings(f *file) {
	if !u.hasLineEndings(f) {
		return
	}
	line, column := f.position(bytes.Index(f.data, []byte("\r\n")))
	u.add(finding{
		rule: rule.CRLF, src: f.source, line: line, column: column,
		message: "the line ends with a carriage return", edits: f.unixLines,
	})
}

// suggest returns the candidate closest to word, or "". It ignores case and separators, so allowedTools and
// allowed_tools are allowed-tools.
func suggest(word string, candidates []string) string { return newSpellings(candidates).nearest(word) }

// spellings are words, and their letters without case and separators.
type spellings struct{ words, plain []string }

func newSpellings(words []string) spellings {
	s := spellings{words: words, plain: make([]string, len(words))}
	for i, w := range words {
		s.plain[i] = squash(w)
	}
	return s
}

// nearest returns the word closest to another one, or "".
func (s spellings) nearest(word string) string {
	plain := squash(word)
	i := slices.Index(s.plain, plain)
	if i < 0 {
		if near := diag.Nearest(plain, s.plain); near != "" {
			i = slices.Index(s.plain, near)
		}
	}
	if i < 0 {
		return ""
	}
	return s.words[i]
}

var squasher = strings.NewReplacer("-", "", "_", "", " ", "")

func squash(s string) string { return squasher.Replace(strings.ToLower(s)) }
