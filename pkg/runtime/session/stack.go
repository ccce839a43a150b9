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

// endCommand returns the command that ends a skill and what is above it.
func endCommand(name, session string) string {
	return "skillpm deactivate " + skill.QuoteArgument(name) + " --session " + skill.QuoteArgument(session)
}

// ActiveError says that a skill is not activated again.
type ActiveError struct{ Name, Session string }

// Error names the skill.
func (e *ActiveError) Error() string { return fmt.Sprintf("skill %q is already active", e.Name) }

// Code is Conflict.
func (e *ActiveError) Code() diag.Code { return diag.Conflict }

// Hint says how it can be started anew.
func (e *ActiveError) Hint() string {
	return "go on with what it said, or end it first: " + endCommand(e.Name, e.Session)
}

// CycleError says that a skill was asked for from inside itself.
type CycleError struct {
	Chain   []string // from the skill to itself, by way of those that are active above it
	Session string
	Started bool // they are not active: a hook, a text or a task of one starts the next
}

// Error shows the cycle.
func (e *CycleError) Error() string {
	if e.Started {
		return fmt.Sprintf("skill %q would be started from inside itself: %s", e.Chain[0], strings.Join(e.Chain, " → "))
	}
	return fmt.Sprintf("skill %q is active further down, and would be inside itself: %s", e.Chain[0],
		strings.Join(e.Chain, " → "))
}

// Code is Conflict.
func (e *CycleError) Code() diag.Code { return diag.Conflict }

// Hint says how to leave the cycle.
func (e *CycleError) Hint() string {
	if e.Started {
		return "go on with what it said; what its hooks, its text and its task start must not load it again"
	}
	return "to go back to it, end what is above it: " + endCommand(e.Chain[1], e.Session)
}

// tooDeep says that too many skills are active inside each other.
func tooDeep(name string, stack []string, most int) error {
	return diag.Errorf(diag.Conflict, "skill %q would be number %d, and at most %d can be active inside each other: %s",
		name, len(stack)+1, most, strings.Join(stack, " → ")).
		WithHint("skillpm deactivate ends the last one; skills.max-depth in config.yaml is the most there can be")
}

// nested reports why a skill may not be started from where this process was: by a hook, a text or a task of its own, or
// from too deep inside others.
func (s *Session) nested(exact string, cycles bool) error {
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

// push reports why a skill cannot be put onto the stack, nil where it can.
func (s *Session) push(state State, a Active) error {
	for i, b := range state.Active {
		if !same(a, b) {
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

// same reports whether a skill is one that is active: by its directory, or by its exact name, which it keeps when its
// directory is another, or by its text, where the other is gone: it was renamed.
func same(a, b Active) bool {
	return a.Real == b.Real || a.Exact() == b.Exact() || a.Text != "" && a.Text == b.Text &&
		filepath.Dir(a.Real) == filepath.Dir(b.Real) && b.missing()
}

// find returns the place in the stack of the skill that a name means, the last one for "", or -1.
func (s State) find(name string) int {
	for i, a := range slices.Backward(s.Active) {
		if name == "" || name == a.Name || name == a.Exact() {
			return i
		}
	}
	return -1
}
