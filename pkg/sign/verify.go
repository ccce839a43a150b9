package sign

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Verified is the result of a verified signature: the owner of a key signed a statement about a digest.
type Verified struct {
	Key           *PublicKey
	PredicateType string
	Statement     []byte // the in-toto statement, as signed
}

// KeyError reports a signature that none of the keys made, or a changed statement.
type KeyError struct {
	Keys int // number of keys tried
}

// Error reports that no key matches.
func (e *KeyError) Error() string {
	if e.Keys == 0 {
		return "no key is configured to verify the signature"
	}
	return "no trusted key made the signature, or the signature was altered"
}

// Code returns [diag.Denied].
func (e *KeyError) Code() diag.Code { return diag.Denied }

// SubjectError reports a valid signature of something else.
type SubjectError struct {
	Want string   // the requested digest
	Got  []string // the statement's subjects
}

// Error names both digests.
func (e *SubjectError) Error() string {
	return "the signature is for " + strings.Join(e.Got[:min(3, len(e.Got))], ", ") + ", not for " + e.Want
}

// Code returns [diag.Integrity].
func (e *SubjectError) Code() diag.Code { return diag.Integrity }

// Verify checks that one of the keys signed the bundle's statement, and that the statement is about the digest. The
// error is a [KeyError], a [SubjectError], or a parsing error.
func Verify(bundle []byte, keys []*PublicKey, digest string) (Verified, error) {
	e, err := ParseBundle(bundle)
	if err != nil {
		return Verified{}, err
	}
	return e.Verify(keys, digest)
}

// Verify is [Verify] for a parsed bundle.
func (e *Envelope) Verify(keys []*PublicKey, digest string) (Verified, error) {
	if _, err := hexOf(digest); err != nil {
		return Verified{}, err
	}
	if e.Keyless {
		return Verified{}, &KeyError{Keys: len(keys)}
	}
	i := slices.IndexFunc(keys, e.signedBy)
	if i < 0 {
		return Verified{}, &KeyError{Keys: len(keys)}
	}
	if !slices.Contains(e.Claim.Subjects, digest) {
		return Verified{}, &SubjectError{Want: digest, Got: e.Claim.Subjects}
	}
	return Verified{Key: keys[i], PredicateType: e.Claim.PredicateType, Statement: e.Statement}, nil
}
