package enforce

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Decision is the result of evaluating a skill that may be used.
type Decision struct {
	Notes     []string   // for the user, such as what policies in observe mode would have denied
	Digest    string     // digest of the evaluated tree, "" if no rule needed it
	Approvals []Approved // approvals that the decision depends on
	Until     time.Time  // expiry of the first of them, zero for never

	tree bundle.Inventory
}

// Check returns an error if a file that was read after the decision differs from the evaluated one. The path is
// relative to the skill, with slashes.
func (d Decision) Check(path string, data []byte) error {
	if d.Digest == "" {
		return nil
	}
	e, ok := d.tree.Find(bundle.Normal(path))
	if ok && e.Check(data) == nil {
		return nil
	}
	return diag.Errorf(diag.Conflict, "%s changed after the policy check", path).
		WithHint("run the command again")
}

// policiesFor returns the policies that apply to a skill.
func (st snapshot) policiesFor(s Skill) policy.Set {
	if !s.Machine {
		return st.set
	}
	return st.set.AtLevel(policy.MachineLevel)
}

func (s Skill) names() []string { return []string{s.Name, s.Alias, s.Declared, s.OtherName} }

// subject returns how messages name the skill.
func (s Skill) subject() string { return "skill " + s.Exact() }

// checkListed applies the rules that need none of the skill's files.
func (st snapshot) checkListed(s Skill) error {
	if err := st.o.checkNamed(s); err != nil || len(st.set) == 0 {
		return err
	}
	if err := st.set.Err(); err != nil {
		return err
	}
	for _, p := range st.policiesFor(s) {
		if p.Mode == policy.Observe {
			continue
		}
		if err := p.Skill(s.names(), s.Pack); err != nil {
			return err
		}
		if err := checkAllowed(p, s); err != nil {
			return err
		}
		if _, known := st.allowed.Load(policySource{p, s.Source}); !known {
			if err := checkSource(p, s); err != nil {
				return err
			}
			if s.Source != "" && s.Source != sourceUnchecked {
				st.allowed.Store(policySource{p, s.Source}, true)
			}
		}
		if err := st.checkClaim(p, s); err != nil {
			return err
		}
	}
	return nil
}

// checkAllowed checks the name of a skill against the list of allowed skills. What the machine's administrator
// installed is allowed.
func checkAllowed(p *policy.Policy, s Skill) error {
	if s.Machine {
		return nil
	}
	return p.Allows(s.Name, s.Pack)
}

// policySource is a source that a policy allows.
type policySource struct {
	policy *policy.Policy
	source string
}

// sourceUnchecked is the source of a skill whose source is not checked.
const sourceUnchecked = "-"

// checkSource checks the source of a skill's pack against a policy.
func checkSource(p *policy.Policy, s Skill) error {
	if s.Machine || s.Pack == "" || s.Source == sourceUnchecked || p.Sources.Allow == nil && len(p.Sources.Deny) == 0 {
		return nil
	}
	if s.Source == "" {
		return &policy.RefusedError{
			Policy: p.Path, Line: p.Line("sources.allow"), Rule: "sources", Subject: s.subject(),
			Why: "belongs to a pack that is not in a lockfile, so its source is unknown",
			Fix: "reinstall the pack with: skillpm install " + s.Pack,
		}
	}
	if err := p.Source(s.Source); err != nil {
		return fmt.Errorf("%s is denied: %w", s.subject(), err)
	}
	return nil
}

// Evaluate returns an error if a skill must not be installed, activated, read, or have its scripts run: because of the
// policies, or because an advisory states that it is malicious. The root of files contains SKILL.md.
//
// The decision has the digest of the evaluated tree, for comparison with files that are read later, see
// [Decision.Check].
func (g *Evaluator) Evaluate(ctx context.Context, s Skill, files fs.FS) (Decision, error) {
	st := g.current()
	if err := g.o.checkBlocked(ctx, s, files); err != nil {
		return Decision{}, err
	}
	j := &evaluation{ctx: ctx, st: st, skill: s, files: files}
	if err := j.checkNamed(); err != nil || len(st.set) == 0 && j.tree == nil {
		return Decision{}, err
	}
	if err := st.set.Err(); err != nil {
		return Decision{}, err
	}
	var d Decision
	for _, r := range rules() { // in order of cost
		for _, p := range st.policiesFor(s) {
			if s.Machine && !r.machine || !r.has(p) {
				continue
			}
			switch err := r.ask(j, p); {
			case err == nil:
			case ctx.Err() != nil:
				return Decision{}, ctx.Err()
			case p.Mode == policy.Observe && diag.CodeOf(err) == diag.Denied:
				d.Notes = append(d.Notes, err.Error()+" (the policy is in audit mode)")
			default:
				return d, err
			}
		}
	}
	d.Notes = append(d.Notes, j.notes...)
	d.tree = j.all()
	if j.tree != nil {
		d.Digest = j.tree.Digest()
	}
	for _, a := range j.approvalsUsed {
		d.Approvals = append(d.Approvals, a)
		if !a.Expires.IsZero() && (d.Until.IsZero() || a.Expires.Before(d.Until)) {
			d.Until = a.Expires
		}
	}
	return d, nil
}

// rule is a kind of rule.
type rule struct {
	key        string
	machine    bool // it also applies to skills that the machine's administrator installed
	needsFiles bool // it needs the skill's files
	has        func(*policy.Policy) bool
	line       func(*policy.Policy) int // its line; nil for the first entry of the list at key
	ask        func(*evaluation, *policy.Policy) error
	allows     func(*evaluation, *policy.Policy) string // the reason if it allows the skill
}

// rules returns all kinds of rules in the order of evaluation.
func rules() []rule {
	return []rule{
		{
			key: "skills.deny", machine: true,
			has: func(p *policy.Policy) bool { return len(p.Skills.Deny) > 0 },
			ask: func(j *evaluation, p *policy.Policy) error { return p.Skill(j.skill.names(), j.skill.Pack) },
			allows: func(_ *evaluation, p *policy.Policy) string {
				return "no match in " + textx.Count(len(p.Skills.Deny), "pattern")
			},
		},
		{
			key:    "skills.allow",
			has:    func(p *policy.Policy) bool { return p.Skills.Allow != nil },
			line:   func(p *policy.Policy) int { return p.Line("skills.allow") },
			ask:    func(j *evaluation, p *policy.Policy) error { return checkAllowed(p, j.skill) },
			allows: func(j *evaluation, _ *policy.Policy) string { return j.skill.Exact() + " is allowed" },
		},
		{
			key:    "sources",
			has:    func(p *policy.Policy) bool { return p.Sources.Allow != nil || len(p.Sources.Deny) > 0 },
			line:   func(p *policy.Policy) int { return max(p.Line("sources.allow"), p.Line("sources.deny", 0)) },
			ask:    func(j *evaluation, p *policy.Policy) error { return checkSource(p, j.skill) },
			allows: func(j *evaluation, _ *policy.Policy) string { return j.describeSource() },
		},
		{
			key: "lockfile", needsFiles: true,
			has: reliesOnClaims,
			line: func(p *policy.Policy) int {
				return max(claimLine(p, nil), p.Line("require", 0))
			},
			ask: (*evaluation).checkLocked, allows: (*evaluation).describeClaim,
		},
		{
			key: "limits", machine: true, needsFiles: true,
			has:  func(p *policy.Policy) bool { return p.Limits != policy.Limits{} },
			line: (*policy.Policy).LimitsLine,
			ask:  (*evaluation).checkLimits,
			allows: func(j *evaluation, _ *policy.Policy) string {
				return fmt.Sprintf("the skill has %s and %d bytes", textx.Count(len(j.tree), "file"), j.tree.Size())
			},
		},
		{
			key: "forbid", machine: true, needsFiles: true,
			has: func(p *policy.Policy) bool { return len(p.Forbid) > 0 },
			ask: (*evaluation).checkForbidden,
			allows: func(*evaluation, *policy.Policy) string {
				return "the skill does not have forbidden capabilities"
			},
		},
		{
			key: "lint.fail_on", needsFiles: true,
			has: func(p *policy.Policy) bool { return len(p.Lint.FailOn) > 0 },
			ask: (*evaluation).checkLint,
			allows: func(*evaluation, *policy.Policy) string {
				return "the skill does not have denied findings"
			},
		},
		{
			key: "approve", needsFiles: true,
			has:    func(p *policy.Policy) bool { return len(p.Approve) > 0 },
			ask:    (*evaluation).checkApproval,
			allows: (*evaluation).approvedBy,
		},
	}
}

// at returns the line of the rule in a policy.
func (r rule) at(p *policy.Policy) int {
	if r.line != nil {
		return r.line(p)
	}
	return p.Line(r.key, 0)
}

// errNoLint means that [Options] has no Lint function for lint.fail_on.
var errNoLint = errors.New("validation is not available")
