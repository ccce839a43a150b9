package lint_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
)

// TestRuleRows checks that the rules of the scanner have the titles of their rows in package rule, and that the severity
// there is that of the worst shape.
func TestRuleRows(t *testing.T) {
	for _, r := range scan.Builtin() {
		row, ok := rule.Lookup(r.ID)
		if !ok || row.Title != r.Title {
			t.Errorf("%s: the title is %q in the rule file, and %q in its row", r.ID, r.Title, row.Title)
		}
		worst := diag.SeverityNote
		for _, sh := range r.Shapes {
			severity := r.Severity
			if sh.Severity != nil {
				severity = *sh.Severity
			}
			worst = min(worst, severity)
		}
		if worst != row.Severity {
			t.Errorf("%s: the worst shape is a %s, and the row says %s", r.ID, worst, row.Severity)
		}
	}
}
