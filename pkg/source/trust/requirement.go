package trust

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/sign"
)

// Requirement says whose signatures a pack needs.
type Requirement struct {
	Keys           []*sign.PublicKey
	Identities     []Identity
	AllowedSigners []*sign.AllowedSigners // for git: the SSH keys that may sign tags
	Threshold      int                    // how many signers there must be; less than 1 stands for 1
}

// Identity is who a certificate was issued to.
type Identity struct {
	Issuer  string // the https address of the OpenID Connect issuer, exactly
	Subject string // the certificate's subject exactly, or a regular expression between ^ and $
}

// ID returns the identity as a lock records a signer.
func (i Identity) ID() string { return "identity:" + i.Issuer + " " + i.Subject }

// Empty reports whether nobody is wanted.
func (w Requirement) Empty() bool {
	return len(w.Keys) == 0 && len(w.Identities) == 0 && len(w.AllowedSigners) == 0
}

// Or returns what either of two accepts.
func (w Requirement) Or(other Requirement) Requirement {
	return Requirement{
		Keys: slices.Concat(w.Keys, other.Keys), Identities: slices.Concat(w.Identities, other.Identities),
		AllowedSigners: slices.Concat(w.AllowedSigners, other.AllowedSigners), Threshold: 1,
	}
}
