//go:build unix

package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
)

// scripts is a place with a skill that has scripts.
func scripts(t *testing.T) *place {
	t.Helper()
	return newPlace(t, map[string]string{
		project + "work/SKILL.md":          skillText("work", "", "x"),
		project + "work/scripts/say.sh":    "#!/bin/sh\nprintf '%s\\n' \"$@\"\necho wrong >&2\nexit 3\n",
		project + "work/scripts/much.sh":   "#!/bin/sh\nhead -c 200000 /dev/zero | tr '\\0' x\n",
		project + "work/scripts/wait.sh":   "#!/bin/sh\necho $$ >pid.tmp\nmv pid.tmp pid\necho began\nwhile [ ! -e go ]; do sleep 0.01; done\necho done\n",
		project + "work/scripts/binary.sh": "#!/bin/sh\nprintf '\\377\\376'\n",
	})
}

// TestO4Run checks SPEC O4, O13: only the command and its bounded output are returned, and each run is recorded.
func TestO4Run(t *testing.T) {
	p := scripts(t)
	c := p.connect()
	res, text := call(t, c, "skill_run", map[string]any{"skill": "work", "script": "scripts/say.sh", "args": []string{"a b", "$(id)"}})
	if !res.IsError || !strings.Contains(text, "\na b\n$(id)\nstderr:\nwrong\nexit code 3") || res.Meta["skillpm/exitCode"] != float64(3) {
		t.Errorf("%q, %v", text, res.Meta)
	}
	if _, text = call(t, c, "skill_run", map[string]any{"skill": "work", "script": "scripts/much.sh"}); len(text) > 60_000 || !strings.Contains(text, "more bytes)") || !strings.HasSuffix(text, "exit code 0") {
		t.Errorf("%d bytes: …%s", len(text), text[len(text)-100:])
	}
	if _, text = call(t, c, "skill_run", map[string]any{"skill": "work", "script": "scripts/binary.sh"}); !strings.Contains(text, "\uFFFD") {
		t.Errorf("%q", text)
	}
	if !strings.Contains(p.records(), `"script":"scripts/say.sh"`) {
		t.Error("it is not on record")
	}
}

// TestPending checks that a long run is pending, can be polled, and can be stopped.
func TestPending(t *testing.T) {
	p := scripts(t)
	s := p.server()
	s.SetPatience(50*time.Millisecond, time.Hour)
	c, other := p.connectTo(s), p.connectTo(s)
	res, text := call(t, c, "skill_run", map[string]any{"skill": "work", "script": "scripts/wait.sh"})
	handle, _ := res.Meta["skillpm/handle"].(string)
	if res.IsError || handle == "" || !strings.Contains(text, handle) || !strings.HasPrefix(text, "pending") {
		t.Fatalf("%q", text)
	}
	if res, text := call(t, other, "skill_run", map[string]any{"handle": handle}); !res.IsError {
		t.Errorf("another connection has it: %q", text)
	}
	p.write("home/project/go", "")
	for strings.HasPrefix(text, "pending") {
		_, text = call(t, c, "skill_run", map[string]any{"handle": handle})
	}
	if !strings.Contains(text, "began\ndone\nexit code 0") {
		t.Errorf("%q", text)
	}
	if res, text := call(t, c, "skill_run", map[string]any{"handle": handle}); !res.IsError {
		t.Errorf("it is told twice: %q", text)
	}
	if err := os.Remove(filepath.Join(p.root, "home/project/go")); err != nil {
		t.Fatal(err)
	}
	res, _ = call(t, c, "skill_run", map[string]any{"skill": "work", "script": "scripts/wait.sh"})
	stop := map[string]any{"handle": res.Meta["skillpm/handle"], "stop": true}
	for text = "pending"; strings.HasPrefix(text, "pending"); { // its end may take longer than a call waits
		res, text = call(t, c, "skill_run", stop)
	}
	if !res.IsError || strings.Contains(text, "done") {
		t.Errorf("it was not stopped: %q", text)
	}
}

// TestProgressAndCancel checks that the client gets progress while a script runs, and that cancellation kills the
// script and its child processes.
func TestProgressAndCancel(t *testing.T) {
	p := scripts(t)
	messages := make(chan string, 1000)
	p.client = &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		messages <- r.Params.Message
	}}
	s := p.server()
	s.SetPatience(time.Hour, 10*time.Millisecond)
	c := p.connectTo(s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		params := &mcp.CallToolParams{Name: "skill_run", Arguments: map[string]any{"skill": "work", "script": "scripts/wait.sh"}}
		params.SetProgressToken("a")
		_, err := c.CallTool(ctx, params)
		failed <- err
	}()
	for m := range messages {
		if strings.HasSuffix(m, ": began") {
			break
		}
	}
	data, err := os.ReadFile(filepath.Join(p.root, "home/project/pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-failed; err == nil {
		t.Error("it was not cancelled")
	}
	s.Close() // waits for what it runs
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d still runs", pid)
	}
}

// TestPendingWithProgress checks that a client that requests progress waits no longer for an answer than others,
// because it can still give up.
func TestPendingWithProgress(t *testing.T) {
	p := scripts(t)
	s := p.server()
	s.SetPatience(time.Millisecond, time.Hour)
	c := p.connectTo(s)
	params := &mcp.CallToolParams{Name: "skill_run", Arguments: map[string]any{"skill": "work", "script": "scripts/wait.sh"}}
	params.SetProgressToken("a")
	if res, err := c.CallTool(t.Context(), params); err != nil || res.Meta["skillpm/status"] != "pending" {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestRunWarns checks that the model gets a warning with the result if a policy in observe mode would have refused the
// run.
func TestRunWarns(t *testing.T) {
	p := scripts(t)
	p.write("home/.config/skillpm/policy.yaml", "version: 1\nmode: audit\nforbid: [scripts]\n")
	res, text := call(t, p.connect(), "skill_run", map[string]any{"skill": "work", "script": "scripts/binary.sh"})
	if res.IsError || !strings.Contains(text, "exit code 0\nwarning: ") || !strings.Contains(text, "scripts") || res.Meta["skillpm/warnings"] == nil {
		t.Errorf("%q, %v", text, res.Meta)
	}
}

// TestGone checks that no process stays when a client disconnects.
func TestGone(t *testing.T) {
	p := scripts(t)
	p.options.Session = ""
	s := p.server()
	s.SetPatience(time.Millisecond, time.Hour)
	here, there := mcp.NewInMemoryTransports()
	over := make(chan error, 1)
	go func() { over <- s.Run(t.Context(), there) }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	call(t, c, "skill_run", map[string]any{"skill": "work", "script": "scripts/wait.sh"})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-over
	s.Close()
	for line := range strings.Lines(p.records()) {
		if strings.Contains(line, `"action":"run"`) && strings.Contains(line, "wait.sh") && !strings.Contains(line, `"phase":"intent"`) {
			return
		}
	}
	t.Errorf("the run is not on record: %s", p.records())
}

// TestP7Fork checks SPEC P7, P8, P10: a fork is a task whose end is reported to a client that set up nothing, whose reply
// says how to ask for the result, and whose result is available.
func TestP7Fork(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/project/data/skills/report/SKILL.md": skillText("report", "context: fork\n", "Report on $0."),
	})
	p.write("home/.config/skillpm/config.yaml", "runners:\n  general: {command: [sh, -c, 'cat; while [ ! -e "+p.root+"/go ]; do sleep 0.01; done; echo worked']}\n")
	p.profile, p.options.HostNames, p.version = "pegasus", true, "2025-11-25"
	messages, updated := make(chan any, 10), make(chan string, 10)
	p.client = &mcp.ClientOptions{
		LoggingMessageHandler:  func(_ context.Context, r *mcp.LoggingMessageRequest) { messages <- r.Params.Data }, //nolint:staticcheck // for clients of older versions
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	}
	c := p.connect()
	res, text := call(t, c, "use_skill", map[string]any{"skill": "report", "args": "cats"})
	id, _ := res.Meta["skillpm/task"].(string)
	if got, want := structured(t, res), `{"hint":"for the result, call skill_run with handle: \"`+id+`\"","result":{"status":"spawned","taskId":"`+id+`"},"success":true}`; id == "" || got != want ||
		!strings.HasSuffix(text, `For its result, call skill_run with handle: "`+id+`".`) {
		t.Fatalf("%s, %q", got, text)
	}
	if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "task://" + id}); err != nil {
		t.Fatal(err)
	}
	p.write("go", "")
	_, text = call(t, c, "skill_run", map[string]any{"handle": id})
	if !strings.Contains(text, "succeeded") || !strings.Contains(text, "Report on cats.\nworked") {
		t.Errorf("%q", text)
	}
	if uri := <-updated; uri != "task://"+id {
		t.Errorf("told of %s", uri)
	}
	if data, err := json.Marshal(<-messages); err != nil || !strings.Contains(string(data), id) || !strings.Contains(string(data), "worked") {
		t.Errorf("told %s, %v", data, err)
	}
	read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "task://" + id})
	if err != nil || !strings.Contains(read.Contents[0].Text, `"state":"succeeded"`) || !strings.Contains(read.Contents[0].Text, "worked") {
		t.Errorf("%v, %v", read, err)
	}
}

// taskAnswer is an answer about a task, or that of a call without one.
type taskAnswer struct {
	Type    string `json:"resultType"`
	ID      string `json:"taskId"`
	Status  string
	TTL     *int64 `json:"ttlMs"`
	Poll    int64  `json:"pollIntervalMs"`
	Result  *mcp.CallToolResult
	Content json.RawMessage
	Meta    map[string]any `json:"_meta"`
}

// TestP8Tasks checks SPEC P8, SEP-2663: a client that declares tasks gets one in place of a fork's result, and asks for its
// state and its result.
func TestP8Tasks(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/project/data/skills/report/SKILL.md": skillText("report", "context: fork\n", "Report on $0."),
		"home/.config/skillpm/config.yaml":         "runners:\n  general: {command: [sh, -c, 'cat; echo worked']}\n",
	})
	p.profile, p.options.HostNames = "pegasus", true
	s := p.server()
	ask := func(method, params string, declares bool) (got taskAnswer, code *int) {
		t.Helper()
		capability := ""
		if declares {
			capability = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
		}
		a := answers(t, s, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{`+capability+`}}}}`)["1"]
		if a.Error != nil {
			return got, &a.Error.Code
		}
		if err := json.Unmarshal(a.Result, &got); err != nil {
			t.Fatal(err)
		}
		return got, nil
	}
	use := `"name":"use_skill","arguments":{"skill":"report","args":"cats"}`
	c := p.connect()
	wait := func(id any) { call(t, c, "skill_run", map[string]any{"handle": id}) }
	if got, code := ask("tools/call", use, false); code != nil || got.ID != "" || got.Content == nil {
		t.Errorf("a client without tasks: %+v, %v", got, code)
	} else {
		wait(got.Meta["skillpm/task"])
	}
	got, code := ask("tools/call", use, true)
	if code != nil || got.Type != "task" || got.ID == "" || got.Status == "" || got.TTL != nil || got.Poll <= 0 || got.Content != nil {
		t.Fatalf("%+v, %v", got, code)
	}
	id := `"taskId":"` + got.ID + `"`
	wait(got.ID)
	if got, code = ask("tasks/get", id, true); code != nil || got.Type != "complete" || got.Status != "completed" || !strings.Contains(textOf(t, got.Result), "Report on cats.\nworked") {
		t.Errorf("%+v, %v", got, code)
	}
	for _, method := range []string{"tasks/cancel", "tasks/update"} {
		if got, code := ask(method, id, true); code != nil || got.Type != "complete" || got.Status != "" {
			t.Errorf("%s: %+v, %v", method, got, code)
		}
	}
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		if _, code := ask(method, `"taskId":"../../x"`, true); code == nil || *code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: %v", method, code)
		}
		if _, code := ask(method, id, false); code == nil || *code != -32021 {
			t.Errorf("%s: %v", method, code)
		}
	}
	if _, ok := c.InitializeResult().Capabilities.Extensions["io.modelcontextprotocol/tasks"]; !ok {
		t.Error("the server does not declare tasks")
	}
}

// TestRunRefused checks that invalid requests get an error, and nothing runs.
func TestRunRefused(t *testing.T) {
	p := scripts(t)
	p.write(project+"only/SKILL.md", skillText("only", "allowed-tools: [Read]\n", "x"))
	c := p.connect()
	for i, tt := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{}, "needs either a skill"},
		{map[string]any{"skill": "work", "handle": "x"}, "needs either a skill"},
		{map[string]any{"skill": "work", "script": 3}, "must have the type"},
		{map[string]any{"skill": "work", "args": "a b"}, "must have the type"},
		{map[string]any{"skill": "work", "more": 1}, `not have an argument "more"`},
		{map[string]any{"skill": "work"}, "does not have a command"},
		{map[string]any{"skill": "work", "script": "../only/SKILL.md"}, "not a path inside"},
		{map[string]any{"skill": "work", "script": "/bin/sh"}, "not a path inside"},
		{map[string]any{"skill": "work", "script": "scripts/none.sh"}, "none.sh"},
		{map[string]any{"skill": "none"}, "available skills are only, work"},
		{map[string]any{"handle": "run-000000000000000000000000"}, "returns each result only once"},
		{map[string]any{"handle": "../../x"}, "returns each result only once"},
		{map[string]any{"handle": "20200101-000000-abc-0123456789abcdef"}, "returns each result only once"},
	} {
		if res, text := call(t, c, "skill_run", tt.args); !res.IsError || !strings.Contains(text, tt.want) {
			t.Errorf("%d: %q, want %q", i, text, tt.want)
		}
	}
	call(t, c, "skill", map[string]any{"name": "only"})
	if res, text := call(t, c, "skill_run", map[string]any{"skill": "work", "script": "scripts/say.sh"}); !res.IsError || !strings.Contains(text, "may not run scripts now") || !strings.Contains(text, "skill_end") {
		t.Errorf("%q", text)
	}
}

// BenchmarkInitialize measures a client's wait at start, except for the process itself: 1,000 skills, with an existing
// index.
func BenchmarkInitialize(b *testing.B) {
	root := b.TempDir()
	p := &place{root: root, env: map[string]string{}}
	for i := range 1000 {
		dir := filepath.Join(root, "home/project/.skillpm/skills", fmt.Sprintf("skill-%04d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(skillText(fmt.Sprintf("skill-%04d", i), "", strings.Repeat("text ", 500))), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s, err := mcpserver.New(mcpserver.Options{Open: p.open, Now: time.Now})
		if err != nil {
			b.Fatal(err)
		}
		here, there := mcp.NewInMemoryTransports()
		go s.Run(b.Context(), there)
		c, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(b.Context(), here, nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
		s.Close()
	}
}
