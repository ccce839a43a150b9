package lint

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/skill"
)

// formRules are the rules for what [skill.Parse] finds.
var formRules = map[skill.Kind]string{
	skill.NoFrontmatter: rule.NoFrontmatter,
	skill.LeadingText:   rule.LeadingText,
	skill.Unclosed:      rule.Unclosed,
	skill.BadYAML:       rule.BadYAML,
	skill.Tab:           rule.Tab,
	skill.NotMapping:    rule.NotMapping,
	skill.DuplicateKey:  rule.DuplicateKey,
	skill.ByteOrderMark: rule.BOM,
	skill.NotUTF8:       rule.NotUTF8,
}

// form reports what is wrong with the form of SKILL.md.
func (u *unit) form(problems []skill.Problem) {
	for i, p := range problems {
		f := finding{
			rule: formRules[p.Kind], src: u.src, line: p.Line, column: p.Column, message: p.Message,
			fix: p.Fix,
		}
		if i < maxTries && u.doc.FrontEnd-u.doc.FrontStart < maxTried {
			f.edits = u.formEdits(p)
		}
		u.add(f)
	}
}

// Whether a broken field can be mended is found out by reading the file with the mended one. That is done for so many
// of a file, and for frontmatter of up to so many bytes.
const (
	maxTries = 20
	maxTried = 64 << 10
)

// formEdits returns edits for the problems that can be mended without a guess; nil for others.
func (u *unit) formEdits(p skill.Problem) func() []diag.Edit {
	switch p.Kind {
	case skill.ByteOrderMark:
		return u.src.withoutBOM
	case skill.BadYAML:
		return u.src.rewriting(u.doc.QuoteLine(p.Line))
	}
	return nil
}

// broken reports whether the frontmatter's form is so wrong that fields may be missing for that reason alone.
func (u *unit) broken() bool {
	for _, f := range u.findings {
		switch f.Rule {
		case rule.NoFrontmatter, rule.Unclosed, rule.NotMapping:
			return true
		case rule.BadYAML, rule.Tab:
			if f.Severity == diag.SeverityError {
				return true
			}
		}
	}
	return false
}
