package enforce

import (
	"context"
	"io/fs"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/internal/capability"
)

// Review is what somebody looks at who is to approve a skill.
type Review struct {
	Skill        Skill
	Digest       string             // of its tree
	Capabilities capability.Set     // all that it has, with the evidence
	Required     []RequiredApproval // what policies want approved
	Forbidden    error              // why it must not be used whatever is approved, nil where it may
}

// RequiredApproval is what one policy wants approved of a skill.
type RequiredApproval struct {
	Policy       string // the file
	Line         int
	Level        policy.Level
	Capabilities []policy.Capability
	By           *Approved // the approval that counts, nil where there is none
	Missing      string    // why none counts: there is none, or what has changed since; "" where one does
}

// Approved is an approval with the file that it is in.
type Approved struct {
	policy.Approval
	File  string
	Level policy.Level
}

// Review looks at the files of a skill, and says what policies want approved of it. The files are in a file system with
// SKILL.md at its root: of a skill that is not installed, those that would be.
func (g *Evaluator) Review(ctx context.Context, s Skill, files fs.FS) (Review, error) {
	st := g.current()
	j := &evaluation{ctx: ctx, st: st, skill: s, files: files}
	if err := j.load(); err != nil {
		return Review{}, diag.Errorf(diag.Invalid, "skill %s can't be approved: %w", s.Exact(), err)
	}
	r := Review{Skill: s, Digest: j.digests[len(j.digests)-1], Capabilities: j.capabilities}
	if err := st.set.Err(); err != nil {
		return r, err
	}
	for _, p := range st.policiesFor(s) {
		if w, ok := j.requiredApproval(p); ok && !s.Machine {
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

// Approvals returns what was approved, the machine's first. A file that can't be read approves nothing, and is an
// error; what the others say is returned beside it.
func (g *Evaluator) Approvals() ([]Approved, error) { return g.current().approvals() }

// Approver is what somebody says who approves.
type Approver struct {
	By      string // the user of the operating system
	Reason  string
	Expires time.Time // zero for never
}

// Capabilities are what a skill is able to do, with the evidence.
type Capabilities = capability.Set
