package enforce

import (
	"errors"
	"slices"

	"github.com/skillpm/skillpm/pkg/policy"
)

// CheckIncrease returns why a pack must not be updated to a version with more capabilities, see
// [policy.Set.CheckIncrease]. Trees are the digests of the skills that have more capabilities, by their exact names. If
// each of them is approved, policies that leave the update to the user allow it.
func (g *Evaluator) CheckIncrease(what, why string, trees map[string]string) (notes []string, err error) {
	st := g.current()
	var unreadable error
	notes, err = st.set.CheckIncrease(what, why, func(p *policy.Policy) bool {
		approvals, problem := st.approvals()
		unreadable = problem
		for skill, digest := range trees {
			if !slices.ContainsFunc(approvals, func(a Approved) bool {
				return a.Skill == skill && a.Digest == digest && levelCounts(a.Level, p) && !a.Expired(st.now())
			}) {
				return false
			}
		}
		return true
	})
	if increase, ok := errors.AsType[*policy.IncreaseError](err); ok && unreadable != nil {
		increase.Why += "; " + unreadable.Error()
	}
	return notes, err
}
