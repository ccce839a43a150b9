package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

const project = "home/project/.skillpm/skills/"

// TestNativeTools checks skillpm's own tools, the skills in the instructions, and the names in the schema.
func TestNativeTools(t *testing.T) {
	p := newPlace(t, map[string]string{
		project + "deploy/SKILL.md": skillText("deploy", "", "Deploy $0."),
		project + "secret/SKILL.md": skillText("secret", "disable-model-invocation: true\n", "x"),
	})
	p.profile = "claude-code"
	p.write("home/project/.claude/skills/deploy/SKILL.md", skillText("deploy", "", "Deploy $0."))
	p.write("home/project/.claude/skills/secret/SKILL.md", skillText("secret", "disable-model-invocation: true\n", "x"))
	c := p.connect()
	tools := toolNames(t, c)
	if got := slices.Sorted(maps.Keys(tools)); !slices.Equal(got, []string{"find_skills", "skill", "skill_end", "skill_file", "skill_run"}) {
		t.Errorf("the tools are %v", got)
	}
	schema, err := json.Marshal(tools["skill"].InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(schema), `"enum":["deploy"]`) {
		t.Errorf("the schema lists no names, or those of users: %s", schema)
	}
	instructions := c.InitializeResult().Instructions
	if !strings.Contains(instructions, "- deploy: Does deploy for somebody.") || strings.Contains(instructions, "secret") {
		t.Errorf("instructions: %s", instructions)
	}
	if strings.Contains(tools["skill"].Description, "Does deploy") || len(tools["skill"].Meta) > 0 {
		t.Errorf("the skills are listed twice: %+v", tools["skill"])
	}
	if info := c.InitializeResult().ServerInfo; info.Name != "skillpm" || info.Version != "1.2.3" {
		t.Errorf("%+v", info)
	}
	res, text := call(t, c, "skill", map[string]any{"name": "deploy", "arguments": "shop"})
	if res.IsError || !strings.HasSuffix(text, "\n\nDeploy shop.\n") || res.StructuredContent != nil || res.Meta["skillpm/status"] != "activated" {
		t.Errorf("%q, %v, %v", text, res.StructuredContent, res.Meta)
	}
}

// TestAlwaysLoad checks always-load: the description has the skills, once, and clients are asked not to defer the tool.
func TestAlwaysLoad(t *testing.T) {
	p := newPlace(t, map[string]string{project + "deploy/SKILL.md": skillText("deploy", "", "x")})
	p.options.AlwaysLoad = true
	c := p.connect()
	skill := toolNames(t, c)["skill"]
	if !strings.Contains(skill.Description, "- deploy: Does deploy") || skill.Meta["anthropic/alwaysLoad"] != true {
		t.Errorf("%+v", skill)
	}
	if got := c.InitializeResult().Instructions; got != "" {
		t.Errorf("they are listed twice: %s", got)
	}
}

// TestNoSkills checks that without skills there are no tools, and no text mentions any.
func TestNoSkills(t *testing.T) {
	c := newPlace(t, nil).connect()
	if tools := toolNames(t, c); len(tools) > 0 || c.InitializeResult().Instructions != "" {
		t.Errorf("%v, %q", tools, c.InitializeResult().Instructions)
	}
}

// TestP7UseSkill checks SPEC P7: the agent's tool use_skill.
func TestP7UseSkill(t *testing.T) {
	p := newPlace(t, map[string]string{"home/project/data/skills/review/SKILL.md": skillText("review", "", "Review $0, mind $ARGUMENTS[1].")})
	p.profile, p.options.HostNames = "pegasus", true
	c := p.connect()
	if tools := toolNames(t, c); tools["use_skill"] == nil || tools["skill"] != nil {
		t.Errorf("%v", slices.Sorted(maps.Keys(tools)))
	}
	if !strings.Contains(c.InitializeResult().Instructions, "- review: Does review") {
		t.Errorf("%q", c.InitializeResult().Instructions)
	}
	res, text := call(t, c, "use_skill", map[string]any{"skill": "review", "args": "main tests"})
	if got, want := structured(t, res), `{"result":"Review main, mind tests.\n","success":true}`; got != want || text != "Review main, mind tests.\n" || res.IsError {
		t.Errorf("%s, %q", got, text)
	}
	res, text = call(t, c, "use_skill", map[string]any{"skill": "revew"})
	if got := structured(t, res); !res.IsError || got != `{"error":"Skill \"revew\" not found","success":false}` || text != `Skill "revew" not found (did you mean review?)` {
		t.Errorf("%s, %q", got, text)
	}
}

// TestO7Description checks SPEC O7: the skills are in the tool's description, generated for each request, and not in
// the instructions.
func TestO7Description(t *testing.T) {
	p := newPlace(t, map[string]string{project + "deploy/SKILL.md": skillText("deploy", "", "x")})
	p.profile, p.options.HostNames = "omniforge", true
	c := p.connect()
	skill := toolNames(t, c)["skill"]
	if !strings.Contains(skill.Description, "<available_skills>\n\"deploy\": Does deploy for somebody.\n</available_skills>") || skill.Meta["anthropic/alwaysLoad"] != true {
		t.Errorf("%+v", skill)
	}
	if got := c.InitializeResult().Instructions; got != "" {
		t.Errorf("instructions: %q", got)
	}
	p.write(project+"other/SKILL.md", skillText("other", "", "y"))
	if now := toolNames(t, c)["skill"]; !strings.Contains(now.Description, `"other": Does other`) {
		t.Errorf("%s", now.Description)
	}
}

// TestT3T4Toolset checks SPEC T3, T4: loadSkill lists the files, and loadSkillFile returns one.
func TestT3T4Toolset(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/project/.toolset/skills/pdf/SKILL.md": skillText("pdf", "files:\n  - {path: a.md, description: about a}\n", "Read it."),
		"home/project/.toolset/skills/pdf/a.md":     "A\n",
	})
	p.profile, p.options.HostNames = "toolset", true
	pr, err := profile.Lookup("toolset")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range pr.Layers {
		for _, dir := range l.Dirs {
			if rest, ok := strings.CutPrefix(dir, "./"); ok {
				p.write("home/project/"+rest+"/pdf/SKILL.md", skillText("pdf", "files:\n  - {path: a.md, description: about a}\n", "Read it."))
				p.write("home/project/"+rest+"/pdf/a.md", "A\n")
			}
		}
	}
	c := p.connect()
	res, text := call(t, c, "loadSkill", map[string]any{"skillName": "pdf"})
	if got, want := structured(t, res), `{"content":"Read it.\n","files":[{"description":"about a","path":"a.md"}],"skillName":"pdf","toolsets":[]}`; got != want || !strings.Contains(text, "- a.md: about a") {
		t.Errorf("%s, %q", got, text)
	}
	res, text = call(t, c, "loadSkillFile", map[string]any{"skillName": "pdf", "path": "a.md"})
	if got, want := structured(t, res), `{"content":"A\n","path":"a.md","skillName":"pdf"}`; got != want || text != "A\n" {
		t.Errorf("%s, %q", got, text)
	}
	if res, text = call(t, c, "loadSkillFile", map[string]any{"skillName": "pdf", "path": "../../x"}); !res.IsError || !strings.Contains(text, "not a path inside") {
		t.Errorf("%q", text)
	}
}

// TestK5Errors checks SPEC K5: the error about an unknown name lists the available skills, and the instructions of an
// active skill are repeated.
func TestK5Errors(t *testing.T) {
	p := newPlace(t, map[string]string{"home/project/.kodelet/skills/a/SKILL.md": skillText("a", "", "x"), "home/project/.kodelet/skills/b/SKILL.md": skillText("b", "", "x")})
	p.profile, p.options.HostNames, p.options.ExtraTools = "kodelet", true, true
	c := p.connect()
	if res, text := call(t, c, "skill", map[string]any{"skill_name": "c"}); !res.IsError || !strings.Contains(text, "available skills are a, b") {
		t.Errorf("%q", text)
	}
	if res, text := call(t, c, "skill", map[string]any{"skill_name": "a"}); res.IsError {
		t.Errorf("%q", text)
	}
	if res, text := call(t, c, "skill", map[string]any{"skill_name": "a"}); res.IsError || !strings.Contains(text, `already active`) || !strings.Contains(text, "Instructions") {
		t.Errorf("%q", text)
	}
	if res, text := call(t, c, "skill_end", map[string]any{"name": "a"}); res.IsError || text != "deactivated a" {
		t.Errorf("%q", text)
	}
	if res, text := call(t, c, "skill", map[string]any{"skill_name": "a"}); res.IsError {
		t.Errorf("%q", text)
	}
}

// TestHintsForModels checks that an error for a model has no commands, which it cannot run, or which lift a protection.
func TestHintsForModels(t *testing.T) {
	p := newPlace(t, map[string]string{
		project + "a/SKILL.md": skillText("a", "", "x"), project + "f/SKILL.md": skillText("f", "context: fork\n", "x"),
		project + "denied/SKILL.md": skillText("denied", "", "x"),
		"enterprise/policy.yaml":    "version: 1\nmode: enforce\nskills: {deny: [denied]}\n",
	})
	c := p.connect()
	for i, tt := range []struct {
		tool string
		args map[string]any
	}{
		{"skill_end", map[string]any{"name": "a"}},
		{"skill", map[string]any{"name": "f"}},
		{"skill", map[string]any{"name": "denied"}},
		{"skill", map[string]any{"name": "none"}},
		{"skill_run", map[string]any{"skill": "a"}},
		{"skill_file", map[string]any{"skill": "a", "path": "x"}},
	} {
		if res, text := call(t, c, tt.tool, tt.args); !res.IsError || strings.Contains(text, "skillpm ") {
			t.Errorf("%d: %q", i, text)
		}
	}
}

// TestO26EveryProfile checks SPEC O26: with every profile the instructions are in each part of the result that a client
// may show.
func TestO26EveryProfile(t *testing.T) {
	all, err := profile.Agents()
	if err != nil {
		t.Fatal(err)
	}
	for _, pr := range all {
		for _, names := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s-%t", pr.ID, names), func(t *testing.T) {
				p := newPlace(t, nil)
				for _, l := range pr.Layers {
					for _, dir := range l.Dirs {
						if rest, ok := strings.CutPrefix(dir, "./"); ok {
							p.write("home/project/"+rest+"/demo/SKILL.md", skillText("demo", "", "THE INSTRUCTIONS"))
						}
					}
				}
				p.profile, p.options.HostNames = pr.ID, names
				c, questions := p.connect(), 0
				for name, defined := range toolNames(t, c) {
					schema, ok := defined.InputSchema.(map[string]any)
					if !ok || name == "skill_end" || name == "skill_run" || defined.Name == "find_skills" || strings.Contains(strings.ToLower(name), "file") {
						continue
					}
					required, _ := schema["required"].([]any)
					args := map[string]any{}
					for _, r := range required {
						args[fmt.Sprint(r)] = "demo"
					}
					questions++
					res, text := call(t, c, name, args)
					if res.IsError || !strings.Contains(text, "THE INSTRUCTIONS") {
						t.Errorf("%s: text %q", name, text)
					}
					if data := structured(t, res); data != "" && !strings.Contains(data, "THE INSTRUCTIONS") {
						t.Errorf("%s: structured %q", name, data)
					}
				}
				if questions != 1 {
					t.Errorf("%d tools were asked for the instructions", questions)
				}
			})
		}
	}
}

// TestK8Trace checks SPEC K8: the client's trace context is in the record of each invocation.
func TestK8Trace(t *testing.T) {
	p := newPlace(t, map[string]string{project + "deploy/SKILL.md": skillText("deploy", "", "x")})
	c := p.connect()
	_, err := c.CallTool(t.Context(), &mcp.CallToolParams{
		Meta: mcp.Meta{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, Name: "skill", Arguments: map[string]any{"name": "deploy"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"skill":"deploy"`, `"trigger":"model"`, "0af7651916cd43dd8448eb211c80319c", `"tester"`} {
		if !strings.Contains(p.records(), want) {
			t.Errorf("%s is not in %s", want, p.records())
		}
	}
}

// TestO10Attached checks SPEC O10: each call of another server's tool is checked, with the caller's session.
func TestO10Attached(t *testing.T) {
	p := newPlace(t, map[string]string{project + "deploy/SKILL.md": skillText("deploy", "allowed-tools: [Read]\n", "x")})
	ran := 0
	p.options.Attach = func(to *mcp.Server, check func(context.Context, tool.Call) error) func() {
		to.AddTool(&mcp.Tool{Name: "other__write", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := check(ctx, tool.Call{Tool: "mcp__other__write"}); err != nil {
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
			}
			ran++
			return &mcp.CallToolResult{}, nil
		})
		return func() { to.RemoveTools("other__write") }
	}
	s := p.server()
	c, other := p.connectTo(s), p.connectTo(s)
	if toolNames(t, c)["other__write"] == nil {
		t.Fatal("the tool is not listed")
	}
	if res, text := call(t, c, "other__write", nil); res.IsError {
		t.Error(text)
	}
	call(t, c, "skill", map[string]any{"name": "deploy"})
	if res, text := call(t, c, "other__write", nil); !res.IsError || !strings.Contains(text, "deploy") || !strings.Contains(text, "mcp__other__write") {
		t.Errorf("%q", text)
	}
	if res, text := call(t, other, "other__write", nil); res.IsError {
		t.Errorf("another connection: %q", text)
	}
	call(t, c, "skill_end", map[string]any{"name": "deploy"})
	if res, text := call(t, c, "other__write", nil); res.IsError {
		t.Error(text)
	}
	if ran != 3 {
		t.Errorf("it ran %d times", ran)
	}
}

// TestSessions checks that a name with a pack matches only that skill, and that session state ends with the connection.
func TestSessions(t *testing.T) {
	p := newPlace(t, map[string]string{project + "deploy/SKILL.md": skillText("deploy", "", "x")})
	s := p.server()
	first, second := p.connectTo(s), p.connectTo(s)
	for _, c := range []*mcp.ClientSession{first, second} { // each has a session of its own
		if res, text := call(t, c, "skill", map[string]any{"name": "deploy"}); res.IsError {
			t.Error(text)
		}
	}
	p.options.Session = "shared"
	s = p.server()
	first, second = p.connectTo(s), p.connectTo(s)
	call(t, first, "skill", map[string]any{"name": "deploy"})
	if res, text := call(t, second, "skill", map[string]any{"name": "deploy"}); res.IsError || !strings.Contains(text, "already active") {
		t.Errorf("a session that is shared: %q", text)
	}
}

// TestNew checks that New without options fails.
func TestNew(t *testing.T) {
	if _, err := mcpserver.New(mcpserver.Options{}); err == nil {
		t.Error("a server without anything")
	}
}
