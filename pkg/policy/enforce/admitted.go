package enforce

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
)

// A lockfile is part of a project, so the author of the project can claim any source and any signer in it. Policies
// that decide by those claims therefore need a record of this machine that it has verified the claim: that the source
// has these files, and that they meet the requirements of the policies. Installations write the records to the state
// directory of the user, or of the machine if its administrator installs, where projects cannot write.

// RuleClaim returns the claim that a pack meets a requirement, for the claim of its lockfile entry.
func RuleClaim(claim string, r policy.Requirement) string {
	text, _ := json.Marshal([]any{r.Signatures, r.MinReleaseAge}) // it has only texts and numbers
	return claim + "\n" + string(text)
}

// maxClaim is the maximum size of a record in bytes.
const maxClaim = 1 << 20

// stateDirs returns the directories of the records: the user's, and the administrator's.
func (o *Options) stateDirs() (user, machine string) {
	user, machine = o.Paths.State, o.Paths.ForMachine().State
	// The settings of a project for an agent may set XDG_STATE_HOME to a directory in the project.
	real, err := pathx.Resolve(user)
	home, unknown := pathx.Resolve(o.Paths.Home)
	if slices.ContainsFunc(o.Projects, func(dir string) bool {
		if dir == "" {
			return false
		}
		root, failed := pathx.Resolve(dir)
		return err != nil || failed != nil || pathx.Contains(root, real) && (unknown != nil || !pathx.Contains(root, home))
	}) {
		user = ""
	}
	if o.OS == "windows" {
		machine = "" // users can create files in ProgramData
	}
	return user, machine
}

// claimFile returns the file that records a claim.
func claimFile(state, claim string) string {
	sum := textx.SHA256(claim)
	return filepath.Join(state, "verified", sum[:2], sum[2:])
}

// verified reports whether this machine has verified a claim.
func (o *Options) verified(claim string) bool {
	user, machine := o.stateDirs()
	recorded := func(state string) bool {
		data, err := safefile.ReadFile(claimFile(state, claim), maxClaim)
		return err == nil && string(data) == claim
	}
	if user != "" && recorded(user) {
		return true
	}
	file := claimFile(machine, claim)
	return machine != "" && recorded(machine) &&
		o.CheckAdmin(machine, filepath.Dir(filepath.Dir(file)), filepath.Dir(file), file) == nil
}

// Verified reports whether this machine has verified a claim of a lockfile.
func (g *Evaluator) Verified(claim string) bool { return g.o.verified(claim) }

// RecordVerified records that this machine has verified claims of a lockfile. What the machine's administrator installs
// counts for all users, such as those of an image.
func (g *Evaluator) RecordVerified(claims []string) error {
	user, machine := g.o.stateDirs()
	if os.Geteuid() != g.o.Admin || len(g.Policies().AtLevel(policy.MachineLevel)) == 0 {
		machine = ""
	}
	for _, claim := range claims {
		if g.o.verified(claim) {
			continue
		}
		for _, state := range []string{user, machine} {
			if state == "" {
				continue
			}
			err := atomicfile.Write(claimFile(state, claim), []byte(claim), atomicfile.Options{MkdirMode: 0o755})
			if err != nil {
				return diag.Errorf(diag.Internal, "cannot record verified packs: %w", err).
					WithHint("make the directory %s writable for your user", state)
			}
		}
	}
	return nil
}

// claimRules returns the requirements of a policy for the pack of a skill, and whether the policy decides by what the
// lockfile claims about the pack.
func claimRules(p *policy.Policy, s Skill) (rules []policy.Rule, relies bool) {
	if s.Machine || s.Trusted || s.Pack == "" || s.Source == sourceUnchecked || !reliesOnClaims(p) {
		return nil, false
	}
	rules = policy.Set{p}.Rules(s.Source)
	return rules, p.Sources.Allow != nil || p.Skills.Allow != nil || len(p.Sources.Deny)+len(rules) > 0
}

// reliesOnClaims reports whether a policy decides by what lockfiles claim about packs.
func reliesOnClaims(p *policy.Policy) bool {
	return p.Sources.Allow != nil || p.Skills.Allow != nil || len(p.Sources.Deny)+len(p.Require) > 0
}

// checkClaim checks what the lockfile claims about the pack of a skill, if a policy decides by that.
func (st snapshot) checkClaim(p *policy.Policy, s Skill) error {
	rules, relies := claimRules(p, s)
	if !relies {
		return nil
	}
	claims := []string{s.Claim}
	for _, r := range rules {
		claims = append(claims, RuleClaim(s.Claim, r.Requirement))
	}
	for _, claim := range claims {
		if _, known := st.allowed.Load(claim); known {
			continue
		}
		if s.Claim == "" || !st.o.verified(claim) {
			return &policy.RefusedError{
				Policy: p.Path, Line: claimLine(p, rules), Rule: "lockfile", Subject: s.subject(),
				Why: s.unverified(), Fix: s.verifyHint(),
			}
		}
		st.allowed.Store(claim, true)
	}
	return nil
}

// claimLine returns the line of a policy that makes it decide by claims.
func claimLine(p *policy.Policy, rules []policy.Rule) int {
	if len(rules) > 0 {
		return rules[0].Line
	}
	return max(p.Line("sources.allow"), p.Line("sources.deny", 0), p.Line("skills.allow"))
}

// unverified returns why the claim of a skill's pack does not count.
func (s Skill) unverified() string {
	if s.Claim == "" {
		return "belongs to a pack that the lockfile does not contain"
	}
	return "cannot be used, because this machine has not verified that its pack comes from " + s.Source
}

// verifyHint returns the command that verifies the pack of a skill.
func (s Skill) verifyHint() string {
	if s.Claim == "" {
		return "reinstall the pack with: skillpm install " + s.Pack
	}
	return "verify the pack with: skillpm install"
}

// checkNamed checks the claim of a skill that the settings allow by the name of its pack.
func (o *Options) checkNamed(s Skill) error {
	if !s.Named || s.Machine || s.Trusted || s.Pack == "" || s.Claim != "" && o.verified(s.Claim) {
		return nil
	}
	return diag.Errorf(diag.Denied, "%s, which skills.allowed names, %s", s.subject(), s.unverified()).
		WithHint("%s", s.verifyHint())
}

// checkNamed is [Options.checkNamed], and also checks the files of the skill.
func (j *evaluation) checkNamed() error {
	err := j.st.o.checkNamed(j.skill)
	if err != nil || !j.skill.Named || j.skill.Machine || j.skill.Trusted || j.skill.Tree == "" {
		return err
	}
	if err := j.checkTree(); err != nil {
		return diag.Errorf(diag.Denied, "%s, which skills.allowed names, %w", j.skill.subject(), err).
			WithHint("%s", diag.HintOf(err))
	}
	return nil
}

// checkLocked checks that the directory of a skill has exactly the files that the lockfile has of it, and that this
// machine has verified the lockfile, if a policy decides by that.
func (j *evaluation) checkLocked(p *policy.Policy) error {
	rules, relies := claimRules(p, j.skill)
	if err := j.st.checkClaim(p, j.skill); err != nil || !relies || j.skill.Tree == "" {
		return err
	}
	err := j.checkTree()
	if err == nil || j.ctx.Err() != nil {
		return j.ctx.Err()
	}
	return j.refuse(p, claimLine(p, rules), "lockfile", diag.HintOf(err), "%v", err)
}

// CheckFiles returns why no file of a skill may be shown: its files or its source are not those that this machine has
// verified, although policies or settings decide by that.
func (g *Evaluator) CheckFiles(ctx context.Context, s Skill, files fs.FS) error {
	j := &evaluation{ctx: ctx, st: g.current(), skill: s, files: files}
	err := j.checkNamed()
	for _, p := range j.st.policiesFor(s) {
		if err == nil && p.Mode != policy.Observe {
			err = j.checkLocked(p)
		}
	}
	return err
}

// checkTree compares the files with the digest in the lockfile.
func (j *evaluation) checkTree() error {
	const fix = "show the differences with \"skillpm verify\", and restore the files with: skillpm install --force"
	switch err := j.load(); {
	case err != nil:
		return diag.Errorf(diag.Denied, "cannot be used, because its files cannot be compared with skillpm.lock: %w",
			err).WithHint(fix)
	case j.tree.Digest() != j.skill.Tree && j.original(j.tree) != j.skill.Tree:
		return diag.Errorf(diag.Denied, "cannot be used, because its files differ from skillpm.lock").WithHint(fix)
	case len(j.beside) > 0:
		return diag.Errorf(diag.Denied, "cannot be used, because %s", addedFiles(len(j.beside), j.beside[0].Path)).
			WithHint("remove %s", addedNoun(len(j.beside)))
	}
	return nil
}

// describeClaim explains why the lockfile's claims count.
func (j *evaluation) describeClaim(p *policy.Policy) string {
	if _, relies := claimRules(p, j.skill); !relies {
		return "the policy does not decide by the source of the skill"
	}
	return "this machine has verified the files and their source"
}
