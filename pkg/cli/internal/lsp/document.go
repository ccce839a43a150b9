package lsp

import (
	"path"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/skill"
)

// document is an open document with the editor's content. It never changes.
type document struct {
	uri     protocol.DocumentURI // as the client sent it
	path    string
	version int32
	text    *text
	page    func() *markdown.Page // the body, parsed when it is first needed
}

func newDocument(uri protocol.DocumentURI, p string, version int32, content string) *document {
	d := &document{uri: uri, path: p, version: version, text: newText(content)}
	d.page = sync.OnceValue(func() *markdown.Page {
		_, last, closed := d.frontmatter()
		if closed {
			last++
		}
		_, body := d.text.line(last)
		return markdown.Read([]byte(content), body)
	})
	return d
}

// isSkill reports whether the document is a SKILL.md.
func (d *document) isSkill() bool { return isSkillFile(d.path) }

// isMarkdown reports whether the document is Markdown by its name.
func (d *document) isMarkdown() bool {
	return slices.Contains([]string{".md", ".markdown", ".mdx"}, strings.ToLower(path.Ext(d.path)))
}

// yamlPosition is a position in YAML.
type yamlPosition struct {
	doc    *yamlLines
	entry  *yamlEntry // that the line starts or continues, nil if it is blank or a comment
	starts bool       // the line starts the entry
	line   int        // in the outline
	text   string     // of the line
	start  int        // where the line starts in the document
	column int        // of the position in the line, in bytes
}

// yamlAt returns the position of a byte in the document's YAML, nil if it is outside.
func (d *document) yamlAt(at int) *yamlPosition {
	lines, first := d.yaml()
	n := d.text.lineAt(at) - first
	if n < 0 || n >= len(lines) {
		return nil
	}
	_, start := d.text.line(n + first)
	p := &yamlPosition{
		doc: newYAMLLines(lines, first), line: n, text: lines[n], start: start,
		column: min(at-start, len(lines[n])),
	}
	p.entry, p.starts = p.doc.entryAt(n)
	return p
}

// wordRange returns the bytes of the key, value or item at the position.
func (p *yamlPosition) wordRange(at int) (start, end int) {
	line := p.doc.lines[p.entry.line]
	if !p.starts {
		return p.start, p.start + len(p.text)
	}
	start, end = p.entry.start, p.entry.end
	if p.entry.colon && at-p.start > p.entry.end {
		start, end = p.entry.span(line)
	}
	return p.start + start, p.start + end
}

// yaml returns the lines of YAML in the document, and the number of the first: the frontmatter of a SKILL.md, all of
// skillpm's own files, nothing of others.
func (d *document) yaml() (lines []string, first int) {
	switch {
	case d.isSkill():
		first, last, _ := d.frontmatter()
		return d.linesBetween(first, last), first
	case ownSchema(d.path) != "":
		return d.linesBetween(0, len(d.text.lines)), 0
	}
	return nil, 0
}

func (d *document) linesBetween(first, last int) []string {
	var lines []string
	for n := first; n < last; n++ {
		line, _ := d.text.line(n)
		lines = append(lines, line)
	}
	return lines
}

// frontmatter returns the lines of the frontmatter, from the first to before the last; closed means that --- follows
// it. Unclosed frontmatter ends at the first heading, or after the first blank line.
func (d *document) frontmatter() (first, last int, closed bool) {
	if line, _ := d.text.line(0); !isFence(strings.TrimPrefix(line, "\uFEFF")) {
		return 0, 0, false
	}
	for n := 1; n < len(d.text.lines); n++ {
		if line, _ := d.text.line(n); isFence(line) {
			return 1, n, true
		}
	}
	for n := 1; n < len(d.text.lines); n++ {
		line, _ := d.text.line(n)
		if strings.HasPrefix(line, "#") {
			return 1, n, false
		}
		if strings.TrimSpace(line) == "" {
			return 1, n + 1, false
		}
	}
	return 1, len(d.text.lines), false
}

// isFence reports whether a line opens or closes frontmatter.
func isFence(line string) bool {
	return strings.HasPrefix(line, "---") && strings.TrimRight(line[3:], " \t") == ""
}

// inCode reports whether a line of Markdown starts in code, which has no comments and links.
func (d *document) inCode(n int) bool {
	_, start := d.text.line(n)
	page := d.page()
	return page.InCode(start) && !slices.ContainsFunc(page.Spans,
		func(s markdown.Span) bool { return s.Offset == start })
}

func (s *server) didOpen(p *protocol.DidOpenTextDocumentParams) {
	s.setDocument(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text)
}

// changeParams is a change; the library's type cannot distinguish the whole text from a part of it.
type changeParams struct {
	TextDocument   protocol.VersionedTextDocumentIdentifier `json:"textDocument"`
	ContentChanges []struct {
		Range *protocol.Range `json:"range"`
		Text  string          `json:"text"`
	} `json:"contentChanges"`
}

func (s *server) didChange(p *changeParams) {
	v := s.currentView()
	d := v.document(p.TextDocument.URI)
	if d == nil || len(p.ContentChanges) == 0 {
		return
	}
	content := d.text.string
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			content = c.Text
			continue
		}
		t := newText(content)
		start := t.offset(c.Range.Start, v.client.encoding)
		content = content[:start] + c.Text + content[max(start, t.offset(c.Range.End, v.client.encoding)):]
	}
	s.setDocument(p.TextDocument.URI, p.TextDocument.Version, content)
}

func (s *server) setDocument(uri protocol.DocumentURI, version int32, content string) {
	p := pathOf(uri, s.currentView().windows())
	if p == "" {
		return
	}
	v := s.update(func(v *view) { v.docs[p] = newDocument(uri, p, version, content) })
	s.scheduleCheck(v, p)
}

func (s *server) didSave(p *protocol.DidSaveTextDocumentParams) {
	v := s.currentView()
	if d := v.document(p.TextDocument.URI); d != nil {
		s.scheduleCheck(v, d.path)
	}
}

// didClose removes a document. If it was the last open one of its skill, the diagnostics of the skill are removed.
func (s *server) didClose(p *protocol.DidCloseTextDocumentParams) {
	before := s.currentView()
	d := before.document(p.TextDocument.URI)
	if d == nil {
		return
	}
	target := before.checkRoot(d.path)
	v := s.update(func(v *view) { delete(v.docs, d.path) })
	if target == "" {
		return
	}
	for other := range v.docs {
		if v.checkRoot(other) == target {
			s.checks.add(target)
			return
		}
	}
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	delete(s.checks.pending, target)
	if cancel := s.checks.running[target]; cancel != nil {
		cancel()
	}
	s.publish(before, target, nil)
}

// didChangeFiles checks the open skills whose files changed on disk.
func (s *server) didChangeFiles(p *protocol.DidChangeWatchedFilesParams) {
	v := s.currentView()
	targets := map[string]bool{}
	for open := range v.docs {
		if target := v.checkRoot(open); target != "" {
			targets[target] = true
		}
	}
	for _, e := range p.Changes {
		changed := pathOf(e.URI, v.windows())
		if changed == "" {
			continue
		}
		if path.Base(changed) == skill.File || ownSchema(changed) != "" {
			s.scheduleAll() // there may be a skill now where there was none, or other rules
			return
		}
		for target := range targets {
			if _, ok := relativeTo(target, changed); ok {
				s.checks.add(target)
			}
		}
	}
}
