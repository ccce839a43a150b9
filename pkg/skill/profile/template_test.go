package profile_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/profile"
)

func fill(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	parsed, err := profile.ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	parsed.Expand(&b, func(v profile.Value) string { return values[v.Name] + v.Filter })
	return b.String()
}

func TestTemplate(t *testing.T) {
	values := map[string]string{"a": "1", "b_2": "{a}[[x]]", "none": ""}
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"plain", "plain"},
		{"{a}", "1"},
		{"x{a}y{b_2}z", "x1y{a}[[x]]z"}, // what is filled in is not read again
		{"{a|quoted}", "1quoted"},
		{"[[{a}]]", "1"},
		{"-[[ ({none})]]-[[ {a}{none}]]", "--"},
		{"[[always]][[]]", "always"},
		{"{{a}", "{a}"},
		{"{ a} {A} {} {a-b} {a|} {|a} {", "{ a} {A} {} {a-b} {a|} {|a} {"},
		{`{"a": {a}}`, `{"a": 1}`},
		{"] [a] ]] [Skill: {a}]", "] [a] ]] [Skill: 1]"},
	} {
		if got := fill(t, tt.text, values); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
	for _, wrong := range []string{"[[", "a [[b {a}", "[[a [[b]] ]]"} {
		if _, err := profile.ParseTemplate(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestTemplateWhole(t *testing.T) {
	for text, want := range map[string]string{"{a}": "a", "{a|quoted}": "a", " {a}": "", "{a}{b}": "", "a": "", "": "", "[[{a}]]": ""} {
		parsed, err := profile.ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parsed.Whole(); got.Name != want || ok != (want != "") {
			t.Errorf("%q: got %+v, %v", text, got, ok)
		}
	}
}
