package enforce

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	lintrule "github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/capability"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skill"
)

// evaluation evaluates one skill. It reads the skill's files once, when a rule first needs them.
type evaluation struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one question
	st    snapshot
	skill Skill
	files fs.FS

	loaded, inspected bool
	tree              bundle.Inventory
	// beside has files in the directory that are not part of the skill, and that its commands could use.
	beside       bundle.Inventory
	digests      []string // of all files, and for a copy under an alias also of the original
	capabilities capability.Set
	loadErr      error // why the files cannot be read

	findings map[string][]diag.Finding // by the requested rule patterns

	hasApprovals bool
	approvals    []Approved
	approvalsErr error // why not all approvals could be read

	approvalsUsed []Approved
	notes         []string
}

// load reads the files.
func (j *evaluation) load() error {
	if j.loaded {
		return j.loadErr
	}
	j.loaded = true
	if j.files == nil {
		j.loadErr = diag.Errorf(diag.Internal, "the files of the skill are missing")
		return j.loadErr
	}
	if j.tree, j.loadErr = bundle.Sum(j.files, "."); j.loadErr != nil {
		return j.loadErr
	}
	if j.beside, j.loadErr = hashBeside(j.files); j.loadErr != nil {
		return j.loadErr
	}
	j.digests = []string{j.all().Digest()}
	if original := j.original(j.all()); original != "" && original != j.digests[0] {
		j.digests = append(j.digests, original)
	}
	return nil
}

// inspect reads the files and finds their capabilities.
func (j *evaluation) inspect() error {
	if err := j.load(); err != nil || j.inspected {
		return err
	}
	j.inspected = true
	j.capabilities, j.loadErr = capability.Of(j.files)
	return j.loadErr
}

// all returns all files in the skill's directory. An approval covers all of them, so that approved files cannot run
// ones that were not reviewed.
func (j *evaluation) all() bundle.Inventory {
	if len(j.beside) == 0 {
		return j.tree
	}
	all := slices.Concat(j.tree, j.beside)
	all.Sort()
	return all
}

// hashBeside hashes the files beside a skill's own.
func hashBeside(files fs.FS) (list bundle.Inventory, err error) {
	found, err := capability.Beside(files)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		e := bundle.Entry{Path: f.Path, Executable: f.Executable()}
		if f.Link != "" {
			e.Path, e.SHA256 = f.Path+" -> "+f.Link, sha256.Sum256([]byte(f.Link))
			list = append(list, e)
			continue
		}
		if e.Size, e.SHA256, err = sum(files, f.Name); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// sum hashes a file.
func sum(files fs.FS, name string) (size int64, digest [sha256.Size]byte, err error) {
	f, err := files.Open(name)
	if err != nil {
		return 0, digest, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if size, err = io.Copy(h, f); err == nil {
		h.Sum(digest[:0])
	}
	return size, digest, err
}

// original returns the digest that files of the skill have in its pack if only its name was changed to an alias, else
// "".
func (j *evaluation) original(files bundle.Inventory) string {
	if j.skill.Pack == "" {
		return ""
	}
	data, err := fs.ReadFile(j.files, skill.File)
	if err != nil {
		return ""
	}
	renamed, err := skill.SpliceName(data, j.skill.Name)
	if err != nil || bytes.Equal(renamed, data) {
		return ""
	}
	tree := slices.Clone(files)
	for i, e := range tree {
		if e.Path == skill.File {
			tree[i].Size, tree[i].SHA256 = int64(len(renamed)), sha256.Sum256(renamed)
		}
	}
	return tree.Digest()
}

// refuse returns the error of a rule that denies the skill.
func (j *evaluation) refuse(p *policy.Policy, line int, key, fix, format string, args ...any) error {
	return &policy.RefusedError{
		Policy: p.Path, Line: line, Rule: key, Subject: j.skill.subject(),
		Why: fmt.Sprintf(format, args...), Fix: fix,
	}
}

// refuseUnread returns the error of a rule that could not read the files.
func (j *evaluation) refuseUnread(p *policy.Policy, line int, key string, err error) error {
	if j.ctx.Err() != nil {
		return j.ctx.Err()
	}
	return j.refuse(p, line, key, "check the files of the skill with: skillpm validate",
		"could not be checked against the policy: %v", err)
}

func (j *evaluation) checkLimits(p *policy.Policy) error {
	if err := j.load(); err != nil && j.tree == nil {
		return j.refuseUnread(p, p.Line("limits.files"), "limits", err)
	}
	files := make([]policy.FileSize, len(j.tree))
	for i, e := range j.tree {
		files[i] = policy.FileSize{Path: e.Path, Size: e.Size}
	}
	return p.CheckSize(j.skill.subject(), files)
}

func (j *evaluation) checkForbidden(p *policy.Policy) error {
	if err := j.inspect(); err != nil {
		return j.refuseUnread(p, p.Line("forbid", 0), "forbid", err)
	}
	return p.CheckCapabilities(j.skill.subject(), j.capabilities.List(), j.capabilities.Because)
}

// checkLint denies the skill if validation has findings that lint.fail_on names.
func (j *evaluation) checkLint(p *policy.Policy) error {
	line := p.Line("lint.fail_on", 0)
	if j.st.o.Lint == nil {
		return j.refuseUnread(p, line, "lint.fail_on", errNoLint)
	}
	if j.files == nil {
		return j.refuseUnread(p, line, "lint.fail_on", fs.ErrNotExist)
	}
	key := strings.Join(p.Lint.FailOn, " ")
	found, ok := j.findings[key]
	if !ok {
		var err error
		if found, err = j.st.o.Lint(j.ctx, j.files, p.Lint.FailOn); err != nil {
			return j.refuseUnread(p, line, "lint.fail_on", err)
		}
		if j.findings == nil {
			j.findings = map[string][]diag.Finding{}
		}
		j.findings[key] = found
	}
	for i, pattern := range p.Lint.FailOn {
		for _, f := range found {
			if !lintrule.Match(pattern, f.Rule) {
				continue
			}
			return j.refuse(p, p.Line("lint.fail_on", i), "lint.fail_on",
				"show the finding with: skillpm validate; show its rule with: skillpm explain "+f.Rule,
				"has a finding of %s, which %q denies: %s: %s", f.Rule, pattern, where(f), f.Message)
		}
	}
	return nil
}

func where(f diag.Finding) string {
	if f.Line == 0 {
		return f.Path
	}
	return fmt.Sprintf("%s:%d", f.Path, f.Line)
}

// checkApproval denies the skill if it needs an approval that is missing.
func (j *evaluation) checkApproval(p *policy.Policy) error {
	line := p.Line("approve", 0)
	if err := j.inspect(); err != nil {
		return j.refuseUnread(p, line, "approve", err)
	}
	w, ok := j.requiredApproval(p)
	if !ok {
		return nil
	}
	if w.By != nil {
		j.approvalsUsed = append(j.approvalsUsed, *w.By)
		return nil
	}
	return j.refuse(p, w.Line, "approve", j.approveHint(p), "requires approval for %s (%s): %s", list(w.Capabilities),
		j.capabilities.Because(w.Capabilities[0]), w.Missing)
}

// approveHint returns how to approve the skill. For a pack that is not installed, the command fetches it for review.
func (j *evaluation) approveHint(p *policy.Policy) string {
	return approveHint(p, j.skill.Exact(), j.skill.Dir == "")
}

// approveHint returns how to approve a pack or a skill for a policy. With fetch, the command reviews what its source
// has.
func approveHint(p *policy.Policy, subject string, fetch bool) string {
	command := "skillpm approve " + skill.QuoteArgument(subject)
	machines := p.Level == policy.MachineLevel && p.Approvers != policy.UserApprovers
	if machines {
		command += " --scope machine"
	}
	if fetch {
		command += " --fetch"
	}
	command += " --reason TEXT"
	switch {
	case machines:
		return "ask the machine's administrator to review and approve the skill with: " + command
	case p.Level == policy.ProjectLevel:
		return "review the skill, then approve it with: " + command + "; add --scope project for everyone in the project"
	}
	return "review the skill, then approve it with: " + command
}

// approvedBy returns why an approve rule allows the skill.
func (j *evaluation) approvedBy(p *policy.Policy) string {
	w, ok := j.requiredApproval(p)
	if !ok {
		return "the skill does not require an approval"
	}
	if w.By == nil {
		return w.Missing
	}
	return fmt.Sprintf("the capabilities that require an approval (%s) are approved: %s", list(w.Capabilities), w.By)
}

// requiredApproval returns the capabilities that a policy requires an approval for, false for none.
func (j *evaluation) requiredApproval(p *policy.Policy) (RequiredApproval, bool) {
	caps, line := p.RequiredCapabilities(j.capabilities.List())
	if len(caps) == 0 {
		return RequiredApproval{}, false
	}
	return j.requirement(p, caps, line), true
}

// requirement returns the approval that a line of a policy requires, with the one that satisfies it.
func (j *evaluation) requirement(p *policy.Policy, caps []policy.Capability, line int) RequiredApproval {
	w := RequiredApproval{Policy: p.Path, Line: line, Level: p.Level, Capabilities: caps, policy: p}
	if !j.hasApprovals {
		j.hasApprovals = true
		j.approvals, j.approvalsErr = j.st.approvals()
	}
	w.By, w.Missing = j.matchingApproval(p, caps)
	return w
}

// matchingApproval returns the approval that satisfies a policy, or why there is none.
func (j *evaluation) matchingApproval(p *policy.Policy, caps []policy.Capability) (*Approved, string) {
	var near, weak *Approved
	reason := ""
	for i := range j.approvals {
		a := &j.approvals[i]
		if a.Skill != j.skill.Exact() {
			continue
		}
		if !levelCounts(a.Level, p) {
			weak = a
			continue
		}
		lacks := a.Lacks(caps)
		switch same := slices.Contains(j.digests, a.Digest); {
		case same && a.Expired(j.st.now()):
			near, reason = a, fmt.Sprintf("the approval by %s expired on %s", a.who(), a.Expires.Format(time.DateOnly))
		case same && len(lacks) > 0:
			near, reason = a, fmt.Sprintf("%s approved the skill for %s, but not for %s", a.who(), list(a.Capabilities),
				list(lacks))
		case same:
			return a, ""
		case near == nil || reason == "":
			near, reason = a, j.describeChange(a, lacks)
		}
	}
	switch {
	case j.approvalsErr != nil:
		return nil, j.approvalsErr.Error()
	case near != nil:
		return nil, reason
	case weak != nil:
		return nil, fmt.Sprintf("the approval in %s does not apply to the policy of the %s", weak.File, p.Level)
	}
	return nil, "the skill is not approved"
}

// describeChange describes what changed since an approval.
func (j *evaluation) describeChange(a *Approved, lacks []policy.Capability) string {
	if len(j.beside) > 0 && a.Digest == j.tree.Digest() {
		return fmt.Sprintf("%s approved the skill on %s, but %s; remove %s, or approve the skill again",
			a.who(), a.At.Format(time.DateOnly), addedFiles(len(j.beside), j.beside[0].Path), addedNoun(len(j.beside)))
	}
	text := fmt.Sprintf("the files have changed since %s approved the skill on %s (%s then, %s now)", a.who(),
		a.At.Format(time.DateOnly), short(a.Digest), short(j.digests[0]))
	if len(lacks) > 0 {
		text += ", and the skill now has " + list(lacks)
	}
	return text
}

// addedFiles describes files in a skill's directory that are not part of the skill.
func addedFiles(n int, first string) string {
	if n == 1 {
		return "the skill's directory now contains an additional file that scripts could use: " + first
	}
	return fmt.Sprintf("the skill's directory now contains %d additional files that scripts could use, for example %s",
		n, first)
}

func addedNoun(n int) string {
	if n == 1 {
		return "the additional file"
	}
	return "the additional files"
}

// now returns the time that decides whether approvals have expired.
func (st snapshot) now() time.Time {
	if st.o.Now == nil {
		return time.Time{}
	}
	return st.o.Now()
}

// levelCounts reports whether approvals of a level satisfy a policy: those of its own level and of stronger levels do.
func levelCounts(l policy.Level, p *policy.Policy) bool {
	return l >= p.Level || p.Level == policy.MachineLevel && p.Approvers == policy.UserApprovers &&
		l == policy.UserLevel
}

// who returns the approver's name, cut to 80 characters.
func (a Approved) who() string { return fmt.Sprintf("%.80s", a.By) }

// String describes the approval: who approved what, and why.
func (a Approved) String() string {
	return fmt.Sprintf("%s on %s (%.200s), %s:%d", a.who(), a.At.Format(time.DateOnly), a.Reason, a.File, a.Line)
}

// short returns the beginning of a digest, with its algorithm.
func short(digest string) string {
	const most = len("t1:sha256:") + 12
	if len(digest) <= most {
		return digest
	}
	return digest[:most] + "…"
}

// list returns capabilities as text.
func list(caps []policy.Capability) string {
	words := make([]string, len(caps))
	for i, c := range caps {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}

// describeSource describes the source of the skill's pack.
func (j *evaluation) describeSource() string {
	switch {
	case j.skill.Pack == "":
		return "the skill does not belong to a pack"
	case j.skill.Source == "":
		return "the source of the skill is unknown"
	}
	return j.skill.Source + " is allowed"
}
