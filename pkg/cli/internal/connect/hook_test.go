package connect

import (
	"strings"
	"testing"
)

// SPEC O10: only the first word after hook says whether an event is answered, so that no slip in the command line ends
// with the exit code of a denial.
func TestO10AnswersHook(t *testing.T) {
	for line, want := range map[string]bool{
		"hook PreToolUse --host claude-code": true, "hook PreToolUse --host status": true, "hook --host install": true,
		"hook PreToolUse install --host claude-code": true, "--bogus hook PreToolUse install": true, "-C status hook Stop": true,
		"--config hook hook PreToolUse remove": true, "-C=x hook Stop": true, "hook": true, "hook --host claude-code PreToolUse": true,
		"hook install --host claude-code": false, "hook --host codex install": false, "-C x hook status": false, "hook -q remove": false,
		"load hook": false, "-C hook load x": false, "": false, "mcp install": false,
	} {
		if got := answersHook(strings.Fields(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
