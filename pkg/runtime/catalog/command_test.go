package catalog

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

// TestD5Command checks SPEC D5: a skill is executed if it has a command. The name of a slash command, which real skills
// put into that field, does not count.
func TestD5Command(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "/hub:run": "", " /status ": "", "/ar:loop": "", "/": "/",
		"/usr/bin/env python3 x.py": "/usr/bin/env python3 x.py", "/start.sh": "/start.sh", "/run now": "/run now", "python3 run.py": "python3 run.py",
	} {
		if got := skill.Program(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
