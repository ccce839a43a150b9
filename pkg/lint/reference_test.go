package lint_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/lint"
)

// TestReferenceValidator checks S1: what the standard's reference validator accepts and rejects. The rows with a reason
// are the only differences, all intentional.
func TestReferenceValidator(t *testing.T) {
	front := func(lines ...string) string { return "---\n" + strings.Join(lines, "\n") + "\n---\nText\n" }
	for _, tt := range []struct {
		name, dir, text string
		refused         bool   // by the reference validator
		rule            string // which says so here; "" for none
		differs         string // why the levels differ
	}{
		{name: "name and description", dir: "deploy", text: front("name: deploy", "description: D.")},
		{
			name: "every field", dir: "deploy",
			text: front("name: deploy", "description: D.", "license: MIT", "compatibility: Needs git", "metadata:", "  author: a", "  version: \"1.0\"", "allowed-tools: Read Write"),
		},
		{name: "digits", dir: "v2-3", text: front("name: v2-3", "description: D.")},
		{name: "one letter", dir: "x", text: front("name: x", "description: D.")},
		{name: "64 letters", dir: strings.Repeat("a", 64), text: front("name: "+strings.Repeat("a", 64), "description: D.")},
		{name: "65 letters", dir: strings.Repeat("a", 65), text: front("name: "+strings.Repeat("a", 65), "description: D."), refused: true, rule: rule.TooLong},
		{name: "no frontmatter", dir: "deploy", text: "# Deploy\n", refused: true, rule: rule.NoFrontmatter},
		{name: "not closed", dir: "deploy", text: "---\nname: deploy\ndescription: D.\n", refused: true, rule: rule.Unclosed},
		{name: "no YAML", dir: "deploy", text: front("name: [deploy", "description: D."), refused: true, rule: rule.BadYAML},
		{name: "a list for a mapping", dir: "deploy", text: front("- name", "- deploy"), refused: true, rule: rule.NotMapping},
		{name: "no name", dir: "deploy", text: front("description: D."), refused: true, rule: rule.Missing},
		{name: "no description", dir: "deploy", text: front("name: deploy"), refused: true, rule: rule.Missing},
		{name: "empty name", dir: "deploy", text: front("name: \"\"", "description: D."), refused: true, rule: rule.Empty},
		{name: "empty description", dir: "deploy", text: front("name: deploy", "description: \"\""), refused: true, rule: rule.Empty},
		{name: "capitals", dir: "Deploy", text: front("name: Deploy", "description: D."), refused: true, rule: rule.Name},
		{name: "underscore", dir: "my_skill", text: front("name: my_skill", "description: D."), refused: true, rule: rule.Name},
		{name: "space", dir: "my skill", text: front("name: my skill", "description: D."), refused: true, rule: rule.Name},
		{name: "hyphen first", dir: "-deploy", text: front("name: -deploy", "description: D."), refused: true, rule: rule.Name},
		{name: "hyphen last", dir: "deploy-", text: front("name: deploy-", "description: D."), refused: true, rule: rule.Name},
		{name: "two hyphens", dir: "de--ploy", text: front("name: de--ploy", "description: D."), refused: true, rule: rule.Name},
		{name: "another directory", dir: "other", text: front("name: deploy", "description: D."), refused: true, rule: rule.NameDirectory},
		{
			name: "letters of other alphabets", dir: "données", text: front("name: données", "description: D."), rule: rule.Name,
			differs: "the standard's own list of characters is a-z, 0-9 and the hyphen, and hosts check that",
		},
		{
			name: "accents written in two ways", dir: "cafe\u0301", text: front("name: caf\u00e9", "description: D."), rule: rule.Name,
			differs: "as above; the reference compares after NFKC",
		},
		{name: "1,024 characters, more bytes", dir: "deploy", text: front("name: deploy", "description: "+strings.Repeat("é", 1024))},
		{name: "1,025 characters", dir: "deploy", text: front("name: deploy", "description: "+strings.Repeat("é", 1025)), refused: true, rule: rule.TooLong},
		{name: "500 characters of compatibility", dir: "deploy", text: front("name: deploy", "description: D.", "compatibility: "+strings.Repeat("c", 500))},
		{name: "501 of them", dir: "deploy", text: front("name: deploy", "description: D.", "compatibility: "+strings.Repeat("c", 501)), refused: true, rule: rule.TooLong},
		{name: "compatibility that is no text", dir: "deploy", text: front("name: deploy", "description: D.", "compatibility: [git]"), refused: true, rule: rule.Type},
		{
			name: "unknown field", dir: "deploy", text: front("name: deploy", "description: D.", "owner: me"), refused: true,
			differs: "the specification is silent and hosts ignore the field: a warning; an error under api-upload",
		},
		{
			name: "a list of tools", dir: "deploy", text: front("name: deploy", "description: D.", "allowed-tools: [Read]"),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, r := runWith(t, fstest.MapFS{tt.dir + "/SKILL.md": {Data: []byte(tt.text)}}, lint.Settings{})
			got := ""
			for _, f := range r.Findings {
				if f.Severity == diag.SeverityError && got == "" {
					got = f.Rule
				}
			}
			if got != tt.rule {
				t.Errorf("error %q, want %q: %q", got, tt.rule, format(r))
			}
			if refused := got != ""; refused != tt.refused && tt.differs == "" {
				t.Errorf("refused %v, and the reference %v, without a reason", refused, tt.refused)
			}
		})
	}
}

// TestReferenceFile checks S1: the reference validator rejects a directory without a SKILL.md in this exact case.
func TestReferenceFile(t *testing.T) {
	_, r := run(t, tree("-- deploy/skill.md\n"+head+"Text\n"))
	if r.OK() || r.Findings[0].Rule != rule.FileCase {
		t.Errorf("got %q", format(r))
	}
}
