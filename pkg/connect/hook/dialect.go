package hook

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// kind is what an event is about, whatever a host calls it.
type kind int

const (
	other        kind = iota // nothing is learned from it
	preTool                  // a tool is about to be called: the one kind that asks
	postTool                 // it was called
	failedTool               // it was called, and failed
	prompt                   // the user sent a prompt
	expansion                // the user started a skill by its name, as /deploy
	stop                     // the model has ended its work on the prompt
	agentStart               // a subagent begins
	agentStop                // it ends
	sessionStart             // a session begins, or goes on
	sessionEnd               // it ends
)

// asks reports whether the host waits for permission.
func (k kind) asks() bool { return k == preTool }

// eventType is one kind of event of a host.
type eventType struct {
	name string
	kind kind

	// Some events are of one tool only: its name, and the fields of the event that are its input.
	tool  string
	input []string
	// Others leave out in the name of a tool that it is one of an MCP server: what stands before it then.
	prefix string
}

// fields says which of an event's fields hold something, the first that is there counts.
type fields struct {
	event, session, agent, parent, dir, turn, call, tool, input, response, prompt, command, arguments []string

	root []string // the directory of the project, as opposed to the one that is worked in

	mcp string // an object that says which MCP server a tool is of, and what it is called there; "" where the name says it
}

// part is one value of an answer, at a path of fields. {event} and {reason} are filled in.
type part struct {
	path  []string
	value any
}

// dialect is one host.
type dialect struct {
	id, title string
	profile   string          // that its skills are looked up under
	layers    []profile.Layer // in place of the profile's; empty for those
	events    []eventType
	fields    fields

	variables []string // that the host sets for its hooks, to the directory of the project: the first that is set counts

	agentIsSession bool   // the id of a subagent is that of a session of its own
	reads          bool   // its model reads SKILL.md with the tools for files
	mention        string // what a name of a skill stands after in a prompt, "" where the host has an event for that
	anywhere       bool   // also within the prompt, not only at its beginning

	deny  []part // a call of a tool
	block []part // a prompt
}

// dialects is the table.
func dialects() []dialect {
	claude := fields{
		event: []string{"hook_event_name"}, session: []string{"session_id"}, agent: []string{"agent_id"}, parent: []string{"parent_agent_id"}, dir: []string{"cwd"}, turn: []string{"prompt_id", "turn_id"},
		call: []string{"tool_use_id"}, tool: []string{"tool_name"}, input: []string{"tool_input"}, response: []string{"tool_response"}, prompt: []string{"prompt"},
		command: []string{"command_name"}, arguments: []string{"command_args"},
	}
	gemini := claude
	gemini.mcp = "mcp_context"
	denied := []part{
		{[]string{"hookSpecificOutput", "hookEventName"}, "{event}"},
		{[]string{"hookSpecificOutput", "permissionDecision"}, "deny"},
		{[]string{"hookSpecificOutput", "permissionDecisionReason"}, "{reason}"},
	}
	blocked := []part{{[]string{"decision"}, "block"}, {[]string{"reason"}, "{reason}"}}
	return []dialect{
		{
			id: "claude-code", title: "Claude Code", profile: "claude-code", fields: claude, deny: denied, block: blocked, variables: []string{"CLAUDE_PROJECT_DIR"},
			events: []eventType{
				{name: "PreToolUse", kind: preTool},
				{name: "PostToolUse", kind: postTool},
				{name: "PostToolUseFailure", kind: failedTool},
				{name: "UserPromptSubmit", kind: prompt},
				{name: "UserPromptExpansion", kind: expansion},
				{name: "Stop", kind: stop},
				{name: "StopFailure", kind: stop},
				{name: "SubagentStart", kind: agentStart},
				{name: "SubagentStop", kind: agentStop},
				{name: "SessionStart", kind: sessionStart},
				{name: "SessionEnd", kind: sessionEnd},
			},
		},
		{
			id: "codex", title: "Codex", profile: "agentskills", layers: layers(".codex"), fields: claude, deny: denied, block: blocked,
			reads: true, mention: "$", anywhere: true,
			events: []eventType{
				{name: "PreToolUse", kind: preTool},
				{name: "PostToolUse", kind: postTool},
				{name: "UserPromptSubmit", kind: prompt},
				{name: "Stop", kind: stop},
				{name: "Interrupt", kind: stop},
				{name: "SubagentStart", kind: agentStart},
				{name: "SubagentStop", kind: agentStop},
				{name: "SessionStart", kind: sessionStart},
				{name: "SessionEnd", kind: sessionEnd},
			},
		},
		{
			id: "gemini", title: "Gemini CLI", profile: "agentskills", layers: layers(".gemini"), fields: gemini, mention: "/", variables: []string{"GEMINI_PROJECT_DIR"},
			deny:  []part{{[]string{"decision"}, "deny"}, {[]string{"reason"}, "{reason}"}},
			block: []part{{[]string{"decision"}, "deny"}, {[]string{"reason"}, "{reason}"}},
			events: []eventType{
				{name: "BeforeTool", kind: preTool},
				{name: "AfterTool", kind: postTool},
				{name: "BeforeAgent", kind: prompt},
				{name: "AfterAgent", kind: stop},
				{name: "SessionStart", kind: sessionStart},
				{name: "SessionEnd", kind: sessionEnd},
			},
		},
		copilot(denied, blocked),
		cursor(),
	}
}

// layers are the directories of skills of a host that reads those of every agent and its own.
func layers(own ...string) []profile.Layer {
	here, home := []string{}, []string{}
	for _, dir := range append([]string{".agents", ".claude"}, own...) {
		here, home = append(here, "./"+dir+"/skills"), append(home, "~/"+dir+"/skills")
	}
	return []profile.Layer{
		{Name: "project", Dirs: here, Depth: 4}, {Name: "personal", Dirs: home, Depth: 4}, {Name: "plugin", Dirs: []string{"{plugins}"}},
	}
}

// copilot writes its events in two ways: in its own, and in that of Claude Code where the name of the event begins with
// a capital.
func copilot(denied, blocked []part) dialect {
	return dialect{
		id: "copilot", title: "GitHub Copilot", profile: "agentskills", layers: layers(".github", ".copilot"), agentIsSession: true, mention: "/",
		variables: []string{"COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
		fields: fields{
			event: []string{"hook_event_name"}, session: []string{"sessionId", "session_id"}, agent: []string{"agentId", "agent_id"},
			parent: []string{"parentAgentId", "parent_agent_id"}, dir: []string{"cwd", "workingDirectory"}, call: []string{"toolCallId", "tool_use_id"},
			tool: []string{"toolName", "tool_name"}, input: []string{"toolArgs", "tool_input"}, response: []string{"toolResult", "tool_result", "tool_response"},
			prompt: []string{"prompt"},
		},
		deny: append([]part{
			{[]string{"permissionDecision"}, "deny"}, {[]string{"permissionDecisionReason"}, "{reason}"},
		}, denied...),
		block: blocked,
		events: []eventType{
			{name: "preToolUse", kind: preTool},
			{name: "PreToolUse", kind: preTool},
			{name: "postToolUse", kind: postTool},
			{name: "PostToolUse", kind: postTool},
			{name: "postToolUseFailure", kind: failedTool},
			{name: "PostToolUseFailure", kind: failedTool},
			{name: "userPromptSubmitted", kind: prompt},
			{name: "UserPromptSubmit", kind: prompt},
			{name: "agentStop", kind: stop},
			{name: "Stop", kind: stop},
			{name: "subagentStart", kind: agentStart},
			{name: "SubagentStart", kind: agentStart},
			{name: "subagentStop", kind: agentStop},
			{name: "SubagentStop", kind: agentStop},
			{name: "sessionStart", kind: sessionStart},
			{name: "SessionStart", kind: sessionStart},
			{name: "sessionEnd", kind: sessionEnd},
			{name: "SessionEnd", kind: sessionEnd},
		},
	}
}

func cursor() dialect {
	return dialect{
		id: "cursor", title: "Cursor", profile: "agentskills", layers: layers(".cursor", ".codex"), reads: true, mention: "/",
		fields: fields{
			event: []string{"hook_event_name"}, session: []string{"conversation_id", "session_id"}, dir: []string{"cwd", "workspace_roots"}, turn: []string{"generation_id"},
			call: []string{"tool_use_id"}, tool: []string{"tool_name"}, input: []string{"tool_input"}, response: []string{"tool_output", "result_json"}, prompt: []string{"prompt"},
			agent: []string{"subagent_id"}, parent: []string{"parent_conversation_id"}, root: []string{"workspace_roots"},
		},
		agentIsSession: true,
		deny:           []part{{[]string{"permission"}, "deny"}, {[]string{"user_message"}, "{reason}"}, {[]string{"agent_message"}, "{reason}"}},
		block:          []part{{[]string{"continue"}, false}, {[]string{"user_message"}, "{reason}"}},
		events: []eventType{
			{name: "preToolUse", kind: preTool},
			{name: "postToolUse", kind: postTool},
			{name: "postToolUseFailure", kind: failedTool},
			{name: "beforeShellExecution", kind: preTool, tool: "Shell", input: []string{"command", "cwd"}},
			{name: "beforeMCPExecution", kind: preTool, prefix: "MCP:"},
			{name: "beforeReadFile", kind: preTool, tool: "Read", input: []string{"file_path"}},
			{name: "beforeSubmitPrompt", kind: prompt},
			{name: "stop", kind: stop},
			{name: "subagentStart", kind: agentStart},
			{name: "subagentStop", kind: agentStop},
			{name: "sessionStart", kind: sessionStart},
			{name: "sessionEnd", kind: sessionEnd},
		},
	}
}

// Host is a host whose hooks are answered.
type Host struct {
	ID     string   // as --host has it
	Title  string   // as its makers write it
	Events []string // those that something is learned from, as the host calls them
}

// Hosts returns the hosts whose hooks are answered, in order.
func Hosts() []Host {
	var out []Host
	for _, d := range dialects() {
		h := Host{ID: d.id, Title: d.title}
		for _, e := range d.events {
			h.Events = append(h.Events, e.name)
		}
		out = append(out, h)
	}
	return out
}

// findDialect returns the host of an id.
func findDialect(id string) (dialect, error) {
	var ids []string
	for _, d := range dialects() {
		if d.id == id {
			return d, nil
		}
		ids = append(ids, d.id)
	}
	err := diag.Errorf(diag.Usage, "host %q is not known", id)
	if near := diag.Nearest(id, ids); near != "" {
		return dialect{}, err.WithHint("did you mean %s?", near)
	}
	return dialect{}, err.WithHint("use one of %s", strings.Join(ids, ", "))
}

// event returns the event of a name, as the host writes it or in small words joined by hyphens, as pre-tool-use. One
// that the table does not have is of no kind.
func (d dialect) event(name string) eventType {
	for _, e := range d.events {
		if e.name == name {
			return e
		}
	}
	for _, e := range d.events {
		if kebab(e.name) == name {
			return e
		}
	}
	return eventType{name: name}
}

// kebab writes a name as small words joined by hyphens.
func kebab(name string) string {
	var out strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			before := i > 0 && (name[i-1] < 'A' || name[i-1] > 'Z')
			within := i > 0 && i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z'
			if before || within {
				out.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}
