package session_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// TestVariablesInLists checks SPEC O10, S2: the profile's variables have the same values in tool lists as in the text.
func TestVariablesInLists(t *testing.T) {
	w := newFixture(t, "claude-code")
	w.skill("deploy", "allowed-tools: [\"Read(${CLAUDE_SKILL_DIR}/references/**)\", \"Bash(${CLAUDE_SKILL_DIR}/scripts/go.sh:*)\", "+
		"\"Write(${CLAUDE_PROJECT_DIR}/out/**)\", \"Edit(${CLAUDE_PLUGIN_ROOT}/**)\", \"Grep(${HOME}/**)\"]", "x\n")
	w.mustLoad("s", "deploy")
	dir := filepath.Join(w.dir, "project/skills/deploy")
	for _, tt := range []struct {
		tool, field, value string
		want               bool
	}{
		{"Read", "file_path", dir + "/references/a.md", true},
		{"Read", "file_path", "skills/deploy/references/a.md", true},
		{"Read", "file_path", dir + "/references/../SKILL.md", true}, // a file of its own
		{"Read", "file_path", dir + "/../other/SKILL.md", false},
		{"Read", "file_path", "references/a.md", false},
		{"Bash", "command", dir + "/scripts/go.sh --fast", true},
		{"Bash", "command", "scripts/go.sh", false},
		{"Bash", "command", "${CLAUDE_SKILL_DIR}/scripts/go.sh", false},
		{"Write", "file_path", "out/a", true},
		{"Write", "file_path", "src/a", false},
		{"Edit", "file_path", "src/a", false}, // it is not a skill of a pack
		{"Grep", "path", "${HOME}/a", false},  // no variable of this profile
	} {
		if v := w.allow("s", tt.tool, tt.field, tt.value); v.Allowed != tt.want {
			t.Errorf("%s %s: allowed %t, want %t (%s)", tt.tool, tt.value, v.Allowed, tt.want, v.Reason)
		}
	}
}

// TestHostileVariables checks that a directory whose name has a meaning in a pattern or a shell is not inserted, and
// that one behind a link is.
func TestHostileVariables(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names there")
	}
	for name, want := range map[string]bool{"plain": true, "a b": false, "a*": false, "a;rm x": false, "$(x)": false, "a)": false, "**": false} {
		w := newFixture(t, "claude-code")
		project := filepath.Join(w.dir, "real", name)
		if err := os.MkdirAll(filepath.Join(project, "skills", "deploy"), 0o755); err != nil {
			t.Fatal(err)
		}
		w.file("real/"+name+"/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: x\nallowed-tools: [\"Read(${CLAUDE_PROJECT_DIR}/docs/**)\"]\n---\nx\n")
		w.file("real/"+name+"/skills/strict/SKILL.md", "---\nname: strict\ndescription: x\ndisallowed-tools: [\"Read(${CLAUDE_PROJECT_DIR}/docs/**)\"]\n---\nx\n")
		w.file("real/"+name+"/docs/a", "x")
		w.env.Project, w.env.Dir = project, project
		if name == "plain" {
			link := filepath.Join(w.dir, "link")
			if err := os.Symlink(filepath.Join(w.dir, "real"), link); err != nil {
				t.Skip("no links here:", err)
			}
			w.env.Project, w.env.Dir = filepath.Join(link, name), filepath.Join(link, name)
		}
		w.catalogOf(w.env.Project)
		w.mustLoad("s", "deploy")
		if v := w.allow("s", "Read", "file_path", "docs/a"); v.Allowed != want {
			t.Errorf("%s: allowed %t, want %t (%s)", name, v.Allowed, want, v.Reason)
		}
		if v := w.allow("s", "Read", "file_path", "/etc/passwd"); v.Allowed {
			t.Errorf("%s: /etc/passwd is allowed", name)
		}
		_, err := w.load("t", "strict", session.Activate{})
		if want != (err == nil) || err != nil && (diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "CLAUDE_PROJECT_DIR")) {
			t.Errorf("%s: %v", name, err)
		}
		if v := w.allow("t", "Read", "file_path", "docs/a"); want && v.Allowed {
			t.Errorf("%s: what is disallowed is allowed", name)
		}
	}
}
