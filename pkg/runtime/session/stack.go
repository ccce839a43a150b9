package session

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/internal/run"
	"github.com/skillpm/skillpm/pkg/skill"
)

// endCommand returns the command line that ends a skill and those above it.
func endCommand(name, session string) string {
	return "skillpm deactivate " + skill.QuoteArgument(name) + " --session " + skill.QuoteArgument(session)
}

// ActiveError reports that a skill is already active.
type ActiveError struct{ Name, Session string }

func (e *ActiveError) Error() string { return fmt.Sprintf("skill %q is already active", e.Name) }

// Code is Conflict.
func (e *ActiveError) Code() diag.Code { return diag.Conflict }

// Hint shows how to end the skill.
func (e *ActiveError) Hint() string {
	return "follow the instructions of the skill, or deactivate the skill first: " + endCommand(e.Name, e.Session)
}

// CycleError reports that a skill would be active inside itself.
type CycleError struct {
	Chain   []string // from the skill to itself, through those above it in the stack
	Session string
	Started bool // the chain is of processes: a hook, a body command, or a task of one skill starts the next
}

// Error shows the chain.
func (e *CycleError) Error() string {
	chain := strings.Join(e.Chain, " → ")
	if e.Started {
		return fmt.Sprintf("skill %q would activate itself: %s", e.Chain[0], chain)
	}
	return fmt.Sprintf("skill %q is already active and would contain itself: %s", e.Chain[0], chain)
}

// Code is Conflict.
func (e *CycleError) Code() diag.Code { return diag.Conflict }

// Hint shows how to leave the cycle.
func (e *CycleError) Hint() string {
	if e.Started {
		return "follow the instructions of the skill; its hooks, text, and task must not load it again"
	}
	return "to return to the skill, deactivate the skills that became active after it: " +
		endCommand(e.Chain[1], e.Session)
}

// tooDeep returns the error that too many skills are nested.
func tooDeep(name string, stack []string, most int) error {
	return diag.Errorf(diag.Conflict,
		"cannot activate skill %q: it would be nested %d levels deep; the limit is %d: %s",
		name, len(stack)+1, most, strings.Join(stack, " → ")).
		WithHint(`run "skillpm deactivate" to deactivate the last skill, or raise skills.max-depth in config.yaml`)
}

// checkNesting returns why a skill must not start from the hook, body command, or task that this process runs in: it
// would be a cycle, or nested too deep.
func (s *Session) checkNesting(exact string, cycles bool) error {
	chain := run.Chain(s.env.Getenv(run.ChainName))
	var names []string
	for _, l := range chain {
		names = append(names, cmp.Or(l.Skill, "a task"))
	}
	for i, l := range chain {
		if cycles && l.Skill == exact && l.Kind != run.Scripted {
			return &CycleError{Chain: append(names[i:], exact), Session: s.id, Started: true}
		}
	}
	if len(chain) >= s.env.MaxDepth {
		return tooDeep(exact, names, s.env.MaxDepth)
	}
	return nil
}

// checkPush returns why a skill cannot be added to the stack, nil if it can.
func (s *Session) checkPush(state State, a Active) error {
	for i, b := range state.Active {
		if !sameSkill(a, b) {
			continue
		}
		if i == len(state.Active)-1 {
			return &ActiveError{Name: b.Name, Session: s.id}
		}
		chain := State{Active: state.Active[i:]}.Names()
		return &CycleError{Chain: append(chain, b.Name), Session: s.id}
	}
	if len(state.Active) >= s.env.MaxDepth {
		return tooDeep(a.Name, state.Names(), s.env.MaxDepth)
	}
	return nil
}

// sameSkill reports whether two entries are the same skill: they have the same directory, the same exact name, or, if
// b's directory was renamed, the same text.
func sameSkill(a, b Active) bool {
	return a.Real == b.Real || a.Exact() == b.Exact() || a.Text != "" && a.Text == b.Text &&
		filepath.Dir(a.Real) == filepath.Dir(b.Real) && b.missing()
}

// find returns the stack index of the skill with a name, the last index for "", and -1 if there is none.
func (s State) find(name string) int {
	for i, a := range slices.Backward(s.Active) {
		if name == "" || name == a.Name || name == a.Exact() {
			return i
		}
	}
	return -1
}
