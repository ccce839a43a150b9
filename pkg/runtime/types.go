package runtime

import (
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// The types of other packages that the methods of Host have, so that most programs need no other import.
type (
	// Activate are the options of [Host.Load].
	Activate = session.Activate
	// Activation is a skill that was activated, or submitted as a task.
	Activation = session.Activation
	// RunOptions are the options of [Host.Run].
	RunOptions = session.RunOptions
	// ToolCall is a call that [Host.Allow] decides about.
	ToolCall = tool.Call
	// Verdict is the decision about a tool call.
	Verdict = session.Verdict
)

// Who starts a skill, in [Activate].Trigger.
const (
	Model = session.Model
	User  = session.User
)

// The errors of Host, for errors.As.
type (
	// UnknownError reports that no skill has a name, or that the skill is not available.
	UnknownError = catalog.UnknownError
	// TriggerError reports that the frontmatter does not let the user or the model start a skill.
	TriggerError = session.TriggerError
	// RunnerError reports that nothing can run a skill as a task.
	RunnerError = session.RunnerError
	// CycleError reports that a skill would be active inside itself.
	CycleError = session.CycleError
	// DepthError reports that too many skills would be nested.
	DepthError = session.DepthError
	// LimitError reports that a file or an id is too large.
	LimitError = session.LimitError
	// HookError reports that the pre or post hook of a skill failed.
	HookError = session.HookError
	// DeniedError reports that an active skill does not allow a tool call.
	DeniedError = session.DeniedError
)
