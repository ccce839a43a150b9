package lint

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// formRules are the rules for what [skill.Parse] finds.
var formRules = map[skill.Kind]string{
	skill.NoFrontmatter: ruleNoFrontmatter,
	skill.LeadingText:   ruleLeadingText,
	skill.Unclosed:      ruleUnclosed,
	skill.BadYAML:       ruleBadYAML,
	skill.Tab:           ruleTab,
	skill.NotMapping:    ruleNotMapping,
	skill.DuplicateKey:  ruleDuplicateKey,
	skill.ByteOrderMark: ruleBOM,
	skill.NotUTF8:       ruleNotUTF8,
}

// form reports what is wrong with the form of SKILL.md.
func (u *unit) form(problems []skill.Problem) {
	for _, p := range problems {
		u.add(finding{
			rule: formRules[p.Kind], src: u.src, line: p.Line, column: p.Column, message: p.Message, fix: p.Fix,
		})
	}
}

// broken reports whether the frontmatter's form is so wrong that fields may be missing for that reason alone.
func (u *unit) broken() bool {
	for _, f := range u.findings {
		switch f.Rule {
		case ruleNoFrontmatter, ruleUnclosed, ruleNotMapping:
			return true
		case ruleBadYAML, ruleTab:
			if f.Severity == diag.SeverityError {
				return true
			}
		}
	}
	return false
}
