package lsp

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
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

// openTarget returns the range of the target of a link that is being typed at a column.
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
	return strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "#", "%23", "?",
		"%3F").Replace(p)
}

// maxLinks bounds how many candidates of one document are resolved.
const maxLinks = 5000

// candidate is text that may be a path.
type candidate struct {
	start, end int
	target     string
	words      bool // if the complete text is not a path, its words may be
}

// documentLinks returns the links of a document to files: links of Markdown, paths in code, and values of YAML.
func (v *view) documentLinks(ctx context.Context, p *protocol.DocumentLinkParams) (any, error) {
	d := v.document(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	root, _ := splitVolume(d.path)
	tree, err := v.tree(root)
	if err != nil {
		return nil, err
	}
	links := []protocol.DocumentLink{}
	targets := map[string]protocol.DocumentURI{}
	link := func(c candidate) bool {
		target, ok := targets[c.target]
		if !ok && len(targets) < maxLinks && ctx.Err() == nil {
			target = v.resolveTarget(tree, d, c.target)
			targets[c.target] = target
		}
		if target != "" {
			span := d.text.span(c.start, c.end, v.client.encoding)
			links = append(links, protocol.DocumentLink{Range: span, Target: target})
		}
		return target != ""
	}
	for _, c := range d.linkCandidates() {
		if link(c) || !c.words {
			continue
		}
		for start := c.start; start < c.end; {
			size := strings.IndexAny(d.text.string[start:c.end], " \t\r\n\"',[]{}")
			if size < 0 {
				size = c.end - start
			}
			if word := d.text.string[start : start+size]; strings.ContainsAny(word, "./") {
				link(candidate{start: start, end: start + size, target: word})
			}
			start += size + 1
		}
	}
	return links, nil
}

// linkCandidates returns the texts of a document that may be paths.
func (d *document) linkCandidates() []candidate {
	var all []candidate
	lines, first := d.yaml()
	o := newYAMLLines(lines, first)
	for n, line := range lines {
		e, starts := o.entryAt(n)
		if e == nil {
			continue
		}
		from, to := 0, len(line)
		if starts {
			from, to = e.span(line)
		}
		_, at := d.text.line(first + n)
		all = append(all, candidate{at + from, at + to, line[from:to], true})
	}
	if !d.isMarkdown() {
		return all
	}
	for _, l := range d.page().Links {
		end := l.Offset
		for range l.Width {
			_, size := utf8.DecodeRuneInString(d.text.string[end:])
			end += size
		}
		all = append(all, candidate{l.Offset, end, l.Target, false})
	}
	for _, s := range d.page().Spans {
		all = append(all, candidate{s.Offset, s.End, d.text.string[s.Offset:s.End], true})
	}
	return all
}

// resolveTarget returns the URI of the file that a target in a document leads to, "" if there is none. A heading in the
// target becomes the number of its line, such as #L12.
func (v *view) resolveTarget(tree fs.FS, d *document, target string) protocol.DocumentURI {
	name, fragment, _ := strings.Cut(target, "#")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "${CLAUDE_SKILL_DIR}/"), "{baseDir}/")
	name = strings.ReplaceAll(name, `\`, "/")
	switch {
	case strings.HasPrefix(name, "/"), strings.ContainsRune(name, 0), isURL(name), name == "" && fragment == "":
		return ""
	case name == "":
		return v.uri(d.path) + headingLine(d.text, fragment)
	}
	dirs := []string{path.Dir(d.path)}
	home := v.skillRoot(d.path)
	if home != "" && home != dirs[0] {
		dirs = append(dirs, home)
	}
	limit := cmp.Or(v.folder(d.path), home, dirs[0])
	for _, dir := range dirs {
		p := path.Join(dir, name)
		if _, ok := relativeTo(limit, p); !ok {
			continue // a document must not make the server read other files
		}
		_, inside := splitVolume(p)
		info, err := fs.Stat(tree, inside)
		if err == nil && info.IsDir() {
			p = v.mainFile(p)
		}
		if err == nil && p != "" {
			return v.uri(p) + headingLine(v.content(tree, p), fragment)
		}
	}
	return ""
}

// isURL reports whether a target starts with a URL's scheme.
func isURL(target string) bool {
	u, err := url.Parse(target)
	return err == nil && len(u.Scheme) > 1
}

// mainFile returns the file to open for a directory, "" if there is none.
func (v *view) mainFile(dir string) string {
	for _, name := range []string{skill.File, pack.ManifestName, "README.md"} {
		if v.exists(dir + "/" + name) {
			return dir + "/" + name
		}
	}
	return ""
}

// headingLine returns the fragment #L with the line of a heading, "" if there is none.
func headingLine(t *text, fragment string) protocol.DocumentURI {
	if t == nil || fragment == "" {
		return ""
	}
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	for n := range t.lines {
		line, _ := t.line(n)
		title := strings.TrimLeft(line, "#")
		if level := len(line) - len(title); level < 1 || level > 6 || !strings.HasPrefix(title, " ") {
			continue
		}
		if headingAnchor(title) == strings.ToLower(fragment) {
			return protocol.DocumentURI(fmt.Sprintf("#L%d", n+1))
		}
	}
	return ""
}

// headingAnchor returns GitHub's anchor of a heading.
func headingAnchor(title string) string {
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
