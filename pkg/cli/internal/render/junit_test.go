package render

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
)

// TestJUnit checks that each skill is a suite and each finding a case with a unique name, and that the counts match the
// cases.
func TestJUnit(t *testing.T) {
	o := Outcome{Report: lint.Report{
		Skills: []string{"../out", "skills/a.b", "skills/a.b/inner", "skills/good"},
		Findings: []diag.Finding{
			{Rule: "FM001", Path: "../out/SKILL.md", Line: 1, Column: 1, Message: "one", Fix: "do it"},
			{Rule: "REF001", Path: "skills/a.b/SKILL.md", Line: 5, Column: 2, Message: "x does not exist"},
			{Rule: "REF001", Path: "skills/a.b/SKILL.md", Line: 9, Column: 2, Message: "x does not exist"},
			{Rule: "FM011", Severity: diag.SeverityWarning, Path: "skills/a.b/inner/SKILL.md", Message: "\x1b[31m<&>", Profile: "a,b"},
			{Rule: "PACK005", Path: "skillpm.yaml", Message: "bad"},
			{Rule: "PACK007", Severity: diag.SeverityNote, Path: "skillpm.yaml", Message: "differs"},
		},
	}}
	var b bytes.Buffer
	if err := renderJUnit(&b, o); err != nil {
		t.Fatal(err)
	}
	var doc JUnitSuites
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	var got strings.Builder
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			result := "passed"
			if c.Failure != nil {
				result = "failed " + c.Failure.Type + " " + c.Failure.Text
			} else if c.Skipped != nil {
				result = "skipped " + c.Skipped.Text
			}
			got.WriteString(s.Name + " | " + c.Class + " | " + c.Name + " | " + strings.ReplaceAll(result, "\n", "/") + "\n")
		}
		if s.Tests != len(s.Cases) {
			t.Errorf("%s says %d cases", s.Name, s.Tests)
		}
	}
	want := `../out | __.out | FM001: one | failed FM001 ../out/SKILL.md:1:1: error FM001: one/fix: do it
skillpm.yaml | skillpm_yaml | PACK005: bad | failed PACK005 skillpm.yaml: error PACK005: bad
skillpm.yaml | skillpm_yaml | PACK007: differs | skipped skillpm.yaml: note PACK007: differs
skills/a.b | skills.a_b | REF001: x does not exist | failed REF001 skills/a.b/SKILL.md:5:2: error REF001: x does not exist
skills/a.b | skills.a_b | REF001: x does not exist (2) | failed REF001 skills/a.b/SKILL.md:9:2: error REF001: x does not exist
skills/a.b/inner | skills.a_b.inner | FM011: \u001b[31m<&> | skipped skills/a.b/inner/SKILL.md: warning FM011: \u001b[31m<&> (a, b)
skills/good | skills.good | no findings | passed
`
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &got, want)
	}
	if doc.Tests != 7 || doc.Failures != 4 || doc.Skipped != 2 || doc.Errors != 0 {
		t.Errorf("got %d tests, %d failures, %d skipped", doc.Tests, doc.Failures, doc.Skipped)
	}
}

func TestHome(t *testing.T) {
	o := Outcome{Report: lint.Report{Skills: []string{".", "..", "/abs", "a", "a/b"}}}
	tests := []struct{ path, want string }{
		{"SKILL.md", "."},
		{"a/x/y.md", "a"},
		{"a/b/SKILL.md", "a/b"},
		{"a", "a"},
		{"../SKILL.md", ".."},
		{"../../SKILL.md", "../../SKILL.md"},
		{"../else/SKILL.md", ".."},
		{"/abs/x", "/abs"},
		{"/else/x", "/else/x"},
	}
	for _, tt := range tests {
		if got := o.home(tt.path); got != tt.want {
			t.Errorf("home(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}
