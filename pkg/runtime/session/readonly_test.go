package session_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// TestK7Writes checks SPEC K7: agents cannot write into a directory of an active skill or of a pack, with any tool or
// through any link.
func TestK7Writes(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("free", "", "x\n")
	w.skill("idle", "", "x\n")
	pack := filepath.Join(w.dir, "project/.skillpm/plugins")
	w.file("project/.skillpm/plugins/acme/x/deploy/SKILL.md", "---\nname: deploy\ndescription: x\n---\nx\n")
	w.env.ReadOnly = []string{pack}
	if err := os.Symlink("skills/free", filepath.Join(w.dir, "project/link")); err != nil {
		t.Skip("no links here:", err)
	}
	if err := os.Symlink("/proc/self/cwd", filepath.Join(w.dir, "project/self")); err != nil {
		t.Fatal(err)
	}
	w.mustLoad("s", "free")
	patch := "*** Begin Patch\n*** Update File: README.md\n*** Update File: skills/free/SKILL.md\n*** End Patch"
	for _, tt := range []struct {
		tool  string
		input map[string]any
		want  bool
	}{
		{"Write", map[string]any{"file_path": "skills/free/SKILL.md"}, false},
		{"Write", map[string]any{"file_path": "skills/FREE/new.md"}, false},
		{"write_file", map[string]any{"path": filepath.Join(w.dir, "project/skills/free/x")}, false},
		{"Edit", map[string]any{"file_path": "link/SKILL.md"}, false},
		{"Edit", map[string]any{"file_path": "skills/idle/../free/SKILL.md"}, false},
		{"NotebookEdit", map[string]any{"notebook_path": "skills/free/a.ipynb"}, false},
		{"delete_file", map[string]any{"target_file": "skills/free"}, false},
		{"apply_patch", map[string]any{"input": patch}, false},
		{"str_replace_editor", map[string]any{"command": "create", "path": "skills/free/x"}, false},
		{"Write", map[string]any{"file_path": ".skillpm/plugins/acme/x/deploy/SKILL.md"}, false},
		{"mcp__files__write_file", map[string]any{"path": "link/SKILL.md", "content": "x"}, false},
		{"mcp__files__edit", map[string]any{"edits": []any{map[string]any{"of": []any{"%2eskillpm/plugins/acme/x"}}}}, false},
		{"Write", map[string]any{"file_path": "/proc/self/cwd/src/main.go"}, false},
		{"Write", map[string]any{"file_path": "self/src/main.go"}, runtime.GOOS != "linux"},
		{"Write", map[string]any{"content": "no path"}, false},
		{"mcp__files__write_file", map[string]any{"path": "src/main.go"}, true},
		{"mcp__files__read_file", map[string]any{"path": "skills/free/SKILL.md"}, true},
		{"Read", map[string]any{"file_path": "skills/free/SKILL.md"}, true},
		{"str_replace_editor", map[string]any{"command": "view", "path": "skills/free/x"}, true},
		{"Write", map[string]any{"file_path": "skills/idle/SKILL.md"}, true}, // a skill that is being written
		{"Write", map[string]any{"file_path": "skills/freedom/SKILL.md"}, true},
		{"Write", map[string]any{"file_path": "src/main.go"}, true},
	} {
		v, err := w.open("s").Allow(t.Context(), tool.Call{Tool: tt.tool, Input: tt.input})
		if err != nil || v.Allowed != tt.want || v.ReadOnly == tt.want {
			t.Errorf("%s %v: %+v, %v", tt.tool, tt.input, v, err)
		}
	}
	v := w.allow("s", "Write", "file_path", "skills/free/x")
	code(t, v.Err(), diag.Denied, "Write", "of skill free", "is read-only for agents")
	v = w.allow("", "Write", "file_path", ".skillpm/plugins/acme/x/deploy/x")
	code(t, v.Err(), diag.Denied, "are read-only for agents", "write generated files outside the directories of skills")
	// A tool may have the directory of the session as an argument, even if the agent is elsewhere now.
	w.env.Dir = filepath.Join(w.dir, "project/src/deep")
	w.env.ReadOnly = []string{filepath.Join(w.env.Dir, ".agent/hooks.json")}
	for text, want := range map[string]bool{".": true, "src": true, "src/deep": true, "src/deep/.agent": false} {
		call := tool.Call{Tool: "mcp__git__status", Input: map[string]any{"path": text}, Dir: filepath.Join(w.dir, "project")}
		if v, err := w.open("").Allow(t.Context(), call); err != nil || v.Allowed != want {
			t.Errorf("%q: %+v, %v", text, v, err)
		}
	}
	if r := w.records(); len(r) < 2 || r[len(r)-1][:14] != "refuse denied " {
		t.Errorf("%q", r)
	}
}
