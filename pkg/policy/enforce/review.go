package enforce

import (
	"context"
	"io/fs"
	"time"

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
	return g.current().review(ctx, s, files)
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

// Approve writes down that what was reviewed is approved: all that each skill is able to do. It returns the file.
func (g *Evaluator) Approve(ctx context.Context, l policy.Level, w Approver, reviews ...Review) (file string, err error) {
	return g.approve(ctx, l, w, reviews)
}

// Revoke takes back what was approved of a skill, given by its exact name, or of all skills of a pack, given as
// owner/name. It returns what it took back; an error with code NotFound says that there was nothing.
func (g *Evaluator) Revoke(ctx context.Context, l policy.Level, name string) ([]Approved, error) {
	return g.revoke(ctx, l, name)
}

// Capabilities are what a skill is able to do, with the evidence.
type Capabilities = capability.Set
