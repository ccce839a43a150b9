package tool_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// TestParseList checks SPEC O10, P2, S1, K4: allowed-tools in every syntax of the agents.
func TestParseList(t *testing.T) {
	for _, test := range []struct {
		name string
		in   []string
		want string // joined by |
	}{
		{"none", nil, ""},
		{"empty", []string{"", " , "}, ""},
		{"commas", []string{"read_file, grep_files"}, "read_file|grep_files"},
		{"spaces", []string{"Read Grep  Glob"}, "Read|Grep|Glob"},
		{"both", []string{"Read, Grep Glob,Bash"}, "Read|Grep|Glob|Bash"},
		{"a list", []string{"Bash", "Read", "mcp__github__*"}, "Bash|Read|mcp__github__*"},
		{"patterns", []string{"Bash(git:*), Bash(npm run *) Read(./docs/**)"}, "Bash(git:*)|Bash(npm run *)|Read(./docs/**)"},
		{"commas and spaces in parentheses", []string{"Bash(a, b c), Read"}, "Bash(a, b c)|Read"},
		{"parentheses in parentheses", []string{"Bash(echo (a) b) Read"}, "Bash(echo (a) b)|Read"},
		{"one without a partner", []string{`Bash(echo \)) Read`}, `Bash(echo \))|Read`},
		{"a backslash", []string{`Read(C:\docs\**)`}, `Read(C:\\docs\\**)`},
		{"a space before", []string{"Bash (git:*), Read"}, "Bash(git:*)|Read"},
		{"spaces inside", []string{"Bash( git:* )"}, "Bash(git:*)"},
		{"domain", []string{"WebFetch(domain:example.com)"}, "WebFetch(domain:example.com)"},
		{"skill", []string{"Skill(deploy)"}, "Skill(deploy)"},
		{"in quotes", []string{`"Read", 'Bash(git:*)'`}, ""},
		{"name in quotes", []string{`"Read", 'Grep'`}, "Read|Grep"},
		{"newlines", []string{"Read\nGrep\n"}, "Read|Grep"},
		{"everything", []string{"*"}, "*"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := tool.ParseList(test.in)
			if test.name == "in quotes" {
				if err == nil {
					t.Fatalf("got %v, want an error: quotes around a pattern can't be told from its text", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, p := range got {
				texts = append(texts, p.String())
			}
			if s := strings.Join(texts, "|"); s != test.want {
				t.Errorf("got %s, want %s", s, test.want)
			}
			again, err := tool.ParseList(texts)
			if err != nil || len(again) != len(got) {
				t.Fatalf("reading it again: %v, %v", again, err)
			}
			for i := range got {
				if got[i] != again[i] {
					t.Errorf("reading %s again gives %+v, want %+v", texts[i], again[i], got[i])
				}
			}
		})
	}
}

func TestParseListRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"Bash(git:*":               "is not closed",
		"Bash(a (b)":               "is not closed",
		`Bash(a\)`:                 "is not closed",
		"Bash)":                    "allowed-tools contains an extra closing parenthesis",
		"Bash(git:*))":             "allowed-tools contains text directly after a closing",
		"Bash(git:*)Read":          "allowed-tools contains text directly after a closing",
		"(git:*)":                  "without a tool",
		"Bash()":                   "empty parentheses",
		"Bash( )":                  "empty parentheses",
		"Re\x00ad":                 "allowed-tools contains invisible characters",
		"Re\u202ead":               "allowed-tools contains invisible characters",
		strings.Repeat("a ", 2000): "more than 1000",
		"Bash(" + strings.Repeat("a", 5000) + ")": "is not closed",
	} {
		_, err := tool.ParseList([]string{in})
		if err == nil || !strings.Contains(err.Error(), want) || diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%.20q: got %v, want %q", in, err, want)
		}
	}
}
