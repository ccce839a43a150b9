package policy

import "fmt"

// Publish has the rules for publishing packs. Statements about a published version, such as its withdrawal, count as
// publishing.
type Publish struct {
	Allow []Pattern // nil allows all registries; empty allows none
	Sign  Signing   // "" if unspecified
}

// Signing controls whether published packs must be signed.
type Signing string

// Whether published packs must be signed.
const (
	SignRequired Signing = "required"
	SignOptional Signing = "optional" // the default
)

// MayPublish returns why a pack may not be published to a source, spelled as in a lockfile; nil if it may. Signed
// reports whether the pack is signed.
func (p *Policy) MayPublish(target string, signed bool) error {
	if p.broken != nil {
		return p.Err()
	}
	if err := p.destination(target); err != nil {
		return err
	}
	if p.Publish.Sign != SignRequired || signed {
		return nil
	}
	return &RefusedError{
		Policy: p.Path, Line: p.Line("publish.sign"), Rule: "publish.sign", Subject: "published packs",
		Why: "must be signed",
		Fix: "add --sign --signing-key FILE; create a key with: skillpm key generate",
	}
}

func (p *Policy) destination(target string) error {
	if p.Publish.Allow == nil {
		return nil
	}
	refused := &RefusedError{
		Policy: p.Path, Line: p.Line("publish.allow"), Rule: "publish.allow", Subject: withoutUser(target),
		Why: "is not an allowed destination",
	}
	location, err := parseSource(target)
	if err != nil {
		refused.Why = fmt.Sprintf("could not be checked against the policy: %v", err)
		return refused
	}
	refused.Subject = location.text
	for _, pattern := range p.Publish.Allow {
		if pattern.allows(location) {
			return nil
		}
	}
	if len(p.Publish.Allow) > 0 {
		refused.Fix = fmt.Sprintf("publish to a destination that matches %s, or ask the owner of %s",
			p.Publish.Allow[0], p.Path)
	}
	return refused
}

// MayPublish applies [Policy.MayPublish] to each policy. For a policy in observe mode it returns a note instead.
func (s Set) MayPublish(target string, signed bool) (notes []string, err error) {
	return s.ask(func(p *Policy) error { return p.MayPublish(target, signed) })
}
