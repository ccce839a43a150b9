package connect

import (
	"strings"
	"testing"
)

// TestO10AnswersHook checks SPEC O10: the first word decides whether an event is answered, so that a mistake in the
// command line never ends with the exit code of a denial.
func TestO10AnswersHook(t *testing.T) {
	for line, want := range map[string]bool{
		"hook PreToolUse --agent claude-code": true, "hook PreToolUse --agent status": true, "hook --agent install": true,
		"hook PreToolUse install --agent claude-code": true, "--bogus hook PreToolUse install": true, "-C status hook Stop": true,
		"--config hook hook PreToolUse remove": true, "-C=x hook Stop": true, "hook": true, "hook --agent claude-code PreToolUse": true,
		"--color never hook Stop": true, "load hook": false, "-C hook load x": false, "": false, "mcp install": false,
	} {
		if got := answersHook(strings.Fields(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
