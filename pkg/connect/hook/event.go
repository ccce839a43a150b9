package hook

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// hookEvent is what an event says, in words of no agent.
type hookEvent struct {
	typ eventType

	session string // of whoever acts: of the main agent, or of a subagent
	parent  string // of the agent that the subagent was begun by, "" for the main agent
	dir     string // that paths are relative to, "" where that is not known
	root    string // of the project, where the event says it
	turn    string // the agent's id of the prompt that is worked on, "" where it has none

	call     string // the agent's id of the call, or a digest that is the same for the same call
	digest   bool   // it is the digest
	tool     string
	input    map[string]any
	failed   bool   // the call came to nothing
	finished bool   // what the call began has ended with it, as a skill that a subagent ran
	loaded   string // the name of the skill that the agent says it has given to its model

	prompt             string
	command, arguments string // that the user typed, as /command arguments
}

// decodeEvent reads an event. Name is what the command line calls it, "" where that says nothing, and dir where it
// runs.
func (d dialect) decodeEvent(name, dir string, data map[string]any) (hookEvent, error) {
	t := hookEvent{typ: d.event(name)}
	if value, _ := text(data, d.fields.event); value != "" {
		kinds := d.event(value)
		if name != "" && kinds.name != t.typ.name {
			if !t.typ.kind.asks() {
				t.typ = kinds // where one of the two asks, the answer must be a denial
			}
			return t, diag.Errorf(diag.Invalid, "the event says that it is %s, and the command that it is %s",
				value, name).
				WithHint("mend the configuration of %s: skillpm hook install --host %s", d.agent.Title,
					d.agent.HookID())
		}
		t.typ = kinds
	}
	if t.typ.name == "" {
		return t, diag.Errorf(diag.Invalid, "the event does not say which it is").
			WithHint("name it: skillpm hook EVENT --host %s", d.agent.HookID())
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
	t.command, _ = text(data, d.fields.command)
	t.arguments, _ = text(data, d.fields.arguments)
	d.decodeSession(&t, data)
	return t, d.decodeCall(&t, data)
}

// decodeSession tells whose session an event belongs to. An agent that names none has one for each directory.
func (d dialect) decodeSession(t *hookEvent, data map[string]any) {
	t.session, _ = text(data, d.fields.session)
	if t.session == "" {
		t.session = d.agent.HookID() + ":" + t.dir
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

// decodeCall tells which tool an event is about, and what of it.
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
			return diag.Errorf(diag.Invalid, "the event does not say which tool is called")
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

// serverOf returns which MCP server a tool is of, and what it is called there, where the event says it apart from the
// name.
func serverOf(data map[string]any, field string) (server, name string) {
	about, _ := data[field].(map[string]any)
	server, _ = text(about, "server_name")
	name, _ = text(about, "tool_name")
	return server, name
}

// callOf returns an id for a call of an agent that has none: two calls that are the same share it.
func callOf(tool string, input map[string]any) string {
	data, err := json.Marshal(input)
	if err != nil {
		return ""
	}
	return "call-" + textx.SHA256(append([]byte(tool+"\n"), data...))[:24]
}

// outcome reports whether a call failed, and whether what it began is done: in one of the ways in which agents say so.
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

// first returns the value of the first field that is there.
func first(data map[string]any, names string) (any, bool) {
	for name := range strings.FieldsSeq(names) {
		if v, ok := data[name]; ok && v != nil {
			return v, true
		}
	}
	return nil, false
}

// text returns the first field that is a text, or of a list its first one.
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

// object returns a field that is an object, or the text of one, as the input of a tool is. A tool that takes no input
// has an empty one; what is neither is kept as text, which nothing is found in.
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

// path returns where a path of an event leads.
func (t hookEvent) path(p string) string {
	if filepath.IsAbs(p) || t.dir == "" {
		return p
	}
	return filepath.Join(t.dir, p)
}
