package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// DeniedError reports that a policy denies a source.
type DeniedError struct {
	Policy string // path of the policy
	Line   int    // line of the rule, 0 if no single rule denies
	Rule   string // pattern that denies, "" if no pattern allows
	Source string // as the lockfile writes it
	Err    error  // why the policy cannot be read or the source cannot be parsed, else nil

	allowed []Pattern
}

// Error names the file, the line, the rule and the source.
func (e *DeniedError) Error() string {
	position := textx.Position(e.Policy, e.Line)
	switch {
	case e.Err != nil && e.Source == "":
		return fmt.Sprintf("%v; skillpm denies everything until it can read the policy", e.Err)
	case e.Err != nil:
		return fmt.Sprintf("%s: %s could not be checked against the policy: %v", position, e.Source, e.Err)
	case e.Rule != "":
		return fmt.Sprintf("%s: %s is denied by %q", position, e.Source, e.Rule)
	}
	return fmt.Sprintf("%s: %s is not an allowed source", position, e.Source)
}

// Unwrap returns the cause of the denial, nil if it is a rule.
func (e *DeniedError) Unwrap() error { return e.Err }

// Code returns [diag.Denied], or [diag.Invalid] for a policy that is not valid.
func (e *DeniedError) Code() diag.Code {
	if e.Err != nil && e.Source == "" && diag.CodeOf(e.Err) == diag.Invalid {
		return diag.Invalid
	}
	return diag.Denied
}

// Hint names what is allowed, or how to fix the policy.
func (e *DeniedError) Hint() string {
	if hint := diag.HintOf(e.Err); e.Err != nil && hint != "" {
		return hint
	}
	switch {
	case e.Err != nil:
		return "fix the policy " + e.Policy + ", or ask its owner"
	case e.Rule != "" || len(e.allowed) == 0:
		return "use another source, or ask the owner of " + e.Policy
	}
	names := make([]string, len(e.allowed))
	for i, p := range e.allowed {
		names[i] = string(p)
	}
	return "allowed sources: " + textx.FirstAndMore(names, 3)
}

// Broken returns a policy that denies everything, for a file that cannot be read, is not valid, or has the wrong owner.
func Broken(path string, err error) *Policy {
	return &Policy{Path: path, Mode: Enforce, Downgrade: DenyDowngrade, broken: err}
}

// Err returns why a policy denies everything, nil if it can be read.
func (p *Policy) Err() error {
	if p.broken == nil {
		return nil
	}
	return &DeniedError{Policy: p.Path, Err: p.broken}
}

// Source returns nil for a source that the policy allows, and else a [DeniedError]. A denial has precedence. If the
// policy lists what is allowed, it denies everything else. Source ignores the policy's mode.
func (p *Policy) Source(text string) error {
	if p.broken != nil {
		return p.Err()
	}
	if p.Sources.Allow == nil && len(p.Sources.Deny) == 0 {
		return nil
	}
	location, err := parseSource(text)
	if err != nil {
		return &DeniedError{Policy: p.Path, Source: withoutUser(text), Err: err}
	}
	for i, pattern := range p.Sources.Deny {
		if pattern.covers(location) {
			return &DeniedError{
				Policy: p.Path, Line: p.Line("sources.deny", i), Rule: string(pattern),
				Source: location.text,
			}
		}
	}
	if p.Sources.Allow == nil {
		return nil
	}
	for _, pattern := range p.Sources.Allow {
		if pattern.allows(location) {
			return nil
		}
	}
	return &DeniedError{Policy: p.Path, Line: p.Line("sources.allow"), Source: location.text, allowed: p.Sources.Allow}
}

// Denied returns nil for a source that no rule denies, even if it is not on the list of what is allowed. It is for
// content that a registry redirects to and whose digest is known.
func (p *Policy) Denied(text string) error {
	if p.broken != nil {
		return p.Err()
	}
	merged := *p
	merged.Sources.Allow = nil
	return merged.Source(text)
}

// Host returns nil for a network host that may be contacted on behalf of an allowed source, such as one that a registry
// redirects to for content with a known digest. It returns a [DeniedError] if all packs of the host are denied.
func (p *Policy) Host(host, port string) error {
	if p.broken != nil {
		return p.Err()
	}
	for i, pattern := range p.Sources.Deny {
		if pattern.coversHost(strings.ToLower(host), port) {
			return &DeniedError{
				Policy: p.Path, Line: p.Line("sources.deny", i), Rule: string(pattern),
				Source: "the host " + host,
			}
		}
	}
	return nil
}

// Set are the policies in effect. Each of them must allow an operation, so that an additional policy can only tighten.
type Set []*Policy

// Source returns the error of the first policy that does not allow a source. For a policy in observe mode it returns a
// note instead.
func (s Set) Source(text string) (notes []string, err error) {
	return s.ask(func(p *Policy) error { return p.Source(text) })
}

// Denied applies [Policy.Denied] to each policy.
func (s Set) Denied(text string) error {
	_, err := s.ask(func(p *Policy) error { return p.Denied(text) })
	return err
}

// Host applies [Policy.Host] to each policy.
func (s Set) Host(host, port string) error {
	_, err := s.ask(func(p *Policy) error { return p.Host(host, port) })
	return err
}

func (s Set) ask(each func(*Policy) error) (notes []string, err error) {
	for _, p := range s {
		switch denied := each(p); {
		case denied == nil:
		case p.Mode == Observe:
			notes = append(notes, denied.Error()+" (the policy is in audit mode)")
		case err == nil:
			err = denied
		}
	}
	return notes, err
}

// Err returns the error of the first policy that cannot be read.
func (s Set) Err() error {
	for _, p := range s {
		if err := p.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Rule is a requirement with its policy.
type Rule struct {
	Requirement
	Policy *Policy
	Index  int // index of the requirement in the policy, because several may be on one line
}

// String returns the file and the line.
func (r Rule) String() string { return textx.Position(r.Policy.Path, r.Line) }

// Rules returns the requirements for a source, in the order of the policies and their files. All requirements apply to
// a source that cannot be parsed.
func (s Set) Rules(text string) []Rule {
	var rules []Rule
	location, err := parseSource(text)
	for _, p := range s {
		for i, q := range p.Require {
			if err != nil || q.Match.covers(location) {
				rules = append(rules, Rule{Requirement: q, Policy: p, Index: i})
			}
		}
	}
	return rules
}

// Signatures returns the requirements for a source that demand signatures.
func (s Set) Signatures(text string) []Rule {
	var rules []Rule
	for _, r := range s.Rules(text) {
		if r.Signatures != nil {
			rules = append(rules, r)
		}
	}
	return rules
}

// Age returns the minimum age of a release at a source, and the rule that requires it. It ignores policies in observe
// mode.
func (s Set) Age(text string) (age time.Duration, rule Rule) { return s.age(text, false) }

// ObservedAge is [Set.Age] for the policies in observe mode.
func (s Set) ObservedAge(text string) (age time.Duration, rule Rule) { return s.age(text, true) }

func (s Set) age(text string, observed bool) (age time.Duration, rule Rule) {
	for _, r := range s.Rules(text) {
		if (r.Policy.Mode == Observe) == observed && r.MinReleaseAge > age {
			age, rule = r.MinReleaseAge, r
		}
	}
	return age, rule
}

// Restricts reports whether an enforced policy restricts sources or pack names, or has requirements for packs. The
// lockfile's statements about packs must then be verified.
func (s Set) Restricts() bool {
	for _, p := range s {
		if p.Mode != Observe && (p.broken != nil || p.Sources.Allow != nil || p.RestrictsSkills() ||
			len(p.Sources.Deny)+len(p.Require) > 0) {
			return true
		}
	}
	return false
}
