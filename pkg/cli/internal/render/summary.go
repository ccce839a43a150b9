package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// JSONRule counts the findings of a rule with a severity.
type JSONRule struct {
	Rule     string        `json:"rule"`     // id of the rule
	Severity diag.Severity `json:"severity"` // error, warning, or note
	Findings int           `json:"findings"`
	Skills   int           `json:"skills"` // with such a finding; a file outside of skills counts as one
}

// String returns the count, for example: REF012 ×14 in 9 skills.
func (r JSONRule) String() string {
	switch {
	case r.Findings == 1:
		return r.Rule
	case r.Skills == 1:
		return r.Rule + " ×" + strconv.Itoa(r.Findings)
	}
	return fmt.Sprintf("%s ×%d in %d skills", r.Rule, r.Findings, r.Skills)
}

// rules counts the findings of each rule, worst first: by severity, then the most frequent.
func (o Outcome) rules() []JSONRule {
	type key struct {
		rule     string
		severity diag.Severity
	}
	all, last := map[key]*JSONRule{}, map[key]string{}
	skills := skillDirs(o)
	for _, f := range o.Findings {
		k := key{f.Rule, f.Severity}
		if all[k] == nil {
			all[k] = &JSONRule{Rule: f.Rule, Severity: f.Severity}
		}
		all[k].Findings++
		if dir := skills.of(f.Path); last[k] != dir || all[k].Skills == 0 { // findings are in the order of paths
			last[k] = dir
			all[k].Skills++
		}
	}
	out := []JSONRule{}
	for _, r := range all {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b JSONRule) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(b.Findings, a.Findings),
			cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// severities are all severities, worst first.
var severities = [...]diag.Severity{diag.SeverityError, diag.SeverityWarning, diag.SeverityNote}

// writeRules prints the rules with findings, one line for each severity, if there are several findings.
func (t textReport) writeRules(w io.Writer, o Outcome) {
	if len(o.Findings) < 2 {
		return
	}
	rules := o.rules()
	for _, s := range severities {
		var texts []string
		for _, r := range rules {
			if r.Severity == s {
				texts = append(texts, r.String())
			}
		}
		if len(texts) > 0 {
			t.println(w, t.Severity(s, fmt.Sprintf("%-9s", s.String()+"s"))+strings.Join(texts, ", "))
		}
	}
}

// summary formats the counts, for example: 3 errors, 1 warning in 12 skills (2 fixable with --fix); 4 suppressed.
func (t textReport) summary(o Outcome) string {
	var parts []string
	fixable := 0
	for _, s := range severities {
		if n := o.Count(s); n > 0 {
			parts = append(parts, t.Severity(s, textx.Count(n, s.String())))
			fixable += o.fixable(s)
		}
	}
	text := strings.Join(parts, ", ")
	switch {
	case len(parts) == 0 && len(o.Skills) == 0:
		text = "no skills to check"
	case len(parts) == 0:
		text = t.Green("no findings")
	}
	if len(o.Skills) > 0 {
		text += " in " + textx.Count(len(o.Skills), "skill")
	}
	if fixable > 0 {
		text += fmt.Sprintf(" (%d fixable with --fix)", fixable)
	}
	if n := len(o.Suppressed); n > 0 {
		text += fmt.Sprintf("; %d suppressed", n)
	}
	if n := o.fixes(); n > 0 {
		text += fmt.Sprintf("; %d fixed", n)
	}
	return text
}
