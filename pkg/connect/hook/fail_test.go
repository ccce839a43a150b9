package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/connect/hook"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// unreadable lists malformed events of a tool call.
func unreadable() map[string]string {
	return map[string]string{
		"nothing":                      "",
		"no JSON":                      "hello",
		"not an object":                `["PreToolUse"]`,
		"cut off":                      `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Ba`,
		"cut off inside":               `{"session_id":"s","tool_input":{"a":[`,
		"twice":                        `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_name":"Read","tool_input":{}}`,
		"twice inside":                 `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","command":"rm"}}`,
		"the event is not valid UTF-8": "{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"\xff\"}",
		"unexpected data after it":     `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"} {}`,
		"no tool":                      `{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{}}`,
		"odd input":                    `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":7}`,
		"another event":                `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash"}`,
		"too deep":                     `{"session_id":"s","tool_input":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
		"far too deep":                 strings.Repeat(`{"a":`, 1_000_000),
		"long id":                      fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"x"}}`, strings.Repeat("s", 5000)),
	}
}

// TestUnreadable checks that a malformed event is a denial if it asks for a decision, unless a policy says open, and an
// error otherwise.
func TestUnreadable(t *testing.T) {
	for name, text := range unreadable() {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			r := w.send("claude-code", "PreToolUse", text)
			if r.Err != nil {
				t.Errorf("error %v, want a denial", r.Err)
			}
			denied(t, string(r.Stdout), `"hookEventName":"PreToolUse"`)
			w.lenient = true
			if r = w.send("claude-code", "PreToolUse", text); r.Err == nil || len(r.Stdout) > 0 {
				t.Errorf("answered %q, %v, want an error alone", r.Stdout, r.Err)
			}
			w.lenient = false
			for _, event := range []string{"PostToolUse", "Stop", "UserPromptSubmit", "Nonsense", ""} {
				if name == "another event" || name == "long id" || strings.HasPrefix(name, "odd") || name == "no tool" || strings.HasPrefix(name, "twice") {
					continue // these say themselves which they are
				}
				if r = w.send("claude-code", event, text); r.Err == nil || len(r.Stdout) > 0 {
					t.Errorf("%s: answered %q, %v, want an error alone", event, r.Stdout, r.Err)
				}
			}
		})
	}
}

// TestUnknownHost checks that an unknown agent has no answer format.
func TestUnknownHost(t *testing.T) {
	r := newFixture(t).send("klaude-code", "PreToolUse", "{}")
	if diag.CodeOf(r.Err) != diag.Usage || !strings.Contains(diag.HintOf(r.Err), "claude-code") || len(r.Stdout) > 0 {
		t.Errorf("answered %q, %v", r.Stdout, r.Err)
	}
}

// TestUnknownEvent checks that skillpm ignores unknown events.
func TestUnknownEvent(t *testing.T) {
	for _, of := range hook.Agents() {
		if r := newFixture(t).send(of.ID, "SomethingNew", `{"a":1}`); r.Err != nil || len(r.Stdout) > 0 {
			t.Errorf("%s answered %q, %v", of.ID, r.Stdout, r.Err)
		}
	}
}

// TestDamagedState checks that a session with damaged state allows no calls.
func TestDamagedState(t *testing.T) {
	w := newFixture(t)
	w.call("s", "Skill", `{"skill":"reader"}`)
	for _, text := range []string{"", "{}", `{"version":1,"id":"s","active":[]}`} {
		if err := os.WriteFile(filepath.Join(session.Dir(w.paths.State), "s.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		denied(t, w.call("s", "Bash", `{"command":"ls"}`), "cannot read the state of session")
	}
}

// TestCannotOpen checks that unreadable settings and internal errors of skillpm also deny.
func TestCannotOpen(t *testing.T) {
	w := newFixture(t)
	w.call("s", "Skill", `{"skill":"reader"}`)
	w.file("home/config/config.yaml", "profile: [")
	denied(t, w.call("s", "Bash", `{"command":"ls"}`), "config.yaml")
	o := w.options("claude-code", "PreToolUse")
	o.Open = nil // a call of it panics
	r := hook.Answer(t.Context(), o, strings.NewReader(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`))
	denied(t, string(r.Stdout), "skillpm has a bug")
}

// TestEndless checks that endless input is not read to its end.
func TestEndless(t *testing.T) {
	w := newFixture(t)
	r := hook.Answer(t.Context(), w.options("codex", "PreToolUse"), io.MultiReader(strings.NewReader(`{"tool_name":"`), endless{}))
	denied(t, string(r.Stdout), fmt.Sprint(hook.MaxEvent))
}

// TestOpenEnd checks that an agent that leaves its end of the pipe open, or gives up, still gets an answer.
func TestOpenEnd(t *testing.T) {
	w := newFixture(t)
	from, to := io.Pipe()
	defer to.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := hook.Answer(ctx, w.options("codex", "PreToolUse"), from)
	denied(t, string(r.Stdout), "is incomplete")
}

// TestSlow checks that a call whose check does not end in time is denied, because agents let calls go ahead that nobody
// answers.
func TestSlow(t *testing.T) {
	t.Parallel() // it only waits
	w := newFixture(t)
	w.call("s", "Skill", `{"skill":"reader"}`)
	end := make(chan struct{})
	defer close(end)
	o := w.options("claude-code", "PreToolUse")
	o.Limit = time.Millisecond
	o.Open = func(context.Context, hook.SessionRequest) (*runtime.Host, error) {
		<-end
		return nil, errors.New("too late")
	}
	r := hook.Answer(t.Context(), o, strings.NewReader(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`))
	denied(t, string(r.Stdout), "cannot answer in time")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// FuzzAnswer checks that every input has an answer: nothing, or one JSON object that denies. Events that do not ask for
// a decision never deny a tool.
func FuzzAnswer(f *testing.F) {
	for _, text := range unreadable() {
		if len(text) < 10_000 {
			f.Add("claude-code", "PreToolUse", []byte(text))
		}
	}
	f.Add("copilot", "preToolUse", []byte(`{"sessionId":"s","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`))
	f.Add("gemini", "BeforeTool", []byte(`{"session_id":"s","tool_name":"activate_skill","tool_input":{"name":"reader"}}`))
	f.Add("cursor", "beforeShellExecution", []byte(`{"conversation_id":"s","command":"cat .agents/skills/reader/SKILL.md","workspace_roots":["/x"]}`))
	f.Add("codex", "UserPromptSubmit", []byte(`{"session_id":"s","prompt":"$reader $$ $"}`))
	w := newFixture(f)
	f.Fuzz(func(t *testing.T, of, event string, data []byte) {
		w.t = t
		o := w.options(of, event)
		r := hook.Answer(t.Context(), o, strings.NewReader(string(data)))
		if len(r.Stdout) == 0 {
			return
		}
		if r.Err != nil {
			t.Errorf("an answer %q and an error %v", r.Stdout, r.Err)
		}
		var answer map[string]any
		if err := json.Unmarshal(r.Stdout, &answer); err != nil {
			t.Errorf("answered %q: %v", r.Stdout, err)
		}
		if strings.Contains(string(r.Stdout), `"allow"`) && !strings.Contains(string(data), "allow") {
			t.Errorf("allowed: %s", r.Stdout)
		}
	})
}
