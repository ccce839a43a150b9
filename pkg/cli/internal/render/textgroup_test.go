package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
)

// repeated returns n findings of a rule in a file.
func repeated(n int, severity diag.Severity, id, path string) []diag.Finding {
	var all []diag.Finding
	for i := range n {
		all = append(all, diag.Finding{Rule: id, Severity: severity, Path: path, Line: 10 * (i + 1), Message: "wrong"})
	}
	return all
}

func rendered(t *testing.T, r textReport, o Outcome) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.render(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTextRepeated checks that repeated findings of a rule in a skill are printed once, with the other positions, and
// all of them with --verbose.
func TestTextRepeated(t *testing.T) {
	findings := repeated(6, diag.SeverityWarning, "REF001", "a/SKILL.md")
	findings = append(findings, repeated(2, diag.SeverityError, "FM001", "b/SKILL.md")...)
	for i := range 4 {
		findings = append(findings, repeated(1, diag.SeverityNote, "REF013", fmt.Sprintf("b/%d.md", i))...)
	}
	o := Outcome{Report: lint.Report{Skills: []string{"a", "b"}, Findings: findings}}
	want := `a/SKILL.md
  10:1 warning REF001: wrong
    and 5 more on lines 20, 30, 40, …; show all with -v

b/SKILL.md
  10:1 error FM001: wrong
  20:1 error FM001: wrong

b/0.md
  10:1 note REF013: wrong
    and 3 more in 3 other files; show all with -v

Skills with errors
  b (2 errors)

errors   FM001 ×2
warnings REF001 ×6
notes    REF013 ×4
2 errors, 6 warnings, 4 notes in 2 skills
`
	if got := rendered(t, textReport{}, o); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := rendered(t, textReport{all: true}, o); strings.Count(got, ": wrong\n") != len(findings) {
		t.Errorf("-v does not print all %d findings:\n%s", len(findings), got)
	}
}

// TestTextLong checks a report about many skills: it repeats no fix, and it shortens the list of failing skills.
func TestTextLong(t *testing.T) {
	o := Outcome{}
	for i := range 200 {
		dir := fmt.Sprintf("skills/%03d", i)
		o.Skills = append(o.Skills, dir)
		o.Findings = append(o.Findings, diag.Finding{
			Rule: "FM001", Path: dir + "/SKILL.md", Message: "wrong", Fix: "correct it",
		})
	}
	got := rendered(t, textReport{}, o)
	if n := strings.Count(got, "correct it"); n != 1 {
		t.Errorf("the fix is printed %d times", n)
	}
	if end := "  skills/019 (1 error)\n  and 180 more\n\nerrors   FM001 ×200 in 200 skills\n200 errors in 200 skills\n"; !strings.HasSuffix(got, end) {
		t.Errorf("it ends with:\n%s\nwant:\n%s", got[max(0, len(got)-200):], end)
	}
}
