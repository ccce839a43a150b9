package policy

// Updates has the rules for updates of locked packs.
type Updates struct {
	CapabilityIncrease CapabilityIncrease // "" allows it
}

// CapabilityIncrease is what happens to an update that adds capabilities.
type CapabilityIncrease string

// The values of updates.capability-increase.
const (
	AskIncrease  CapabilityIncrease = "ask" // the user accepts or refuses the update
	DenyIncrease CapabilityIncrease = "deny"
)

// IncreaseError reports that a policy does not allow an update that adds capabilities.
type IncreaseError struct {
	RefusedError

	Ask bool    // the user may accept the update
	By  *Policy // does not allow it
}

// CheckIncrease returns why the policy does not allow an update that adds capabilities: nil, an [IncreaseError], or the
// error of a policy that cannot be read. What describes the update, and why the capabilities. Approved reports
// whether somebody approved the new version whose approval counts for the policy.
func (p *Policy) CheckIncrease(what, why string, approved func(*Policy) bool) error {
	if p.broken != nil {
		return p.Err()
	}
	e := &IncreaseError{By: p, RefusedError: RefusedError{
		Policy: p.Path, Line: p.Line("updates.capability-increase"), Rule: "updates.capability-increase", Subject: what,
		Fix: "keep the locked version, or ask the owner of the policy",
	}}
	switch p.Updates.CapabilityIncrease {
	case DenyIncrease:
		e.Why = "adds capabilities, which the policy denies: " + why
		return e
	case AskIncrease:
		if !approved(p) {
			e.Ask, e.Why = true, "adds capabilities, which the policy does not allow without consent: "+why
			return e
		}
	}
	return nil
}

// CheckIncrease applies [Policy.CheckIncrease] to each policy. For a policy in observe mode it returns a note instead. The
// error of a policy that denies the update precedes those of policies that leave it to the user.
func (s Set) CheckIncrease(what, why string, approved func(*Policy) bool) (notes []string, err error) {
	notes, err = s.ask(func(p *Policy) error { return p.CheckIncrease(what, why, approved) })
	if err == nil {
		return notes, nil
	}
	_, denied := s.ask(func(p *Policy) error {
		return p.CheckIncrease(what, why, func(*Policy) bool { return true })
	})
	if denied != nil {
		err = denied
	}
	return notes, err
}
