package enforce

import (
	"errors"
	"slices"

	"github.com/skillpm/skillpm/pkg/policy"
)

// Increase is an update that adds capabilities to a pack.
type Increase struct {
	What  string            // describes the update, such as "acme/tools 1.1.0 in place of 1.0.0"
	Why   string            // the capabilities
	Trees map[string]string // the digests of the skills that have more of them, by their exact names

	// Reference selects the new version of the pack on a command line.
	Reference string
}

// CheckIncrease returns why the policies do not allow an update that adds capabilities, see [policy.Set.CheckIncrease]. If each of the trees is approved, policies that leave the update to the user allow it.
func (g *Evaluator) CheckIncrease(u Increase) (notes []string, err error) {
	st := g.current()
	var unreadable error
	notes, err = st.set.CheckIncrease(u.What, u.Why, func(p *policy.Policy) bool {
		approvals, problem := st.approvals()
		unreadable = problem
		for skill, digest := range u.Trees {
			if !slices.ContainsFunc(approvals, func(a Approved) bool {
				return a.Skill == skill && a.Digest == digest && levelCounts(a.Level, p) && !a.Expired(st.now())
			}) {
				return false
			}
		}
		return true
	})
	if increase, ok := errors.AsType[*policy.IncreaseError](err); ok && increase.Ask {
		increase.Fix = "accept the update on a terminal, or " + approveHint(increase.By, u.Reference, true)
		if unreadable != nil {
			increase.Why += "; " + unreadable.Error()
		}
	}
	return notes, err
}
