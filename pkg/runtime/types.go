package runtime

import (
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// These types of other packages are part of the methods of [Host], so that most programs need no other import.
type (
	Activate   = session.Activate   // options of [Host.Load]
	Activation = session.Activation // a skill that was activated, or submitted as a task
	RunOptions = session.RunOptions // options of [Host.Run]
	ToolCall   = tool.Call          // a call that [Host.Allow] decides about
	Verdict    = session.Verdict    // its decision
	SkillInfo  = catalog.Skill      // an available skill
)

// Who starts a skill, in [Activate].Trigger.
const (
	Model = session.Model
	User  = session.User
)

// The errors of [Host], for errors.As.
type (
	UnknownError = catalog.UnknownError // no skill has the name, or it is not available
	TriggerError = session.TriggerError // the frontmatter does not let the user or the model start it
	RunnerError  = session.RunnerError  // nothing can run it as a task
	CycleError   = session.CycleError   // it would be active inside itself
	DepthError   = session.DepthError   // too many skills would be nested
	LimitError   = session.LimitError   // a file or an id is too large
	HookError    = session.HookError    // its pre or post hook failed
	DeniedError  = session.DeniedError  // an active skill does not allow a tool call
)
