package session_test

import (
	"path/filepath"
	"testing"
)

// TestO4OwnFilesStayReadable checks SPEC O4 and O10: the files of an active skill can be read whatever its tool list
// allows, with a file tool and with the shell, unless the profile only lets its scripts run.
func TestO4OwnFilesStayReadable(t *testing.T) {
	for profile, scripts := range map[string]bool{"omniforge": false, "kodelet": true} {
		w := newFixture(t, profile)
		w.skill("deploy", "allowed-tools: WebFetch", "x\n")
		w.file("project/skills/deploy/references/guide.md", "x")
		w.file("project/skills/deploy/scripts/run.sh", "x")
		w.file("project/skills/other/a.md", "x")
		w.mustLoad("s", "deploy")
		for _, test := range []struct {
			tool, field, value string
			want               bool
		}{
			{"Read", "file_path", "skills/deploy/references/guide.md", true},
			{"Read", "file_path", filepath.Join(w.dir, "project/skills/deploy/SKILL.md"), true},
			{"Bash", "command", "cat skills/deploy/references/guide.md", true},
			{"Bash", "command", "ls skills/deploy", true},
			{"Read", "file_path", "skills/deploy/scripts/run.sh", scripts},
			{"Bash", "command", "cat skills/deploy/scripts/run.sh", scripts},
			{"Grep", "path", "skills/deploy", scripts},
			{"Read", "file_path", "skills/other/a.md", false},
			{"Bash", "command", "cat skills/deploy/../other/a.md", false},
			{"Bash", "command", "touch skills/deploy/a", false},
			{"Write", "file_path", "skills/deploy/a", false},
		} {
			if v := w.allow("s", test.tool, test.field, test.value); v.Allowed != test.want {
				t.Errorf("%s: %s %s is allowed: %v, want %v (%s)", profile, test.tool, test.value, v.Allowed, test.want, v.Reason)
			}
		}
	}
}
