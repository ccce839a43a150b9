package tool_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// TestO10OfSkills checks SPEC O10: skillpm's own tools are distinguished from an agent's own, under any name.
func TestO10OfSkills(t *testing.T) {
	for name, want := range map[string]struct {
		part   string
		server bool
	}{
		"Skill": {tool.Activate, false}, "skill": {tool.Activate, false}, "activate_skill": {tool.Activate, false}, "use_skill": {tool.Activate, false},
		"mcp__skillpm__skill": {tool.Activate, true}, "mcp_skillpm_skill": {tool.Activate, true}, "skillpm-skill_run": {tool.Run, true},
		"mcp__skillpm__skill_end": {tool.End, true}, "MCP:skill_file": {tool.ReadFile, true}, "find_skills": {tool.Find, false},
		"mcp__skillpm__": {}, "mcp__skillpm__delete": {}, "mcp__other__skill": {}, "Bash": {}, "MCP:query": {}, "": {},
	} {
		if part, server := tool.OfSkills(name); part != want.part || server != want.server {
			t.Errorf("%s: %q, %v, want %v", name, part, server, want)
		}
		if tool.Own(name) != (want.part != "") {
			t.Errorf("Own(%q) is %v", name, tool.Own(name))
		}
	}
}

// TestReads checks that the files that a command line prints are found, and that only a line without other effects
// counts as reading.
func TestReads(t *testing.T) {
	const file = "a/SKILL.md"
	for _, test := range []struct {
		line        string
		reads, only bool
	}{
		{"cat a/SKILL.md", true, true},
		{"cat 'a/SKILL.md'", true, true},
		{"head -n 20 a/SKILL.md", true, true},
		{"sed -n 1p '-e1e touch pwned' a/SKILL.md", true, false},
		{"sed -n 1p --expression=1w a/SKILL.md", true, false},
		{"sed -n 1p -i.bak a/SKILL.md", true, false},
		{"cat a/SKILL.md 2>/dev/null", true, false},
		{"wc -l a/SKILL.md", false, false},
		{"head -20 a/SKILL.md", true, true},
		{"sed -n '1,200p' a/SKILL.md", true, true},
		{"sed -n 1p a/SKILL.md", true, true},
		{"sed -n '1w x' a/SKILL.md", true, false},
		{"sed -i s/a/b/ a/SKILL.md", true, false},
		{"sed 1d a/SKILL.md", true, false},
		{"cat a/SKILL.md; rm x", true, false},
		{"cat a/SKILL.md | sh", true, false},
		{"cat a/SKILL.md > b", true, false},
		{"cat a/SKILL.md && (ls)", true, false},
		{"cd a && cat a/SKILL.md", true, false},
		{"cat <<< x; cat a/SKILL.md", true, false},
		{"cat x > a/SKILL.md", false, false},
		{"git diff a/SKILL.md", false, false},
		{"rm a/SKILL.md", false, false},
		{"ls", false, false},
		{"", false, false},
	} {
		c := tool.Call{Tool: "Bash", Input: map[string]any{"command": test.line}}
		if got := slices.Contains(c.Reads(), file); got != test.reads {
			t.Errorf("%q reads %q, want %v", test.line, c.Reads(), test.reads)
		}
		if got := slices.Equal(c.OnlyReads(), []string{file}); got != test.only {
			t.Errorf("%q only reads %q, want %v", test.line, c.OnlyReads(), test.only)
		}
	}
	read := tool.Call{Tool: "read_file", Input: map[string]any{"path": file}}
	if got := read.OnlyReads(); !slices.Equal(got, []string{file}) {
		t.Errorf("a tool that reads: %q", got)
	}
	if got := (tool.Call{Tool: "Write", Input: map[string]any{"file_path": file}}).Reads(); len(got) > 0 {
		t.Errorf("a tool that writes reads %q", got)
	}
}

// TestPatchUnderAnotherName checks that a patch is recognized under any tool name.
func TestPatchUnderAnotherName(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: docs/a.md\n@@\n-a\n+b\n*** Add File: src/b.go\n+x\n*** End Patch\n"
	c := tool.Call{Tool: "Edit", Input: map[string]any{"input": patch}, Project: "/p"}
	if v := tool.Of(patterns(t, "Edit(docs/**), Write(src/**)")).Allow(c); !v.Allowed {
		t.Error(v.Reason)
	}
	if v := tool.Of(patterns(t, "Edit(docs/**)")).Allow(c); v.Allowed {
		t.Error("src/b.go may be written")
	}
	if path, _ := c.Written().Below([]string{"/p/src"}); path != "src/b.go" {
		t.Errorf("writes %q", path)
	}
}

// TestDisallowedLink checks that a disallowed path that is a link also matches its target.
func TestDisallowedLink(t *testing.T) {
	links := map[string]string{"/p/secrets": "/vault/keys", "/home/u/private": "/vault/own"}
	real := func(p string) string {
		p = filepath.ToSlash(filepath.Clean(p))
		for from, to := range links {
			if p == from || strings.HasPrefix(p, from+"/") {
				return to + strings.TrimPrefix(p, from)
			}
		}
		return p
	}
	for _, test := range []struct {
		list, path string
		want       bool
	}{
		{"Read(secrets/**)", "secrets/a", false},
		{"Read(secrets/**)", "/vault/keys/a", false},
		{"Read(secrets)", "/vault/keys/deep/a", false},
		{"Read(./secrets/*.key)", "/vault/keys/a.key", false},
		{"Read(./secrets/*.key)", "/vault/keys/a.txt", true},
		{"Read(~/private/**)", "/vault/own/a", false},
		{"Read(//p/secrets/**)", "/vault/keys/a", false},
		{"Read(secrets/**)", "/vault/own/a", true},
		{"Read(secrets/**)", "docs/a", true},
	} {
		c := tool.Call{Tool: "Read", Input: map[string]any{"file_path": test.path}, Project: "/p", Home: "/home/u", Real: real}
		if v := (tool.Set{}).Without("s", patterns(t, test.list)).Allow(c); v.Allowed != test.want {
			t.Errorf("%s: %s is allowed: %v, want %v", test.list, test.path, v.Allowed, test.want)
		}
	}
}

// TestK1Behind checks SPEC K1: in lists, a tool that skillpm's server passes on belongs to its original server.
func TestK1Behind(t *testing.T) {
	list, err := tool.ParseList([]string{"mcp__files__read", "mcp__git"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"mcp__files__read": true, "mcp__skillpm__files__read": true, "mcp_skillpm_files__read": true, "skillpm-files__read": true, "skillpm__git__log": true,
		"mcp__skillpm__files__write": false, "mcp__skillpm__other__read": false, "mcp__skillpm_evil__files__read": false, "MCP:files__read": false,
		"mcp__skillpm__files": false,
	} {
		if got := (tool.Set{}).And("a", list).Allow(tool.Call{Tool: name}).Allowed; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		unknown := strings.HasPrefix(name, "MCP:") // neither list allows it
		denied := !(tool.Set{}).Without("a", list).Allow(tool.Call{Tool: name}).Allowed
		if denied != (want || unknown) {
			t.Errorf("%s: disallowed %v, want %v", name, denied, want || unknown)
		}
	}
}
