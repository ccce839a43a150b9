package hook

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// kind is what an event is about, whatever an agent calls it.
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

// asks reports whether the agent waits for permission.
func (k kind) asks() bool { return k == preTool }

// eventType is one kind of event of an agent.
type eventType struct {
	name string
	kind kind

	// Some events are of one tool only: its name, and the fields of the event that are its input.
	tool  string
	input []string
	// Others leave out in the name of a tool that it is one of an MCP server: what stands before it then.
	prefix string
}

// fields says which of an event's fields hold something: names with spaces between them, of which the first that is
// there counts; "" for none.
type fields struct {
	event, session, agent, parent, dir, turn, call, tool, input, response, prompt, command, arguments string

	root string // the directory of the project, as opposed to the one that is worked in
	mcp  string // an object that says which MCP server a tool is of, and what it is called there
}

// dialect is how the hooks of one agent are.
type dialect struct {
	agent  agent.Agent
	events []eventType
	fields fields

	variables []string // that it sets for its hooks, to the directory of the project: the first that is set counts

	agentIsSession bool   // the id of a subagent is that of a session of its own
	reads          bool   // its model reads SKILL.md with the tools for files
	mention        string // what a name of a skill stands after in a prompt, "" if there is an event for that
	anywhere       bool   // also within the prompt, not only at its beginning

	// Answers in JSON that deny a call of a tool and block a prompt. {event} and {reason} stand for texts.
	deny, block string
}

// named returns events of a kind.
func named(k kind, names ...string) (events []eventType) {
	for _, name := range names {
		events = append(events, eventType{name: name, kind: k})
	}
	return events
}

// The answers of Claude Code, which others have taken over.
const (
	hookOutput = `"hookSpecificOutput":{"hookEventName":{event},"permissionDecision":"deny",` +
		`"permissionDecisionReason":{reason}}`
	claudeDeny  = `{` + hookOutput + `}`
	claudeBlock = `{"decision":"block","reason":{reason}}`
	geminiDeny  = `{"decision":"deny","reason":{reason}}`
)

// dialects is the table.
func dialects() []dialect {
	claude := fields{
		event: "hook_event_name", session: "session_id", agent: "agent_id", parent: "parent_agent_id", dir: "cwd",
		turn: "prompt_id turn_id", call: "tool_use_id", tool: "tool_name", input: "tool_input",
		response: "tool_response",
		prompt:   "prompt", command: "command_name", arguments: "command_args",
	}
	gemini := claude
	gemini.mcp = "mcp_context"
	return []dialect{
		{
			agent: row("claude-code"), fields: claude,
			deny: claudeDeny, block: claudeBlock, variables: []string{"CLAUDE_PROJECT_DIR"},
			events: slices.Concat(
				named(preTool, "PreToolUse"), named(postTool, "PostToolUse"), named(failedTool, "PostToolUseFailure"),
				named(prompt, "UserPromptSubmit"), named(expansion, "UserPromptExpansion"),
				named(stop, "Stop", "StopFailure"),
				named(agentStart, "SubagentStart"), named(agentStop, "SubagentStop"),
				named(sessionStart, "SessionStart"), named(sessionEnd, "SessionEnd"),
			),
		},
		{
			agent: row("codex"), fields: claude,
			deny: claudeDeny, block: claudeBlock, reads: true, mention: "$", anywhere: true,
			events: slices.Concat(
				named(preTool, "PreToolUse"), named(postTool, "PostToolUse"), named(prompt, "UserPromptSubmit"),
				named(stop, "Stop", "Interrupt"),
				named(agentStart, "SubagentStart"), named(agentStop, "SubagentStop"),
				named(sessionStart, "SessionStart"), named(sessionEnd, "SessionEnd"),
			),
		},
		{
			agent: row("gemini-cli"), fields: gemini,
			deny: geminiDeny, block: geminiDeny, mention: "/", variables: []string{"GEMINI_PROJECT_DIR"},
			events: slices.Concat(
				named(preTool, "BeforeTool"), named(postTool, "AfterTool"), named(prompt, "BeforeAgent"),
				named(stop, "AfterAgent"), named(sessionStart, "SessionStart"), named(sessionEnd, "SessionEnd"),
			),
		},
		{ // it writes as Claude Code does if the name of the event begins with a capital
			agent:          row("github-copilot"),
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
				named(preTool, "preToolUse", "PreToolUse"), named(postTool, "postToolUse", "PostToolUse"),
				named(failedTool, "postToolUseFailure", "PostToolUseFailure"),
				named(prompt, "userPromptSubmitted", "UserPromptSubmit"), named(stop, "agentStop", "Stop"),
				named(agentStart, "subagentStart", "SubagentStart"), named(agentStop, "subagentStop", "SubagentStop"),
				named(sessionStart, "sessionStart", "SessionStart"), named(sessionEnd, "sessionEnd", "SessionEnd"),
			),
		},
		{
			agent:          row("cursor"),
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
				named(preTool, "preToolUse"), named(postTool, "postToolUse"), named(failedTool, "postToolUseFailure"),
				[]eventType{
					{name: "beforeShellExecution", kind: preTool, tool: "Shell", input: []string{"command", "cwd"}},
					{name: "beforeMCPExecution", kind: preTool, prefix: "MCP:"},
					{name: "beforeReadFile", kind: preTool, tool: "Read", input: []string{"file_path"}},
				},
				named(prompt, "beforeSubmitPrompt"), named(stop, "stop"),
				named(agentStart, "subagentStart"), named(agentStop, "subagentStop"),
				named(sessionStart, "sessionStart"), named(sessionEnd, "sessionEnd"),
			),
		},
	}
}

// row returns an agent of the table. Its id is a constant of this file.
func row(id string) agent.Agent {
	a, _ := agent.Find(id)
	return a
}

// Agent is an agent whose hooks skillpm answers.
type Agent struct {
	agent.Agent
	Events []string // those that matter to skillpm, as the agent calls them
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
		ids = append(ids, d.agent.HookID())
	}
	return ids
}

// findDialect returns how the hooks of an agent are. The error has code Usage.
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
	return dialect{}, diag.Errorf(diag.Usage, "skillpm does not answer hooks of %s", a.Title).
		WithHint("use one of %s", strings.Join(IDs(), ", "))
}

// event returns the event of a name, as the agent writes it or in small words joined by hyphens, as pre-tool-use. One
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
