package tool_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// TestO10InvisibleCharacters checks SPEC O10: only space, tab, and line feed separate words. No other space, control, or
// format character of Unicode can stand around or in a command, a path, the name of a tool, or an entry of a list, so
// that nothing is trimmed that a shell takes as part of a program's name.
func TestO10InvisibleCharacters(t *testing.T) {
	count := 0
	for r := range unicode.MaxRune + 1 {
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			continue
		}
		count++
		c := string(r)
		blank := strings.ContainsRune(" \t\n", r)
		for _, text := range []string{
			"Bash(" + c + "./x.sh)", "Bash(./x.sh" + c + ")", "Read" + c, c + "Read", "Read(docs/**" + c + ")", "Read" + c + "Edit",
			"Bash(./x.sh)" + c + "Read", "Re" + c + "ad(docs/**)",
		} {
			if _, err := tool.ParseList([]string{text}); (err == nil) != blank && !(blank && strings.HasPrefix(text, "Re"+c)) {
				t.Errorf("%q: %v", text, err)
			}
		}
		for _, test := range []struct {
			list, line string
			blank      bool // whether a space makes no difference
		}{
			{"Bash(./x.sh)", c + "./x.sh", true},
			{"Bash(./x.sh)", "./x.sh" + c, true},
			{"Bash(./x.sh)", c + c + "./x.sh" + c, true},
			{"Bash(./x.sh)", "." + c + "/x.sh", false},
			{"Bash(./x.sh)", "./x.sh" + c + "a", false},
			{"Bash(./x.sh:*)", c + "./x.sh a", true},
			{"Bash(./x.sh:*)", "./x.sh" + c + "a", r != '\n'},
			{"Bash(./x.sh:*)", "./x.sh a;" + c + "./x.sh", true},
			{"Bash(./x.sh:*)", "./x.sh a &&" + c + "./x.sh", true},
			{"Bash(./x.sh:*)", "./x.sh a\n" + c + "./x.sh", true},
			{"Bash(a && b)", c + "a && b" + c, true},
			{"Bash(a && b)", "a" + c + "&& b", r == ' '},
			{"Read", "cat" + c + "a", r != '\n'},
			{"Read", c + "cat a", true},
			{"Read", "cat a;" + c + "cat b", true},
			{"Read", "cat a" + c + "| cat", true},
		} {
			for _, name := range []string{"Bash", "run_shell_command"} {
				call := tool.Call{Tool: name, Input: map[string]any{"command": test.line}}
				want := blank && test.blank
				if r == '\n' && strings.Contains(test.line, "\n|") { // a line cannot begin with an operator
					want = false
				}
				if v := tool.Of(patterns(t, test.list)).Allow(call); v.Allowed != want {
					t.Errorf("%s: %q is allowed: %v (%s)", test.list, test.line, v.Allowed, v.Reason)
				}
			}
		}
		for _, call := range []tool.Call{
			{Tool: c + "Read", Input: map[string]any{"file_path": "docs/a"}},
			{Tool: "Read" + c, Input: map[string]any{"file_path": "docs/a"}},
			{Tool: "Read", Input: map[string]any{"file_path": c + "docs/a"}},
			{Tool: "Read", Input: map[string]any{"file_path": "docs/a" + c}},
			{Tool: "Read", Input: map[string]any{"file_path": "docs" + c + "/a"}},
			{Tool: "shell", Input: map[string]any{"command": []any{c + "./x.sh"}}},
			{Tool: "shell", Input: map[string]any{"command": []any{"./x.sh" + c}}},
		} {
			if v := tool.Of(patterns(t, "Read(docs/a), Bash(./x.sh)")).Allow(call); v.Allowed {
				t.Errorf("%q %q is allowed", call.Tool, call.Input)
			}
		}
	}
	if count < 200 {
		t.Errorf("only %d characters", count)
	}
	t.Logf("%d characters", count)
}
