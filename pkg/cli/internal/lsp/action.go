package lsp

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
)

// fixAll is the kind of the action that applies all safe fixes of a document.
const fixAll protocol.CodeActionKind = "source.fixAll.skillpm"

// actions offers fixes for the findings in a range, and comments that suppress them.
func (s *server) actions(ctx context.Context, v *view, p *protocol.CodeActionParams) (any, error) {
	d := v.document(p.TextDocument.URI)
	if d == nil || !v.client.actions {
		return nil, nil
	}
	r, err := s.resultFor(ctx, v, d)
	if err != nil || r == nil || r.files[d.path] == nil {
		return nil, err
	}
	all := []protocol.CodeAction{}
	start, end := d.text.offset(p.Range.Start, v.client.encoding), d.text.offset(p.Range.End, v.client.encoding)
	inRange := false
	for _, f := range r.files[d.path].findings {
		span := d.text.findingRange(f, v.client.encoding)
		if d.text.offset(span.Start, v.client.encoding) > end || d.text.offset(span.End, v.client.encoding) < start {
			continue
		}
		inRange = true
		if wants(p.Context.Only, protocol.QuickFix) {
			for _, a := range r.quickFixes(d, f) {
				all = addAction(all, a)
			}
		}
	}
	requested := len(p.Context.Only) > 0
	if wants(p.Context.Only, fixAll) && (requested || inRange) {
		n := 0
		for _, f := range r.files[d.path].findings {
			if len(r.safeEdits(d, f)) > 0 {
				n++
			}
		}
		if n > 1 || n > 0 && requested {
			edits, err := v.safeFixes(ctx, d)
			if err != nil {
				return nil, err
			}
			all = append(all, protocol.CodeAction{
				Title: "Fix all findings that have a safe fix", Kind: fixAll,
				Edit: r.edit(edits),
			})
		}
	}
	return all, nil
}

// maxRounds bounds how often a document is checked again after fixes.
const maxRounds = 8

// safeFixes returns the edit that makes all safe edits of a document, including those that others make possible.
func (v *view) safeFixes(ctx context.Context, d *document) ([]diag.Edit, error) {
	before := d.text.string
	for range maxRounds {
		r, err := v.check(ctx, v.checkRoot(d.path))
		if err != nil {
			return nil, err
		}
		var edits []diag.Edit
		if c := r.files[d.path]; c != nil {
			for _, f := range c.findings {
				edits = append(edits, r.safeEdits(d, f)...)
			}
		}
		data, applied := lint.Apply([]byte(d.text.string), edits)
		if applied == 0 {
			break
		}
		d = newDocument(d.uri, d.path, d.version, string(data))
		v = v.with(func(v *view) { v.docs[d.path] = d })
	}
	return difference(d.path, before, d.text.string), nil
}

// difference returns the minimal edit that changes before into after.
func difference(p, before, after string) []diag.Edit {
	start, end := 0, 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	for start > 0 && start < len(before) && !utf8.RuneStart(before[start]) {
		start--
	}
	for end > 0 && !utf8.RuneStart(before[len(before)-end]) {
		end--
	}
	if before == after {
		return nil
	}
	return []diag.Edit{{Path: p, Start: start, End: len(before) - end, Text: after[start : len(after)-end]}}
}

// safeEdits returns the safe edits of a finding, if all of them are in the document's text.
func (r *result) safeEdits(d *document, f diag.Finding) []diag.Edit {
	elsewhere := func(e diag.Edit) bool { return e.Path != d.path || e.Executable }
	if !f.Fixable || slices.ContainsFunc(f.Edits, elsewhere) {
		return nil
	}
	return f.Edits
}

// wants reports whether the client requests actions of a kind, or of a more general kind.
func wants(only []protocol.CodeActionKind, kind protocol.CodeActionKind) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(k protocol.CodeActionKind) bool {
		return k == kind || k == "" || strings.HasPrefix(string(kind), string(k)+".")
	})
}

// addAction adds an action. For an equal action, it adds the finding to that.
func addAction(all []protocol.CodeAction, a protocol.CodeAction) []protocol.CodeAction {
	for i, have := range all {
		if have.Title == a.Title && reflect.DeepEqual(have.Edit, a.Edit) {
			all[i].Diagnostics = append(have.Diagnostics, a.Diagnostics...)
			return all
		}
	}
	return append(all, a)
}

// quickFixes returns the fixes for a finding.
func (r *result) quickFixes(d *document, f diag.Finding) []protocol.CodeAction {
	var all []protocol.CodeAction
	about := []protocol.Diagnostic{r.diagnostic(d.text, f)}
	if edit := r.edit(f.Edits); edit != nil {
		all = append(all, protocol.CodeAction{
			Title: f.Rule + ": " + cmp.Or(f.Fix, "fix the finding"), Kind: protocol.QuickFix, Diagnostics: about,
			IsPreferred: f.Fixable, Edit: edit,
		})
	}
	if e, where := d.ignoreEdit(f); where != "" {
		all = append(all, protocol.CodeAction{
			Title: fmt.Sprintf("Ignore %s %s with a comment", f.Rule, where), Kind: protocol.QuickFix,
			Diagnostics: about,
			Edit:        r.edit([]diag.Edit{e}),
		})
	}
	return all
}

// edit converts edits to the protocol's type, nil if there are none or some do not change text.
func (r *result) edit(edits []diag.Edit) *protocol.WorkspaceEdit {
	if len(edits) == 0 {
		return nil
	}
	changes := map[string][]protocol.TextEdit{}
	var order []string
	for _, e := range edits {
		t := r.view.content(r.tree, e.Path)
		if t == nil || e.Executable {
			return nil
		}
		e = wholeLines(t.string, e)
		if changes[e.Path] == nil {
			order = append(order, e.Path)
		}
		changes[e.Path] = append(changes[e.Path], protocol.TextEdit{
			Range: t.span(e.Start, e.End, r.view.client.encoding), NewText: e.Text,
		})
	}
	out := new(protocol.WorkspaceEdit)
	for _, p := range order {
		if !r.view.client.versions {
			if out.Changes == nil {
				out.Changes = map[protocol.DocumentURI][]protocol.TextEdit{}
			}
			out.Changes[r.view.uri(p)] = changes[p]
			continue
		}
		to := protocol.OptionalVersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: r.view.uri(p)},
		}
		if d := r.view.docs[p]; d != nil {
			to.Version = &d.version
		}
		out.DocumentChanges = append(out.DocumentChanges, protocol.TextDocumentEdit{
			TextDocument: to,
			Edits:        changes[p],
		})
	}
	return out
}

// wholeLines widens an edit that starts or ends inside of a line's ending, where no position of the protocol is.
func wholeLines(s string, e diag.Edit) diag.Edit {
	inside := func(at int) bool { return at > 0 && at < len(s) && s[at] == '\n' && s[at-1] == '\r' }
	if inside(e.Start) {
		e.Start, e.Text = e.Start-1, "\r"+e.Text
	}
	if inside(e.End) {
		e.End, e.Text = e.End+1, e.Text+"\n"
	}
	return e
}

// ignoreMarker starts a comment that has findings ignored.
const ignoreMarker = "skillpm-ignore"

// ignoreEdit returns the edit that adds a comment by which a finding is ignored, and in words how far it reaches, "" if
// there is no way to write one: findings about such comments, and those in skillpm's own files, cannot be ignored so.
func (d *document) ignoreEdit(f diag.Finding) (edit diag.Edit, where string) {
	if strings.HasPrefix(f.Rule, "SUP") || ownSchema(d.path) != "" {
		return diag.Edit{}, ""
	}
	n := d.text.lineAt(d.text.findingOffset(f.Line, 1))
	_, fence, closed := d.frontmatter()
	if d.isSkill() && fence > 0 && (n <= fence || !closed) {
		return d.ignoreInYAML(f, n)
	}
	open, end := d.comment()
	if open == "" {
		return diag.Edit{}, ""
	}
	insert := func(at int, marker, before, after string) diag.Edit {
		return diag.Edit{
			Path: d.path, Start: at, End: at,
			Text: before + open + " " + marker + " " + f.Rule + ": reason" + end + after,
		}
	}
	line, start := d.text.line(n)
	above, _ := d.text.line(n - 1)
	switch {
	case f.Line == 0 || n == 0 && strings.HasPrefix(line, "#!") || d.isMarkdown() && d.inCode(n):
		return insert(d.topOffset(), ignoreMarker+"-file", "", d.eol()), "in this file"
	// it would end a paragraph, list or table
	case d.isMarkdown() && n > 0 && strings.TrimSpace(line) != "" && strings.TrimSpace(above) != "" && !isFence(above):
		return insert(start+endOfText(line), ignoreMarker, " ", ""), "on this line"
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return insert(start, ignoreMarker, lead, d.eol()), "on this line"
}

// endOfText returns where a comment can be at the end of a line of Markdown: in a table before the bar that ends the
// last cell, because the text after it is not shown.
func endOfText(line string) int {
	text := strings.TrimRight(line, " \t")
	if strings.HasSuffix(text, "|") && !strings.HasSuffix(text, `\|`) && strings.Count(text, "|") > 1 {
		text = strings.TrimRight(text[:len(text)-1], " \t")
	}
	return len(text)
}

// topOffset returns the position for a comment about the whole file: below frontmatter, or below the line that names an
// interpreter.
func (d *document) topOffset() int {
	first, _ := d.text.line(0)
	n := 0
	if _, fence, closed := d.frontmatter(); closed {
		n = fence + 1
	} else if strings.HasPrefix(first, "#!") {
		n = 1
	}
	_, at := d.text.line(n)
	return at
}

// ignoreInYAML adds the comment to frontmatter: above the field, or at the top if the line is inside of text.
func (d *document) ignoreInYAML(f diag.Finding, n int) (edit diag.Edit, where string) {
	lines, first := d.yaml()
	o := newYAMLLines(lines, first)
	comment := "# " + ignoreMarker
	_, starts := o.entryAt(n - first)
	if f.Line == 0 || !starts {
		_, at := d.text.line(first)
		return diag.Edit{Path: d.path, Start: at, End: at, Text: comment + "-file " + f.Rule + ": reason" + d.eol()},
			"in this file"
	}
	line, at := d.text.line(n)
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	return diag.Edit{Path: d.path, Start: at, End: at, Text: lead + comment + " " + f.Rule + ": reason" + d.eol()},
		"on this line"
}

// comment returns the delimiters of comments in the document's language, "" if unknown.
func (d *document) comment() (open, end string) {
	if d.isMarkdown() {
		return "<!--", " -->"
	}
	switch strings.ToLower(path.Ext(d.path)) {
	case ".html", ".xml", ".svg":
		return "<!--", " -->"
	case ".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".r", ".yaml", ".yml", ".toml", ".ps1", ".lock":
		return "#", ""
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".jsx", ".tsx", ".go", ".rs", ".java", ".c", ".cpp", ".h", ".cs", ".kt",
		".swift", ".php":
		return "//", ""
	case ".lua", ".sql", ".hs":
		return "--", ""
	}
	if first, _ := d.text.line(0); strings.HasPrefix(first, "#!") && !strings.Contains(first, "node") {
		return "#", ""
	}
	return "", ""
}

// eol returns the line ending of the document.
func (d *document) eol() string {
	if strings.Contains(d.text.string, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
