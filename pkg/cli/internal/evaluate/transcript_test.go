package evaluate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/internal/run"
)

// TestTranscripts reads events as the agents print them.
func TestTranscripts(t *testing.T) {
	for _, test := range []struct {
		agent, events, want string
	}{
		{
			"claude-code", `
{"type":"system","subtype":"init","model":"claude-x"}
not JSON
{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","name":"Skill","input":{"skill":"greet"}}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"/p/.claude/skills/other/SKILL.md"}}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Glob","input":{"pattern":"**/SKILL.md"}}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.5,"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":8},"permission_denials":[{}]}`,
			"claude-x [greet other] 3 calls 1 denials 7+8 tokens Done. ",
		},
		{"claude-code", `{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key"}`, " [] 0 calls 0 denials 0+0 tokens Invalid API key Invalid API key"},
		{"claude-code", `{"type":"result","subtype":"error_max_turns","is_error":true}`, " [] 0 calls 0 denials 0+0 tokens  "},
		{
			"codex", `
{"type":"item.started","item":{"type":"command_execution","command":"cat .agents/skills/greet/SKILL.md"}}
{"type":"item.completed","item":{"type":"command_execution","command":"cat .agents/skills/greet/SKILL.md","aggregated_output":"see other/SKILL.md","status":"completed"}}
{"type":"item.completed","item":{"type":"command_execution","command":"rm x","status":"declined"}}
{"type":"item.completed","item":{"type":"reasoning","text":"b"}}
{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":1,"output_tokens":4}}`,
			" [greet] 2 calls 1 denials 3+4 tokens Done. ",
		},
		{
			"codex", `
{"type":"error","message":"Reconnecting... 1/3"}
{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":3,"output_tokens":4}}`,
			" [] 0 calls 0 denials 3+4 tokens Done. ",
		},
		{"codex", `{"type":"error","message":"Reconnecting... 1/3"}`, " [] 0 calls 0 denials 0+0 tokens  Reconnecting... 1/3"},
		{"codex", `{"type":"turn.failed","error":{"message":"no quota"}}`, " [] 0 calls 0 denials 0+0 tokens  no quota"},
		{
			"gemini", `
{"type":"init","model":"gemini-x"}
{"type":"message","role":"user","content":"hi"}
{"type":"message","role":"assistant","content":"I will.","delta":true}
{"type":"tool_use","tool_name":"activate_skill","parameters":{"name":"greet"}}
{"type":"tool_result","status":"error","error":{"type":"policy_violation"}}
{"type":"message","role":"assistant","content":"Do","delta":true}
{"type":"message","role":"assistant","content":"ne.","delta":true}
{"type":"result","status":"success","stats":{"input_tokens":5,"output_tokens":6}}`,
			"gemini-x [greet] 1 calls 1 denials 5+6 tokens Done. ",
		},
	} {
		tr := &transcript{}
		for _, h := range headlessAgents {
			if h.id != test.agent {
				continue
			}
			w := &lineWriter{each: func(line []byte) { h.event(tr, line) }}
			for _, c := range []byte(test.events) { // in any parts
				if _, err := w.Write([]byte{c}); err != nil {
					t.Fatal(err)
				}
			}
			w.close()
		}
		number := func(n *int64) int64 {
			if n == nil {
				return 0
			}
			return *n
		}
		got := fmt.Sprintf("%s %v %d calls %d denials %d+%d tokens %s %s", tr.model, tr.activated, tr.toolCalls, tr.denials,
			number(tr.input), number(tr.generated), tr.output, tr.failure)
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.agent, got, test.want)
		}
	}
}

func TestLongLine(t *testing.T) {
	var lines []string
	w := &lineWriter{each: func(line []byte) { lines = append(lines, string(line)) }}
	long := strings.Repeat("x", maxLine/2+1)
	for _, text := range []string{"a\n", long, long, "\n\nb"} {
		_, _ = w.Write([]byte(text)) // never fails
	}
	w.close()
	_, _ = w.Write([]byte("of a process that outlives the agent\n"))
	if got := strings.Join(lines, "|"); got != "a|b" {
		t.Errorf("got %d lines", len(lines))
	}
}

// TestHangingCommand checks that a result that makes the command of a grader hang fails.
func TestHangingCommand(t *testing.T) {
	grade := commandGrade(evalfile.Grader{Type: evalfile.Command}, &run.Result{TimedOut: true, Stdout: []byte("test 1\n")})
	if grade.Passed || grade.Error != "" || grade.Evidence != "the command did not end in 2m0s\ntest 1" {
		t.Errorf("got %+v", grade)
	}
}

func TestLimit(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: queryLimit} {
		r := runner{o: Options{Timeout: timeout}}
		if task, query := r.limit(false), r.limit(true); task != timeout || query != want {
			t.Errorf("got %s and %s, want %s and %s", task, query, timeout, want)
		}
	}
}
