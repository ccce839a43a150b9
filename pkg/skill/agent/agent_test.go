package agent_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// TestTable checks the table of agents: sorted, complete, and no path leads out of the project or home.
func TestTable(t *testing.T) {
	all := agent.All()
	if !slices.IsSortedFunc(all, func(a, b agent.Agent) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the table is not sorted by id")
	}
	if len(all) < 75 {
		t.Errorf("%d agents, want at least 75", len(all))
	}
	for _, a := range all {
		if a.Title == "" || a.Project == "" {
			t.Errorf("%s lacks a title or a project directory", a.ID)
		}
		for _, dir := range []string{a.Project, a.User} {
			if dir == "" {
				continue
			}
			if path.Base(dir) != "skills" || path.Clean(dir) != dir || path.IsAbs(dir) || strings.HasPrefix(dir, "..") {
				t.Errorf("%s: %q is not a clean relative path that ends in skills", a.ID, dir)
			}
		}
		// An agent whose skills directory does not have a leading dot might receive unrelated files, so skillpm never
		// detects it.
		if !strings.HasPrefix(a.Project, ".") && a.Mark != "" {
			t.Errorf("%s keeps skills in %s and must be asked for", a.ID, a.Project)
		}
		if got, err := agent.Lookup(a.ID); err != nil || got != a {
			t.Errorf("Lookup(%q) = %v, %v", a.ID, got, err)
		}
	}
}

func TestLookupUnknown(t *testing.T) {
	for _, tt := range []struct{ id, hint string }{
		{"claude-cod", "did you mean claude-code?"},
		{"cursr", "did you mean cursor?"},
		{"emacs", "list agents with \"skillpm agents --all\", or use the id agents for the shared directory .agents/skills"},
	} {
		_, err := agent.LookupAll([]string{"codex", tt.id})
		if diag.CodeOf(err) != diag.Usage || diag.HintOf(err) != tt.hint {
			t.Errorf("%s: %v, hint %q, want hint %q", tt.id, err, diag.HintOf(err), tt.hint)
		}
	}
	got, err := agent.LookupAll([]string{"codex", "claude-code", "codex"})
	if err != nil || len(got) != 2 || got[0].ID != "codex" {
		t.Errorf("LookupAll = %v, %v", got, err)
	}
}

// TestLookupAllOwn checks that "all" is every agent except those whose directory may have other files.
func TestLookupAllOwn(t *testing.T) {
	got, err := agent.LookupAll([]string{"codex", "all"})
	if err != nil || got[0].ID != "codex" || len(got) < 60 {
		t.Fatalf("%d agents, %v", len(got), err)
	}
	seen := map[string]bool{}
	for _, a := range got {
		if seen[a.ID] || !strings.HasPrefix(a.Project, ".") {
			t.Errorf("%s, which reads %s, twice or at all", a.ID, a.Project)
		}
		seen[a.ID] = true
	}
	for _, id := range []string{"claude-code", "agents", "gemini"} {
		if !seen[id] {
			t.Errorf("%s is missing", id)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name          string
		project, home string
		there         []string
		want          []string
	}{
		{"nothing", "/p", "/h", nil, nil},
		{"home", "/p", "/h", []string{"/h/.claude", "/h/.cursor"}, []string{"claude-code", "cursor"}},
		{"project", "/p", "/h", []string{"/p/.windsurf", "/p/.agents"}, []string{"agents", "windsurf"}},
		{"user scope", "", "/h", []string{"/p/.claude", "/h/.config/goose"}, []string{"goose"}},
		{"never guessed", "/p", "/h", []string{"/p/skills", "/p/.", "/h/.openclaw", "/p/data", "/p/agent"}, nil},
	} {
		got := agent.Detect(func(p string) bool { return slices.Contains(tt.there, p) }, tt.project, tt.home)
		var ids []string
		for _, a := range got {
			ids = append(ids, a.ID)
		}
		if !slices.Equal(ids, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, ids, tt.want)
		}
	}
}

// TestDetectMoved checks that an agent whose directory a variable moves is detected there.
func TestDetectMoved(t *testing.T) {
	moved := agent.Relocate(agent.All(), "/h", func(k string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": "/srv/claude", "CODEX_HOME": "/h/cfg/codex"}[k]
	})
	for _, tt := range []struct {
		there, want string
	}{
		{"/srv/claude", "claude-code"}, {"/p/.claude", "claude-code"}, {"/h/cfg/codex", "codex"}, {"/h/.claude", ""}, {"/h/.codex", ""},
	} {
		got := agent.DetectAmong(moved, func(p string) bool { return p == tt.there }, "/p", "/h")
		if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || got[0].ID != tt.want) {
			t.Errorf("%s: %v, want %q", tt.there, got, tt.want)
		}
	}
}

func TestDirs(t *testing.T) {
	for _, tt := range []struct {
		ids  string
		user bool
		want []string
	}{
		{"", false, []string{".agents/skills"}},
		{"", true, []string{".agents/skills"}},
		{"codex cursor", false, []string{".agents/skills"}},
		{"codex cursor", true, []string{".agents/skills", ".cursor/skills"}},
		{"claude-code agents", false, []string{".claude/skills", ".agents/skills"}},
		{"eve", true, []string{".agents/skills"}}, // it has no directory of its own there
	} {
		agents, err := agent.LookupAll(strings.Fields(tt.ids))
		if err != nil {
			t.Fatal(err)
		}
		if got := agent.Dirs(agents, tt.user); !slices.Equal(got, tt.want) {
			t.Errorf("Dirs(%s, %t) = %v, want %v", tt.ids, tt.user, got, tt.want)
		}
	}
}

func TestRelocate(t *testing.T) {
	agents, err := agent.LookupAll([]string{"claude-code", "codex", "opencode", "cursor"})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"CLAUDE_CONFIG_DIR": "/home/me/.cfg/claude/",
		"CODEX_HOME":        "/srv/codex",
		"XDG_CONFIG_HOME":   "relative", // ignored, as its specification says
	}
	got := agent.Relocate(agents, "/home/me", func(k string) string { return env[k] })
	for i, want := range []struct{ user, mark string }{
		{".cfg/claude/skills", ".cfg/claude"},
		{".agents/skills", "/srv/codex"},
		{".config/opencode/skills", ".config/opencode"},
		{".cursor/skills", ".cursor"},
	} {
		if got[i].User != want.user || got[i].Mark != want.mark {
			t.Errorf("%s: user %q, mark %q, want %q, %q", got[i].ID, got[i].User, got[i].Mark, want.user, want.mark)
		}
	}
	windows := agent.Relocate(agents[:1], `C:\Users\me`, func(string) string { return `C:\Users\me\claude` })
	if windows[0].User != "claude/skills" {
		t.Errorf("on Windows: %q", windows[0].User)
	}
}

// TestTested checks S3, O26: an agent counts as tested in the version of the program that the tests run, and others
// follow documentation only.
func TestTested(t *testing.T) {
	programs, err := os.ReadFile("../../../.ci/npm.sh")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{
		"claude-code": "claude-code-linux-x64", "codex": "codex", "copilot": "copilot-linux-x64", "gemini": "gemini-cli",
		"opencode": "opencode-linux-x64-baseline",
	}
	for _, a := range agent.All() {
		name := names[a.ID]
		if (name != "") != (a.Tested != "") {
			t.Errorf("%s is tested with %q", a.ID, a.Tested)
		}
		if name != "" && !strings.Contains(string(programs), name+"@"+a.Tested) {
			t.Errorf("%s: .ci/npm.sh does not install %s@%s", a.ID, name, a.Tested)
		}
	}
}
