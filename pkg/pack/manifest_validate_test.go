package pack_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

func TestValidateSection(t *testing.T) {
	text := `validate:
  profiles: [agentskills, claude-code]
  strict: true
  rules:
    SEC101: error
    "SEC3*": off
    STY: "off"
    SEC: note
    STR003: false
  ignore:
    - "vendor/**"
    - {path: ./skills/x/**, rules: [SEC307, "REF*"], reason: "teaches administration"}
    - {path: old, reason: kept for the record}
  baseline: skillpm-baseline.yaml
`
	m, err := pack.ParseManifest("skillpm.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := pack.Validate{
		Profiles: []string{"agentskills", "claude-code"}, Strict: true, Baseline: "skillpm-baseline.yaml",
		Rules: []pack.RuleSetting{
			{Pattern: "STY", Off: true, Line: 7, Column: 5},
			{Pattern: "SEC", Severity: diag.SeverityNote, Line: 8, Column: 5},
			{Pattern: "SEC3*", Off: true, Line: 6, Column: 5},
			{Pattern: "SEC101", Severity: diag.SeverityError, Line: 5, Column: 5},
			{Pattern: "STR003", Off: true, Line: 9, Column: 5},
		},
		Ignore: []pack.Ignore{
			{Path: "vendor/**", Line: 11, Column: 7},
			{Path: "skills/x/**", Rules: []string{"SEC307", "REF*"}, Reason: "teaches administration", Line: 12, Column: 7},
			{Path: "old", Reason: "kept for the record", Line: 13, Column: 7},
		},
	}
	if !reflect.DeepEqual(m.Validate, want) {
		t.Errorf("got\n%+v\nwant\n%+v", m.Validate, want)
	}
	checkSchema(t, "manifest", []byte(text), true)
	for _, text := range []string{"validate:", "validate: {}", "validate: {profiles: all}", "validate: {profiles: [all]}", "validate: {rules: {'*': off}}"} {
		m, err := pack.ParseManifest("skillpm.yaml", []byte(text))
		if err != nil || m.Validate.All != strings.Contains(text, "all") {
			t.Errorf("%s: %+v %v", text, m, err)
		}
		checkSchema(t, "manifest", []byte(text), true)
	}
}

func TestValidateSectionRefuses(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		schema     bool // the schema refuses it too
	}{
		{"profile: x", `1:12: unknown key "profile" in validate (did you mean profiles?)`, true},
		{"profiles: claude-code", "1:22: profiles must be a list (write [a, b], or one line with a hyphen for each entry)", true},
		{"profiles: [Claude]", `1:23: invalid profile ID "Claude" (list profiles with: skillpm profile list)`, true},
		{"strict: yes", "1:20: strict must be true or false", true},
		{"rules: [STR003]", "1:19: rules must be a mapping", true},
		{"rules: {str003: off}", `1:20: invalid rule "str003" (write STR003)`, true},
		{"rules: {STR-3: off}", `1:20: invalid rule "STR-3" (use a rule such as REF013, a family such as STY, or a prefix with a star such as "SEC3*")`, true},
		{"rules: {STR003: warn}", "1:28: STR003 must be error, warning, note, or off", true},
		{"rules: {STR003: true}", "1:28: STR003 must be error, warning, note, or off", true},
		{"rules: {STR003: }", "1:28: STR003 must be error, warning, note, or off", true},
		{"ignore: vendor", `1:20: ignore must be a list (add a list entry for each pattern, such as - "vendor/**")`, true},
		{"ignore: [../x]", `1:21: pattern "../x" is not a path below the directory of this file (use a path relative to this file and without . and .., such as "skills/x")`, true},
		{"ignore: [/x]", `1:21: pattern "/x" is not a path below the directory of this file`, true},
		{`ignore: ['a\b']`, `1:21: pattern "a\\b" contains a backslash (use forward slashes)`, true},
		{"ignore: [.]", `1:21: pattern "." is not a path below the directory of this file`, false},
		{"ignore: [{rules: [SEC307], reason: x}]", "1:21: the ignore entry does not have a path", true},
		{"ignore: [{path: x, rules: [SEC307]}]", `1:21: the ignore entry lists rules without a reason (add a reason`, true},
		{"ignore: [{path: x, rules: [SEC307], reason: ' '}]", "1:21: the ignore entry lists rules without a reason", true},
		{"ignore: [{path: x, rules: [], reason: y}]", "1:38: rules is empty", true},
		{"ignore: [{path: x, rules: [sec307], reason: y}]", `1:39: invalid rule "sec307" (write SEC307)`, true},
		{"ignore: [{path: x, because: y}]", `1:31: unknown key "because" in an entry of ignore`, true},
		{"ignore: [[x]]", "1:21: a pattern of ignore must be text", true},
		{"baseline: ../x", `1:22: baseline "../x" is not a path below the directory of this file`, true},
		{"baseline: [x]", "1:22: baseline must be text", true},
	} {
		text := []byte("validate: {" + tt.text + "}")
		_, problems := pack.CheckManifest("skillpm.yaml", text)
		if got := show(problems); len(problems) != 1 || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got\n%swant %s", tt.text, got, tt.want)
		}
		if _, err := pack.ParseManifest("skillpm.yaml", text); !reports(problems, "skillpm.yaml", err) {
			t.Errorf("%s: %v, and\n%s", tt.text, err, show(problems))
		}
		if tt.schema {
			checkSchema(t, "manifest", text, false)
		}
	}
}

// TestValidateSectionStays checks that an edit does not change the section.
func TestValidateSectionStays(t *testing.T) {
	text := "validate: # ours\n  rules: {STR003: off} # long on purpose\n"
	m, err := pack.ParseManifest("skillpm.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Set("version", "1.0.0"); err != nil || !strings.Contains(string(m.Bytes()), text) || len(m.Validate.Rules) != 1 {
		t.Errorf("%v\n%s", err, m.Bytes())
	}
}

func TestMatchGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{"vendor/**", []string{"vendor", "vendor/a", "vendor/a/b"}, []string{"vendors", "a/vendor", "vendo"}},
		{"**", []string{"a", "a/b"}, nil},
		{"**/*.md", []string{"a.md", "a/b.md", "a/b/c.md", ".md"}, []string{"a.mdx", "a.md/b"}},
		{"skills/*/SKILL.md", []string{"skills/a/SKILL.md"}, []string{"skills/SKILL.md", "skills/a/b/SKILL.md"}},
		{"a/**/b/**/c", []string{"a/b/c", "a/x/b/y/z/c", "a/b/b/c/c"}, []string{"a/c", "a/b", "b/c"}},
		{"a/**/b", []string{"a/b/x/b", "a/b/b"}, []string{"a/b/x"}},
		{"?.md", []string{"a.md", "é.md"}, []string{".md", "ab.md", "/.md"}},
		{"*a*b*", []string{"ab", "xaxbx", "aab"}, []string{"ba", "a", "a/b"}},
		{"*é", []string{"é", "aéé"}, []string{"e"}},
		{"[a]", []string{"[a]"}, []string{"a"}},
		{"a**b", []string{"ab", "axb"}, []string{"a/b"}},
		{"*", []string{"a", ".a"}, []string{"a/b"}},
	} {
		for _, name := range tt.yes {
			if !pack.MatchGlob(tt.pattern, name) {
				t.Errorf("%s does not match %s", tt.pattern, name)
			}
		}
		for _, name := range tt.no {
			if pack.MatchGlob(tt.pattern, name) {
				t.Errorf("%s matches %s", tt.pattern, name)
			}
		}
	}
}

// slowGlob defines the expected result: it tries every match.
func slowGlob(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		return slowGlob(pattern[1:], name) || len(name) > 0 && slowGlob(pattern, name[1:])
	}
	return len(name) > 0 && slowSegment([]rune(pattern[0]), []rune(name[0])) && slowGlob(pattern[1:], name[1:])
}

func slowSegment(pattern, name []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == '*':
		return slowSegment(pattern[1:], name) || len(name) > 0 && slowSegment(pattern, name[1:])
	default:
		return len(name) > 0 && (pattern[0] == '?' || pattern[0] == name[0]) && slowSegment(pattern[1:], name[1:])
	}
}

func FuzzMatchGlob(f *testing.F) {
	f.Add("a/**/b*c?/**/d", "a/x/bxcy/d")
	f.Add("**/*a*", "b/ba/c")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 16 || len(name) > 24 || !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			return
		}
		for _, s := range []string{pattern, name} {
			if s == "" || strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/") || strings.Contains(s, "//") {
				return
			}
		}
		if got, want := pack.MatchGlob(pattern, name), slowGlob(strings.Split(pattern, "/"), strings.Split(name, "/")); got != want {
			t.Errorf("%q, %q: %t, want %t", pattern, name, got, want)
		}
	})
}

// BenchmarkMatchGlobWorst matches the slowest pattern and path.
func BenchmarkMatchGlobWorst(b *testing.B) {
	pattern := "**/" + strings.Repeat("a/", 50) + "b/**/" + strings.Repeat("*a", 100) + "b"
	name := strings.Repeat("a/", 500) + strings.Repeat("a", 500)
	b.SetBytes(int64(len(name)))
	for b.Loop() {
		if pack.MatchGlob(pattern, name) {
			b.Fatal("it matches")
		}
	}
}
