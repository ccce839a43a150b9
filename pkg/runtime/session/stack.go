package session

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// CycleError reports that a skill would be active inside itself.
type CycleError struct {
	Chain   []string // from the skill to itself, through those that are nested in it
	Started bool     // the chain is of processes: a hook, a body command, or a task of one skill starts the next
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

// Hint shows how to go on.
func (e *CycleError) Hint() string {
	if e.Started {
		return "follow the instructions of the skill; its hooks, text, and task must not load it again"
	}
	return "follow the instructions of the skill again, or end the skills that refer back to it"
}

// DepthError reports that too many skills would be nested.
type DepthError struct {
	Name  string
	Stack []string // the skills that the new one would be nested in, the outermost first
	Limit int
}

// Error shows the stack.
func (e *DepthError) Error() string {
	return fmt.Sprintf("cannot activate skill %q: it would be nested %d levels deep; the limit is %d: %s",
		e.Name, len(e.Stack)+1, e.Limit, strings.Join(e.Stack, " → "))
}

// Code is Conflict.
func (e *DepthError) Code() diag.Code { return diag.Conflict }

// Hint names the setting.
func (e *DepthError) Hint() string {
	return "remove references between the skills, or raise skills.max-depth in config.yaml"
}

// ModelHint names no setting.
func (e *DepthError) ModelHint() (string, bool) {
	return "follow the instructions of the skills that are active", true
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
			return &CycleError{Chain: append(names[i:], exact), Started: true}
		}
	}
	if len(chain) >= s.env.MaxDepth {
		return &DepthError{Name: exact, Stack: names, Limit: s.env.MaxDepth}
	}
	return nil
}

// arrangement is how a skill joins the active ones.
type arrangement struct {
	kept     []Active // stay active
	ended    []Active // end, because the new skill is not part of their work
	parent   string   // Real of the skill that the new one is nested in, "" for none
	repeated *Active  // the entry of the skill if it is active already; nothing changes then
}

// arrange returns how a skill joins the active ones. It is nested in the last active skill that refers to it, or in the
// one that the caller names. Otherwise it follows: the skills before it end, except those that a parent session has and,
// if the model activates it, those that the user started. The error is a [CycleError] or a [DepthError].
func (s *Session) arrange(state State, a Active, k *catalog.Skill, parent string) (r arrangement, err error) {
	for i, b := range state.Active {
		if sameSkill(a, b) {
			r.kept, r.repeated, r.parent = state.Active, &state.Active[i], b.Parent
			return r, s.checkCycle(state, b, k)
		}
	}
	outer, err := state.outer(k, parent)
	if err != nil {
		return r, err
	}
	if len(outer) > 0 {
		r.parent = outer[len(outer)-1].Real
	}
	for _, b := range state.Active {
		if b.staysFor(a) || slices.ContainsFunc(outer, func(o Active) bool { return o.Real == b.Real }) {
			r.kept = append(r.kept, b)
		} else {
			r.ended = append(r.ended, b)
		}
	}
	switch {
	case len(outer) >= s.env.MaxDepth:
		return r, &DepthError{Name: a.Name, Stack: State{Active: outer}.Names(), Limit: s.env.MaxDepth}
	case len(r.kept) >= maxActive:
		return r, diag.Errorf(diag.Conflict, "cannot activate skill %q: %d skills are active; the limit is %d", a.Name,
			len(r.kept), maxActive).
			WithHint("deactivate skills with: skillpm deactivate --session %s", skill.QuoteArgument(s.id)).
			ForModel("follow the instructions of the skills that are active")
	}
	return r, nil
}

// staysFor reports whether a skill stays active when another one, which is not nested in it, is activated.
func (a Active) staysFor(next Active) bool {
	if a.Inherited || a.Pending || next.Fork { // a skill that runs in a subagent is no step of this conversation
		return true
	}
	if a.Trigger != User {
		return false
	}
	return next.Trigger != User || a.Turn != "" && a.Turn == next.Turn
}

// outer returns the skill that k is nested in, after those that it is nested in itself; none if k is not nested. The
// name is that of the innermost one if the caller says so.
func (s State) outer(k *catalog.Skill, name string) ([]Active, error) {
	if name != "" {
		i := s.find(name)
		if i < 0 {
			return nil, notActive(name, s.Names())
		}
		return s.around(s.Active[i]), nil
	}
	for _, b := range slices.Backward(s.Active) {
		if b.refersTo(k) {
			return s.around(b), nil
		}
	}
	return nil, nil
}

// around returns the skills that a skill is nested in and the skill itself, the outermost first.
func (s State) around(a Active) (chain []Active) {
	for ; len(chain) <= len(s.Active); a = s.Active[s.indexOf(a.Parent)] {
		chain = append(chain, a)
		if s.indexOf(a.Parent) < 0 {
			break
		}
	}
	slices.Reverse(chain)
	return chain
}

// indexOf returns the index of the skill in a directory, -1 if none is active there.
func (s State) indexOf(real string) int {
	return slices.IndexFunc(s.Active, func(a Active) bool { return real != "" && a.Real == real })
}

// checkCycle returns an error if an active skill b is reached again: a skill that is nested in b refers to it.
func (s *Session) checkCycle(state State, b Active, k *catalog.Skill) error {
	for _, inner := range slices.Backward(state.Active) {
		chain := state.around(inner)
		i := slices.IndexFunc(chain, func(a Active) bool { return a.Real == b.Real })
		if i < 0 || i == len(chain)-1 || !inner.refersTo(k) {
			continue
		}
		return &CycleError{Chain: append(State{Active: chain[i:]}.Names(), b.Name)}
	}
	return nil
}

// sameSkill reports whether two entries are the same skill: they have the same directory, the same exact name, or, if
// b's directory was renamed, the same text.
func sameSkill(a, b Active) bool {
	return a.Real == b.Real || a.Exact() == b.Exact() || a.Text != "" && a.Text == b.Text &&
		filepath.Dir(a.Real) == filepath.Dir(b.Real) && b.missing()
}

// within returns the entries of a skill and of those that are nested in it.
func (s State) within(a Active) (all []Active) {
	for _, b := range s.Active {
		if slices.ContainsFunc(s.around(b), func(c Active) bool { return c.Real == a.Real }) {
			all = append(all, b)
		}
	}
	return all
}

// find returns the index of the skill with a name, the last index for "", and -1 if there is none.
func (s State) find(name string) int {
	for i, a := range slices.Backward(s.Active) {
		if name == "" || name == a.Name || name == a.Exact() {
			return i
		}
	}
	return -1
}
