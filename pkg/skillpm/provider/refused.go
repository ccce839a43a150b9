package provider

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// refusal is an error with what asked for it in front.
type refusal struct {
	what string
	err  error
}

// Error names the rule, or the flag.
func (e *refusal) Error() string { return e.what + ": " + e.err.Error() }

// Unwrap returns what did not meet it.
func (e *refusal) Unwrap() error { return e.err }

// SignerChangedError says that a pack is not signed by who signed it before.
type SignerChangedError struct {
	Pack         pack.ID
	Was, Version string // the versions
	Signer       string // as the lock has it
	Err          error  // what is wrong with the signatures there are now
}

// Error names both signers, as far as the new one is known.
func (e *SignerChangedError) Error() string {
	if e.Was == e.Version {
		return fmt.Sprintf("skillpm.lock has %s %s signed by %s: %v", e.Pack, e.Version, Fingerprint(e.Signer), e.Err)
	}
	return fmt.Sprintf("%s %s was signed by %s, and %s is not: %v", e.Pack, e.Was, Fingerprint(e.Signer), e.Version, e.Err)
}

// Unwrap returns what is wrong with the signatures there are now.
func (e *SignerChangedError) Unwrap() error { return e.Err }

// Code is that of the signatures: denied, unless nobody could be asked for them.
func (e *SignerChangedError) Code() diag.Code { return diag.CodeOf(e.Err) }

// Hint says how to take another signer.
func (e *SignerChangedError) Hint() string {
	if diag.CodeOf(e.Err) == diag.Remote {
		return diag.HintOf(e.Err)
	}
	return fmt.Sprintf("if its publisher says why, --accept-signer %s takes it as it is signed now, and with --key FILE records who signs it from now on", e.Pack)
}
