package session

import (
	"cmp"
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TriggerError reports that the frontmatter of a skill does not let the user or the model start it.
type TriggerError struct {
	Skill   string
	Trigger Trigger // who asked
}

// Error names the setting.
func (e *TriggerError) Error() string {
	if e.Trigger == User {
		return fmt.Sprintf("users cannot activate skill %q: its frontmatter has user-invocable: false", e.Skill)
	}
	return fmt.Sprintf("the model may not activate skill %q: its frontmatter has disable-model-invocation: true", e.Skill)
}

// Code is Denied.
func (e *TriggerError) Code() diag.Code { return diag.Denied }

// Hint says who can start the skill.
func (e *TriggerError) Hint() string {
	if e.Trigger == User {
		return "describe the task; the model activates the skill if the skill matches"
	}
	return "a user can activate it with /" + e.Skill
}

// ModelHint is the hint, which lifts nothing.
func (e *TriggerError) ModelHint() (string, bool) { return e.Hint(), true }

// LimitError reports that something is larger than its limit, in bytes.
type LimitError struct {
	What        string
	Size, Limit int64
	Advice      string // the hint; "" for none

	code diag.Code // OK for Invalid
}

// Error has both sizes.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s has %d bytes; the limit is %d", e.What, e.Size, e.Limit)
}

// Code is Usage for an id, and else Invalid.
func (e *LimitError) Code() diag.Code { return cmp.Or(e.code, diag.Invalid) }

// Hint is the advice.
func (e *LimitError) Hint() string { return e.Advice }

// DeniedError reports that a tool call is denied.
type DeniedError struct{ Verdict Verdict }

// Error is the reason.
func (e *DeniedError) Error() string { return e.Verdict.Reason }

// Code is Denied.
func (e *DeniedError) Code() diag.Code { return diag.Denied }

// Hint says what to do instead. It never says how to lift the restriction, because models see it.
func (e *DeniedError) Hint() string {
	switch v := e.Verdict; {
	case v.Denied:
		return "continue without the skill: end the skill, or ask the user to end it"
	case v.Protected:
		return "agents may not change settings or policies"
	case v.ReadOnly:
		return "write generated files outside the directories of skills; to change a skill, ask the user"
	}
	return insteadText(e.Verdict.Instead) + "; the restriction ends with the skill"
}

// ModelHint is the hint.
func (e *DeniedError) ModelHint() (string, bool) { return e.Hint(), true }
