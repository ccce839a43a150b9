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
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/internal/capability"
	"github.com/skillpm/skillpm/pkg/skill"
)

// judge decides about one skill. What it needs of the files is read when it is first asked for, and once.
type judge struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one question
	st    state
	skill Skill
	files fs.FS

	looked  bool
	tree    bundle.Inventory
	beside  bundle.Inventory // what lies in the directory and is not part of the skill, but could be used by what it runs
	digests []string         // of all of it, and where it is a copy under another name, of what it is a copy of
	can     capability.Set
	broken  error // why the files can't be looked at

	findings map[string][]diag.Finding // by the patterns that were asked about

	asked     bool
	approvals []Approved
	damaged   error // why not all approvals could be read

	used  []Approved
	notes []string
}

// look reads the files.
func (j *judge) look() error {
	if j.looked {
		return j.broken
	}
	j.looked = true
	if j.files == nil {
		j.broken = diag.Errorf(diag.Internal, "its files were not given")
		return j.broken
	}
	if j.tree, j.broken = bundle.Sum(j.files, "."); j.broken != nil {
		return j.broken
	}
	if j.beside, j.broken = besides(j.files); j.broken != nil {
		return j.broken
	}
	j.digests = []string{j.all().Digest()}
	if original := j.original(); original != "" && original != j.digests[0] {
		j.digests = append(j.digests, original)
	}
	j.can, j.broken = capability.Of(j.files)
	return j.broken
}

// all returns what is in the skill's directory: an approval is for all of it, so that nothing that was approved runs what
// nobody has looked at.
func (j *judge) all() bundle.Inventory {
	if len(j.beside) == 0 {
		return j.tree
	}
	all := slices.Concat(j.tree, j.beside)
	all.Sort()
	return all
}

// besides hashes what lies beside a skill's files.
func besides(files fs.FS) (list bundle.Inventory, err error) {
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
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if size, err = io.Copy(h, f); err == nil {
		h.Sum(digest[:0])
	}
	return size, digest, err
}

// original returns the digest that a skill has in its pack, where only its name was changed to tell it apart: "" for none.
func (j *judge) original() string {
	if j.skill.Pack == "" {
		return ""
	}
	data, err := fs.ReadFile(j.files, skill.File)
	if err != nil {
		return ""
	}
	plain, err := skill.SpliceName(data, j.skill.Name)
	if err != nil || bytes.Equal(plain, data) {
		return ""
	}
	tree := slices.Clone(j.all())
	for i, e := range tree {
		if e.Path == skill.File {
			tree[i].Size, tree[i].SHA256 = int64(len(plain)), sha256.Sum256(plain)
		}
	}
	return tree.Digest()
}

// refuse returns the refusal of a rule.
func (j *judge) refuse(p *policy.Policy, line int, key, fix, format string, args ...any) error {
	return &policy.RefusedError{Policy: p.Path, Line: line, Rule: key, Subject: j.skill.subject(), Why: fmt.Sprintf(format, args...), Fix: fix}
}

// unknown returns the refusal of a rule that can't look at the files.
func (j *judge) unknown(p *policy.Policy, line int, key string, err error) error {
	if j.ctx.Err() != nil {
		return j.ctx.Err()
	}
	return j.refuse(p, line, key, "skillpm validate says what is wrong with its files", "can't be held against the policy: %v", err)
}

func (j *judge) limits(p *policy.Policy) error {
	if err := j.look(); err != nil && j.tree == nil {
		return j.unknown(p, p.Lines.Files, "limits", err)
	}
	files := make([]policy.Sized, len(j.tree))
	for i, e := range j.tree {
		files[i] = policy.Sized{Path: e.Path, Size: e.Size}
	}
	return p.Size(j.skill.subject(), files)
}

func (j *judge) forbid(p *policy.Policy) error {
	if err := j.look(); err != nil {
		return j.unknown(p, first(p.Lines.Forbid), "forbid", err)
	}
	return p.Capable(j.skill.subject(), j.can.List(), j.can.Because)
}

// lint asks whoever can validate.
func (j *judge) lint(p *policy.Policy) error {
	at := first(p.Lines.FailOn)
	if j.st.o.Lint == nil {
		return j.unknown(p, at, "lint.fail_on", errNoLint)
	}
	if j.files == nil {
		return j.unknown(p, at, "lint.fail_on", fs.ErrNotExist)
	}
	key := strings.Join(p.Lint.FailOn, " ")
	found, ok := j.findings[key]
	if !ok {
		var err error
		if found, err = j.st.o.Lint(j.ctx, j.files, p.Lint.FailOn); err != nil {
			return j.unknown(p, at, "lint.fail_on", err)
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
			line := 0
			if i < len(p.Lines.FailOn) {
				line = p.Lines.FailOn[i]
			}
			return j.refuse(p, line, "lint.fail_on", "skillpm validate shows it, and skillpm rules "+f.Rule+" what it means", "has a finding of %s, which %q refuses: %s: %s", f.Rule, pattern, where(f), f.Message)
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

// approve looks for an approval.
func (j *judge) approve(p *policy.Policy) error {
	at := first(p.Lines.Approve)
	if err := j.look(); err != nil {
		return j.unknown(p, at, "approve", err)
	}
	w, ok := j.wanted(p)
	if !ok {
		return nil
	}
	if w.By != nil {
		j.used = append(j.used, *w.By)
		return nil
	}
	return j.refuse(p, w.Line, "approve", j.approveHint(p), "needs an approval of %s (%s): %s", list(w.Capabilities), j.can.Because(w.Capabilities[0]), w.Missing)
}

// approveHint says how to approve: what is not here yet is fetched to be looked at.
func (j *judge) approveHint(p *policy.Policy) string {
	command := "skillpm approve " + j.skill.Exact()
	machines := p.Level == policy.MachineLevel && p.Approvers != policy.UserApprovers
	if machines {
		command += " --machine"
	}
	if j.skill.Dir == "" {
		command += " --fetch"
	}
	command += " --reason TEXT"
	switch {
	case machines:
		return "the machine's administrator looks at it and approves it: " + command
	case p.Level == policy.ProjectLevel:
		return "look at it, then approve it: " + command + ", or with --project for all who work on the project"
	}
	return "look at it, then approve it: " + command
}

// approvedBy says why an approve rule allows.
func (j *judge) approvedBy(p *policy.Policy) string {
	w, ok := j.wanted(p)
	if !ok {
		return "it has nothing that needs an approval"
	}
	if w.By == nil {
		return w.Missing
	}
	return fmt.Sprintf("what it needs an approval for (%s) is approved: %s", list(w.Capabilities), w.By)
}

// wanted returns what a policy wants approved, false for nothing.
func (j *judge) wanted(p *policy.Policy) (Wanted, bool) {
	caps, line := p.Wanted(j.can.List())
	if len(caps) == 0 {
		return Wanted{}, false
	}
	w := Wanted{Policy: p.Path, Line: line, Level: p.Level, Capabilities: caps}
	if !j.asked {
		j.asked = true
		j.approvals, j.damaged = j.st.approvals()
	}
	w.By, w.Missing = j.counting(p, caps)
	return w, true
}

// counting returns the approval that counts for a policy, or says why none does.
func (j *judge) counting(p *policy.Policy, caps []policy.Capability) (*Approved, string) {
	var near, weak *Approved
	reason := ""
	for i := range j.approvals {
		a := &j.approvals[i]
		if a.Skill != j.skill.Exact() {
			continue
		}
		if !counts(a.Level, p) {
			weak = a
			continue
		}
		lacks := a.Lacks(caps)
		switch same := slices.Contains(j.digests, a.Digest); {
		case same && a.Expired(j.now()):
			near, reason = a, fmt.Sprintf("the approval of %s ended on %s", a.who(), a.Expires.Format(time.DateOnly))
		case same && len(lacks) > 0:
			near, reason = a, fmt.Sprintf("%s approved it for %s, and not for %s", a.who(), list(a.Capabilities), list(lacks))
		case same:
			return a, ""
		case near == nil || reason == "":
			near, reason = a, j.changed(a, lacks)
		}
	}
	switch {
	case j.damaged != nil:
		return nil, j.damaged.Error()
	case near != nil:
		return nil, reason
	case weak != nil:
		return nil, fmt.Sprintf("the approval in %s does not count for the policy of the %s", weak.File, p.Level)
	}
	return nil, "nobody has approved it"
}

// changed says what has changed since something was approved.
func (j *judge) changed(a *Approved, lacks []policy.Capability) string {
	if len(j.beside) > 0 && a.Digest == j.tree.Digest() {
		return fmt.Sprintf("since %s approved it on %s, %s in its directory that is no part of it and could be used by what it runs, as %s; remove that, or approve it as it is now",
			a.who(), a.At.Format(time.DateOnly), lies(len(j.beside)), j.beside[0].Path)
	}
	text := fmt.Sprintf("its files have changed since %s approved it on %s (%s then, %s now)", a.who(), a.At.Format(time.DateOnly), short(a.Digest), short(j.digests[0]))
	if len(lacks) > 0 {
		text += ", and it has now " + list(lacks)
	}
	return text
}

func lies(n int) string {
	if n == 1 {
		return "a file lies"
	}
	return fmt.Sprintf("%d files lie", n)
}

// now is the time, by which approvals end.
func (j *judge) now() time.Time {
	if j.st.o.Now == nil {
		return time.Time{}
	}
	return j.st.o.Now()
}

// counts reports whether approvals of a level count for a policy: those of its own level, and of stronger ones.
func counts(l policy.Level, p *policy.Policy) bool {
	return l >= p.Level || p.Level == policy.MachineLevel && p.Approvers == policy.UserApprovers && l == policy.UserLevel
}

// who names whoever approved, and quotes no more than a line of it.
func (a Approved) who() string { return fmt.Sprintf("%.80s", a.By) }

// String says who approved what and why.
func (a Approved) String() string {
	return fmt.Sprintf("%s on %s (%.200s), %s:%d", a.who(), a.At.Format(time.DateOnly), a.Reason, a.File, a.Line)
}

// short returns the beginning of a digest, with its kind.
func short(digest string) string {
	const most = len("t1:sha256:") + 12
	if len(digest) <= most {
		return digest
	}
	return digest[:most] + "…"
}

// list returns capabilities for people.
func list(caps []policy.Capability) string {
	words := make([]string, len(caps))
	for i, c := range caps {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}

// fromWhere says where the skill's pack came from.
func (j *judge) fromWhere() string {
	switch {
	case j.skill.Pack == "":
		return "it is of no pack"
	case j.skill.Source == "":
		return "where it came from is not known"
	}
	return j.skill.Source + " is allowed"
}
