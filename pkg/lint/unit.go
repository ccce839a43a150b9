package lint

import (
	"github.com/skillpm/skillpm/pkg/lint/rule"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/skill"
)

// unit is the check of one skill.
type unit struct {
	collector
	dir    string
	file   string // path of its SKILL.md in the file system
	tree   *tree
	doc    *skill.Document
	src    *source // of SKILL.md
	nested []*unit

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
		collector: newCollector(l), dir: p.dir, file: path.Join(p.dir, p.file), tree: l.newTree(p),
		called: map[string]bool{},
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

// atNode places a finding on a YAML node of SKILL.md.
func (u *unit) atNode(n *yaml.Node, f finding) {
	f.src, f.line, f.column, f.width = u.src, n.Line, n.Column, nodeWidth(n)
	u.add(f)
}
