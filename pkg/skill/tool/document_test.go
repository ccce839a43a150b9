package tool_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

const document = "../../../docs/reference/agents.md"

func readDocument(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentedPatterns checks that the statements of docs/reference/agents.md about patterns are true.
func TestDocumentedPatterns(t *testing.T) {
	quoted := regexp.MustCompile("`([^`]+)`")
	fields := map[string]string{"Bash": "command", "Read": "file_path", "WebFetch": "url", "Task": "subagent_type"}
	tried := 0
	for line := range strings.Lines(readDocument(t)) {
		cells := strings.Split(strings.TrimSpace(strings.ReplaceAll(line, "||", "\x01")), "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") || !strings.Contains(cells[1], "(") {
			continue
		}
		list := patterns(t, quoted.FindStringSubmatch(cells[1])[1])
		for i, want := range []bool{true, false} {
			for _, m := range quoted.FindAllStringSubmatch(cells[2+i], -1) {
				name := list[0].Tool
				input := map[string]any{fields[name]: strings.NewReplacer("{project}", "/p", "{home}", "/home/u").Replace(m[1])}
				v := tool.Of(list).Allow(tool.Call{Tool: name, Input: input, Project: "/p", Home: "/home/u"})
				if v.Allowed != want {
					t.Errorf("%s with %v: allowed %v, and docs/reference/agents.md says %v (%s)", list[0], input, v.Allowed, want, v.Reason)
				}
				tried++
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d examples were tried", tried)
	}
}
