package lint

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TestCompact checks that findings and mentions come back as they were.
func TestCompact(t *testing.T) {
	findings := []diag.Finding{
		{Rule: "FM001", Path: "a/SKILL.md", Message: "first"},
		{Rule: "FM002", Severity: diag.SeverityNote, Path: "a/SKILL.md", Line: 300, Column: 1, EndColumn: 70_000},
		{Rule: "XS001", Path: "b/ü.md", Message: strings.Repeat("long ", 100), Fix: "fix\n", Profile: "a,b", Fixable: true},
		{Rule: "XS002", Related: []string{"c", "", "d"}},
		{Rule: "XS003", Path: "b/ü.md"},
	}
	var full diag.Finding // with every field but Edits
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case v.Type().Field(i).Name == "Edits":
		case f.Kind() == reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case f.CanInt():
			f.SetInt(int64(-i))
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		default:
			f.Set(reflect.ValueOf([]string{"related"}))
		}
	}
	findings = append(findings, full)
	for n := range len(findings) + 1 {
		c := newCompactFindings(findings[:n])
		if got := c.list(); !reflect.DeepEqual(got, findings[:n]) || c.len() != n {
			t.Errorf("%d findings: %+v", c.len(), got)
		}
	}
	if none := compactFindings(""); none.len() != 0 || len(none.list()) != 0 {
		t.Errorf("no findings: %v", none.list())
	}
	mentions := []mention{
		{name: "one", file: "a/SKILL.md", line: 1, column: 2, width: 3},
		{name: "two", file: "a/SKILL.md", line: 1 << 20},
		{name: "", file: "b.md"},
		{name: "three", file: "a/SKILL.md"},
	}
	if got := slices.Collect(newCompactMentions(mentions).all()); !slices.Equal(got, mentions) {
		t.Errorf("%+v", got)
	}
	for m := range newCompactMentions(mentions).all() {
		if m != mentions[0] {
			t.Error(m)
		}
		break
	}
}

// TestGrams checks that grams deny only what a text does not have.
func TestGrams(t *testing.T) {
	text := "See `scripts/run-all.py` and ./data/ for Ünïcode."
	var g grams
	g.add([]byte(text))
	for i := range text {
		for j := i; j <= len(text); j++ {
			if !g.mayContain(text[i:j]) {
				t.Errorf("%q is in the text", text[i:j])
			}
		}
	}
	if !g.mayContain("xy") || g.mayContain("scripts/run-one.py") {
		t.Error("texts of less than three bytes are not known, and others are not in the text")
	}
}
