package hook_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/connect/hook"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixture is a machine with a project that has skills.
type fixture struct {
	t       testing.TB
	dir     string
	paths   scope.Paths
	opened  int
	lenient bool
	getenv  func(string) string
	records []audit.Record
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, dir: filepath.Join(dir, "[b]")} // also a pattern, which does not match the name
	w.paths = scope.Paths{
		Home: filepath.Join(w.dir, "home"), Config: filepath.Join(w.dir, "home/config"), Data: filepath.Join(w.dir, "home/data"),
		State: filepath.Join(w.dir, "home/state"), Cache: filepath.Join(w.dir, "home/cache"), Enterprise: filepath.Join(w.dir, "enterprise"),
	}
	w.file("project/.git/HEAD", "ref: refs/heads/main\n")
	w.skill("reader", "allowed-tools: Read")
	return w
}

// skill writes a skill for every agent of the project.
func (w *fixture) skill(name, front string) { w.skillWith(name, front, "Do it.") }

// skillWith writes a skill with these instructions.
func (w *fixture) skillWith(name, front, body string) {
	for _, dir := range []string{".claude", ".agents"} {
		w.file("project/"+dir+"/skills/"+name+"/SKILL.md",
			"---\nname: "+name+"\ndescription: Does "+name+".\n"+front+"\n---\n"+body+"\n")
	}
}

func (w *fixture) file(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) options(of, event string) hook.Options {
	return hook.Options{
		Agent: of, Event: event, Dir: filepath.Join(w.dir, "project"), State: w.paths.State, Now: time.Now, Getenv: w.getenv,
		Open: func(ctx context.Context, p hook.SessionRequest) (*runtime.Host, error) {
			w.opened++
			dir := p.Dir
			if dir == "" {
				dir = filepath.Join(w.dir, "project")
			}
			return runtime.New(ctx, runtime.Options{
				Environment: environ.Environment{Paths: w.paths, Dir: dir, Now: time.Now, Admin: os.Getuid()},
				Profile:     p.Profile, Session: p.Session, Parents: p.Parents, User: "tester",
			})
		},
		Lenient: func(string) bool { return w.lenient },
		Record: func(_ string, r audit.Record) error {
			w.records = append(w.records, r)
			return nil
		},
	}
}

// send answers an event.
func (w *fixture) send(of, event, text string) hook.Reply {
	return hook.Answer(context.Background(), w.options(of, event), strings.NewReader(text))
}

// claude sends an event of Claude Code in a session, with additional fields as JSON.
func (w *fixture) claude(event, id, more string) string {
	w.t.Helper()
	if more != "" {
		more = "," + more
	}
	r := w.send("claude-code", "", fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q%s}`, id, filepath.Join(w.dir, "project"), event, more))
	if r.Err != nil {
		w.t.Errorf("%s: %v", event, r.Err)
	}
	return string(r.Stdout)
}

// call sends a tool call to Claude Code's hook.
func (w *fixture) call(id, tool, input string) string {
	w.t.Helper()
	return w.claude("PreToolUse", id, fmt.Sprintf(`"tool_name":%q,"tool_input":%s,"tool_use_id":"t-%s-%x"`, tool, input, tool, input))
}

// loaded reports to Claude Code's hook that a call has succeeded.
func (w *fixture) loaded(id, tool, input string) string {
	w.t.Helper()
	return w.claude("PostToolUse", id, fmt.Sprintf(`"tool_name":%q,"tool_input":%s,"tool_use_id":"t-%s-%x","tool_response":{"success":true}`,
		tool, input, tool, input))
}

// denied fails the test unless an answer is a denial that contains all words.
func denied(t testing.TB, answer string, says ...string) {
	t.Helper()
	if !strings.Contains(answer, `"deny"`) && !strings.Contains(answer, `"block"`) {
		t.Errorf("answered %q, want a denial", answer)
	}
	for _, s := range says {
		if !strings.Contains(answer, s) {
			t.Errorf("answered %q, which does not say %q", answer, s)
		}
	}
}

func silent(t testing.TB, answer string) {
	t.Helper()
	if answer != "" {
		t.Errorf("answered %q, want nothing", answer)
	}
}

func (w *fixture) active(id string) []string {
	w.t.Helper()
	s, err := session.Open(session.Options{Environment: environ.Environment{Paths: w.paths, Now: time.Now}}, id)
	if err != nil {
		w.t.Fatal(err)
	}
	state, err := s.State()
	if err != nil {
		w.t.Fatal(err)
	}
	return state.Names()
}

// TestO10O26Recorded checks SPEC O10, O26: the answers to recorded events of real agents match the golden files.
func TestO10O26Recorded(t *testing.T) {
	for dir, of := range map[string]string{"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini", "copilot": "copilot", "cursor": "cursor", "opencode": "opencode"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "hook", dir, "*.ndjson"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no events of %s: %v", dir, err)
		}
		for _, file := range files {
			name := dir + "-" + strings.TrimSuffix(filepath.Base(file), ".ndjson")
			t.Run(name, func(t *testing.T) {
				w := newFixture(t)
				w.skill("forked", "context: fork")
				w.skill("forbidden", "disable-model-invocation: true")
				golden(t, filepath.Join("testdata", name+".golden"), w.play(of, file))
			})
		}
	}
}

// play sends recorded events one after the other, and records the answers.
func (w *fixture) play(of, file string) []byte {
	w.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		event, text := "", lines.Text()
		var about struct {
			Event string          `json:"event"`
			Input json.RawMessage `json:"input"`

			Name string `json:"hook_event_name"`
			Tool string `json:"tool_name"`
			Also string `json:"toolName"`
		}
		if err := json.Unmarshal([]byte(text), &about); err != nil {
			w.t.Fatal(err)
		}
		if about.Event != "" { // of a host whose events do not say which they are
			event, text = about.Event, string(about.Input)
			if err := json.Unmarshal(about.Input, &about); err != nil {
				w.t.Fatal(err)
			}
		}
		r := w.send(of, event, strings.ReplaceAll(text, "/home/user/project", filepath.ToSlash(filepath.Join(w.dir, "project"))))
		fmt.Fprintf(&out, "%s%s %s%s\n", event, about.Name, about.Tool, about.Also)
		if r.Err != nil {
			fmt.Fprintf(&out, "  error: %v\n", r.Err)
		}
		if len(r.Stdout) > 0 {
			fmt.Fprintf(&out, "  %s", r.Stdout)
		}
		for _, note := range r.Notes {
			fmt.Fprintf(&out, "  note: %s\n", note)
		}
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(w.dir), []byte("DIR"))
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test ./pkg/connect/hook -update writes it\n%s", file, got)
	}
}

// TestO10Turn checks SPEC O10: a skill of the Skill tool restricts tools until its turn ends.
func TestO10Turn(t *testing.T) {
	w := newFixture(t)
	silent(t, w.claude("UserPromptSubmit", "s", `"prompt":"go","prompt_id":"1"`))
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
	silent(t, w.call("s", "Skill", `{"skill":"reader","args":"a b"}`))
	silent(t, w.call("s", "Read", `{"file_path":"x"}`))
	denied(t, w.call("s", "Bash", `{"command":"ls"}`), "skill reader allows Read, but not Bash")
	silent(t, w.call("other", "Bash", `{"command":"ls"}`))
	silent(t, w.call("s", "mcp__skillpm__skill_file", `{"skill":"reader","path":"x"}`))
	silent(t, w.claude("Stop", "s", ""))
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
	// The next prompt ends the skills of an interrupted turn.
	silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
	silent(t, w.claude("UserPromptSubmit", "s", `"prompt":"go on","prompt_id":"2"`))
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
}

// TestSlashCommand checks that the event of a slash command comes before its prompt, and that the skill lasts as long
// as that prompt.
func TestSlashCommand(t *testing.T) {
	for _, turn := range []string{`"prompt_id":"1"`, `"x":1`} { // there are versions that do not say which prompt it is
		w := newFixture(t)
		silent(t, w.claude("UserPromptExpansion", "s", `"expansion_type":"slash_command","command_name":"reader","command_args":"x",`+turn))
		silent(t, w.claude("UserPromptSubmit", "s", `"prompt":"/reader x",`+turn))
		denied(t, w.call("s", "Bash", `{"command":"ls"}`), "reader", "Bash")
		silent(t, w.claude("UserPromptSubmit", "s", `"prompt":"and now",`+strings.Replace(turn, "1\"", "2\"", 1)))
		silent(t, w.call("s", "Bash", `{"command":"ls"}`))
	}
}

// TestP9Triggers checks SPEC P9: the rules about who may activate a skill apply to the agent's own tool and to slash
// commands.
func TestP9Triggers(t *testing.T) {
	w := newFixture(t)
	w.skill("mine", "disable-model-invocation: true")
	w.skill("yours", "user-invocable: false")
	denied(t, w.call("s", "Skill", `{"skill":"mine"}`), "mine", "disable-model-invocation")
	denied(t, w.claude("UserPromptExpansion", "s", `"command_name":"yours","command_args":""`), "yours", "user-invocable")
	silent(t, w.call("s", "Skill", `{"skill":"yours"}`))
	silent(t, w.claude("UserPromptExpansion", "s", `"command_name":"mine","command_args":""`))
	if got := w.active("s"); len(got) != 1 || got[0] != "mine" {
		t.Errorf("active %v", got)
	}
}

// TestOthersSkills checks that skillpm ignores skills that are not in the catalog.
func TestOthersSkills(t *testing.T) {
	w := newFixture(t)
	silent(t, w.call("s", "Skill", `{"skill":"deep-research"}`))
	silent(t, w.claude("UserPromptExpansion", "s", `"command_name":"compact","command_args":""`))
	if session.Exists(w.paths.State, "s") {
		t.Error("a session is kept")
	}
}

// TestTakenBack checks that the effects of a call are undone if the call fails, or when the agent is done with it.
func TestTakenBack(t *testing.T) {
	for _, test := range []struct{ event, more string }{
		{"PostToolUseFailure", `"error":"no such skill"`},
		{"PostToolUse", `"tool_response":{"success":false}`},
		{"PostToolUse", `"tool_response":{"success":true,"status":"forked"}`},
		{"PostToolUse", `"tool_response":"{\"isError\":true}"`},
	} {
		w := newFixture(t)
		about := `"tool_name":"Skill","tool_input":{"skill":"reader"},"tool_use_id":"t1"`
		silent(t, w.claude("PreToolUse", "s", about))
		silent(t, w.claude("PreToolUse", "s", about)) // the same once more
		denied(t, w.call("s", "Bash", `{"command":"ls"}`))
		silent(t, w.claude(test.event, "s", about+","+test.more))
		silent(t, w.call("s", "Bash", `{"command":"ls"}`))
	}
}

// TestO10Subagent checks SPEC O10: a subagent starts with the active skills of its parent, and a skill that ends in it
// stays active in the parent.
func TestO10Subagent(t *testing.T) {
	w := newFixture(t)
	w.skill("free", "tags: [x]")
	agent := `"agent_id":"a1","agent_type":"general"`
	bash := `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"b",` + agent
	silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
	silent(t, w.claude("SubagentStart", "s", agent))
	denied(t, w.claude("PreToolUse", "s", bash), "reader")
	silent(t, w.claude("PreToolUse", "s", `"tool_name":"Skill","tool_input":{"skill":"free"},"tool_use_id":"f",`+agent))
	silent(t, w.claude("UserPromptSubmit", "s", `"prompt":"x",`+agent))
	denied(t, w.claude("PreToolUse", "s", bash), "reader")
	silent(t, w.claude("Stop", "s", "")) // of the main agent
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
	denied(t, w.claude("PreToolUse", "s", bash), "reader") // it works on in the background
	silent(t, w.claude("SubagentStop", "s", agent))
	silent(t, w.claude("PreToolUse", "s", bash))
	// A subagent without a start event has the same restrictions.
	silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
	denied(t, w.claude("PreToolUse", "s", strings.ReplaceAll(bash, "a1", "a2")), "reader")
}

// TestK7Hooks checks SPEC K7: the directories of skills are read-only to agents, even without a tool restriction.
func TestK7Hooks(t *testing.T) {
	w := newFixture(t)
	w.skill("free", "tags: [x]")
	w.file("project/.skillpm/skills/plugins/x/SKILL.md", "x")
	silent(t, w.call("s", "Skill", `{"skill":"free"}`))
	for tool, input := range map[string]string{
		"Write": `{"file_path":".claude/skills/free/SKILL.md","content":""}`,
		"Edit":  fmt.Sprintf(`{"file_path":%q}`, filepath.Join(w.dir, "project/.claude/skills/free/new.md")),
	} {
		denied(t, w.call("s", tool, input), "read-only", "free")
	}
	silent(t, w.call("s", "Write", `{"file_path":"docs/a.md","content":""}`))
	silent(t, w.call("s", "Read", `{"file_path":".claude/skills/free/SKILL.md"}`))
	sessions := fmt.Sprintf(`{"file_path":%q,"content":"{}"}`, filepath.Join(session.Dir(w.paths.State), "s.json"))
	denied(t, w.call("s", "Write", sessions), "read-only")
	denied(t, w.call("fresh", "Write", sessions), "read-only") // also where nothing is active
}

// TestO12Hooks checks SPEC O12: the pre hook runs when the user has agreed to the skill. Its failure keeps the agent from
// giving the skill to its model; if the model has it already, no tool is allowed. The post hook runs when the skill ends.
func TestO12Hooks(t *testing.T) {
	w := newFixture(t)
	w.skill("good", "hooks: {pre: pre.sh, post: post.sh}")
	w.skill("bad", "hooks: {pre: pre.sh, post: post.sh}")
	for _, dir := range []string{".claude", ".agents"} {
		w.file("project/"+dir+"/skills/good/pre.sh", "#!/bin/sh\necho x >> "+w.dir+"/pre\n")
		w.file("project/"+dir+"/skills/good/post.sh", "#!/bin/sh\necho x >> "+w.dir+"/post\n")
		w.file("project/"+dir+"/skills/bad/pre.sh", "#!/bin/sh\necho not today >&2\nexit 2\n")
		w.file("project/"+dir+"/skills/bad/post.sh", "#!/bin/sh\necho x >> "+w.dir+"/post\n")
	}
	// Claude Code has its own hooks under that name. This case uses an agent that does not.
	event := func(name, more string) string {
		r := w.send("gemini", "", fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":%q%s}`, filepath.Join(w.dir, "project"), name, more))
		if r.Err != nil {
			t.Error(r.Err)
		}
		return string(r.Stdout)
	}
	load := func(name string) string {
		return fmt.Sprintf(`,"tool_name":"activate_skill","tool_input":{"name":%q}`, name)
	}
	loaded := func(name string) string { return load(name) + `,"tool_response":{"llmContent":"Do it."}` }
	silent(t, event("BeforeTool", load("bad")))
	denied(t, event("AfterTool", loaded("bad")), "not today")
	denied(t, event("BeforeTool", `,"tool_name":"read_file","tool_input":{"path":"x"}`), "do not follow the instructions of skill bad", "not today")
	silent(t, event("AfterAgent", ""))
	silent(t, event("BeforeTool", `,"tool_name":"read_file","tool_input":{"path":"x"}`))
	// The user refuses the call: neither hook runs.
	silent(t, event("BeforeTool", load("good")))
	silent(t, event("AfterTool", load("good")+`,"tool_response":{"error":"refused"}`))
	count(t, filepath.Join(w.dir, "pre"), 0)
	count(t, filepath.Join(w.dir, "post"), 0)
	silent(t, event("BeforeTool", load("good")))
	silent(t, event("AfterTool", loaded("good")))
	count(t, filepath.Join(w.dir, "pre"), 1)
	count(t, filepath.Join(w.dir, "post"), 0)
	silent(t, event("BeforeTool", load("good"))) // the same once more
	silent(t, event("AfterTool", loaded("good")))
	count(t, filepath.Join(w.dir, "pre"), 1)
	silent(t, event("AfterAgent", ""))
	count(t, filepath.Join(w.dir, "post"), 1)
	silent(t, event("SessionEnd", ""))
	count(t, filepath.Join(w.dir, "post"), 1)
}

func count(t *testing.T, file string, want int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), "x"); got != want {
		t.Errorf("%s ran %d times, want %d", filepath.Base(file), got, want)
	}
}

// TestO19Hooks checks SPEC O19: the limits on cycles and depth also apply to skills that an agent activates.
func TestO19Hooks(t *testing.T) {
	w := newFixture(t)
	for i := range 6 {
		w.skillWith(fmt.Sprintf("s%d", i), "tags: [x]", fmt.Sprintf("Then use `s%d`, or /s0.", i+1))
	}
	silent(t, w.call("s", "Skill", `{"skill":"s0"}`))
	silent(t, w.loaded("s", "Skill", `{"skill":"s0"}`))
	silent(t, w.call("s", "Skill", `{"skill":"s1"}`))
	denied(t, w.call("s", "Skill", `{"skill":"s0","args":"again"}`), "s0 → s1 → s0")
	for i := 1; i < 5; i++ {
		silent(t, w.call("s", "Skill", fmt.Sprintf(`{"skill":"s%d"}`, i)))
		silent(t, w.loaded("s", "Skill", fmt.Sprintf(`{"skill":"s%d"}`, i)))
	}
	denied(t, w.call("s", "Skill", `{"skill":"s5"}`), "the limit is 5")
}

// TestPolicies checks that a policy can make allowed-tools grants, and that all calls are denied if an active skill is
// denied.
func TestPolicies(t *testing.T) {
	w := newFixture(t)
	silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
	silent(t, w.call("s", "Read", `{"file_path":"x"}`))
	w.file("home/config/policy.yaml", "version: 1\nmode: enforce\nskills: {deny: [reader]}\n")
	denied(t, w.call("s", "Read", `{"file_path":"x"}`), "reader", "Read")
	silent(t, w.call("s", "mcp__skillpm__skill_end", `{"skill":"reader"}`))
	silent(t, w.claude("PostToolUse", "s", `"tool_name":"mcp__skillpm__skill_end","tool_input":{"skill":"reader"},"tool_use_id":"e","tool_response":"ok"`))
	silent(t, w.call("s", "Read", `{"file_path":"x"}`))
	denied(t, w.call("s", "Skill", `{"skill":"reader"}`), "reader")
	w.file("home/config/policy.yaml", "version: 1\nmode: enforce\nallowed-tools: grant\n")
	silent(t, w.call("s", "Skill", `{"skill":"reader"}`))
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
}

// TestOwnTools checks that skillpm's own tools enter a skill with the call, because the next calls may be in the same
// message, and run no script that the enclosing skills do not allow.
func TestOwnTools(t *testing.T) {
	w := newFixture(t)
	w.skill("tool", "tags: [x]")
	about := `"tool_name":"mcp__skillpm__skill","tool_input":{"name":"reader"},"tool_use_id":"m"`
	silent(t, w.claude("PreToolUse", "s", about))
	if got := w.active("s"); len(got) != 1 {
		t.Errorf("active %v", got)
	}
	silent(t, w.claude("PostToolUse", "s", about+`,"tool_response":[{"type":"text","text":"Do it."}]`))
	denied(t, w.call("s", "Bash", `{"command":"ls"}`), "reader")
	denied(t, w.call("s", "mcp__skillpm__skill_run", `{"name":"tool","script":"scripts/x.sh"}`), "tool", "reader")
	w = newFixture(t)
	silent(t, w.claude("PostToolUse", "s", about+`,"tool_response":{"isError":true}`))
	silent(t, w.call("s", "Bash", `{"command":"ls"}`))
}

// TestReadsSkills checks that in an agent without a tool for skills, reading SKILL.md activates the skill, even if a
// tool restriction covers the reading tool.
func TestReadsSkills(t *testing.T) {
	w := newFixture(t)
	w.skill("free", "tags: [x]")
	codex := func(command string) string {
		data, _ := json.Marshal(map[string]any{
			"session_id": "s", "cwd": filepath.Join(w.dir, "project"), "hook_event_name": "PreToolUse", "turn_id": "1",
			"tool_name": "Bash", "tool_input": map[string]string{"command": command}, "tool_use_id": command,
		})
		r := w.send("codex", "pre-tool-use", string(data))
		if r.Err != nil {
			t.Error(r.Err)
		}
		return string(r.Stdout)
	}
	silent(t, codex("rg x && git diff .agents/skills/reader/SKILL.md"))
	silent(t, codex("ls"))
	silent(t, codex("sed -n '1,200p' .agents/skills/reader/SKILL.md"))
	denied(t, codex("ls"), "reader", "Bash")
	silent(t, codex("cat '"+filepath.Join(w.dir, "project/.agents/skills/free/SKILL.md")+"'"))
	for _, line := range []string{
		"cat .agents/skills/free/SKILL.md; ls", "cat .agents/skills/free/SKILL.md > x", "sed -n 'w x' .agents/skills/free/SKILL.md",
		"cat .agents/skills/free/SKILL.md | sh", "cat $(ls)/SKILL.md", "sed -n 1p '-e1e touch x' .agents/skills/free/SKILL.md",
	} {
		denied(t, codex(line), "reader")
	}
	silent(t, codex("cat .agents/skills/free/SKILL.md x/SKILL.md")) // the effect of Read, which reader allows
	if got := w.active("s"); strings.Join(got, " ") != "reader free" {
		t.Errorf("active %v", got)
	}
}

// TestNothingOpened checks that without an active skill no files are opened: neither settings, nor policies, nor the
// catalog.
func TestNothingOpened(t *testing.T) {
	w := newFixture(t)
	for range 3 {
		silent(t, w.call("s", "Bash", `{"command":"ls"}`))
		silent(t, w.claude("PostToolUse", "s", `"tool_name":"Bash","tool_input":{},"tool_response":{"stdout":"x"}`))
		silent(t, w.claude("UserPromptSubmit", "s", `"prompt":"hello"`))
		silent(t, w.claude("SubagentStart", "s", `"agent_id":"a","agent_type":"x"`))
		silent(t, w.claude("Stop", "s", ""))
		silent(t, w.claude("Whatever", "s", ""))
	}
	if w.opened > 0 {
		t.Errorf("opened %d times", w.opened)
	}
}

// TestRecords checks that refusals and activations are in the audit log.
func TestRecords(t *testing.T) {
	w := newFixture(t)
	w.call("s", "Skill", `{"skill":"reader"}`)
	w.call("s", "Bash", `{"command":"ls"}`)
	w.claude("Stop", "s", "")
	data, err := os.ReadFile(filepath.Join(w.paths.State, "audit", audit.Name))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Action+" "+r.Result+" "+r.Skill+" "+r.Tool)
	}
	if want := "activate ok reader |refuse denied reader Bash|deactivate ok reader "; strings.Join(got, "|") != want {
		t.Errorf("records %q, want %q", strings.Join(got, "|"), want)
	}
}
