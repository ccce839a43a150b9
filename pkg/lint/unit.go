package lint

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/skill"
)

// unit is the check of one skill.
type unit struct {
	collector
	dir    string
	outer  string // the directory of the skill that it is inside of, or ""
	file   string // path of its SKILL.md in the file system
	tree   *tree
	doc    *skill.Document
	src    *source // of SKILL.md
	nested []*unit

	files       map[string]*file // by their paths in the skill
	names       []string         // their paths in order, once they are read
	called      map[string]bool  // scripts that the skill calls by their path
	interpreted map[string]bool  // scripts that the skill gives to an interpreter
	commented   bool             // a comment was reported
	home        string           // the directory of its pack's skillpm.yaml, "" where there is none
	strangers   []stranger       // fields that no host knows
	unknown     []foreignField   // fields that only other hosts know
	comments    []*suppression
	refs        []skillRef // what it says of other skills

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
		collector: newCollector(l), dir: p.dir, outer: p.outer, file: path.Join(p.dir, p.file), tree: l.newTree(p),
		called: map[string]bool{}, interpreted: map[string]bool{},
	}
	u.lenient = p.outer != ""
	memory := l.memory.take()
	defer l.memory.put(memory)
	u.load(memory)
	if p.file != skill.File {
		u.add(finding{rule: rule.FileCase, path: u.file, message: p.file + " is not called SKILL.md"})
	}
	u.structure()
	if main := u.files[p.file]; main.isText() {
		u.text(main)
	}
	u.rest()
	u.readSuppressions()
	for _, n := range u.tree.nested {
		n.outer = u.dir
		inner := l.check(n)
		u.nested = append(u.nested, inner)
		u.nested = append(u.nested, inner.nested...)
		inner.nested = nil
	}
	// many skills are held until all are compared
	u.doc, u.src, u.tree, u.called, u.interpreted, u.files, u.names = nil, nil, nil, nil, nil, nil, nil
	return u
}

// text checks what SKILL.md says.
func (u *unit) text(main *file) {
	doc, problems := skill.Parse(main.data)
	u.doc, u.src = doc, main.source
	u.form(problems)
	for _, j := range u.l.judges {
		u.judge(j)
	}
	u.unknownFields()
	u.foreign()
	u.fields()
	u.order()
	u.style()
	u.body()
	u.follow(main)
	u.name = u.remember("name", doc.Name())
	u.description = u.remember("description", doc.Description())
}

// rest checks the other files.
func (u *unit) rest() {
	u.orphans()
	names := u.sortedFiles()
	for _, rel := range names {
		f := u.files[rel]
		u.script(f)
		u.syntax(f)
		u.ending(f)
	}
	u.security(names)
	u.capabilities(names)
}

// sortedFiles returns the paths of the files that were looked at, in order.
func (u *unit) sortedFiles() []string {
	if u.names == nil {
		u.names = slices.Sorted(maps.Keys(u.files))
	}
	return slices.Clone(u.names)
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
	u.line(place{u.l.show(f.path), f.line}, m.line)
}

// atNode places a finding on a YAML node of SKILL.md.
func (u *unit) atNode(n *yaml.Node, f finding) {
	f.src, f.line, f.column, f.width = u.src, n.Line, n.Column, nodeWidth(n)
	u.add(f)
}

// collector gathers findings and the lines that they are about.
type collector struct {
	l        *linter
	findings []diag.Finding
	lines    map[place]string

	suppressed []Suppressed

	said map[string]int // how many findings of each rule there are

	lenient bool // errors are warnings, but for what is hostile: no host takes it for a skill
}

func newCollector(l *linter) collector { return collector{l: l} }

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
	related  []string           // paths of other files that it is about
	edits    func() []diag.Edit // made only when they are asked for; their paths are those of the file system
	suggest  bool               // the edits are a suggestion, and not safe to apply unseen
}

// maxOfRule is how many findings of one rule there are of a skill at most: who reads a thousand has seen enough.
const maxOfRule = 1000

func (c *collector) add(f finding) {
	if c.said == nil {
		c.said = map[string]int{}
	}
	if c.said[f.rule]++; c.said[f.rule] > maxOfRule {
		return
	}
	if f.src != nil && f.src.converted {
		f.edits = nil
	}
	out := diag.Finding{
		Rule: f.rule, Severity: rule.Severity(f.rule), Path: f.path, Line: f.line, Column: f.column,
		Message: f.message, Fix: f.fix, Profile: f.profile, Fixable: f.edits != nil && !f.suggest,
	}
	if f.severity != nil {
		out.Severity = *f.severity
	}
	if f.src != nil {
		out.Path = f.src.path
	}
	if c.lenient && out.Severity == diag.SeverityError && !strings.HasPrefix(f.rule, "SEC") {
		out.Severity = diag.SeverityWarning
	}
	var off bool
	if out.Severity, off = c.l.Settings.level(f.rule, out.Severity); off {
		return
	}
	ignore := c.l.Settings.ignored(f.rule, out.Path)
	if out.Fix == "" {
		out.Fix = rule.Fix(f.rule)
	}
	out.Path = c.l.show(out.Path)
	if f.src != nil {
		at := place{out.Path, f.line}
		if _, known := c.lines[at]; !known {
			c.line(at, f.src.line(f.line))
		}
	}
	if f.width > 0 {
		out.EndLine, out.EndColumn = f.line, f.column+f.width
	}
	for _, name := range f.related {
		out.Related = append(out.Related, c.l.show(name))
	}
	if c.l.Edits && f.edits != nil {
		out.Edits = f.edits()
		for i := range out.Edits {
			out.Edits[i].Path = c.l.show(out.Edits[i].Path)
		}
	}
	if ignore != nil {
		c.suppressed = append(c.suppressed, Suppressed{Finding: out, Reason: ignore.Reason, By: ByConfiguration})
		return
	}
	c.findings = append(c.findings, out)
}

// line remembers the text of a line.
func (c *collector) line(at place, text string) {
	if c.lines == nil {
		c.lines = map[place]string{}
	}
	c.lines[at] = text
}

// at places a finding on a range of bytes of a file.
func (c *collector) at(src *source, start, end int, f finding) {
	f.src = src
	f.line, f.column = src.position(start)
	if last, _ := src.position(end); last == f.line && end > start {
		f.width = utf8.RuneCount(src.data[start:end])
	}
	c.add(f)
}

// nodeWidth returns how many characters of its first line a scalar takes, 0 if that is not known.
func nodeWidth(n *yaml.Node) int {
	if n.Kind != yaml.ScalarNode || strings.Contains(n.Value, "\n") ||
		n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return 0
	}
	width := utf8.RuneCountInString(n.Value)
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		width += 2
	}
	return width
}
