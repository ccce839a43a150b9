package lint

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
)

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
