package hook

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// kind is the meaning of an event, independent of the agent's name for it.
type kind int

const (
	other        kind = iota // ignored
	preTool                  // before a tool call: the only kind that may deny
	postTool                 // after a tool call
	failedTool               // after a tool call that failed or was refused
	batch                    // after all tool calls of one message of the model
	prompt                   // the user sent a prompt
	expansion                // the user started a skill by its name, as /deploy
	stop                     // the model has ended its work on the prompt
	agentStart               // a subagent begins
	agentStop                // it ends
	sessionStart             // a session begins, or goes on
	sessionEnd               // it ends
)

// asks reports whether the agent waits for a decision.
func (k kind) asks() bool { return k == preTool }

// eventType is a type of event of an agent.
type eventType struct {
	name string
	kind kind

	// Some events are of one tool only: its name, and the fields of the event that are its input.
	tool  string
	input []string
	// Others omit the prefix of the tools of MCP servers: the prefix to add.
	prefix string
}

// fields names the fields of an event. Each has space-separated alternatives, of which the first that is present is
// used; "" for none.
type fields struct {
	event, session, agent, parent, dir, turn, call, tool, input, response, prompt, command, arguments string

	root       string // the directory of the project, not the working directory
	agentType  string // the kind of a subagent
	background string // the list of what goes on in the background
	batch      string // the list of calls that are done
	mcp        string // an object with a tool's MCP server and its name there
}

// dialect describes the hooks of one agent.
type dialect struct {
	agent  agent.Agent
	events []eventType
	fields fields

	variables []string // environment variables with the directory of the project; the first that is set is used

	// spellings are those that the agent's file tools accept for a path, as measured; 0 if unknown, so that all count.
	// directory names the fields in which its tools for searching expect a directory; "" if unknown.
	spellings tool.Spellings
	directory string

	parallel       bool   // the hooks of calls in one message run at the same time
	agentIsSession bool   // a subagent's id is the id of a session
	reads          bool   // its model reads SKILL.md with file tools
	mention        string // the prefix of a skill's name in a prompt, "" if there is an event for that
	anywhere       bool   // also within the prompt, not only at its beginning

	// names has the agent's own names of tools that differ from the common ones.
	names map[string]string

	// Answers in JSON that deny a call of a tool, block a prompt or the result of a call, and tell the model something;
	// "" if the agent has no such answer. {event} and {reason} stand for texts.
	deny, block, tell string
}

// eventTypes returns event types of a kind.
func eventTypes(k kind, names ...string) (events []eventType) {
	for _, name := range names {
		events = append(events, eventType{name: name, kind: k})
	}
	return events
}

// The answers of Claude Code, which other agents have adopted.
const (
	hookOutput = `"hookSpecificOutput":{"hookEventName":{event},"permissionDecision":"deny",` +
		`"permissionDecisionReason":{reason}}`
	claudeDeny  = `{` + hookOutput + `}`
	claudeBlock = `{"decision":"block","reason":{reason}}`
	claudeTell  = `{"hookSpecificOutput":{"hookEventName":{event},"additionalContext":{reason}}}`
	geminiDeny  = `{"decision":"deny","reason":{reason}}`
)

// dialects has one row for each agent.
func dialects() []dialect {
	claude := fields{
		event: "hook_event_name", session: "session_id", agent: "agent_id", parent: "parent_agent_id", dir: "cwd",
		turn: "prompt_id turn_id", call: "tool_use_id", tool: "tool_name", input: "tool_input",
		response: "tool_response",
		prompt:   "prompt", command: "command_name", arguments: "command_args", background: "background_tasks", batch: "tool_calls", agentType: "agent_type",
	}
	gemini := claude
	gemini.mcp = "mcp_context"
	return []dialect{
		{
			agent: row("claude-code"), directory: "path", fields: claude,
			spellings: tool.Literal | tool.Trimmed | tool.Tilde | tool.Escaped,
			names:     map[string]string{"Grep": "Bash with rg", "Glob": "Bash with find", "LS": "Bash with ls"},
			deny:      claudeDeny, block: claudeBlock, tell: claudeTell, variables: []string{"CLAUDE_PROJECT_DIR"},
			events: slices.Concat(
				eventTypes(preTool, "PreToolUse"), eventTypes(postTool, "PostToolUse"),
				eventTypes(failedTool, "PostToolUseFailure", "PermissionDenied"), eventTypes(batch, "PostToolBatch"),
				eventTypes(prompt, "UserPromptSubmit"), eventTypes(expansion, "UserPromptExpansion"),
				eventTypes(stop, "Stop", "StopFailure"),
				eventTypes(agentStart, "SubagentStart"), eventTypes(agentStop, "SubagentStop"),
				eventTypes(sessionStart, "SessionStart"), eventTypes(sessionEnd, "SessionEnd"),
			),
		},
		{
			agent: row("codex"), spellings: tool.Literal | tool.Trimmed | tool.Tilde, fields: claude,
			names: map[string]string{
				"Bash": "exec_command", "Read": "exec_command with cat", "Grep": "exec_command with rg",
				"Glob": "exec_command with find", "LS": "exec_command with ls", "Edit": "apply_patch", "Write": "apply_patch",
			},
			deny: claudeDeny, block: claudeBlock, tell: claudeTell, reads: true, mention: "$", anywhere: true, parallel: true,
			events: slices.Concat(
				eventTypes(preTool, "PreToolUse"), eventTypes(postTool, "PostToolUse"),
				eventTypes(prompt, "UserPromptSubmit"),
				eventTypes(stop, "Stop", "Interrupt"),
				eventTypes(agentStart, "SubagentStart"), eventTypes(agentStop, "SubagentStop"),
				eventTypes(sessionStart, "SessionStart"), eventTypes(sessionEnd, "SessionEnd"),
			),
		},
		{
			agent: row("gemini"), directory: "dir_path",
			spellings: tool.Literal | tool.Percent | tool.At | tool.Control | tool.Suffix,
			fields:    gemini,
			names: map[string]string{
				"Bash": "run_shell_command", "Read": "read_file", "Edit": "replace", "Write": "write_file", "Glob": "glob",
				"Grep": "grep_search", "LS": "list_directory", "WebFetch": "web_fetch", "WebSearch": "google_web_search",
			},
			deny: geminiDeny, block: geminiDeny, tell: claudeTell, mention: "/", parallel: true,
			variables: []string{"GEMINI_PROJECT_DIR"},
			events: slices.Concat(
				eventTypes(preTool, "BeforeTool"), eventTypes(postTool, "AfterTool"), eventTypes(prompt, "BeforeAgent"),
				eventTypes(stop, "AfterAgent"), eventTypes(sessionStart, "SessionStart"),
				eventTypes(sessionEnd, "SessionEnd"),
			),
		},
		{ // it uses Claude Code's format for events whose name begins with a capital letter
			agent: row("copilot"), spellings: tool.Literal, directory: "path",

			names: map[string]string{
				"Bash": "bash", "Read": "view", "Edit": "edit", "Write": "create", "Glob": "glob", "Grep": "grep",
				"WebFetch": "web_fetch",
			},
			agentIsSession: true, mention: "/", variables: []string{"COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
			fields: fields{
				event: "hook_event_name", session: "sessionId session_id", agent: "agentId agent_id",
				parent: "parentAgentId parent_agent_id", dir: "cwd workingDirectory", call: "toolCallId tool_use_id",
				tool: "toolName tool_name", input: "toolArgs tool_input",
				response: "toolResult tool_result tool_response", prompt: "prompt",
			},
			deny:  `{` + hookOutput + `,"permissionDecision":"deny","permissionDecisionReason":{reason}}`,
			block: claudeBlock,
			events: slices.Concat(
				eventTypes(preTool, "preToolUse", "PreToolUse"), eventTypes(postTool, "postToolUse", "PostToolUse"),
				eventTypes(failedTool, "postToolUseFailure", "PostToolUseFailure"),
				eventTypes(prompt, "userPromptSubmitted", "UserPromptSubmit"), eventTypes(stop, "agentStop", "Stop"),
				eventTypes(agentStart, "subagentStart", "SubagentStart"),
				eventTypes(agentStop, "subagentStop", "SubagentStop"),
				eventTypes(sessionStart, "sessionStart", "SessionStart"),
				eventTypes(sessionEnd, "sessionEnd", "SessionEnd"),
			),
		},
		{ // its plugin, which skillpm writes, sends Claude Code's events; skills are commands of OpenCode
			agent: row("opencode"), spellings: tool.Literal, fields: claude,
			names: map[string]string{
				"Bash": "bash", "Read": "read", "Edit": "edit", "Write": "write", "Glob": "glob", "Grep": "grep", "LS": "list",
				"WebFetch": "webfetch",
			},
			deny: claudeDeny, block: claudeBlock,
			events: slices.Concat(
				eventTypes(preTool, "PreToolUse"), eventTypes(postTool, "PostToolUse"),
				eventTypes(failedTool, "PostToolUseFailure"),
				eventTypes(prompt, "UserPromptSubmit"), eventTypes(expansion, "UserPromptExpansion"),
				eventTypes(stop, "Stop"),
				eventTypes(agentStart, "SubagentStart"), eventTypes(agentStop, "SubagentStop"),
				eventTypes(sessionEnd, "SessionEnd"),
			),
		},
		{
			agent:          row("cursor"),
			names:          map[string]string{"Bash": "Shell"},
			agentIsSession: true, reads: true, mention: "/",
			fields: fields{
				event: "hook_event_name", session: "conversation_id session_id", dir: "cwd workspace_roots",
				turn: "generation_id", call: "tool_use_id", tool: "tool_name", input: "tool_input",
				response: "tool_output result_json", prompt: "prompt", agent: "subagent_id",
				parent: "parent_conversation_id", root: "workspace_roots",
			},
			deny:  `{"agent_message":{reason},"permission":"deny","user_message":{reason}}`,
			block: `{"continue":false,"user_message":{reason}}`,
			events: slices.Concat(
				eventTypes(preTool, "preToolUse"), eventTypes(postTool, "postToolUse"),
				eventTypes(failedTool, "postToolUseFailure"),
				[]eventType{
					{name: "beforeShellExecution", kind: preTool, tool: "Shell", input: []string{"command", "cwd"}},
					{name: "beforeMCPExecution", kind: preTool, prefix: "MCP:"},
					{name: "beforeReadFile", kind: preTool, tool: "Read", input: []string{"file_path"}},
				},
				eventTypes(prompt, "beforeSubmitPrompt"), eventTypes(stop, "stop"),
				eventTypes(agentStart, "subagentStart"), eventTypes(agentStop, "subagentStop"),
				eventTypes(sessionStart, "sessionStart"), eventTypes(sessionEnd, "sessionEnd"),
			),
		},
	}
}

// row returns an agent of the table of agents. The id is a constant of this file.
func row(id string) agent.Agent {
	a, _ := agent.Find(id)
	return a
}

// Agent is an agent whose hooks skillpm answers.
type Agent struct {
	agent.Agent
	Events []string // the events that skillpm uses, by the agent's names
}

// Agents returns the agents whose hooks skillpm answers, in order.
func Agents() []Agent {
	var out []Agent
	for _, d := range dialects() {
		a := Agent{Agent: d.agent}
		for _, e := range d.events {
			a.Events = append(a.Events, e.name)
		}
		out = append(out, a)
	}
	return out
}

// IDs returns the ids of the agents whose hooks skillpm answers, as hook commands contain them.
func IDs() []string {
	var ids []string
	for _, d := range dialects() {
		ids = append(ids, d.agent.ID)
	}
	return ids
}

// findDialect returns the dialect of an agent. The error has code Usage.
func findDialect(id string) (dialect, error) {
	a, err := agent.Lookup(id)
	if err != nil {
		return dialect{}, err
	}
	for _, d := range dialects() {
		if d.agent == a {
			return d, nil
		}
	}
	return dialect{}, diag.Errorf(diag.Usage, "skillpm does not support hooks of %s", a.Title).
		WithHint("use %s", textx.OneOf(IDs()))
}

// event returns the event type of a name, in the agent's spelling or in kebab case, for example pre-tool-use. An
// unknown event has the kind other.
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

// kebab converts a name to kebab case.
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
