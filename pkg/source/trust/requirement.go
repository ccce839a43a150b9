package trust

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/sign"
)

// Requirement lists the signers that a pack needs.
type Requirement struct {
	Keys           []*sign.PublicKey
	Identities     []Identity
	AllowedSigners []*sign.AllowedSigners // for git: the SSH keys that may sign tags
	Threshold      int                    // how many signers are needed; values below 1 mean 1
}

// Identity is the subject of a certificate and its issuer.
type Identity struct {
	Issuer  string // the https address of the OpenID Connect issuer, exact
	Subject string // the certificate's subject, exact, or a regular expression between ^ and $
}

// ID returns the identity as a lockfile records a signer.
func (i Identity) ID() string { return "identity:" + i.Issuer + " " + i.Subject }

// Empty reports whether no signer is required.
func (w Requirement) Empty() bool {
	return len(w.Keys) == 0 && len(w.Identities) == 0 && len(w.AllowedSigners) == 0
}

// Or returns a requirement that accepts the signers of either.
func (w Requirement) Or(other Requirement) Requirement {
	return Requirement{
		Keys: slices.Concat(w.Keys, other.Keys), Identities: slices.Concat(w.Identities, other.Identities),
		AllowedSigners: slices.Concat(w.AllowedSigners, other.AllowedSigners), Threshold: 1,
	}
}
