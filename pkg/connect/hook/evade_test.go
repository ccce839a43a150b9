package hook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/connect/hook"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// at sends an event of Claude Code with a working directory.
func (w *fixture) at(dir, event, id, more string) string {
	w.t.Helper()
	r := w.send("claude-code", "", fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q,%s}`, id, dir, event, more))
	if r.Err != nil {
		w.t.Errorf("%s: %v", event, r.Err)
	}
	return string(r.Stdout)
}

const bash = `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"b"`

// TestO10SpacedNames checks SPEC O10: a name with spaces or a leading slash counts, because some agents trim them and
// load the skill.
func TestO10SpacedNames(t *testing.T) {
	for _, name := range []string{" reader", "reader ", "reader\n", "\treader", " /reader", "/reader\u00a0", "\ufeffreader", "\u2003reader\u2028"} {
		w := newFixture(t)
		silent(t, w.call("s", "Skill", fmt.Sprintf(`{"skill":%q}`, name)))
		denied(t, w.call("s", "Bash", `{"command":"ls"}`), "reader")
		silent(t, w.claude("UserPromptExpansion", "p", fmt.Sprintf(`"command_name":%q,"command_args":""`, name)))
		denied(t, w.call("p", "Bash", `{"command":"ls"}`), "reader")
	}
}

// TestO10OtherDirectory checks SPEC O10: the skills are those of the project, even if the model changes directory. The
// project is the one that the agent reports, or else the session's first directory.
func TestO10OtherDirectory(t *testing.T) {
	for name, getenv := range map[string]func(string) string{"variable": nil, "first event": nil} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			project := filepath.Join(w.dir, "project")
			w.file("project/sub/x", "")
			if getenv = nil; name == "variable" {
				getenv = func(v string) string { return map[string]string{"CLAUDE_PROJECT_DIR": project}[v] }
			}
			w.getenv = getenv
			for _, dir := range []string{filepath.Join(project, "sub"), w.dir, filepath.Join(w.dir, "gone"), string(filepath.Separator)} {
				id := fmt.Sprintf("%x", dir)
				silent(t, w.at(project, "PreToolUse", id, bash))
				silent(t, w.at(dir, "PreToolUse", id, `"tool_name":"Skill","tool_input":{"skill":"reader"},"tool_use_id":"t"`))
				denied(t, w.at(dir, "PreToolUse", id, bash), "reader")
			}
		})
	}
}

// TestK1ProjectPatterns checks SPEC K1: file patterns are relative to the project, not to the model's working
// directory.
func TestK1ProjectPatterns(t *testing.T) {
	w := newFixture(t)
	w.skill("docsy", "allowed-tools: Read(docs/**) Write(out/**)")
	project := filepath.Join(w.dir, "project")
	silent(t, w.call("s", "Skill", `{"skill":"docsy"}`))
	for dir, call := range map[string]string{
		"/":                            `"tool_name":"Read","tool_input":{"file_path":"/docs/a"},"tool_use_id":"r"`,
		w.dir:                          fmt.Sprintf(`"tool_name":"Write","tool_input":{"file_path":%q},"tool_use_id":"w"`, filepath.Join(w.dir, "out/x")),
		filepath.Join(project, "sub"):  fmt.Sprintf(`"tool_name":"Read","tool_input":{"file_path":%q},"tool_use_id":"r"`, filepath.Join(project, "sub/docs/a")),
		filepath.Join(project, "sub2"): `"tool_name":"Read","tool_input":{"file_path":"docs/a"},"tool_use_id":"r"`,
	} {
		denied(t, w.at(dir, "PreToolUse", "s", call), "docsy")
	}
	silent(t, w.at(filepath.Join(project, "sub"), "PreToolUse", "s", `"tool_name":"Read","tool_input":{"file_path":"../docs/a"},"tool_use_id":"r"`))
}

// TestO10OtherNames checks SPEC O10: agents know a skill by its directory and by its frontmatter, and also read skills
// in directories below the project, and above it in its repository.
func TestO10OtherNames(t *testing.T) {
	w := newFixture(t)
	w.file("project/.claude/skills/dirname/SKILL.md", "---\nname: othername\ndescription: x\nallowed-tools: Read\n---\nx\n")
	w.file("project/apps/web/.claude/skills/nested/SKILL.md", "---\nname: declared\ndescription: x\nallowed-tools: Read\n---\nx\n")
	for _, name := range []string{"dirname", "othername", "Reader", "nested", "declared", "apps/web:nested"} {
		id := fmt.Sprintf("%x", name)
		silent(t, w.call(id, "Skill", fmt.Sprintf(`{"skill":%q}`, name)))
		denied(t, w.call(id, "Bash", `{"command":"ls"}`), "allows Read")
	}
	w.file("project/apps/web/.claude/skills/broken/SKILL.md", "---\ndescription: x\nallowed-tools: Bash(\n---\nx\n")
	denied(t, w.call("b", "Skill", `{"skill":"broken"}`), "broken")
	w.getenv = func(string) string { return filepath.Join(w.dir, "project", "apps", "web") }
	silent(t, w.call("up", "Skill", `{"skill":"reader"}`))
	denied(t, w.call("up", "Bash", `{"command":"ls"}`), "reader")
}

// TestO10Loaded checks SPEC O10: a skill that the agent reports as loaded is active, whatever name was requested.
func TestO10Loaded(t *testing.T) {
	w := newFixture(t)
	w.skill("mine", "disable-model-invocation: true\nallowed-tools: Read")
	for _, name := range []string{"reader", "mine"} {
		about := `"tool_name":"Skill","tool_input":{"skill":"something"},"tool_use_id":"t1"`
		silent(t, w.claude("PreToolUse", name, about))
		silent(t, w.claude("PostToolUse", name, about+fmt.Sprintf(`,"tool_response":{"success":true,"commandName":%q}`, name)))
		denied(t, w.call(name, "Bash", `{"command":"ls"}`), name)
	}
	// In an agent without a tool for skills, reading a path activates a skill, even one outside the catalog's
	// directories.
	w.file("project/sub/.agents/skills/deep/SKILL.md", "---\nname: deep\ndescription: x\nallowed-tools: Read\n---\nx\n")
	send := func(command string) string {
		r := w.send("codex", "PreToolUse", fmt.Sprintf(`{"session_id":"c","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"x"}`,
			filepath.Join(w.dir, "project"), command))
		return string(r.Stdout)
	}
	silent(t, send("cat sub/.agents/skills/deep/SKILL.md"))
	denied(t, send("ls"), "deep")
}

// TestO10FailsAgain checks SPEC O10: if an agent's calls do not have ids, a failed call undoes nothing of an earlier
// identical one.
func TestO10FailsAgain(t *testing.T) {
	w := newFixture(t)
	gemini := func(event, more string) string {
		r := w.send("gemini", "", fmt.Sprintf(`{"session_id":"g","cwd":%q,"hook_event_name":%q,%s}`, filepath.Join(w.dir, "project"), event, more))
		if r.Err != nil {
			t.Error(r.Err)
		}
		return string(r.Stdout)
	}
	activate, shell := `"tool_name":"activate_skill","tool_input":{"name":"reader"}`, `"tool_name":"run_shell_command","tool_input":{"command":"ls"}`
	silent(t, gemini("BeforeTool", activate))
	if got := gemini("AfterTool", activate+`,"tool_response":{"llmContent":"Do it."}`); !strings.Contains(got, "only these tools are allowed: Read") {
		t.Errorf("the model is told %q", got)
	}
	silent(t, gemini("BeforeTool", activate))
	silent(t, gemini("AfterTool", activate+`,"tool_response":{"error":"no"}`))
	denied(t, gemini("BeforeTool", shell), "reader")
	// Two concurrent calls, the first of which fails.
	silent(t, gemini("AfterAgent", `"x":1`))
	silent(t, gemini("BeforeTool", activate))
	silent(t, gemini("BeforeTool", activate))
	silent(t, gemini("AfterTool", activate+`,"tool_response":{"error":"no"}`))
	silent(t, gemini("AfterTool", activate+`,"tool_response":{"llmContent":"Do it."}`))
	denied(t, gemini("BeforeTool", shell), "reader")
}

// TestO10NamelessSubagent checks SPEC O10: the end of an unidentified subagent ends no skill of the main agent.
func TestO10NamelessSubagent(t *testing.T) {
	for of, events := range map[string][3]string{
		"claude-code": {"PreToolUse", "SubagentStop", `"session_id":"s"`},
		"codex":       {"PreToolUse", "SubagentStop", `"session_id":"s"`},
		"copilot":     {"preToolUse", "subagentStop", `"sessionId":"s"`},
		"cursor":      {"preToolUse", "subagentStop", `"conversation_id":"s"`},
	} {
		for _, agent := range []string{"", `,"agent_id":"","agentId":"","subagent_id":""`} {
			w := newFixture(t)
			about := fmt.Sprintf(`{%s,"cwd":%q`, events[2], filepath.Join(w.dir, "project"))
			send := func(event, more string) string {
				r := w.send(of, event, about+more+"}")
				if r.Err != nil {
					t.Errorf("%s: %v", of, r.Err)
				}
				return string(r.Stdout)
			}
			ask := `,"tool_name":"Bash","tool_input":{"command":"ls"},"toolName":"bash","toolArgs":{"command":"ls"}`
			silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
			send(events[1], agent)
			if got := send(events[0], ask); !strings.Contains(got, `"deny"`) {
				t.Errorf("%s, agent %q: answered %q", of, agent, got)
			}
		}
	}
	// A subagent with its own session, which started with its parent's skills, ends.
	w := newFixture(t)
	silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
	about := fmt.Sprintf(`{"conversation_id":"own","parent_conversation_id":"s","cwd":%q,"tool_name":"Shell","tool_input":{"command":"ls"}`, filepath.Join(w.dir, "project"))
	denied(t, string(w.send("cursor", "preToolUse", about+"}").Stdout), "reader")
	w.send("cursor", "subagentStop", `{"conversation_id":"own"}`)
	if got := w.active("own"); len(got) > 0 {
		t.Errorf("active %v", got)
	}
}

// TestO10NoPlace checks SPEC O10: without an active skill, a missing directory or home denies no call, because neither
// is needed.
func TestO10NoPlace(t *testing.T) {
	w := newFixture(t)
	event := `{"session_id":"s","hook_event_name":"PreToolUse",` + bash + `%s}`
	gone := w.options("claude-code", "")
	gone.Dir = ""
	for _, cwd := range []string{"", fmt.Sprintf(`,"cwd":%q`, filepath.Join(w.dir, "gone"))} {
		r := hook.Answer(t.Context(), gone, strings.NewReader(fmt.Sprintf(event, cwd)))
		silent(t, string(r.Stdout))
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
	homeless := w.options("claude-code", "")
	homeless.State = ""
	for _, tool := range []string{"Bash", "Write"} {
		r := hook.Answer(t.Context(), homeless, strings.NewReader(strings.Replace(fmt.Sprintf(event, ""), "Bash", tool, 1)))
		silent(t, string(r.Stdout))
	}
	silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
	r := hook.Answer(t.Context(), gone, strings.NewReader(fmt.Sprintf(event, "")))
	denied(t, string(r.Stdout), "reader")
}

// TestK7Kept checks SPEC K7: the files that skillpm relies on are read-only to an agent's tools, even without an active
// skill.
func TestK7Kept(t *testing.T) {
	w := newFixture(t)
	for _, file := range []string{
		"config/config.yaml", "config/policy.yaml", "config/profiles/x.yaml", "state/audit/audit.jsonl", "state/sessions/s.json",
		"cache/store/t1/0a/x/tree/SKILL.md", "cache/capabilities.json", "data/registry/index.json", ".skillpm/skillpm.lock", ".skillpm/state", ".skillpm/journal",
	} {
		denied(t, w.call("s", "Write", fmt.Sprintf(`{"file_path":%q,"content":""}`, filepath.Join(w.paths.Home, file))), "but skillpm's settings and data are read-only")
	}
	for _, file := range []string{"skillpm-policy.yaml", "skillpm.lock", ".skillpm/state", ".skillpm/journal", ".skillpm/backup/x", ".skillpm/lock"} {
		denied(t, w.call("s", "Edit", fmt.Sprintf(`{"file_path":%q}`, file)), file, "settings and data are read-only")
	}
	silent(t, w.call("s", "Write", `{"file_path":".skillpm/skills/mine/SKILL.md","content":""}`))
	w.file("project/.skillpm/plugins/acme/x/y/SKILL.md", "x")
	denied(t, w.call("s", "Edit", `{"file_path":".skillpm/plugins/acme/x/y/SKILL.md"}`), "skills in")
	silent(t, w.call("s", "Write", `{"file_path":"docs/a.md","content":""}`))
}

// TestO14HookEvents checks SPEC O14: an event that cannot be answered is in the audit log, denied or allowed.
func TestO14HookEvents(t *testing.T) {
	w := newFixture(t)
	for _, lenient := range []bool{false, true} {
		w.lenient = lenient
		w.records = nil
		w.send("claude-code", "PreToolUse", "garbage")
		w.send("claude-code", "PreToolUse", `{"session_id":"s","hook_event_name":"PreToolUse"}`)
		w.send("claude-code", "PostToolUse", `{"session_id":"s","hook_event_name":"PreToolUse"}`)
		w.send("claude-code", "Stop", "garbage")
		var got []string
		for _, r := range w.records {
			if r.Action != audit.HookEvent || r.Host != "claude-code" || r.Reason == "" {
				t.Errorf("record %+v", r)
			}
			got = append(got, r.Event+" "+r.Session+" "+r.Result)
		}
		want := "PreToolUse  denied|PreToolUse s denied|PreToolUse  denied|Stop  failed"
		if lenient {
			want = strings.ReplaceAll(want, "denied", "failed")
		}
		if strings.Join(got, "|") != want {
			t.Errorf("records %q, want %q", strings.Join(got, "|"), want)
		}
	}
	if _, err := os.Stat(filepath.Join(w.paths.State, "sessions")); err == nil {
		t.Error("something is kept")
	}
}

// TestO10NameAtLineEnd checks SPEC O10: a name ends at any white space.
func TestO10NameAtLineEnd(t *testing.T) {
	for _, prompt := range []string{`/reader\nmore`, `/reader\tx`, ` /reader\r\n`, `/reader more`, `/reader`} {
		w := newFixture(t)
		about := fmt.Sprintf(`{"session_id":"g","cwd":%q,"hook_event_name":`, filepath.Join(w.dir, "project"))
		silent(t, string(w.send("gemini", "", about+`"BeforeAgent","prompt":"`+prompt+`"}`).Stdout))
		denied(t, string(w.send("gemini", "", about+`"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`).Stdout), "reader")
	}
}

// TestO10Paths checks SPEC O10: a SKILL.md is recognized by any path that leads to it.
func TestO10Paths(t *testing.T) {
	for _, input := range []map[string]string{
		{"command": "cd .agents/skills/reader && cat SKILL.md"},
		{"command": "cd .agents; cd skills/reader && head -20 SKILL.md | nl"},
		{"command": "cat .agents/skills/*/SKILL.md"},
		{"command": "cat SKILL.md", "workdir": ".agents/skills/reader"},
	} {
		w := newFixture(t)
		codex := func(input map[string]string) string {
			data, err := json.Marshal(map[string]any{"session_id": "s", "cwd": filepath.Join(w.dir, "project"), "tool_name": "Bash", "tool_input": input})
			if err != nil {
				t.Fatal(err)
			}
			return string(w.send("codex", "PreToolUse", string(data)).Stdout)
		}
		silent(t, codex(input))
		denied(t, codex(map[string]string{"command": "ls"}), "reader")
	}
	// If the skill's restriction is already in effect, its files stay readable.
	w := newFixture(t)
	w.skill("free", "tags: [x]")
	silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
	about := fmt.Sprintf(`{"session_id":"s","cwd":%q,"tool_name":"Bash","tool_input":{"command":%%q}}`, filepath.Join(w.dir, "project"))
	silent(t, string(w.send("codex", "PreToolUse", fmt.Sprintf(about, "cd .agents/skills/free && cat SKILL.md")).Stdout))
	denied(t, string(w.send("codex", "PreToolUse", fmt.Sprintf(about, "cd .agents/skills/free && ls && cat SKILL.md")).Stdout), "reader")
	// A wildcard below a named pipe does not wait for a writer.
	if exec.Command("mkfifo", filepath.Join(w.dir, "project/pipe")).Run() == nil {
		silent(t, string(w.send("codex", "PreToolUse", strings.Replace(fmt.Sprintf(about, "cat pipe/*"), `"s"`, `"p"`, 1)).Stdout))
	}
}

// TestO10Limit checks SPEC O10, O12: an answer comes in time, even if a skill's own hook is slow, and the hook has failed
// then.
func TestO10Limit(t *testing.T) {
	w := newFixture(t)
	w.skill("slow", "hooks: {pre: pre.sh}")
	w.file("project/.agents/skills/slow/pre.sh", "#!/bin/sh\nexec sleep 600\n")
	send := func(event, call string) string {
		o := w.options("gemini", event)
		if event == "AfterTool" {
			o.Limit = 2 * time.Second
		}
		about := fmt.Sprintf(`{"session_id":"s","cwd":%q,`, filepath.Join(w.dir, "project"))
		return string(hook.Answer(t.Context(), o, strings.NewReader(about+call+"}")).Stdout)
	}
	load := `"tool_name":"activate_skill","tool_input":{"name":"slow"}`
	silent(t, send("BeforeTool", load))
	denied(t, send("AfterTool", load+`,"tool_response":{"llmContent":"Do it."}`), "slow")
	denied(t, send("BeforeTool", `"tool_name":"read_file","tool_input":{"path":"x"}`), "do not follow the instructions of skill slow")
}

// TestO14DeniedDirectory checks SPEC O14: a denial in a policy applies to the name of a skill's directory, too.
func TestO14DeniedDirectory(t *testing.T) {
	w := newFixture(t)
	w.file("project/.claude/skills/inner/SKILL.md", "---\nname: badl\ndescription: x\n---\nx\n")
	for _, name := range []string{"inner", "badl"} {
		w.file("home/config/policy.yaml", "version: 1\nmode: enforce\nskills: {deny: ["+name+"]}\n")
		denied(t, w.call("s", "Skill", `{"skill":"inner"}`), "denied")
		denied(t, w.claude("UserPromptExpansion", "s", `"command_name":"inner","command_args":""`), "denied")
	}
}

// TestO14DeniedFiles checks SPEC O14: the files of a denied skill cannot be read through any path and with any tool
// that shows files, in every agent, and those of a skill with the same name in another pack can.
func TestO14DeniedFiles(t *testing.T) {
	for _, id := range []string{"claude-code", "codex"} {
		t.Run(id, func(t *testing.T) {
			w := newFixture(t)
			for _, pack := range []string{"acme", "globex"} {
				dir := "project/.skillpm/plugins/" + pack + "/tools/deploy/"
				w.file(dir+"SKILL.md", "---\nname: deploy\ndescription: Deploys.\n---\nDo it.\n")
				w.file(dir+"references/steps.md", "Steps.\n")
			}
			w.file("project/skillpm.yaml", "")
			w.file("project/main.go", "package main\n")
			link := filepath.Join(w.dir, "project/.claude/skills/deploy")
			if err := os.Symlink("../../.skillpm/plugins/acme/tools/deploy", link); err != nil {
				t.Skip("no symbolic links here:", err)
			}
			call := func(tool, input string) string {
				r := w.send(id, "PreToolUse", fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse",`+
					`"tool_name":%q,"tool_input":%s,"tool_use_id":"t"}`, filepath.Join(w.dir, "project"), tool, input))
				if r.Err != nil {
					t.Error(r.Err)
				}
				return string(r.Stdout)
			}
			w.file("home/config/policy.yaml", "version: 1\nskills: {deny: [deploy@acme/tools]}\n")
			for _, file := range []string{
				".claude/skills/deploy/SKILL.md", ".claude/skills/deploy/references/steps.md",
				".skillpm/plugins/acme/tools/deploy/SKILL.md", ".skillpm/plugins/acme/tools/deploy/references/steps.md",
				".skillpm/plugins/globex/../acme/tools/deploy/SKILL.md",
			} {
				denied(t, call("Bash", fmt.Sprintf(`{"command":"cat %s"}`, file)), "deploy@acme/tools")
				denied(t, call("Bash", fmt.Sprintf(`{"command":"ls && head -n 3 %s | sort"}`, file)), "deploy@acme/tools")
				if id == "claude-code" {
					path, _ := json.Marshal(filepath.Join(w.dir, "project", filepath.FromSlash(file)))
					denied(t, call("Read", fmt.Sprintf(`{"file_path":%s}`, path)), "deploy@acme/tools")
				}
			}
			for _, file := range []string{
				".skillpm/plugins/globex/tools/deploy/references/steps.md", ".claude/skills/reader/SKILL.md", "main.go",
				".skillpm/plugins/globex/tools/deploy/SKILL.md",
			} {
				silent(t, call("Bash", fmt.Sprintf(`{"command":"cat %s"}`, file)))
				silent(t, w.claude("Stop", "s", ""))
			}
		})
	}
}
