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
	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
	"github.com/skillpm/skillpm/pkg/skill"
)

// skillCheck is the check of one skill. All of them stay in memory until they are compared; what a check needs only
// while it reads the skill's files is in work.
type skillCheck struct {
	collector
	*work
	dir   string
	outer string // the directory of the skill that it is inside of, or ""
	file  string // path of its SKILL.md in the file system

	nested   []*skillCheck
	packDir  string // the directory of its pack's skillpm.yaml, or ""
	comments []*suppression
	refs     []skillRef // its references to other skills
	mentions compactMentions
	compact  compactFindings // the findings of the check, unless they have edits

	name, description excerpt // data that is compared with other skills

	capabilities Capabilities // without the directory
}

// work is the state of the check of one skill's files.
type work struct {
	tree *tree
	doc  *skill.Document
	src  *source // of SKILL.md

	files         map[string]*file // by their paths in the skill
	names         []string         // their paths in order, once they are read
	called        map[string]bool  // scripts that the skill calls by their path
	named         map[string]bool  // scripts that code spans with arguments start with
	scriptCalls   map[string]bool  // names of files that its shell scripts call by a path; nil until needed
	interpreted   map[string]bool  // scripts that the skill gives to an interpreter
	commented     bool             // a comment was reported
	brokenLine    int              // the first line of the frontmatter that is not valid YAML, or 0
	signals       []signal         // what counts in the skill's score
	flows         []*flow.Summary  // what the code of each file does
	unknownKeys   []unknownKey     // fields that no agent knows
	foreignFields []foreignField   // fields that only other agents know
	mentions      []mention        // other mentions of skills, once for each name
	mentioned     map[string]bool  // the names of mentions
	pathFindings  map[pathFinding]bool
	denial        denial
	lookups       int // how many paths were looked up outside of the skill
}

// excerpt is a text in a skill with its position, kept after the skill has been checked. There are many of them, so they
// are small.
type excerpt struct {
	text                string
	file                string // path in the file system
	line, column, width int32
}

// check looks at one skill and those inside it.
func (l *lintRun) check(p skillDir) *skillCheck {
	u := &skillCheck{
		collector: newCollector(l), dir: p.dir, outer: p.outer, file: path.Join(p.dir, p.file),
		work: &work{
			tree: l.newTree(p), called: map[string]bool{}, named: map[string]bool{}, interpreted: map[string]bool{},
		},
	}
	memory := l.arenas.take()
	defer l.arenas.release(memory)
	u.load(memory)
	if p.file != skill.File {
		u.add(finding{rule: rule.FileCase, path: u.file, message: p.file + " must be named SKILL.md"})
	}
	u.checkStructure()
	if main := u.files[p.file]; main.isText() {
		u.checkMainFile(main)
	}
	u.checkOtherFiles()
	u.readSuppressions()
	for _, n := range u.tree.nested {
		n.outer = u.dir
		inner := l.check(n)
		u.nested = append(u.nested, inner)
		u.nested = append(u.nested, inner.nested...)
		inner.nested = nil
	}
	u.mentions = newCompactMentions(u.work.mentions)
	u.work, u.counts = nil, nil
	if l.Edits {
		u.findings = slices.Clone(u.findings) // without room to grow
	} else {
		u.compact, u.findings = newCompactFindings(u.findings), nil
	}
	return u
}

// checkMainFile checks the content of SKILL.md.
func (u *skillCheck) checkMainFile(main *file) {
	doc, problems := skill.Parse(main.data)
	u.doc, u.src = doc, main.source
	u.reportParseProblems(problems)
	for _, j := range u.l.schemas {
		u.checkFrontmatter(j)
	}
	u.reportUnknownFields()
	u.reportForeignFields()
	u.checkFieldReferences()
	u.checkTools()
	u.checkLicense()
	u.checkFieldOrder()
	u.checkStyle()
	u.checkTemplateDescription()
	u.checkBody()
	u.followLinks(main)
	u.name = u.excerptOf("name", doc.Name())
	u.description = u.excerptOf("description", doc.Description())
}

// checkOtherFiles checks the other files.
func (u *skillCheck) checkOtherFiles() {
	u.checkOrphans()
	names := u.sortedFiles()
	for _, rel := range names {
		f := u.files[rel]
		u.checkScript(f)
		u.summarize(f)
		u.checkSyntax(f)
		u.checkFinalNewline(f)
		u.checkTemplate(f)
	}
	u.checkSecurity(names)
	u.reportFlows()
	u.reportScore()
	u.reportCapabilities(names)
	u.readCapabilities(names)
}

// sortedFiles returns the paths of the skill's files, sorted.
func (u *skillCheck) sortedFiles() []string {
	if u.names == nil {
		u.names = slices.Sorted(maps.Keys(u.files))
	}
	return slices.Clone(u.names)
}

// excerptOf returns a field of the frontmatter as an excerpt.
func (u *skillCheck) excerptOf(field, text string) excerpt {
	_, v := u.doc.Lookup(field)
	if v == nil || text == "" {
		return excerpt{}
	}
	return excerpt{strings.Clone(text), u.file, int32(v.Line), int32(v.Column), int32(nodeWidth(v))}
}

// atExcerpt adds a finding at an excerpt.
func (u *skillCheck) atExcerpt(m excerpt, f finding) {
	f.path, f.line, f.column, f.width = m.file, int(m.line), int(m.column), int(m.width)
	u.add(f)
}

// atNode adds a finding at a YAML node of SKILL.md.
func (u *skillCheck) atNode(n *yaml.Node, f finding) {
	f.src, f.line, f.column, f.width = u.src, n.Line, n.Column, nodeWidth(n)
	u.add(f)
}

// collector gathers findings.
type collector struct {
	l        *lintRun
	findings []diag.Finding
	redacted map[lineKey]string // lines with secrets, as reports may show them
	shown    [2]string          // the last path, and how reports show it

	suppressed []Suppressed

	counts map[string]int // how many findings of each rule there are
}

func newCollector(l *lintRun) collector { return collector{l: l} }

// finding is a result of a check. The table of rules supplies what it leaves out.
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
	edits    func() []diag.Edit // called only if [Options].Edits is set; their paths are those of the file system
	suggest  bool               // the edits are a suggestion, and not safe to apply unseen
}

// maxPerRule is how many findings of one rule a skill has at most; more would not be read.
const maxPerRule = 1000

func (c *collector) add(f finding) {
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	if c.counts[f.rule]++; c.counts[f.rule] > maxPerRule {
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
	var off bool
	if out.Severity, off = c.l.Settings.level(f.rule, out.Severity); off {
		return
	}
	ignore := c.l.Settings.ignored(f.rule, out.Path)
	if out.Fix == "" {
		out.Fix = rule.Fix(f.rule)
	}
	out.Path = c.show(out.Path)
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

// show is [lintRun.show] with a cache of one path: most findings are about the same file as the one before.
func (c *collector) show(path string) string {
	if c.shown[0] != path || c.shown[1] == "" {
		c.shown = [2]string{path, c.l.show(path)}
	}
	return c.shown[1]
}

// at adds a finding about a range of bytes of a file.
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
