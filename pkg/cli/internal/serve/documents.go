package serve

import (
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/runtime/task"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// skillsDocument is the output of "skills --json".
type skillsDocument struct {
	Profile  string         `json:"profile"`  // id of the profile
	Off      bool           `json:"off"`      // whether skills are disabled
	Project  string         `json:"project"`  // directory of the project, or ""
	Skills   []skillJSON    `json:"skills"`   // available skills; with --all also the others
	Findings []diag.Finding `json:"findings"` // problems of skills
}

// whichDocument is the output of "which --json".
type whichDocument struct {
	Name   string      `json:"name"`   // name that was looked up
	Winner *skillJSON  `json:"winner"` // skill that the name refers to, or null
	Others []skillJSON `json:"others"` // other skills with the name
}

// runDocument is the output of "run --json".
type runDocument struct {
	Skill      string   `json:"skill"`      // name of the skill
	Command    []string `json:"command"`    // command that was run, with its arguments
	ExitCode   int      `json:"exitCode"`   // exit code of the command
	Signal     string   `json:"signal"`     // signal that ended the command, or ""
	Stdout     string   `json:"stdout"`     // standard output of the command
	Stderr     string   `json:"stderr"`     // standard error of the command
	DurationMS int64    `json:"durationMs"` // running time in milliseconds
	Truncated  bool     `json:"truncated"`  // whether output over the limit was discarded
	TimedOut   bool     `json:"timedOut"`   // whether the command was killed at the end of its time limit
}

// scriptsDocument is the output of "run --list --json".
type scriptsDocument struct {
	Skill   string   `json:"skill"`   // name of the skill
	Command string   `json:"command"` // command in the skill's frontmatter, or ""
	Scripts []string `json:"scripts"` // scripts of the skill
}

// textsDocument is the output of "prompt --navigation --tool-calling --json".
type textsDocument struct {
	ToolCalling string `json:"toolCalling,omitempty"` // text that teaches a model to call tools
	Navigation  string `json:"navigation,omitempty"`  // text that teaches a model to read skills
}

// messageDocument is the output of "message --json".
type messageDocument struct {
	Kind   string `json:"kind"`             // message, skill, or task
	Skill  string `json:"skill,omitempty"`  // name of the activated skill
	Text   string `json:"text"`             // text for the model
	TaskID string `json:"taskId,omitempty"` // id of the task
}

// deactivateDocument is the output of "deactivate --json".
type deactivateDocument struct {
	Session string   `json:"session"`        // id of the session
	Ended   []string `json:"ended"`          // skills that were deactivated
	Active  []string `json:"active"`         // skills that are still active
	Tools   []string `json:"tools,omitzero"` // tools that the active skills allow; missing if all are allowed
}

// verdictDocument is the output of "session allow --json".
type verdictDocument struct {
	tool.Verdict
	Session string   `json:"session"`         // id of the session, or ""
	Known   bool     `json:"known"`           // whether the session exists
	Active  []string `json:"active"`          // active skills
	Notes   []string `json:"notes,omitempty"` // warnings about the active skills
}

// activeSkill is an active skill of a session.
type activeSkill struct {
	session.Active
	Note string `json:"note,omitempty"` // how the skill has changed since its activation
}

// sessionDocument is the output of "session show --json".
type sessionDocument struct {
	Session string        `json:"session"`        // id of the session
	Known   bool          `json:"known"`          // whether the session exists
	Active  []activeSkill `json:"active"`         // active skills in the order of their activation
	Tools   []string      `json:"tools,omitzero"` // tools that the active skills allow; missing if all are allowed
}

// sessionsDocument is the output of "session list --json".
type sessionsDocument struct {
	Sessions []session.Summary `json:"sessions"` // stored sessions, last used first
}

// endedDocument is the output of "session end --json".
type endedDocument struct {
	Session string   `json:"session"` // id of the session
	Ended   []string `json:"ended"`   // skills that were deactivated
}

// tasksDocument is the output of "task list --json" and "task cancel --json".
type tasksDocument struct {
	Tasks  []*task.Task `json:"tasks"`            // the tasks
	Errors []string     `json:"errors,omitempty"` // why tasks could not be canceled
}

// textDocument is the output of "task show --stdout --json" and similar flags.
type textDocument struct {
	Text string `json:"text"` // the text that the flag selects
}

// profilesDocument is the output of "profile list --json".
type profilesDocument struct {
	Profiles []profileRow `json:"profiles"` // built-in profiles, then custom ones
}

// profileDocument is the output of "profile show --json".
type profileDocument struct {
	Profile any `json:"profile"` // the profile, with the keys of its file; see "skillpm schema profile"
}

// checkedDocument is the output of "profile check --json".
type checkedDocument struct {
	Profiles []checkedProfile `json:"profiles"` // the valid profiles
}

// pathDocument is the output of "profile path --json".
type pathDocument struct {
	Path string `json:"path"` // directory of custom profiles, which may not exist
}

// Documents returns what the commands print with --json.
func Documents() []console.Document {
	return []console.Document{
		{Command: "test", Types: []any{testDocument{}}},
		{Command: "skills", Types: []any{skillsDocument{}, unusedDocument{}, overlapsDocument{}}},
		{Command: "find", Types: []any{fit{}}},
		{Command: "which", Types: []any{whichDocument{}}},
		{Command: "run", Types: []any{runDocument{}, scriptsDocument{}}},
		{Command: "prompt", Types: []any{promptDocument{}, textsDocument{}}},
		{Command: "message", Types: []any{messageDocument{}}},
		{Command: "deactivate", Types: []any{deactivateDocument{}}},
		{Command: "session show", Types: []any{sessionDocument{}}},
		{Command: "session allow", Types: []any{verdictDocument{}}},
		{Command: "session list", Types: []any{sessionsDocument{}}},
		{Command: "session end", Types: []any{endedDocument{}}},
		{Command: "task list", Others: []string{"task cancel"}, Types: []any{tasksDocument{}}},
		{Command: "task show", Types: []any{taskDocument{}, textDocument{}}},
		{Command: "task wait", Types: []any{taskDocument{}}},
		{Command: "task submit", Types: []any{task.Task{}, taskDocument{}}},
		{Command: "profile list", Types: []any{profilesDocument{}}},
		{Command: "profile show", Types: []any{profileDocument{}}},
		{Command: "profile check", Types: []any{checkedDocument{}}},
		{Command: "profile path", Types: []any{pathDocument{}}},
	}
}
