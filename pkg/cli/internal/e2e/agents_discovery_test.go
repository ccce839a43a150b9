//go:build slow

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentsDiscover checks which skills real agents see after an installation for that agent only, each in its own
// project (M2, S2): skillpm links skills where the agent looks for them. The queries reach no model. For Claude Code,
// the test checks what the agent sends to its model.
func TestAgentsDiscover(t *testing.T) {
	const location = ".agents/skills/kubectl-basics"
	for _, test := range []struct {
		agent, program string
		question       []string
		environment    string
		path           string // where the agent says that it is, without the project
	}{
		{agent: "codex", program: "SKILLPM_CODEX", question: []string{"debug", "prompt-input", "x"}},
		{agent: "gemini-cli", program: "SKILLPM_GEMINI", question: []string{"skills", "list", "--all"}, environment: "GEMINI_CLI_TRUST_WORKSPACE=true", path: location + "/SKILL.md"},
		{agent: "github-copilot", program: "SKILLPM_COPILOT", question: []string{"skill", "list", "--json"}, path: location},
		{agent: "opencode", program: "SKILLPM_OPENCODE", question: []string{"debug", "skill"}, path: location + "/SKILL.md"},
	} {
		t.Run(test.agent, func(t *testing.T) {
			t.Parallel()
			line := append(npmProgram(t, test.program), test.question...)
			w := newDesk(t, test.environment)
			w.run("skillpm", "install", "acme/kubectl-basics", "--agent", test.agent)
			seen := decoded(t, w.run(line...))
			for _, want := range []string{"kubectl-basics", "Inspects a Kubernetes cluster with kubectl", filepath.Join(w.project, filepath.FromSlash(test.path))} {
				if !strings.Contains(seen, want) {
					t.Errorf("%s does not show %s:\n%s", strings.Join(line, " "), want, seen)
				}
			}
		})
	}
}

// decoded returns all strings of a JSON document, one a line, or unchanged text if it is not JSON.
func decoded(t *testing.T, text string) string {
	t.Helper()
	var document any
	if json.Unmarshal([]byte(text), &document) != nil {
		return text
	}
	var lines []string
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case string:
			lines = append(lines, value)
		case []any:
			for _, v := range value {
				walk(v)
			}
		case map[string]any:
			for _, v := range value {
				walk(v)
			}
		}
	}
	walk(document)
	return strings.Join(lines, "\n")
}
