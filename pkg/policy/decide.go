package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// DeniedError says that a policy does not allow a source.
type DeniedError struct {
	Policy string // the file
	Line   int    // of the rule, 0 where the file as a whole denies
	Rule   string // the pattern that denies, "" where no pattern allows
	Source string // as a lock has it
	Err    error  // why the policy can't be read, or the source not be understood; nil else

	allowed []Pattern
}

// Error names the file, the line, the rule and the source.
func (e *DeniedError) Error() string {
	position := textx.Position(e.Policy, e.Line)
	switch {
	case e.Err != nil && e.Source == "":
		return fmt.Sprintf("%v; as long as a policy can't be read, everything is denied", e.Err)
	case e.Err != nil:
		return fmt.Sprintf("%s: %s can't be held against the policy: %v", position, e.Source, e.Err)
	case e.Rule != "":
		return fmt.Sprintf("%s: %s is denied by %q", position, e.Source, e.Rule)
	}
	return fmt.Sprintf("%s: %s is not among the sources that are allowed", position, e.Source)
}

// Unwrap returns what is behind the denial, nil for a rule.
func (e *DeniedError) Unwrap() error { return e.Err }

// Code returns [diag.Denied], or [diag.Invalid] for a policy that is not valid.
func (e *DeniedError) Code() diag.Code {
	if e.Err != nil && e.Source == "" && diag.CodeOf(e.Err) == diag.Invalid {
		return diag.Invalid
	}
	return diag.Denied
}

// Hint says what is allowed, or what to mend.
func (e *DeniedError) Hint() string {
	if hint := diag.HintOf(e.Err); e.Err != nil && hint != "" {
		return hint
	}
	switch {
	case e.Err != nil:
		return "mend " + e.Policy + ", or ask whoever keeps it"
	case e.Rule != "" || len(e.allowed) == 0:
		return "take it from elsewhere, or ask whoever keeps " + e.Policy
	}
	names := make([]string, len(e.allowed))
	for i, p := range e.allowed {
		names[i] = string(p)
	}
	return "allowed are " + textx.FirstAndMore(names, 3)
}

// Broken returns the policy of a file that can't be read, is not valid, or belongs to the wrong people: it denies
// everything.
func Broken(path string, err error) *Policy {
	return &Policy{Path: path, Mode: Enforce, Downgrade: DenyDowngrade, broken: err}
}

// Err returns why a policy denies everything, nil for one that can be read.
func (p *Policy) Err() error {
	if p.broken == nil {
		return nil
	}
	return &DeniedError{Policy: p.Path, Err: p.broken}
}

// Source returns nil for a source that may be used, and else a [DeniedError]. A denial goes before what is allowed, and
// where there is a list of what is allowed, nothing else is. The mode is the caller's to look at.
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
			return &DeniedError{Policy: p.Path, Line: p.Line("sources.deny", i), Rule: string(pattern), Source: location.text}
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

// Denied returns nil for a source that no rule denies, whether or not it is among those that are allowed: a registry
// may send on to others for what a digest vouches for.
func (p *Policy) Denied(text string) error {
	if p.broken != nil {
		return p.Err()
	}
	merged := *p
	merged.Sources.Allow = nil
	return merged.Source(text)
}

// Host returns nil for a host that may be contacted on behalf of an allowed source, as one that a registry sends on to
// for what a digest vouches for, and else a [DeniedError]: a host all of whose packs are denied is one.
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

// Set are the policies in force. Each of them must allow what is done, so that one more can only tighten.
type Set []*Policy

// Source returns the error of the first policy that does not allow a source. What policies that only observe do not
// allow is noted instead.
func (s Set) Source(text string) (notes []string, err error) {
	return s.ask(func(p *Policy) error { return p.Source(text) })
}

// Denied is Source without what is allowed; see [Policy.Denied].
func (s Set) Denied(text string) error {
	_, err := s.ask(func(p *Policy) error { return p.Denied(text) })
	return err
}

// Host is Source for hosts; see [Policy.Host].
func (s Set) Host(host, port string) error {
	_, err := s.ask(func(p *Policy) error { return p.Host(host, port) })
	return err
}

func (s Set) ask(each func(*Policy) error) (notes []string, err error) {
	for _, p := range s {
		switch denied := each(p); {
		case denied == nil:
		case p.Mode == Observe:
			notes = append(notes, denied.Error()+" (the policy only observes)")
		case err == nil:
			err = denied
		}
	}
	return notes, err
}

// Err returns the error of the first policy that can't be read.
func (s Set) Err() error {
	for _, p := range s {
		if err := p.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Rule is a requirement with the policy that it is in.
type Rule struct {
	Requirement
	Policy *Policy
	Index  int // of the requirement in the policy: two may be on one line
}

// String names the file and the line.
func (r Rule) String() string { return textx.Position(r.Policy.Path, r.Line) }

// Rules returns the requirements that hold for a source, in the order of the policies and their files. For what can't
// be understood all of them hold.
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

// Signatures returns those rules for a source that require signatures.
func (s Set) Signatures(text string) []Rule {
	var rules []Rule
	for _, r := range s.Rules(text) {
		if r.Signatures != nil {
			rules = append(rules, r)
		}
	}
	return rules
}

// Age returns how old a release at a source must be, and the rule that says so. Policies that only observe do not
// count.
func (s Set) Age(text string) (age time.Duration, rule Rule) { return s.age(text, false) }

// ObservedAge is [Set.Age] of the policies that only observe: what they would refuse is noted.
func (s Set) ObservedAge(text string) (age time.Duration, rule Rule) { return s.age(text, true) }

func (s Set) age(text string, observed bool) (age time.Duration, rule Rule) {
	for _, r := range s.Rules(text) {
		if (r.Policy.Mode == Observe) == observed && r.MinReleaseAge > age {
			age, rule = r.MinReleaseAge, r
		}
	}
	return age, rule
}

// Restricts reports whether a policy that is enforced says anything of sources or of packs' names, or requires anything
// of packs, so that what a lock says of them must be proven.
func (s Set) Restricts() bool {
	for _, p := range s {
		if p.Mode != Observe && (p.broken != nil || p.Sources.Allow != nil ||
			len(p.Sources.Deny)+len(p.Require)+len(p.Skills.Deny) > 0) {
			return true
		}
	}
	return false
}
