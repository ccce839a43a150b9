package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// RefusedError reports that a rule of a policy denies a skill or an operation with one.
type RefusedError struct {
	Policy  string // path of the policy
	Line    int    // line of the rule, 0 for a default
	Rule    string // key of the rule, such as "skills.deny"
	Subject string // what is denied, such as `skill deploy@acme/tools`
	Why     string // the rest of a sentence that starts with Subject
	Fix     string // hint; "" to suggest asking the owner of the policy
}

func (e *RefusedError) Error() string { return e.At() + ": " + e.Subject + " " + e.Why }

// At returns the file, with the line if there is one.
func (e *RefusedError) At() string { return textx.Position(e.Policy, e.Line) }

// Code returns [diag.Denied].
func (e *RefusedError) Code() diag.Code { return diag.Denied }

// Hint returns Fix, or a hint to ask the owner of the policy.
func (e *RefusedError) Hint() string {
	if e.Fix != "" {
		return e.Fix
	}
	return "ask the owner of " + e.Policy
}

// Skill returns why a policy denies the name of a skill: a [RefusedError], or the error of a policy that cannot be
// read. It checks all names of a skill, such as its directory's, its alias, and the one in its frontmatter. The pack is
// owner/name, "" for a local skill.
func (p *Policy) Skill(names []string, pack string) error {
	if p.broken != nil {
		return p.Err()
	}
	for i, pattern := range p.Skills.Deny {
		if name, ok := pattern.covers(names, pack); ok {
			return &RefusedError{
				Policy: p.Path, Line: p.Line("skills.deny", i), Rule: "skills.deny", Subject: "skill " + exact(name, pack),
				Why: fmt.Sprintf("is denied by %q", pattern), Fix: p.UndoHint(pattern),
			}
		}
	}
	return nil
}

// Allows returns why the list of allowed skills does not have a skill: a [RefusedError], or nil. It checks only the
// name that the skill has in its pack, or that a local skill has: another name must not bypass the list.
func (p *Policy) Allows(name, pack string) error {
	if p.broken != nil {
		return p.Err()
	}
	if p.Skills.Allow == nil || slices.ContainsFunc(p.Skills.Allow, func(a SkillPattern) bool {
		return a.allows(name, pack)
	}) {
		return nil
	}
	return &RefusedError{
		Policy: p.Path, Line: p.Line("skills.allow"), Rule: "skills.allow", Subject: "skill " + exact(name, pack),
		Why: "is not an allowed skill",
	}
}

// exact returns the exact name of a skill.
func exact(name, pack string) string {
	if pack == "" {
		return name
	}
	return name + "@" + pack
}

// Matches reports whether a pattern matches one of a skill's names and its pack, "" for a local skill.
func (p SkillPattern) Matches(names []string, pack string) bool {
	_, ok := p.covers(names, pack)
	return ok
}

// covers is Matches, and returns the name that matches.
func (p SkillPattern) covers(names []string, pack string) (string, bool) {
	skill, packName, inPack := strings.Cut(string(p), "@")
	if owner, name, isPack := strings.Cut(string(p), "/"); isPack && !inPack {
		if packMatches(string(p), pack) && len(names) > 0 {
			return names[0], true
		}
		// An owner and a name are also a name of the owner's skill.
		skill, packName, inPack = name, owner+"/*", true
	}
	if inPack && !packMatches(packName, pack) {
		return "", false
	}
	for _, name := range names {
		if name != "" && matchStars(normalName(skill), normalName(name)) {
			return name, true
		}
	}
	return "", false
}

// allows reports whether a pattern allows a skill by its own name.
func (p SkillPattern) allows(name, pack string) bool {
	skill, packName, inPack := strings.Cut(string(p), "@")
	switch {
	case inPack:
		return packMatches(packName, pack) && matchStars(skill, name)
	case strings.Contains(string(p), "/"):
		return packMatches(string(p), pack)
	}
	return matchStars(skill, name)
}

// packMatches reports whether a pattern owner/name matches a pack, "" for none.
func packMatches(pattern, pack string) bool {
	owner, name, _ := strings.Cut(normalName(pattern), "/")
	packOwner, packName, inPack := strings.Cut(normalName(pack), "/")
	return inPack && matchStars(owner, packOwner) && matchStars(name, packName)
}

// normalName normalizes letter case and Unicode composition for comparison.
func normalName(name string) string { return norm.NFC.String(strings.ToLower(norm.NFC.String(name))) }

// UndoHint returns how to lift a denial, "" for the machine's policy, which only the administrator can change.
func (p *Policy) UndoHint(pattern SkillPattern) string {
	text := "skillpm deny " + skill.QuoteArgument(string(pattern)) + " --undo"
	switch p.Level {
	case UserLevel:
		return "allow the skill again with: " + text
	case ProjectLevel:
		return "allow the skill again with: " + text + " --scope project"
	}
	return ""
}

// CheckCapabilities returns why a skill must not be used that has capabilities: one of them is forbidden. Because says
// why the skill has one.
func (p *Policy) CheckCapabilities(subject string, has []Capability, because func(Capability) string) error {
	if p.broken != nil {
		return p.Err()
	}
	for i, c := range p.Forbid {
		if slices.Contains(has, c) {
			return &RefusedError{
				Policy: p.Path, Line: p.Line("forbid", i), Rule: "forbid", Subject: subject,
				Why: fmt.Sprintf("has %s, which the policy forbids: %s", c, because(c)),
			}
		}
	}
	return nil
}

// RequiredCapabilities returns which of a skill's capabilities need an approval, and the line of the first of them in
// the file.
func (p *Policy) RequiredCapabilities(has []Capability) (required []Capability, line int) {
	for i, c := range p.Approve {
		if slices.Contains(has, c) {
			if required = append(required, c); line == 0 {
				line = p.Line("approve", i)
			}
		}
	}
	return required, line
}

// FileSize is a file of a skill.
type FileSize struct {
	Path string // relative to the skill, with slashes
	Size int64
}

// CheckSize returns why a skill must not be used that has some files: it is larger than the limits allow.
func (p *Policy) CheckSize(subject string, files []FileSize) error {
	if p.broken != nil {
		return p.Err()
	}
	refuse := func(key, format string, args ...any) error {
		rule := "limits." + key
		return &RefusedError{
			Policy: p.Path, Line: p.Line(rule), Rule: rule, Subject: subject, Why: fmt.Sprintf(format, args...),
		}
	}
	l, total := p.Limits, int64(0)
	if n := int64(len(files)); l.Files > 0 && n > l.Files {
		return refuse("files", "has %d files; the limit is %d", n, l.Files)
	}
	for _, f := range files {
		total += f.Size
		depth := int64(strings.Count(path.Clean(f.Path), "/"))
		switch {
		case l.FileBytes > 0 && f.Size > l.FileBytes:
			return refuse("file_bytes", "has %s with %d bytes; the limit for a file is %d", f.Path, f.Size, l.FileBytes)
		case l.PathBytes > 0 && int64(len(f.Path)) > l.PathBytes:
			return refuse("path_bytes", "has a path of %d bytes, %s; the limit is %d",
				len(f.Path), f.Path, l.PathBytes)
		case l.Depth > 0 && depth > l.Depth:
			return refuse("depth", "has %s in %d nested directories; the limit is %d", f.Path, depth, l.Depth)
		case l.TotalBytes > 0 && total > l.TotalBytes:
			return refuse("total_bytes", "is larger than %d bytes", l.TotalBytes)
		}
	}
	return nil
}

// NeedsFiles reports whether a policy wants to look at a skill's files.
func (p *Policy) NeedsFiles() bool {
	return p.broken != nil || len(p.Forbid)+len(p.Approve)+len(p.Lint.FailOn) > 0 || p.Limits != Limits{}
}

// CheckDowngrade returns why something must not be replaced by what is older, or has fewer signatures. What describes
// it.
func (p *Policy) CheckDowngrade(what string) error {
	if p.broken != nil {
		return p.Err()
	}
	if p.Downgrade == AllowDowngrade {
		return nil
	}
	why := "would be a downgrade, and skillpm denies downgrades"
	if p.Line("downgrade") == 0 {
		why += " unless a policy has downgrade: allow"
	}
	return &RefusedError{
		Policy: p.Path, Line: p.Line("downgrade"), Rule: "downgrade", Subject: what, Why: why,
		Fix: "keep the installed version, or ask the owner of the policy",
	}
}

// CheckVulnerable returns why a pack must not be installed that an advisory calls vulnerable. Reason describes the
// advisory.
func (p *Policy) CheckVulnerable(what, reason string) error {
	if p.broken != nil {
		return p.Err()
	}
	if p.Advisories.Vulnerable != DenyVulnerable {
		return nil
	}
	return &RefusedError{
		Policy: p.Path, Line: p.Line("advisories.vulnerable"), Rule: "advisories.vulnerable", Subject: what, Why: reason,
		Fix: "install a version that is not affected",
	}
}

// CheckVulnerable is that of each policy; what policies that only observe would refuse is noted.
func (s Set) CheckVulnerable(what, reason string) (notes []string, err error) {
	return s.ask(func(p *Policy) error { return p.CheckVulnerable(what, reason) })
}

// RequiresAdvisories reports whether a policy denies installations without current advisories.
func (s Set) RequiresAdvisories() bool {
	return slices.ContainsFunc(s, func(p *Policy) bool { return p.Advisories.Required })
}

// CheckAdvisories returns why nothing may be installed if the advisories of some sources are not current; reason
// describes them, and is "" if all are.
func (s Set) CheckAdvisories(reason string) (notes []string, err error) {
	if reason == "" {
		return nil, nil
	}
	return s.ask(func(p *Policy) error {
		if p.broken != nil || !p.Advisories.Required {
			return p.Err()
		}
		return &RefusedError{
			Policy: p.Path, Line: p.Line("advisories.required"), Rule: "advisories.required", Subject: "the installation",
			Why: reason, Fix: "check the connection to the index, and run the command again",
		}
	})
}

// CheckDowngrade is that of each policy; what policies that only observe would refuse is noted.
func (s Set) CheckDowngrade(what string) (notes []string, err error) {
	return s.ask(func(p *Policy) error { return p.CheckDowngrade(what) })
}

// Skill applies [Policy.Skill] and [Policy.Allows] to each policy; the first name is the skill's own. What policies
// that only observe would refuse is noted.
func (s Set) Skill(names []string, pack string) (notes []string, err error) {
	return s.ask(func(p *Policy) error {
		if err := p.Skill(names, pack); err != nil || len(names) == 0 {
			return err
		}
		return p.Allows(names[0], pack)
	})
}

// RestrictsSkills reports whether a policy has a rule for names of skills.
func (p *Policy) RestrictsSkills() bool { return p.Skills.Allow != nil || len(p.Skills.Deny) > 0 }

// Denial returns why installations leave out a skill: policies deny one of its names. It is nil if they do not, and if
// a policy cannot be read, which is an error elsewhere.
func (s Set) Denial(names []string, pack string) error {
	_, err := s.Skill(names, pack)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused
	}
	return nil
}

// AtLevel returns the policies of a level.
func (s Set) AtLevel(l Level) Set {
	return slices.DeleteFunc(slices.Clone(s), func(p *Policy) bool { return p.Level != l })
}
