package policy

import "fmt"

// Publish says where packs may be published, and how. What is said about a published version, as that it is withdrawn,
// counts as published there.
type Publish struct {
	Allow []Pattern // nil: everywhere; empty: nowhere
	Sign  Signing   // "" where the file does not say
}

// Signing says whether what is published must be signed.
type Signing string

// The answers.
const (
	SignRequired Signing = "required"
	SignOptional Signing = "optional" // the default
)

// MayPublish returns why nothing may be published at a place, written as a lock has it; nil where something may. Signed
// says whether it is signed.
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
		Policy: p.Path, Line: p.Line("publish.sign"), Rule: "publish.sign", Subject: "what is published",
		Why: "must be signed",
		Fix: "add --sign --key FILE; skillpm keygen makes a key",
	}
}

func (p *Policy) destination(target string) error {
	if p.Publish.Allow == nil {
		return nil
	}
	refused := &RefusedError{
		Policy: p.Path, Line: p.Line("publish.allow"), Rule: "publish.allow", Subject: withoutUser(target),
		Why: "is not among the places to publish to",
	}
	location, err := parseSource(target)
	if err != nil {
		refused.Why = fmt.Sprintf("can't be held against the policy: %v", err)
		return refused
	}
	refused.Subject = location.text
	for _, pattern := range p.Publish.Allow {
		if pattern.allows(location) {
			return nil
		}
	}
	if len(p.Publish.Allow) > 0 {
		refused.Fix = fmt.Sprintf("allowed is %s, or ask whoever keeps %s", p.Publish.Allow[0], p.Path)
	}
	return refused
}

// MayPublish is that of each policy; what policies that only observe would refuse is noted.
func (s Set) MayPublish(target string, signed bool) (notes []string, err error) {
	return s.ask(func(p *Policy) error { return p.MayPublish(target, signed) })
}
