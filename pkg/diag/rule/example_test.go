package rule_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
)

func TestFiles(t *testing.T) {
	tests := []struct {
		example string
		want    []rule.File
	}{
		{"---\nname: x\n---\n", []rule.File{{Text: "---\nname: x\n---\n"}}},
		{"-- a/SKILL.md\none\n\ntwo\n-- a/x.sh 755\n#!/bin/sh\n-- b\n", []rule.File{
			{Path: "a/SKILL.md", Text: "one\n\ntwo\n"},
			{Path: "a/x.sh", Executable: true, Text: "#!/bin/sh\n"},
			{Path: "b"},
		}},
		{"-- a/b -> ../c\n-- a/d 5 MiB\nx\n", []rule.File{{Path: "a/b", Target: "../c"}, {Path: "a/d", MiB: 5, Text: "x\n"}}},
	}
	for _, tt := range tests {
		if got := rule.Files(tt.example); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %+v", tt.example, got)
		}
	}
}

func TestVisible(t *testing.T) {
	tests := []struct{ text, want string }{
		{"plain ü 日 😀\n", "plain ü 日 😀\n"},
		{"\ufeffa\tb\r\n", `\ufeffa\tb\r` + "\n"},
		{"a\u200b\u202eb\U000e0041\x1b", `a\u200b\u202eb\U000e0041\u001b`},
		{"\x7fELF\xff\ufffd", `\u007fELF\xff` + "\ufffd"},
		{"a\n\n\nb\n", "a\n\n\nb\n"},
		{"a\n" + strings.Repeat("\n", 80) + "b", "a\n[80 blank lines]\nb"},
		{strings.Repeat("one\n", 7), "one\n[6 more lines like this one]\n"},
		{"one\none\ntwo\n", "one\none\ntwo\n"},
		{"key: " + strings.Repeat("aB3_", 10) + ".", "key: aB3_aB3_aB…."},
		{strings.Repeat("word", 10), strings.Repeat("word", 10)},
		{"a" + strings.Repeat("\x00", 20) + "b", "a" + strings.Repeat(`\u0000`, 8) + "…b"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := rule.Visible(tt.text); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestRulesSpeakToAuthors checks that fixes address the author of a skill, not its users.
func TestRulesSpeakToAuthors(t *testing.T) {
	for _, r := range rule.All() {
		for _, phrase := range []string{"before you install", "before installing", "do not install", "if you trust"} {
			if strings.Contains(strings.ToLower(r.Why+" "+r.Fix), phrase) {
				t.Errorf("%s speaks to users: %q", r.ID, phrase)
			}
		}
	}
}

// TestFamilies checks that every family has a title and rules, and every rule a family.
func TestFamilies(t *testing.T) {
	rules := map[string]int{}
	for _, r := range rule.All() {
		rules[r.Family()]++
	}
	for _, f := range rule.Families() {
		if f.Title == "" || rules[f.ID] == 0 {
			t.Errorf("%s has the title %q and %d rules", f.ID, f.Title, rules[f.ID])
		}
		delete(rules, f.ID)
	}
	if len(rules) > 0 {
		t.Errorf("families without a title: %v", rules)
	}
}

func TestSelect(t *testing.T) {
	tests := []struct{ patterns, want string }{
		{"ref001", "REF001"},
		{"XS REF001 xs001", "REF001 XS001 XS002 XS003"},
		{"SEC10* STY", "SEC101 SEC102 SEC103 SEC104 SEC105 SEC106 SEC107 SEC108 SEC109 STY001 STY002 STY003"},
	}
	for _, tt := range tests {
		got, err := rule.Select(strings.Fields(tt.patterns)...)
		var ids []string
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		if err != nil || strings.Join(ids, " ") != tt.want {
			t.Errorf("%s: got %q, %v", tt.patterns, ids, err)
		}
	}
	if all, err := rule.Select(); err != nil || len(all) != len(rule.All()) {
		t.Errorf("got %d, %v", len(all), err)
	}
	if _, err := rule.Select("REF001", "REF01"); diag.CodeOf(err) != diag.Usage || !strings.Contains(diag.HintOf(err), "did you mean REF001?") {
		t.Errorf("got %v, hint %q", err, diag.HintOf(err))
	}
}
