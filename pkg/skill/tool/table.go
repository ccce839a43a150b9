package tool

import (
	"strings"
	"sync"
)

// kind is the kind of a tool's argument, which determines how its patterns are parsed.
type kind int

const (
	plain      kind = iota // patterns with parentheses never match
	shell                  // a command line for a POSIX shell
	powershell             // a command line for PowerShell or cmd
	file                   // files
	search                 // a directory, by default the current one
	address                // URLs
	name                   // a name
)

// Tool is a tool with the names that agents use.
type Tool struct {
	Name   string   // the name in Claude Code, or in the only agent that has the tool
	Names  []string // other agents' names
	Kind   string   // command, file, directory, URL, name, or "" if patterns can only name the tool
	Fields []string // input fields with the argument
	With   string   // the tool that implies this one
	Whole  bool     // With implies it only if all its calls are allowed
}

// row is a row of the table.
type row struct {
	name   string
	kind   kind
	names  string // separated by spaces
	fields string
	with   string
	whole  bool
}

const (
	pathFields = "file_path path filePath absolute_path notebook_path target_file file filename " +
		"file_paths paths AbsolutePath TargetFile notebook target_notebook files"
	dirFields = "path dir_path directory target_directory file_path paths " +
		"SearchDirectory SearchPath DirectoryPath relative_workspace_path"
	commandFields = "command cmd CommandLine script"
	// of the searched files, relative to its directory
	filterFields = "include includes include_pattern glob globs file_pattern"
	placeFields  = "cwd workdir working_directory working_dir directory dir_path dir" // working directory of a command
	moreFields   = "args argv arguments"                                              // a command's arguments
)

// table has each tool that several agents name differently, and its relevant input fields. Names are case-sensitive.
func table() []row {
	return []row{
		{
			name: "Bash", kind: shell, fields: commandFields,
			names: "bash shell sh zsh run_shell_command exec_command shell_command exec local_shell " +
				"local_shell_call container.exec bash_exec bash_tool execute_bash executeBash " +
				"execute_command run_command run_terminal_cmd run_terminal_command run_in_terminal " +
				"runInTerminal developer__shell Shell ShellTool BashTool terminal Terminal execute Monitor",
		},
		{name: "PowerShell", kind: powershell, fields: commandFields, names: "powershell pwsh cmd"},
		{
			name: "BashOutput", with: "Bash",
			names: "bash_output read_bash list_bash get_terminal_output getTerminalOutput command_status read_terminal " +
				"TaskOutput read_background_output list_background_processes",
		},
		{name: "KillShell", with: "Bash", names: "KillBash kill_shell kill_bash stop_bash TaskStop"},
		{name: "write_stdin", with: "Bash", whole: true, names: "write_bash send_input write_to_terminal"},

		{
			name: "Read", kind: file, fields: pathFields,
			names: "read read_file readFile read_many_files file_read view " +
				"view_file view_line_range ReadTool ReadFile view_image",
		},
		{
			name: "Edit", kind: file, fields: pathFields,
			names: "edit edit_file editFile file_edit replace str_replace search_replace search_and_replace " +
				"replace_in_file replace_string_in_file multi_replace_string_in_file insert_edit_into_file " +
				"apply_diff insert_content EditTool MultiEdit multiedit multi_edit file_multi_edit",
		},
		{
			name: "Write", kind: file, fields: pathFields,
			names: "write write_file writeFile file_write write_to_file create create_file createFile WriteTool WriteFile",
		},
		{name: "NotebookEdit", kind: file, fields: pathFields, names: "notebook_edit edit_notebook edit_notebook_file"},
		{name: "NotebookRead", kind: file, fields: pathFields, names: "notebook_read read_notebook"},
		{name: "Delete", kind: file, fields: pathFields, names: "delete_file deleteFile file_delete"},

		{
			name: "Glob", kind: search, fields: dirFields,
			names: "glob glob_tool glob_files glob_file_search file_search " +
				"fileSearch find_files find_by_name findFiles GlobTool",
		},
		{
			name: "Grep", kind: search, fields: dirFields,
			names: "grep grep_tool grep_files grep_search grepSearch search_file_content search_files " +
				"searchFiles rg ripgrep codebase_search find_text_in_files textSearch GrepTool",
		},
		{
			name: "LS", kind: search, fields: dirFields,
			names: "ls list list_dir list_directory listDirectory list_files listDir LSTool",
		},

		{
			name: "WebFetch", kind: address, fields: "url urls uri",
			names: "web_fetch webfetch fetch fetch_url fetch_webpage fetchWebpage read_url_content WebFetchTool url",
		},
		{name: "WebSearch", names: "web_search websearch google_web_search search_web webSearch"},

		{
			name: "Task", kind: name, fields: "subagent_type agent_type agent_name agentName agent",
			names: "task Agent agent subagent spawn_agent spawn_subagent runSubagent " +
				"run_subagent delegate_to_agent dispatch_agent invoke_agent new_task",
		},
		{
			name: "TodoWrite",
			names: "todo_write todowrite write_todos update_plan manage_todo_list update_todo_list todo TaskCreate TaskUpdate " +
				"update_topic report_intent",
		},
		{name: "TodoRead", names: "todo_read todoread read_todos TaskGet TaskList"},
		{name: "ToolSearch", names: "tool_search toolSearch"},
		{name: "AskUserQuestion", names: "ask_user ask_user_question ask_followup_question request_user_input question"},
		{name: "ExitPlanMode", names: "exit_plan_mode plan_exit"},
		{
			name: "Skill", kind: name, fields: "skill name skill_name skillName",
			names: "skill use_skill activate_skill load_skill loadSkill " +
				"loadSkillFile skill_file skill_run skill_end find_skills",
		},
	}
}

// rows finds a row by any of its names. It is built on first use.
var rows = sync.OnceValue(func() map[string]*row {
	all := table()
	out := make(map[string]*row, 16*len(all))
	for i := range all {
		out[all[i].name] = &all[i]
		for n := range strings.FieldsSeq(all[i].names) {
			out[n] = &all[i]
		}
	}
	return out
})

// Table returns the known tools, for documentation.
func Table() []Tool {
	kinds := map[kind]string{
		shell: "command", powershell: "command", file: "file", search: "directory",
		address: "URL", name: "name",
	}
	var out []Tool
	for _, r := range table() {
		out = append(out, Tool{
			Name: r.name, Names: strings.Fields(r.names), Kind: kinds[r.kind], Fields: strings.Fields(r.fields),
			With: r.with, Whole: r.whole,
		})
	}
	return out
}

// Canonical returns the common name of a tool, or the name itself if the table does not have it.
func Canonical(name string) string {
	if r, ok := rows()[name]; ok {
		return r.name
	}
	return name
}

// unrestricted reports whether a tool has no effect but on the conversation, so that only a list of disallowed tools
// restricts it: todo lists, questions to the user, and the discovery of tools.
func unrestricted(tool string) bool {
	switch Canonical(tool) {
	case "TodoWrite", "TodoRead", "AskUserQuestion", "ToolSearch":
		return true
	}
	return false
}

// Own reports whether a tool is skillpm's own or activates a skill, by its name or with agents' prefixes for an MCP
// server named skillpm. Such tools are always allowed: they nest, read, and end skills. Other tools of a server with
// that name are ordinary.
func Own(tool string) bool {
	if Canonical(tool) == "Skill" {
		return true
	}
	_, ofServer := OfSkills(tool)
	return ofServer
}
