package lsp

import (
	"context"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"unicode"

	"go.lsp.dev/protocol"
)

// suggestLinks suggests files of the skill as the target of a Markdown link.
func (v *view) suggestLinks(d *document, at int) *suggestions {
	n := d.text.lineAt(at)
	line, start := d.text.line(n)
	target, end, ok := openTarget(line, at-start)
	if !ok || d.inCode(n) {
		return nil
	}
	s := &suggestions{start: start + target, end: start + end}
	angle := target > 0 && line[target-1] == '<'
	for _, p := range v.files(d) {
		one := suggestion{label: p, kind: protocol.CompletionItemKindFile}
		if !angle {
			one.insert = escapeTarget(p)
		}
		s.add(one)
	}
	return s
}

// definitionTarget returns where the target starts in a line such as "[name]: target", or -1.
func definitionTarget(line string) int {
	trimmed := strings.TrimLeft(line, " ")
	if label := strings.Index(trimmed, "]:"); trimmed == "" || trimmed[0] != '[' || label < 2 {
		return -1
	}
	_, rest, _ := strings.Cut(trimmed, "]:")
	rest = strings.TrimLeft(rest, " \t")
	return len(line) - len(strings.TrimPrefix(rest, "<"))
}

// openTarget returns where the target of a link that is being written in a column starts and ends.
func openTarget(line string, column int) (start, end int, ok bool) {
	before := line[:column]
	if i := strings.LastIndex(before, "]("); i >= 0 {
		start = i + 2
	} else if start = definitionTarget(before); start < 0 {
		return 0, 0, false
	}
	stop := " )"
	if strings.HasPrefix(line[start:], "<") {
		start++
	}
	if start > 0 && line[start-1] == '<' {
		stop = ">"
	}
	if start > column || strings.ContainsAny(line[start:column], stop) {
		return 0, 0, false
	}
	if i := strings.IndexAny(line[column:], stop); i >= 0 {
		return start, column + i, true
	}
	return start, len(line), true
}

// escapeTarget writes a path as a link's target outside of angle brackets.
func escapeTarget(p string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "#", "%23", "?", "%3F").Replace(p)
}

// definition returns the file that a position names: a link's target, a path in code, a field of the frontmatter.
func (v *view) definition(_ context.Context, p *protocol.DefinitionParams) (any, error) {
	d := v.document(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	at := d.text.offset(p.Position, v.client.encoding)
	for _, name := range v.named(d, at) {
		if l := v.locate(d, name); l != nil {
			return []protocol.Location{*l}, nil
		}
	}
	return nil, nil
}

// named returns the targets that a byte of a document may be part of, as they are written.
func (v *view) named(d *document, at int) []string {
	n := d.text.lineAt(at)
	line, start := d.text.line(n)
	column := min(at-start, len(line))
	if pl := d.place(at); pl != nil {
		if pl.entry == nil {
			return nil
		}
		from, to := wordIn(pl.text, 0, len(pl.text), column, " \t\"',[]{}")
		return []string{pl.entry.text(pl.outline.lines[pl.entry.line]), strings.TrimSpace(pl.text[from:to])}
	}
	if !d.isMarkdown() {
		return nil
	}
	var names []string
	if target, ok := targetAround(line, column); ok && !d.inCode(n) {
		names = append(names, target)
	}
	from, to := wordIn(line, 0, len(line), column, " `\"'")
	return append(names, line[from:to])
}

// targetAround returns the target of the link whose text or target a column of a line is in.
func targetAround(line string, column int) (string, bool) {
	if start := definitionTarget(line); start >= 0 {
		if start > 0 && line[start-1] == '<' {
			start--
		}
		return cutTarget(line[start:]), true
	}
	for at := 0; ; {
		i := strings.Index(line[at:], "](")
		if i < 0 {
			return "", false
		}
		open := strings.LastIndexByte(line[:at+i], '[')
		at += i + 2
		target := cutTarget(line[at:])
		end := at + len(target)
		if rest := strings.IndexByte(line[end:], ')'); rest >= 0 {
			end += rest
		}
		if column >= max(open, 0) && column <= end {
			return target, true
		}
	}
}

// cutTarget returns the link target at the start of text.
func cutTarget(s string) string {
	if after, ok := strings.CutPrefix(s, "<"); ok {
		target, _, _ := strings.Cut(after, ">")
		return target
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return s[:i]
			}
		case ' ', '\t':
			return s[:i]
		}
	}
	return s
}

// locate returns where a target leads that is written in a document, nil if there is nothing.
func (v *view) locate(d *document, name string) *protocol.Location {
	name, fragment, _ := strings.Cut(name, "#")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	name = strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(name, "${CLAUDE_SKILL_DIR}/"), "{baseDir}/"), `\`, "/")
	if hasScheme(name) || strings.HasPrefix(name, "/") || name == "" && fragment == "" || strings.ContainsRune(name, 0) {
		return nil
	}
	dirs := []string{path.Dir(d.path)}
	if home := v.home(d.path); home != "" && home != dirs[0] {
		dirs = append(dirs, home)
	}
	for _, dir := range dirs {
		p := path.Join(dir, name)
		if name == "" {
			p = d.path
		}
		root, inside := split(p)
		tree, err := v.tree(root)
		if err != nil {
			return nil
		}
		info, err := fs.Stat(tree, inside)
		if err == nil && info.IsDir() {
			if p = v.main(p); p == "" {
				continue
			}
		} else if err != nil {
			continue
		}
		return &protocol.Location{URI: v.uri(p), Range: headingRange(v.content(tree, p), fragment, v.client.encoding)}
	}
	return nil
}

// hasScheme reports whether a target is a URL.
func hasScheme(target string) bool {
	scheme, _, ok := strings.Cut(target, ":")
	return ok && len(scheme) > 1 && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// main returns the file that a directory stands for, "" if there is none.
func (v *view) main(dir string) string {
	for _, name := range []string{"SKILL.md", "skillpm.yaml", "README.md"} {
		if v.exists(dir + "/" + name) {
			return dir + "/" + name
		}
	}
	return ""
}

// headingRange returns where the heading is that a fragment names, the file's start if there is none.
func headingRange(t *text, fragment string, e encoding) protocol.Range {
	if t == nil || fragment == "" {
		return protocol.Range{}
	}
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	for n := range t.lines {
		line, start := t.line(n)
		title := strings.TrimLeft(line, "#")
		if level := len(line) - len(title); level < 1 || level > 6 || !strings.HasPrefix(title, " ") {
			continue
		}
		if anchor(title) == strings.ToLower(fragment) {
			return t.span(start, start+len(line), e)
		}
	}
	return protocol.Range{}
}

// anchor returns the name that GitHub gives a heading.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(strings.TrimRight(title, "# ")))
}
