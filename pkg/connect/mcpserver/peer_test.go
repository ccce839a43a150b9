package mcpserver_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// promptNames returns the names of the prompts.
func promptNames(t *testing.T, c *mcp.ClientSession) (names []string) {
	t.Helper()
	for p, err := range c.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, p.Name)
	}
	return names
}

// TestOwnSkills checks that an agent gets each skill once: those in its own directories, also as links and copies, are
// not in the list, the schema, or the prompts of the server, which still searches them and reads their files.
func TestOwnSkills(t *testing.T) {
	for program, dir := range map[string]string{"claude-code": ".claude/skills/", "codex-mcp-client": ".agents/skills/", "gemini-cli-mcp-client": ".gemini/skills/", "opencode": ".claude/skills/"} {
		t.Run(program, func(t *testing.T) {
			p := newPlace(t, map[string]string{
				project + "served/SKILL.md": skillText("served", "", "x"),
				project + "linked/SKILL.md": skillText("linked", "", "x"), project + "linked/a.md": "A",
				project + "copied/SKILL.md":                skillText("copied", "", "x"),
				"home/project/" + dir + "copied/SKILL.md":  skillText("copied", "", "x"),
				project + "served-strict/SKILL.md":         skillText("served-strict", "allowed-tools: [Read]\n", "x"),
				"home/project/.skillpm/skills/x/SKILL.md":  skillText("x", "user-invocable: false\n", "x"),
				"home/project/.cursor/skills/cur/SKILL.md": skillText("cur", "", "x"), // of another agent
			})
			if err := os.Symlink(filepath.Join(p.root, project, "linked"), filepath.Join(p.root, "home/project", dir, "linked")); err != nil {
				t.Fatal(err)
			}
			p.program = mcp.Implementation{Name: program, Version: "99"}
			c := p.connect()
			instructions := c.InitializeResult().Instructions
			for name, want := range map[string]bool{"served": true, "linked": false, "copied": false} {
				if got := strings.Contains(instructions, "- "+name+": "); got != want {
					t.Errorf("%s is listed: %t\n%s", name, got, instructions)
				}
			}
			if !strings.Contains(instructions, "Load your own skills as usual.") {
				t.Errorf("%s", instructions)
			}
			if got := promptNames(t, c); !slices.Equal(got, []string{"served"}) {
				t.Errorf("the prompts are %q: one duplicates the agent's, or has restrictions that nothing enforces", got)
			}
			for _, name := range []string{"linked", "served-strict"} {
				if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name}); !invalidParams(err) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if _, text := call(t, c, "find_skills", map[string]any{"query": "linked"}); !strings.Contains(text, "Load these as your own skills:\n- linked: ") {
				t.Errorf("%q", text)
			}
			if _, text := call(t, c, "skill_file", map[string]any{"skill": "linked", "path": "a.md"}); text != "A" {
				t.Errorf("%q", text)
			}
			if list, err := c.ListResources(t.Context(), nil); err != nil || len(list.Resources) < 4 {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// TestOnlyOwnSkills checks that the server lists nothing if the agent reads all skills itself. The tool to load skills
// stays for clients that list tools once: a skill may be added that the agent does not read.
func TestOnlyOwnSkills(t *testing.T) {
	p := newPlace(t, map[string]string{"home/project/.claude/skills/deploy/SKILL.md": skillText("deploy", "", "x")})
	p.options.Agent, p.options.AlwaysLoad = "claude-code", true
	c := p.connect()
	tools := toolNames(t, c)
	if got := slices.Sorted(maps.Keys(tools)); !slices.Equal(got, []string{"find_skills", "skill", "skill_end", "skill_file", "skill_run"}) {
		t.Errorf("the tools are %q", got)
	}
	if skill := tools["skill"]; strings.Contains(fmt.Sprint(skill.Description, skill.InputSchema), "deploy") {
		t.Errorf("%+v", skill)
	}
	if got := c.InitializeResult().Instructions; strings.Contains(got, "deploy") || !strings.Contains(got, "`find_skills` searches by task") {
		t.Errorf("%q", got)
	}
	if got := promptNames(t, c); len(got) > 0 {
		t.Errorf("the prompts are %q", got)
	}
}

// many writes n skills with long descriptions.
func (p *place) many(dir string, n int) {
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		p.write(dir+name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+strings.Repeat("What it does. ", 20)+"\n---\nx\n")
	}
}

// TestAgentLimits checks that a listing is not longer than what the version of an agent reads, wherever it is, and that
// a cut one says so and names the tool that finds the rest.
func TestAgentLimits(t *testing.T) {
	p := newPlace(t, nil)
	p.many(project, 400)
	for _, always := range []bool{false, true} {
		for version, most := range map[string]int{"2.1.197": 2048, "2.1.329": 2048, "2.1.330": 4096, "3.0.0": 4096, "": 2048} {
			p.program = mcp.Implementation{Name: "claude-code", Version: version}
			p.options.AlwaysLoad = always
			c := p.connect()
			skill := toolNames(t, c)["skill"]
			text := c.InitializeResult().Instructions
			if always {
				text = skill.Description
			}
			if n := utf8.RuneCountInString(text); n > most || n < most-150 {
				t.Errorf("%s, %t: %d characters", version, always, n)
			}
			if !strings.Contains(text, "Skills that are not listed: ") || !strings.Contains(text, "call `find_skills` with the task") || strings.Contains(text, ": What") {
				t.Errorf("%s, %t: %s", version, always, text)
			}
			if schema := fmt.Sprint(skill.InputSchema); strings.Contains(schema, "enum") {
				t.Errorf("%s: the schema has a part of the names: %s", version, schema)
			}
		}
	}
}

// TestPreview checks that a preview has the texts that a client of the agent gets.
func TestPreview(t *testing.T) {
	p := newPlace(t, map[string]string{"home/project/.claude/skills/deploy/SKILL.md": skillText("deploy", "", "x")})
	p.many(project, 100)
	p.program = mcp.Implementation{Name: "claude-code", Version: "2.1.330"}
	for _, always := range []bool{false, true} {
		p.options.Agent, p.options.AlwaysLoad = "claude-code", always
		c := p.connect()
		got, err := p.server().Preview(t.Context(), "2.1.330")
		if err != nil {
			t.Fatal(err)
		}
		if want := c.InitializeResult().Instructions; got.Instructions != want {
			t.Errorf("%t: got %s, want %s", always, got.Instructions, want)
		}
		tools := toolNames(t, c)
		for _, tool := range got.Tools {
			if want := tools[tool.Name]; want == nil || want.Description != tool.Description {
				t.Errorf("%t: %s: %q, want %+v", always, tool.Name, tool.Description, want)
			}
		}
		if len(got.Tools) != len(tools) || len(got.Listing.Names) != 100 || len(got.Listing.Shortened) != 100 {
			t.Errorf("%t: %d tools, %d of 100 skills, %d shortened", always, len(got.Tools), len(got.Listing.Names), len(got.Listing.Shortened))
		}
	}
}

// TestO7ThousandSkills checks SPEC O7, O23: with 1,000 skills, the description of the tool has less than 1 KB and names
// find_skills.
func TestO7ThousandSkills(t *testing.T) {
	p := newPlace(t, nil)
	p.many(project, 1000)
	p.profile, p.options.HostNames = "omniforge", true
	c := p.connect()
	text := toolNames(t, c)["skill"].Description
	if len(text) >= 1024 || strings.Count(text, "\"skill-") < 15 || !strings.Contains(text, "call `find_skills` with the task") || c.InitializeResult().Instructions != "" {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// TestK3All checks SPEC K3: the description lists each skill, and says that there are no others.
func TestK3All(t *testing.T) {
	p := newPlace(t, nil)
	p.many("home/project/.kodelet/skills/", 150)
	p.profile, p.options.HostNames, p.options.Agent = "kodelet", true, "claude-code"
	if text := toolNames(t, p.connect())["skill"].Description; strings.Count(text, "### skill-") != 150 || !strings.Contains(text, "All 150 skills are listed below.") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
}

// TestReadOnlyHint checks that only tools without side effects have the hint: not those that can run hooks, start tasks,
// or lift restrictions.
func TestReadOnlyHint(t *testing.T) {
	for _, names := range []bool{false, true} {
		p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
		p.options.HostNames = names
		for name, tool := range toolNames(t, p.connect()) {
			if want := name == "skill_file" || name == "find_skills"; tool.Annotations == nil || tool.Annotations.ReadOnlyHint != want {
				t.Errorf("%s: %+v", name, tool.Annotations)
			}
		}
	}
}
