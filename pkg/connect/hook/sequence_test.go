package hook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/connect/hook"
)

// use loads a skill with Claude Code's own tool.
func (w *fixture) use(id, name string) {
	w.t.Helper()
	input := fmt.Sprintf(`{"skill":%q}`, name)
	silent(w.t, w.call(id, "Skill", input))
	w.loaded(id, "Skill", input)
}

// TestO10Sequence checks SPEC O10: skills that the model uses one after the other follow each other.
func TestO10Sequence(t *testing.T) {
	w := newFixture(t)
	w.skill("fix", "allowed-tools: Edit, Bash")
	w.use("s", "reader")
	denied(t, w.call("s", "Bash", `{"command":"make"}`), "Tool 'Bash' not allowed by active skill 'reader'", "use only Read")
	w.use("s", "fix")
	silent(t, w.call("s", "Bash", `{"command":"make"}`))
	for i := range 7 {
		w.skill(fmt.Sprintf("n%d", i), "tags: [x]")
		w.use("s", fmt.Sprintf("n%d", i))
	}
	if got := w.active("s"); !slices.Equal(got, []string{"n6"}) {
		t.Errorf("active %v", got)
	}
}

// TestO10Refused checks SPEC O10, O12: a skill that the user or the permission mode refuses is not active, and the skill
// before it still is. Until the call's result is known, both restrict.
func TestO10Refused(t *testing.T) {
	w := newFixture(t)
	w.skill("fix", "allowed-tools: Edit, Bash\nhooks: {post: post.sh}")
	w.file("project/.claude/skills/fix/post.sh", "#!/bin/sh\necho x >> "+w.dir+"/post\n")
	w.use("s", "reader")
	fix := `{"skill":"fix"}`
	id := fmt.Sprintf("t-Skill-%x", fix)
	for _, end := range []string{
		fmt.Sprintf(`PostToolBatch "tool_calls":[{"tool_name":"Skill","tool_input":%s,"tool_use_id":%q,"tool_response":"The user refused."}]`, fix, id),
		fmt.Sprintf(`PermissionDenied "tool_name":"Skill","tool_input":%s,"tool_use_id":%q,"reason":"auto"`, fix, id),
	} {
		silent(t, w.call("s", "Skill", fix))
		denied(t, w.call("s", "Bash", `{"command":"make"}`), "reader")
		denied(t, w.call("s", "Read", `{"file_path":"x"}`), "fix")
		event, more, _ := strings.Cut(end, " ")
		silent(t, w.claude(event, "s", more))
		if got := w.active("s"); !slices.Equal(got, []string{"reader"}) {
			t.Errorf("%s: active %v", event, got)
		}
	}
	count(t, filepath.Join(w.dir, "post"), 0)
	w.use("s", "fix") // with the user's consent
	silent(t, w.claude("PostToolBatch", "s", fmt.Sprintf(`"tool_calls":[{"tool_name":"Skill","tool_input":%s,"tool_use_id":%q}]`, fix, id)))
	if got := w.active("s"); !slices.Equal(got, []string{"fix"}) {
		t.Errorf("active %v", got)
	}
}

// TestO10Background checks SPEC O10: restrictions stay when the model stops while work goes on in the background, and
// when the agent reports the end of that work. They end with the next stop, or when the user speaks.
func TestO10Background(t *testing.T) {
	running := `"background_tasks":[{"id":"b1","type":"shell","status":"running","description":"make"}]`
	for _, end := range []string{`Stop "background_tasks":[]`, `UserPromptSubmit "prompt":"thanks"`} {
		w := newFixture(t)
		w.use("s", "reader")
		silent(t, w.claude("Stop", "s", running))
		denied(t, w.call("s", "Bash", `{"command":"ls"}`), "reader")
		silent(t, w.claude("UserPromptSubmit", "s", `"prompt":"<task-notification>\n<task-id>b1</task-id>"`))
		denied(t, w.call("s", "Bash", `{"command":"ls"}`), "reader")
		event, more, _ := strings.Cut(end, " ")
		silent(t, w.claude(event, "s", more))
		silent(t, w.call("s", "Bash", `{"command":"ls"}`))
	}
}

// TestO10EndedByModel checks SPEC O10: the model ends a skill that it started itself with skillpm's tool, although the
// server's own session does not have the skill, and cannot end one that the user started.
func TestO10EndedByModel(t *testing.T) {
	w := newFixture(t)
	end := `{"name":"reader"}`
	w.use("s", "reader")
	silent(t, w.call("s", "mcp__skillpm__skill_end", end))
	silent(t, w.claude("PostToolUseFailure", "s", fmt.Sprintf(`"tool_name":"mcp__skillpm__skill_end","tool_input":%s,"tool_use_id":"e"`, end)))
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
	w.claude("UserPromptExpansion", "u", `"command_name":"reader","command_args":""`)
	denied(t, w.call("u", "mcp__skillpm__skill_end", end), "cannot end skill reader")
	denied(t, w.call("u", "Bash", `{"command":"ls"}`), "reader")
}

// TestO18LinkedSkill checks SPEC O18, O10: of two packs with a skill of one name, the one that the agent's directory
// links to is active. If that is unknown, the call is denied.
func TestO18LinkedSkill(t *testing.T) {
	w := newFixture(t)
	for _, owner := range []string{"acme", "zeta"} {
		w.file("project/.skillpm/plugins/"+owner+"/skills/deploy/SKILL.md",
			"---\nname: deploy\ndescription: Deploys.\nallowed-tools: Read, Tool-"+owner+"\n---\nBy "+owner+".\n")
	}
	link := filepath.Join(w.dir, "project/.claude/skills/deploy")
	for _, owner := range []string{"acme", "zeta"} {
		_ = os.Remove(link)
		if err := os.Symlink(filepath.Join(w.dir, "project/.skillpm/plugins", owner, "skills/deploy"), link); err != nil {
			t.Fatal(err)
		}
		w.use(owner, "deploy")
		silent(t, w.call(owner, "Tool-"+owner, `{}`))
		denied(t, w.call(owner, "Bash", `{"command":"ls"}`), "deploy@"+owner+"/skills")
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	denied(t, w.call("s", "Skill", `{"skill":"skills:deploy"}`), "deploy")
}

// TestO10OtherProject checks SPEC O10: a skill of the project that the model works in counts, even if the session began
// in another one.
func TestO10OtherProject(t *testing.T) {
	w := newFixture(t)
	w.file("elsewhere/.git/HEAD", "ref: refs/heads/main\n")
	first := filepath.Join(w.dir, "elsewhere")
	for _, load := range []string{
		`"tool_name":"activate_skill","tool_input":{"name":"reader"}`,
	} {
		w.send("gemini", "", fmt.Sprintf(`{"session_id":"g","cwd":%q,"hook_event_name":"BeforeAgent","prompt":"x"}`, first))
		about := fmt.Sprintf(`{"session_id":"g","cwd":%q,"hook_event_name":"BeforeTool",`, filepath.Join(w.dir, "project"))
		silent(t, string(w.send("gemini", "", about+load+"}").Stdout))
		denied(t, string(w.send("gemini", "", about+`"tool_name":"run_shell_command","tool_input":{"command":"ls"}}`).Stdout), "reader")
	}
	about := fmt.Sprintf(`{"session_id":"c","cwd":%q,"hook_event_name":"PreToolUse","tool_use_id":"1",`, first)
	read := fmt.Sprintf(`"tool_name":"exec_command","tool_input":{"cmd":"cat %s"}`, filepath.Join(w.dir, "project/.agents/skills/reader/SKILL.md"))
	silent(t, string(w.send("codex", "", about+read+"}").Stdout))
	denied(t, string(w.send("codex", "", about+`"tool_name":"exec_command","tool_input":{"cmd":"make"}}`).Stdout), "reader")
}

// TestO10ParallelCalls checks SPEC O10: of calls in one message, whose hooks run at the same time, none is allowed that
// the skill which the first of them activates does not allow.
func TestO10ParallelCalls(t *testing.T) {
	w := newFixture(t)
	about := fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse",`, filepath.Join(w.dir, "project"))
	answers := make([]hook.Reply, 9)
	var all sync.WaitGroup
	for i := range answers {
		call := fmt.Sprintf(`"tool_use_id":"%d","tool_name":"exec_command","tool_input":{"cmd":"touch %d"}}`, i, i)
		if i == 0 {
			call = `"tool_use_id":"0","tool_name":"exec_command","tool_input":{"cmd":"cat .agents/skills/reader/SKILL.md"}}`
		}
		all.Go(func() { answers[i] = w.send("codex", "", about+call) })
	}
	all.Wait()
	for i, a := range answers {
		if i == 0 {
			silent(t, string(a.Stdout))
		} else {
			denied(t, string(a.Stdout), "reader")
		}
	}
}

// TestO11TaskHooks checks SPEC O11: an agent that runs a task has the restrictions of the task's session, and so do its
// subagents.
func TestO11TaskHooks(t *testing.T) {
	w := newFixture(t)
	w.use("task-1", "reader")
	w.getenv = func(name string) string { return map[string]string{"SKILLPM_SESSION": "task-1"}[name] }
	denied(t, w.call("child", "Bash", `{"command":"ls"}`), "reader")
	denied(t, w.claude("PreToolUse", "other", `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"b","agent_id":"a1"`), "reader")
	silent(t, w.claude("Stop", "child", ""))
	silent(t, w.claude("UserPromptSubmit", "child", `"prompt":"go on"`))
	denied(t, w.call("child", "Bash", `{"command":"ls"}`), "reader")
	w.getenv = nil
	silent(t, w.call("free", "Bash", `{"command":"ls"}`))
}

// TestO10Served checks SPEC O10: a skill that only skillpm's server reads restricts the agent's tools from the call on
// that loads it, unless the call fails, and its hooks are the server's. A task restricts nothing here.
func TestO10Served(t *testing.T) {
	w := newFixture(t)
	for name, front := range map[string]string{"own": "allowed-tools: Read\nhooks: {pre: pre.sh}", "apart": "allowed-tools: Read\ncontext: fork"} {
		w.file("project/.skillpm/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: Does it.\n"+front+"\n---\nDo it.\n")
	}
	w.file("project/.skillpm/skills/own/pre.sh", "#!/bin/sh\necho x >> "+w.dir+"/pre\n")
	load := func(name string) string { return fmt.Sprintf(`{"name":%q}`, name) }
	silent(t, w.call("s", "mcp__skillpm__skill", load("own")))
	denied(t, w.call("s", "Bash", `{"command":"ls"}`), "own")
	silent(t, w.claude("PostToolUseFailure", "s", fmt.Sprintf(`"tool_name":"mcp__skillpm__skill","tool_input":%s,"tool_use_id":"t-mcp__skillpm__skill-%x"`, load("own"), load("own"))))
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
	silent(t, w.call("s", "mcp__skillpm__skill", load("own")))
	silent(t, w.loaded("s", "mcp__skillpm__skill", load("own")))
	denied(t, w.call("s", "Bash", `{"command":"ls"}`), "own")
	count(t, filepath.Join(w.dir, "pre"), 0)
	silent(t, w.claude("Stop", "s", ""))
	silent(t, w.call("s", "mcp__skillpm__skill", load("apart")))
	silent(t, w.loaded("s", "mcp__skillpm__skill", load("apart")))
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
}

// TestO10TwoInOneMessage checks SPEC O10, O12: of two skills that one message loads, the last one restricts in the end,
// and the pre hooks of both have run.
func TestO10TwoInOneMessage(t *testing.T) {
	w := newFixture(t)
	w.skill("fix", "allowed-tools: Edit, Bash\nhooks: {pre: pre.sh}")
	w.file("project/.claude/skills/fix/pre.sh", "#!/bin/sh\necho x >> "+w.dir+"/pre\n")
	reader, fix := `{"skill":"reader"}`, `{"skill":"fix"}`
	silent(t, w.call("s", "Skill", reader))
	silent(t, w.call("s", "Skill", fix))
	w.loaded("s", "Skill", reader)
	denied(t, w.call("s", "Read", `{"file_path":"x"}`), "fix")
	w.loaded("s", "Skill", fix)
	count(t, filepath.Join(w.dir, "pre"), 1)
	if got := w.active("s"); !slices.Equal(got, []string{"fix"}) {
		t.Errorf("active %v", got)
	}
}

// TestO10CalledTwice checks SPEC O10: of two calls that load one skill, the one that succeeds decides.
func TestO10CalledTwice(t *testing.T) {
	for refused := range 2 {
		w := newFixture(t)
		about := func(n int) string {
			return fmt.Sprintf(`"tool_name":"Skill","tool_input":{"skill":"reader"},"tool_use_id":"c%d"`, n)
		}
		silent(t, w.claude("PreToolUse", "s", about(0)))
		silent(t, w.claude("PreToolUse", "s", about(1)))
		w.claude("PostToolUse", "s", about(1-refused)+`,"tool_response":{"success":true}`)
		silent(t, w.claude("PostToolBatch", "s", `"tool_calls":[{"tool_use_id":"c0"},{"tool_use_id":"c1"}]`))
		denied(t, w.call("s", "Bash", `{"command":"ls"}`), "reader")
	}
}

// TestO10MixedCall checks SPEC O10: a call that reads a skill and does something else waits like other calls, and so
// does one that runs a script.
func TestO10MixedCall(t *testing.T) {
	w := newFixture(t)
	w.skill("free", "tags: [x]")
	about := fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse",`, filepath.Join(w.dir, "project"))
	var answer hook.Reply
	var all sync.WaitGroup
	all.Go(func() {
		w.send("codex", "", about+`"tool_use_id":"0","tool_name":"exec_command","tool_input":{"cmd":"cat .agents/skills/reader/SKILL.md"}}`)
	})
	all.Go(func() {
		answer = w.send("codex", "", about+`"tool_use_id":"1","tool_name":"exec_command","tool_input":{"cmd":"cat .agents/skills/free/SKILL.md; touch x"}}`)
	})
	all.Wait()
	denied(t, string(answer.Stdout), "reader")
}
