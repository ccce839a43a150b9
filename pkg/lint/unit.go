package lint

import (
	"bytes"
	"github.com/skillpm/skillpm/pkg/lint/rule"
	"path"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// unit is the check of one skill.
type unit struct {
	l        *linter
	dir      string
	file     string // path of its SKILL.md in the file system
	tree     *tree
	doc      *skill.Document
	src      *source // of SKILL.md
	findings []diag.Finding
	lines    map[place]string
	nested   []*unit

	called map[string]bool // scripts that the skill calls by their path

	name, description mention // what is compared with other skills
}

// mention is a field of the frontmatter that is remembered after the skill has been checked.
type mention struct {
	text string
	at   finding // where it is
	line string  // the line that it is on
}

// check looks at one skill and those inside it.
func (l *linter) check(p home) *unit {
	u := &unit{
		l: l, dir: p.dir, file: path.Join(p.dir, p.file), tree: l.newTree(p),
		called: map[string]bool{}, lines: map[place]string{},
	}
	if p.file != skill.File {
		u.add(finding{rule: rule.FileCase, path: u.file, message: p.file + " is not called SKILL.md"})
	}
	u.structure()
	if data, ok := u.read(u.file, skill.MaxFile); ok {
		u.text(data)
	}
	u.scripts()
	for _, n := range u.tree.nested {
		inner := l.check(n)
		u.nested = append(u.nested, inner)
		u.nested = append(u.nested, inner.nested...)
		inner.nested = nil
	}
	u.doc, u.src, u.tree, u.called = nil, nil, nil, nil // many skills are held until all are compared
	return u
}

// text checks what SKILL.md says.
func (u *unit) text(data []byte) {
	doc, problems := skill.Parse(data)
	u.doc, u.src = doc, newSource(u.file, data)
	u.form(problems)
	for _, j := range u.l.judges {
		u.judge(j)
	}
	u.fields()
	u.body()
	u.references()
	u.name = u.remember("name", doc.Name())
	u.description = u.remember("description", doc.Description())
}

func (u *unit) remember(field, text string) mention {
	_, v := u.doc.Lookup(field)
	if v == nil || text == "" {
		return mention{}
	}
	at := finding{path: u.file, line: v.Line, column: v.Column, width: nodeWidth(v)}
	return mention{text: strings.Clone(text), at: at, line: u.src.line(v.Line)}
}

// atMention places a finding on a field that was remembered.
func (u *unit) atMention(m mention, f finding) {
	f.path, f.line, f.column, f.width = m.at.path, m.at.line, m.at.column, m.at.width
	u.add(f)
	u.lines[place{u.l.show(f.path), f.line}] = m.line
}

// read returns a file's bytes; what goes wrong is a finding.
func (u *unit) read(name string, limit int64) ([]byte, bool) {
	data, err := readHead(u.l.fsys, name, limit+1)
	switch {
	case err != nil:
		u.add(finding{rule: rule.Unreadable, path: name, message: "the file cannot be read: " + reason(err)})
		return nil, false
	case int64(len(data)) > limit:
		u.add(finding{rule: rule.Unreadable, path: name, message: "the file is larger than " + size(limit)})
		return nil, false
	}
	return data, true
}

// finding is what a check says; what it leaves out is taken from the rule's table.
type finding struct {
	rule     string
	severity *diag.Severity
	path     string // of a file as a whole; "" with src
	src      *source
	line     int
	column   int
	width    int // in code points, 0 if unknown
	message  string
	fix      string
	profile  string
}

func (u *unit) add(f finding) {
	out := diag.Finding{
		Rule: f.rule, Severity: rule.Severity(f.rule), Path: f.path, Line: f.line, Column: f.column,
		Message: f.message, Fix: f.fix, Profile: f.profile,
	}
	if f.severity != nil {
		out.Severity = *f.severity
	}
	if out.Fix == "" {
		out.Fix = rule.Fix(f.rule)
	}
	if f.src != nil {
		out.Path = f.src.path
	}
	out.Path = u.l.show(out.Path)
	if f.src != nil {
		u.lines[place{out.Path, f.line}] = f.src.line(f.line)
	}
	if f.width > 0 {
		out.EndLine, out.EndColumn = f.line, f.column+f.width
	}
	u.findings = append(u.findings, out)
}

// atNode places a finding on a YAML node of SKILL.md.
func (u *unit) atNode(n *yaml.Node, f finding) {
	f.src, f.line, f.column, f.width = u.src, n.Line, n.Column, nodeWidth(n)
	u.add(f)
}

// nodeWidth returns how many characters of its first line a scalar takes, 0 if that is not known.
func nodeWidth(n *yaml.Node) int {
	if n.Kind != yaml.ScalarNode || strings.Contains(n.Value, "\n") || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return 0
	}
	width := utf8.RuneCountInString(n.Value)
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		width += 2
	}
	return width
}

// source is a file's text with its lines.
type source struct {
	path  string
	data  []byte
	lines []int // the offset of each line
}

func newSource(path string, data []byte) *source { return &source{path: path, data: data} }

func (s *source) index() []int {
	if s.lines == nil {
		s.lines = append(make([]int, 0, 1+bytes.Count(s.data, []byte("\n"))), 0)
		for i, c := range s.data {
			if c == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	}
	return s.lines
}

// line returns the text of a line, from 1, without its ending.
func (s *source) line(n int) string {
	lines := s.index()
	if n < 1 || n > len(lines) {
		return ""
	}
	end := len(s.data)
	if n < len(lines) {
		end = lines[n] - 1
	}
	return strings.TrimRight(string(s.data[lines[n-1]:end]), "\r")
}

// position returns the line and column of a byte.
func (s *source) position(offset int) (line, column int) {
	lines := s.index()
	offset = max(0, min(offset, len(s.data)))
	low, high := 0, len(lines)
	for low+1 < high {
		if mid := (low + high) / 2; lines[mid] <= offset {
			low = mid
		} else {
			high = mid
		}
	}
	return low + 1, utf8.RuneCount(s.data[lines[low]:offset]) + 1
}
