package mockmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// post sends a request and returns the decoded data of the answer's events. An answer that is not a stream is one
// event.
func post(t *testing.T, url, body string) []map[string]any {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:noctx // a server of this test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v\n%s", url, response.Status, err, answer)
	}
	var events []map[string]any
	for line := range strings.Lines(string(answer)) {
		data, found := strings.CutPrefix(line, "data: ")
		if !found && response.Header.Get("Content-Type") == "text/event-stream" {
			continue
		}
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		events = append(events, event)
	}
	return events
}

// at follows keys and indices in a decoded document.
func at(t *testing.T, document any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch key := step.(type) {
		case string:
			object, _ := document.(map[string]any)
			document = object[key]
		case int:
			list, _ := document.([]any)
			if key >= len(list) {
				t.Fatalf("no %d of %v in %v", key, path, document)
			}
			document = list[key]
		}
	}
	return document
}

var script = Script{"main": {
	{Text: "I look.", Calls: []Call{{Tool: "Read", Input: map[string]any{"path": "a"}}}},
	Say("It says b."),
}}

func TestMessages(t *testing.T) {
	model := New(t, script)
	first := `{"model":"m","stream":true,"system":[{"type":"text","text":"Be brief."}],
		"tools":[{"name":"Read","description":"reads","input_schema":{"type":"object"}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"[main] What does a say?"}]}]}`
	events := post(t, model.URL+"/v1/messages", first)
	types := make([]string, len(events))
	for i, e := range events {
		types[i] = fmt.Sprint(e["type"])
	}
	want := []string{
		"message_start", "content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
	}
	if !slices.Equal(types, want) {
		t.Fatalf("the stream is %q", types)
	}
	id := at(t, events[4], "content_block", "id")
	if got := at(t, events[4], "content_block", "name"); got != "Read" {
		t.Errorf("the tool is %v", got)
	}
	if got := at(t, events[5], "delta", "partial_json"); got != `{"path":"a"}` {
		t.Errorf("its input is %v", got)
	}
	if got := at(t, events[7], "delta", "stop_reason"); got != "tool_use" {
		t.Errorf("it stops for %v", got)
	}
	second := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"[main] What does a say?"},
		{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"is_error":true,"content":[{"type":"text","text":"b"}]}]}]}`, id, id)
	whole := post(t, model.URL+"/v1/messages", second)[0]
	if got := at(t, whole, "content", 0, "text"); got != "It says b." {
		t.Errorf("without a stream it says %v", got)
	}
	if got := at(t, whole, "stop_reason"); got != "end_turn" {
		t.Errorf("it stops for %v", got)
	}
	requests := model.Requests("main")
	if len(requests) != 2 || requests[0].System != "Be brief." || requests[0].Tool("Read").Description != "reads" || !strings.Contains(requests[0].SystemText(), "Read: reads") {
		t.Errorf("it was asked %+v", requests)
	}
	result := Result{Call: fmt.Sprint(id), Tool: "Read", Text: "b", Error: true}
	if got := model.Results("main"); !slices.Equal(got, []Result{result}) {
		t.Errorf("results are %+v", got)
	}
}

func TestResponses(t *testing.T) {
	model := New(t, Script{"main": {
		{Calls: []Call{
			{Tool: "shell", Input: map[string]any{"cmd": "ls"}}, {Tool: "mcp__a.b", Input: map[string]any{}}, {Tool: "patch", Input: map[string]any{"input": "*** Begin"}},
		}},
		Say("Ready."),
	}})
	body := `{"model":"m","instructions":"Be brief.","tools":[{"type":"function","name":"shell"},{"type":"web_search"},{"type":"custom","name":"patch"},
		{"type":"namespace","name":"mcp__a","description":"Of a.","tools":[{"type":"function","name":"b","description":"does b"}]}],
		"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Skills: x"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"[main] go"}]}%s]}`
	events := post(t, model.URL+"/v1/responses", fmt.Sprintf(body, ""))
	for i, want := range []map[string]any{
		{"type": "function_call", "name": "shell", "arguments": `{"cmd":"ls"}`, "namespace": nil},
		{"type": "function_call", "name": "b", "arguments": `{}`, "namespace": "mcp__a"},
		{"type": "custom_tool_call", "name": "patch", "input": "*** Begin"},
	} {
		for key, value := range want {
			if got := at(t, events[i+1], "item", key); got != value {
				t.Errorf("%s of item %d is %v, want %v", key, i, got, value)
			}
		}
	}
	if got := events[len(events)-1]["type"]; got != "response.completed" {
		t.Errorf("it ends with %v", got)
	}
	id := at(t, events[2], "item", "call_id")
	more := fmt.Sprintf(`,{"type":"function_call","call_id":%q,"name":"b","namespace":"mcp__a"},{"type":"function_call_output","call_id":%q,"output":"c"}`, id, id)
	events = post(t, model.URL+"/v1/responses", fmt.Sprintf(body, more))
	if got := at(t, events[1], "item", "content", 0, "text"); got != "Ready." {
		t.Errorf("it says %v", got)
	}
	requests := model.Requests("main")[1]
	if !strings.Contains(requests.System, "Be brief.") || !strings.Contains(requests.System, "Skills: x") || !strings.Contains(requests.System, "Of a.") || !requests.Offers("web_search") || requests.Tool("mcp__a.b").Description != "does b" {
		t.Errorf("it was asked %+v", requests)
	}
	if got := model.Results("main"); len(got) != 1 || got[0].Tool != "mcp__a.b" || got[0].Text != "c" {
		t.Errorf("results are %+v", got)
	}
}

func TestGenerate(t *testing.T) {
	model := New(t, Script{"main": {Use("read", map[string]any{"path": "a"}), Say("Ready.")}})
	body := `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[{"name":"read","description":"reads"}]}],
		"contents":[{"role":"user","parts":[{"text":"[main] go"}]}%s]}`
	call := at(t, post(t, model.URL+"/v1beta/models/g:streamGenerateContent?alt=sse", fmt.Sprintf(body, ""))[0],
		"candidates", 0, "content", "parts", 0, "functionCall")
	if at(t, call, "name") != "read" || at(t, call, "args", "path") != "a" {
		t.Errorf("it calls %v", call)
	}
	more := `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"output":"b"}}}]}`
	answer := post(t, model.URL+"/v1beta/models/g:generateContent", fmt.Sprintf(body, more))[0]
	if got := at(t, answer, "candidates", 0, "content", "parts", 0, "text"); got != "Ready." {
		t.Errorf("it says %v", got)
	}
	if got := model.Requests("main")[1]; got.System != "Be brief." || got.Model != "g" || !got.Offers("read") {
		t.Errorf("it was asked %+v", got)
	}
	if got := model.Results("main"); len(got) != 1 || got[0] != (Result{Call: "1", Tool: "read", Text: "b"}) {
		t.Errorf("results are %+v", got)
	}
}

// TestConversations runs two independent conversations, one request that belongs to none, and a step that is created
// from the request.
func TestConversations(t *testing.T) {
	model := New(t, Script{
		"main": {Say("first"), {Decide: func(r Request) Step { return Say("asked with " + r.Model) }}},
		"sub":  {Say("of the sub")},
	})
	say := func(words string) any {
		body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, words)
		return at(t, post(t, model.URL+"/v1/messages", body)[0], "content", 0, "text")
	}
	for i, step := range []struct{ words, want string }{
		{"[main] go, and start [sub]", "first"},
		{"[sub] do it", "of the sub"},
		{"A title, please", closing},
		{"[main] go, and start [sub]", "asked with m"},
		{"[main] go", closing},
	} {
		if got := say(step.words); got != step.want {
			t.Errorf("%d: %s: %v, want %s", i, step.words, got, step.want)
		}
	}
	if n := len(model.Requests("")); n != 1 {
		t.Errorf("%d requests are of no conversation", n)
	}
}

// teller is a test that records errors instead of failing.
type teller struct {
	testing.TB
	errors []string
}

func (t *teller) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

func TestUnofferedTool(t *testing.T) {
	recorder := &teller{TB: t}
	model := New(recorder, Script{"main": {Use("Read", nil), {Calls: []Call{{Tool: "Read", Unoffered: true}}}}})
	body := `{"messages":[{"role":"user","content":"[main]"}],"tools":[{"name":"Write"}]}`
	post(t, model.URL+"/v1/messages", body)
	want := []string{"the script of [main] calls Read, which is not offered: Write"}
	if !slices.Equal(recorder.errors, want) {
		t.Errorf("errors are %q", recorder.errors)
	}
	post(t, model.URL+"/v1/messages", body)
	if len(recorder.errors) != 1 {
		t.Errorf("a call that is meant to be unoffered is an error: %q", recorder.errors)
	}
}

func TestStrays(t *testing.T) {
	model := New(t, nil)
	response, err := http.Get(model.URL + "/v1/models") //nolint:noctx // a server of this test
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if got := model.Strays(); response.StatusCode != http.StatusNotFound || !slices.Equal(got, []string{"GET /v1/models"}) {
		t.Errorf("%s, strays %q", response.Status, got)
	}
	if got := at(t, post(t, model.URL+"/v1/messages/count_tokens", `{}`)[0], "input_tokens"); got != 1000.0 {
		t.Errorf("%v tokens", got)
	}
}
