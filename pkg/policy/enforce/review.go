package enforce

import (
	"context"
	"io/fs"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/capability"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Review has the facts that an approver needs about a skill.
type Review struct {
	Skill        Skill
	Digest       string             // digest of its tree
	Capabilities capability.Set     // all of its capabilities, with evidence
	Required     []RequiredApproval // approvals that policies require
	Forbidden    error              // why it must not be used even if approved, nil if it may
}

// RequiredApproval is an approval that one policy requires for a skill.
type RequiredApproval struct {
	Policy       string // path of the policy
	Line         int
	Level        policy.Level
	Capabilities []policy.Capability
	By           *Approved // approval that satisfies the policy, nil for none
	Missing      string    // why no approval does, such as what changed since; "" if one does

	policy *policy.Policy
}

// Accepts reports whether the policy accepts approvals of a level.
func (r RequiredApproval) Accepts(l policy.Level) bool { return levelCounts(l, r.policy) }

// Approved is an approval with its file.
type Approved struct {
	policy.Approval
	File  string
	Level policy.Level
}

// Review returns the capabilities of a skill and the approvals that policies require for it. The root of files contains
// SKILL.md; for a skill that is not installed, files are those that would be.
func (g *Evaluator) Review(ctx context.Context, s Skill, files fs.FS) (Review, error) {
	st := g.current()
	j := &evaluation{ctx: ctx, st: st, skill: s, files: files}
	if err := j.inspect(); err != nil {
		return Review{}, diag.Errorf(diag.Invalid, "cannot approve skill %s: %w", s.Exact(), err)
	}
	r := Review{Skill: s, Digest: j.digests[len(j.digests)-1], Capabilities: j.capabilities}
	if err := st.set.Err(); err != nil {
		return r, err
	}
	for _, p := range st.policiesFor(s) {
		w, ok := j.requiredApproval(p)
		if !ok && p.Updates.CapabilityIncrease == policy.AskIncrease {
			w, ok = j.requirement(p, j.capabilities.List(), p.Line("updates.capability-increase")), true
		}
		if ok && !s.Machine {
			r.Required = append(r.Required, w)
		}
	}
	for _, kind := range rules() {
		for _, p := range st.policiesFor(s) {
			if r.Forbidden == nil && kind.key != "approve" && p.Mode != policy.Observe && kind.has(p) &&
				(kind.machine || !s.Machine) {
				r.Forbidden = kind.ask(j, p)
			}
		}
	}
	return r, ctx.Err()
}

// Approvals returns all approvals, the machine's first. A file that cannot be read approves nothing; the result then
// has both an error and the other files' approvals.
func (g *Evaluator) Approvals() ([]Approved, error) { return g.current().approvals() }

// Approver describes who approves a skill, and why.
type Approver struct {
	By      string // user of the operating system
	Reason  string
	Expires time.Time // zero for never
}

// Capabilities are the capabilities of a skill, with evidence.
type Capabilities = capability.Set
