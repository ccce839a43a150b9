package lsp

import (
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// ignoreMarker starts a comment that has findings ignored.
const ignoreMarker = "skillpm-ignore"

// ignore returns the edit that adds a comment by which a finding is ignored, and in words how far it reaches, "" if
// there is no way to write one: findings about such comments, and those in skillpm's own files, cannot be ignored so.
func (d *document) ignore(f diag.Finding) (edit diag.Edit, where string) {
	if strings.HasPrefix(f.Rule, "SUP") || ownSchema(d.path) != "" {
		return diag.Edit{}, ""
	}
	n := d.text.lineAt(d.text.found(f.Line, 1))
	_, fence, closed := d.front()
	if d.isSkill() && fence > 0 && (n <= fence || !closed) {
		return d.ignoreInYAML(f, n)
	}
	open, end := d.comment()
	if open == "" {
		return diag.Edit{}, ""
	}
	insert := func(at int, marker, before, after string) diag.Edit {
		return diag.Edit{Path: d.path, Start: at, End: at, Text: before + open + " " + marker + " " + f.Rule + ": reason" + end + after}
	}
	line, start := d.text.line(n)
	above, _ := d.text.line(n - 1)
	switch {
	case f.Line == 0 || n == 0 && strings.HasPrefix(line, "#!") || d.isMarkdown() && d.inCode(n):
		return insert(d.top(), ignoreMarker+"-file", "", d.eol()), "in this file"
	case d.isMarkdown() && n > 0 && strings.TrimSpace(line) != "" && strings.TrimSpace(above) != "" && !isFence(above): // it would end a paragraph, list or table
		return insert(start+endOfText(line), ignoreMarker, " ", ""), "here"
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return insert(start, ignoreMarker, lead, d.eol()), "here"
}

// endOfText returns where a comment can stand at the end of a line of Markdown: in a table, before the bar that ends
// the last cell, because what follows it is of no cell.
func endOfText(line string) int {
	text := strings.TrimRight(line, " \t")
	if strings.HasSuffix(text, "|") && !strings.HasSuffix(text, `\|`) && strings.Count(text, "|") > 1 {
		text = strings.TrimRight(text[:len(text)-1], " \t")
	}
	return len(text)
}

// top returns where a comment for the whole file can stand: below frontmatter, or the line that names an interpreter.
func (d *document) top() int {
	first, _ := d.text.line(0)
	n := 0
	if _, fence, closed := d.front(); closed {
		n = fence + 1
	} else if strings.HasPrefix(first, "#!") {
		n = 1
	}
	_, at := d.text.line(n)
	return at
}

// ignoreInYAML adds the comment to frontmatter: above the field, or at the top where the line is inside of text.
func (d *document) ignoreInYAML(f diag.Finding, n int) (edit diag.Edit, where string) {
	lines, first := d.yaml()
	o := newOutline(lines, first)
	comment := "# " + ignoreMarker
	_, starts := o.entryOf(n - first)
	if f.Line == 0 || !starts {
		_, at := d.text.line(first)
		return diag.Edit{Path: d.path, Start: at, End: at, Text: comment + "-file " + f.Rule + ": reason" + d.eol()}, "in this file"
	}
	line, at := d.text.line(n)
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	return diag.Edit{Path: d.path, Start: at, End: at, Text: lead + comment + " " + f.Rule + ": reason" + d.eol()}, "here"
}

// comment returns how a comment of the document's language starts and ends, "" if none is known.
func (d *document) comment() (open, end string) {
	if d.isMarkdown() {
		return "<!--", " -->"
	}
	switch strings.ToLower(path.Ext(d.path)) {
	case ".html", ".xml", ".svg":
		return "<!--", " -->"
	case ".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".r", ".yaml", ".yml", ".toml", ".ps1", ".lock":
		return "#", ""
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".jsx", ".tsx", ".go", ".rs", ".java", ".c", ".cpp", ".h", ".cs", ".kt", ".swift", ".php":
		return "//", ""
	case ".lua", ".sql", ".hs":
		return "--", ""
	}
	if first, _ := d.text.line(0); strings.HasPrefix(first, "#!") && !strings.Contains(first, "node") {
		return "#", ""
	}
	return "", ""
}

// eol returns how the document's lines end.
func (d *document) eol() string {
	if strings.Contains(d.text.string, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
