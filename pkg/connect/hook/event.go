package hook

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// hookEvent is an event, independent of the agent.
type hookEvent struct {
	typ eventType

	session string // the id of the main agent's or the subagent's session
	parent  string // the session of the agent that started the subagent, "" for the main agent
	dir     string // the directory that paths are relative to, "" if unknown
	root    string // the root of the project, if the event has it
	turn    string // the agent's id of the current prompt, "" if it has none

	call     string // the agent's id of the call, or a digest of the call
	digest   bool   // call is a digest
	tool     string
	input    map[string]any
	failed   bool   // the call failed
	finished bool   // what the call began has ended with it, for example a skill that a subagent ran
	loaded   string // the name of the skill that the agent reports as loaded

	agentType  string   // the kind of a subagent
	background bool     // work goes on in the background after the turn
	calls      []string // the ids of the calls that are done

	prompt             string
	command, arguments string // of /command arguments, as the user typed it
}

// decodeEvent decodes an event. The name is the event's name on the command line, or "", and dir is the working
// directory.
func (d dialect) decodeEvent(name, dir string, data map[string]any) (hookEvent, error) {
	t := hookEvent{typ: d.event(name)}
	if value, _ := text(data, d.fields.event); value != "" {
		kinds := d.event(value)
		if name != "" && kinds.name != t.typ.name {
			if !t.typ.kind.asks() {
				t.typ = kinds // if either kind may deny, a failure must deny
			}
			return t, diag.Errorf(diag.Invalid, "the event is %s, but the command is for %s",
				value, name).
				WithHint("fix the configuration of %s with: skillpm connect %s", d.agent.Title,
					d.agent.ID)
		}
		t.typ = kinds
	}
	if t.typ.name == "" {
		return t, diag.Errorf(diag.Invalid, "the event does not have a name").
			WithHint("pass the name as an argument: skillpm hook EVENT --agent %s", d.agent.ID)
	}
	if t.typ.kind == other {
		return t, nil
	}
	if t.dir, _ = text(data, d.fields.dir); !filepath.IsAbs(t.dir) {
		if t.dir = filepath.Join(dir, t.dir); dir == "" {
			t.dir = ""
		}
	}
	if t.root, _ = text(data, d.fields.root); !filepath.IsAbs(t.root) {
		t.root = ""
	}
	t.turn, _ = text(data, d.fields.turn)
	t.prompt, _ = text(data, d.fields.prompt)
	t.agentType, _ = text(data, d.fields.agentType)
	t.background = len(list(data, d.fields.background)) > 0
	for _, call := range list(data, d.fields.batch) {
		if call, ok := call.(map[string]any); ok {
			id, _ := text(call, d.fields.call)
			t.calls = append(t.calls, id)
		}
	}
	t.command, _ = text(data, d.fields.command)
	t.arguments, _ = text(data, d.fields.arguments)
	d.decodeSession(&t, data)
	return t, d.decodeCall(&t, data)
}

// decodeSession sets the session of an event. An agent without session ids has one session for each directory.
func (d dialect) decodeSession(t *hookEvent, data map[string]any) {
	t.session, _ = text(data, d.fields.session)
	if t.session == "" {
		t.session = d.agent.ID + ":" + t.dir
	}
	agent, _ := text(data, d.fields.agent)
	parent, _ := text(data, d.fields.parent)
	switch {
	case agent == "" && d.agentIsSession && parent != t.session:
		t.parent = parent
	case agent == "":
	case parent != "":
		t.session, t.parent = agent, parent
	case !d.agentIsSession:
		t.session, t.parent = t.session+"/"+agent, t.session
	case t.session != agent:
		t.session, t.parent = agent, t.session
	}
}

// decodeCall sets the tool call of an event.
func (d dialect) decodeCall(t *hookEvent, data map[string]any) error {
	switch t.typ.kind {
	case preTool, postTool, failedTool:
	default:
		return nil
	}
	if t.typ.tool != "" {
		t.tool, t.input = t.typ.tool, map[string]any{}
		for _, name := range t.typ.input {
			if v, ok := data[name]; ok {
				t.input[name] = v
			}
		}
	} else {
		var err error
		if t.tool, _ = text(data, d.fields.tool); t.tool == "" {
			return diag.Errorf(diag.Invalid, "the event does not name the tool")
		}
		if t.input, err = object(data, d.fields.input); err != nil {
			return err
		}
		t.tool = t.typ.prefix + t.tool
		if server, name := serverOf(data, d.fields.mcp); server != "" && name != "" {
			t.tool = "mcp__" + server + "__" + name
		}
	}
	if t.call, _ = text(data, d.fields.call); t.call == "" {
		t.call, t.digest = callOf(t.tool, t.input), true
	}
	t.failed = t.typ.kind == failedTool
	if response, ok := first(data, d.fields.response); ok && t.typ.kind == postTool {
		t.failed, t.finished = outcome(response)
		if r, ok := response.(map[string]any); ok {
			t.loaded, _ = text(r, "commandName")
		}
	}
	return nil
}

// serverOf returns a tool's MCP server and its name there, if the event has them in fields of their own.
func serverOf(data map[string]any, field string) (server, name string) {
	about, _ := data[field].(map[string]any)
	server, _ = text(about, "server_name")
	name, _ = text(about, "tool_name")
	return server, name
}

// callOf returns the id of a call for an agent without such ids. Equal calls have the same id.
func callOf(tool string, input map[string]any) string {
	data, err := json.Marshal(input)
	if err != nil {
		return ""
	}
	return "call-" + textx.SHA256(append([]byte(tool+"\n"), data...))[:24]
}

// outcome reports whether a call failed, and whether what it began has ended. It knows the formats of all agents.
func outcome(response any) (failed, finished bool) {
	if s, ok := response.(string); ok && strings.HasPrefix(s, "{") {
		var inner map[string]any
		if json.Unmarshal([]byte(s), &inner) != nil {
			return false, false
		}
		response = inner
	}
	r, ok := response.(map[string]any)
	if !ok {
		return false, false
	}
	for _, name := range []string{"isError", "is_error"} {
		if bad, ok := r[name].(bool); ok && bad {
			failed = true
		}
	}
	if good, ok := r["success"].(bool); ok && !good {
		failed = true
	}
	if e, ok := r["error"]; ok && e != nil && e != "" && e != false {
		failed = true
	}
	for _, name := range []string{"resultType", "result_type"} {
		if how, ok := r[name].(string); ok && how != "success" {
			failed = true
		}
	}
	status, _ := r["status"].(string)
	return failed, status == "forked"
}

// first returns the value of the first field that is present.
func first(data map[string]any, names string) (any, bool) {
	for name := range strings.FieldsSeq(names) {
		if v, ok := data[name]; ok && v != nil {
			return v, true
		}
	}
	return nil, false
}

// text returns the first field that is a string, or the first string of a list.
func text(data map[string]any, names string) (string, bool) {
	for name := range strings.FieldsSeq(names) {
		switch v := data[name].(type) {
		case string:
			if v != "" {
				return v, true
			}
		case []any:
			if len(v) > 0 {
				if s, ok := v[0].(string); ok && s != "" {
					return s, true
				}
			}
		}
	}
	return "", false
}

// list returns the first field that is a list.
func list(data map[string]any, names string) []any {
	for name := range strings.FieldsSeq(names) {
		if v, ok := data[name].([]any); ok {
			return v
		}
	}
	return nil
}

// object returns a field that is an object or a string with one, such as a tool's input. A missing field is an empty
// object; any other string or a list becomes the field input.
func object(data map[string]any, names string) (map[string]any, error) {
	v, ok := first(data, names)
	if !ok {
		return map[string]any{}, nil
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return map[string]any{}, nil
		}
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			return decodeJSON([]byte(v))
		}
		return map[string]any{"input": v}, nil
	case []any:
		return map[string]any{"input": v}, nil
	}
	return nil, diag.Errorf(diag.Invalid, "the input of the tool is neither an object nor text")
}

// path returns the absolute path of a path in an event.
func (t hookEvent) path(p string) string {
	if filepath.IsAbs(p) || t.dir == "" {
		return p
	}
	return filepath.Join(t.dir, p)
}
