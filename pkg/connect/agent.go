package connect

import (
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// Kind is the kind of entry in an agent's configuration.
type Kind string

// The kinds of entries.
const (
	Hook Kind = "hook" // the commands that an agent calls around its own tools
	MCP  Kind = "mcp"  // the server that an agent starts
)

// Scope is the set of users and projects that a configuration file applies to.
type Scope string

// The scopes that agents have.
const (
	User       Scope = "user"
	Project    Scope = "project"
	Enterprise Scope = "machine" // everybody on the machine, written by its administrator
)

// Agent is an agent whose configuration can be written.
type Agent struct {
	agent.Agent

	Events []string // the events that get a hook, by the agent's names

	hooks               []configFile
	servers             []configFile
	switches            []configFile   // other files whose settings can switch hooks off
	decisionEvents      []string       // the events before a tool call, in which exit code 2 denies the call
	ignoresInstructions bool           // its model may not see the server's instructions
	nested              bool           // its hooks are in groups that have a matcher
	versioned           bool           // its file of hooks has a version
	plugin              bool           // its hooks are a plugin
	closedByDefault     bool           // its hooks deny calls if skillpm is missing or fails, unless the user chooses
	timeout             int            // of a hook, in the agent's unit; longer than hook.Limit
	shortTimeouts       map[string]int // the agent's upper bound, for some events
	blockEvents         []string       // the events whose hooks have a key that makes a failure deny, by default
	hookRules           *jsonRules     // what the agent accepts in its file of hooks, nil if unknown
	serverRules         *jsonRules     // what it accepts in its file of MCP servers
	server              func(program string, args []string) object
	next                map[Kind]string // what the user has to do after install
}

// format is the syntax of a configuration file.
type format string

const (
	formatJSON format = "JSON" // with or without comments
	formatTOML format = "TOML"
	formatYAML format = "YAML"
	formatJS   format = "JavaScript" // a plugin, which is the whole file
)

// base is the directory that a path is relative to.
type base int

const (
	inHome      base = iota
	inOtherHome      // a home directory that the variable moves
	inProject
	inConfig  // $XDG_CONFIG_HOME, ~/.config
	inAppData // the system's directory for application data of the user
	inMachine
)

// configFile is a file of an agent's configuration, for one scope.
type configFile struct {
	scope Scope
	base  base
	env   string // variable that stands for the first directory of the file or, for one in a home, for the home
	// slash-separated; the first that exists is used, otherwise the first. Machine files are below /etc
	files []string
	path  []string // the keys above the entries
}

// format returns the syntax of the file, by its name.
func (p configFile) format() format {
	switch path.Ext(p.files[0]) {
	case ".toml":
		return formatTOML
	case ".yaml":
		return formatYAML
	case ".js":
		return formatJS
	default:
		return formatJSON
	}
}

// keys returns the keys above the entries.
func (p configFile) keys() []any {
	path := make([]any, len(p.path), len(p.path)+4)
	for i, key := range p.path {
		path[i] = key
	}
	return path
}

// claudeEvents are the events of Claude Code in which skills are activated, tool calls are checked, or something ends.
var claudeEvents = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionDenied", "UserPromptSubmit",
	"UserPromptExpansion", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "SessionEnd",
}

// openCodeEvents are the events that the plugin for OpenCode sends.
func openCodeEvents() []string {
	return []string{
		"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "UserPromptExpansion", "Stop",
		"SubagentStart", "SubagentStop", "SessionEnd",
	}
}

func stdio(program string, args []string) object {
	return object{{"type", "stdio"}, {"command", program}, {"args", args}}
}

func commandObject(program string, args []string) object {
	return object{{"command", program}, {"args", args}}
}

// Agents returns the table, sorted by id.
func Agents() []Agent {
	hooks, servers := []string{"hooks"}, []string{"mcpServers"}
	return []Agent{
		{
			Agent: row("claude-code"), Events: slices.Clone(claudeEvents),
			decisionEvents: []string{"PreToolUse"}, ignoresInstructions: true,
			blockEvents: []string{"PreToolUse", "UserPromptExpansion"},
			nested:      true, timeout: 60, server: stdio,
			hookRules: &jsonRules{mark: true}, serverRules: &jsonRules{mark: true},
			hooks: []configFile{
				{User, inHome, "CLAUDE_CONFIG_DIR", []string{".claude/settings.json"}, hooks},
				{Project, inProject, "", []string{".claude/settings.json"}, hooks},
				{Enterprise, inMachine, "", []string{"claude-code/managed-settings.json"}, hooks},
			},
			switches: []configFile{
				{User, inHome, "CLAUDE_CONFIG_DIR", []string{".claude/settings.local.json"}, nil},
				{Project, inProject, "", []string{".claude/settings.local.json"}, nil},
			},
			servers: []configFile{
				{User, inHome, "CLAUDE_CONFIG_DIR", []string{".claude.json"}, servers},
				{Project, inProject, "", []string{".mcp.json"}, servers},
			},
			next: map[Kind]string{MCP: "Claude Code asks once whether it may start the project's MCP servers"},
		},
		{
			Agent: row("codex"),
			Events: []string{
				"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "Interrupt",
				"SubagentStart", "SubagentStop", "SessionEnd",
			},
			decisionEvents: []string{"PreToolUse"},
			nested:         true, timeout: 60, server: commandObject,
			shortTimeouts: map[string]int{"SessionEnd": 3, "Interrupt": 3},
			hookRules:     &jsonRules{unique: true, keys: "hooks description"},
			hooks: []configFile{
				{User, inHome, "CODEX_HOME", []string{".codex/hooks.json"}, hooks},
				{Project, inProject, "", []string{".codex/hooks.json"}, hooks},
				{Enterprise, inMachine, "", []string{"codex/hooks.json"}, hooks},
			},
			switches: []configFile{
				{User, inHome, "CODEX_HOME", []string{".codex/config.toml"}, nil},
				{Project, inProject, "", []string{".codex/config.toml"}, nil},
			},
			servers: []configFile{
				{User, inHome, "CODEX_HOME", []string{".codex/config.toml"}, []string{"mcp_servers"}},
				{Project, inProject, "", []string{".codex/config.toml"}, []string{"mcp_servers"}},
			},
		},
		{
			Agent: row("copilot"),
			Events: []string{
				"preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted", "agentStop", "subagentStart",
				"subagentStop", "sessionEnd",
			},
			decisionEvents: []string{"preToolUse"}, ignoresInstructions: true,
			versioned: true, timeout: 60,
			hookRules: &jsonRules{}, serverRules: &jsonRules{},
			server: func(program string, args []string) object {
				return object{{"type", "local"}, {"command", program}, {"args", args}, {"tools", []string{"*"}}}
			},
			hooks: []configFile{
				{User, inHome, "COPILOT_HOME", []string{".copilot/hooks/skillpm.json"}, hooks},
				{Project, inProject, "", []string{".github/hooks/skillpm.json"}, hooks},
			},
			switches: []configFile{
				{User, inHome, "COPILOT_HOME", []string{".copilot/config.json"}, nil},
				{User, inHome, "COPILOT_HOME", []string{".copilot/settings.json"}, nil},
			},
			servers: []configFile{
				{User, inHome, "COPILOT_HOME", []string{".copilot/mcp-config.json"}, servers},
				{Project, inProject, "", []string{".github/mcp.json"}, servers},
			},
		},
		{
			Agent: row("cursor"),
			Events: []string{
				"preToolUse", "postToolUse", "postToolUseFailure", "beforeShellExecution", "beforeMCPExecution",
				"beforeReadFile",
				"beforeSubmitPrompt", "stop", "subagentStart", "subagentStop", "sessionEnd",
			},
			decisionEvents: []string{"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"},
			versioned:      true, timeout: 60, server: commandObject,
			hooks: []configFile{
				{User, inHome, "", []string{".cursor/hooks.json"}, hooks},
				{Project, inProject, "", []string{".cursor/hooks.json"}, hooks},
			},
			servers: []configFile{
				{User, inHome, "", []string{".cursor/mcp.json"}, servers},
				{Project, inProject, "", []string{".cursor/mcp.json"}, servers},
			},
		},
		{
			Agent:          row("gemini"),
			Events:         []string{"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "SessionEnd"},
			decisionEvents: []string{"BeforeTool"},
			nested:         true, timeout: 60_000, server: commandObject,
			hookRules:   &jsonRules{comments: true, fatal: true},
			serverRules: &jsonRules{comments: true, fatal: true},
			hooks: []configFile{
				{User, inOtherHome, "GEMINI_CLI_HOME", []string{".gemini/settings.json"}, hooks},
				{Project, inProject, "", []string{".gemini/settings.json"}, hooks},
				{Enterprise, inMachine, "", []string{"gemini-cli/settings.json"}, hooks},
			},
			switches: []configFile{
				{User, inOtherHome, "GEMINI_CLI_HOME", []string{".gemini/trustedFolders.json"}, nil},
			},
			servers: []configFile{
				{User, inOtherHome, "GEMINI_CLI_HOME", []string{".gemini/settings.json"}, servers},
				{Project, inProject, "", []string{".gemini/settings.json"}, servers},
			},
		},
		{
			Agent: row("goose"),
			server: func(program string, args []string) object {
				return object{
					{"enabled", true},
					{"type", "stdio"},
					{"name", ServerName},
					{"description", "Skills of skillpm"},
					{"cmd", program},
					{"args", args},
					{"timeout", 300},
				}
			},
			servers: []configFile{{User, inConfig, "", []string{"goose/config.yaml"}, []string{"extensions"}}},
		},
		{
			Agent:          row("opencode"),
			Events:         openCodeEvents(),
			decisionEvents: []string{"PreToolUse"}, plugin: true, closedByDefault: true,
			hooks: []configFile{
				{User, inConfig, "", []string{"opencode/plugins/skillpm.js", "opencode/plugin/skillpm.js"}, nil},
				{Project, inProject, "", []string{".opencode/plugins/skillpm.js", ".opencode/plugin/skillpm.js"}, nil},
			},
			server: func(program string, args []string) object {
				return object{{"type", "local"}, {"command", append([]string{program}, args...)}, {"enabled", true}}
			},
			servers: []configFile{
				{User, inConfig, "", []string{"opencode/opencode.json", "opencode/opencode.jsonc"}, []string{"mcp"}},
				{Project, inProject, "", []string{"opencode.json", "opencode.jsonc"}, []string{"mcp"}},
			},
		},
		{
			Agent: row("vscode"), server: stdio,
			servers: []configFile{
				{User, inAppData, "", []string{"Code/User/mcp.json"}, []string{"servers"}},
				{Project, inProject, "", []string{".vscode/mcp.json"}, []string{"servers"}},
			},
		},
	}
}

// row returns an agent of the table of agents. The id is a constant of this file.
func row(id string) agent.Agent {
	a, _ := agent.Find(id)
	return a
}

// IDs returns the ids of the agents that support a kind of entry, sorted.
func IDs(kind Kind) []string {
	var ids []string
	for _, h := range Agents() {
		if len(h.configFiles(kind)) > 0 {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// Find returns how the agent of an id, or an alias, is configured. The error has code Usage.
func Find(id string, kind Kind) (Agent, error) {
	a, err := agent.Lookup(id)
	if err != nil {
		return Agent{}, err
	}
	i := slices.IndexFunc(Agents(), func(h Agent) bool { return h.Agent == a })
	if i < 0 {
		return Agent{}, diag.Errorf(diag.Usage, "skillpm cannot configure %s", a.Title).
			WithHint("use %s", textx.OneOf(IDs(kind)))
	}
	h := Agents()[i]
	if len(h.configFiles(kind)) == 0 {
		return h, diag.Errorf(diag.Usage, "skillpm does not support hooks of %s", h.Title).
			WithHint("add only the MCP server: skillpm connect %s --no-hooks", h.ID)
	}
	return h, nil
}

// HasScope reports whether an agent supports a kind of entry in a scope.
func (h Agent) HasScope(kind Kind, scope Scope) bool { return slices.Contains(h.Scopes(kind), scope) }

// Scopes returns the scopes in which an agent supports a kind of entry.
func (h Agent) Scopes(kind Kind) []Scope {
	var scopes []Scope
	for _, p := range h.configFiles(kind) {
		scopes = append(scopes, p.scope)
	}
	return scopes
}

func (h Agent) configFiles(kind Kind) []configFile {
	if kind == Hook {
		return h.hooks
	}
	return h.servers
}

// configFile returns the file that has an agent's entries of a kind in a scope.
func (h Agent) configFile(kind Kind, scope Scope) (configFile, error) {
	for _, p := range h.configFiles(kind) {
		if p.scope == scope {
			return p, nil
		}
	}
	texts := make([]string, 0, 4)
	for _, s := range h.Scopes(kind) {
		texts = append(texts, string(s))
	}
	what := map[Kind]string{Hook: "hooks", MCP: "MCP servers"}[kind]
	return configFile{}, diag.Errorf(diag.Usage, "%s does not support %s in the scope %s", h.Title, what, scope).
		WithHint("use --scope %s", strings.Join(texts, " or --scope "))
}
