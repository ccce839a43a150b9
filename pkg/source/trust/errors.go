package trust

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// UnsignedError reports that a pack without a usable signature must be signed.
type UnsignedError struct {
	Pack   string // with its version
	Digest string // of the manifest, or the commit; "" if unknown
	Reason string // what was found instead of a signature
}

// Error names the pack and the reason.
func (e *UnsignedError) Error() string {
	text := e.Pack + " must be signed: " + e.Reason
	if e.Digest != "" && !strings.Contains(e.Reason, e.Digest) {
		text += " (" + e.Digest + ")"
	}
	return text
}

// Code returns [diag.Denied].
func (e *UnsignedError) Code() diag.Code { return diag.Denied }

// Hint names who can fix it.
func (e *UnsignedError) Hint() string {
	if strings.Contains(e.Reason, "skillpm is offline") {
		return "run the command without --offline"
	}
	if strings.Contains(e.Reason, "no allowed signers file") {
		return "add an allowed signers file to any_of in the policy (ssh), or to trusted-keys in the settings"
	}
	return "ask the publisher to sign the pack with \"skillpm publish --sign\" or \"skillpm sign\", " +
		"or to sign the git tag with an SSH key (git tag -s)"
}

// UnnamedError reports that the required signature does not name the pack and version.
type UnnamedError struct {
	Pack   string
	Digest string // of the manifest
}

// Error names what the signature does not prove.
func (e *UnnamedError) Error() string {
	return e.Pack + " must be signed, but the trusted signature of " + e.Digest +
		" does not include the name and version of the pack"
}

// Code returns [diag.Denied].
func (e *UnnamedError) Code() diag.Code { return diag.Denied }

// Hint names who can fix it.
func (e *UnnamedError) Hint() string {
	return "ask the publisher to sign the pack with: skillpm publish --sign " +
		"(add --format to keep the format of another tool)"
}

// SignerError reports that too few of the trusted signers signed a pack.
type SignerError struct {
	Pack      string
	Digest    string
	Trusted   []string // the IDs of the trusted signers who signed
	Reasons   []string // why each other signature does not count
	Advice    string   // how one of them could count; "" if unknown
	Threshold int
}

// Error reports how many signatures are missing, and why others do not count.
func (e *SignerError) Error() string {
	text := e.Pack + " is signed, but not by a trusted signer"
	if e.Threshold > 1 {
		text = fmt.Sprintf("%s has %d of %d required signatures", e.Pack, len(e.Trusted),
			e.Threshold)
	}
	if n := len(e.Reasons); n > 0 {
		text += ": " + strings.Join(e.Reasons[:min(3, n)], "; ")
	}
	return text
}

// Code returns [diag.Denied].
func (e *SignerError) Code() diag.Code { return diag.Denied }

// Hint names the command that shows signatures.
func (e *SignerError) Hint() string {
	if e.Advice != "" {
		return e.Advice
	}
	return "show the signers with: skillpm info PACK --signatures; trust a key only if its owner confirms it"
}

// UnknownTreesError reports trees whose origin neither a signed manifest nor this machine's records prove. To fix it,
// fetch the pack again and call [Verifier.Record].
type UnknownTreesError struct {
	Pack string
}

// Error names the pack.
func (e *UnknownTreesError) Error() string {
	return "cannot verify that the locked content of " + e.Pack +
		" is signed, because this machine did not fetch the content"
}

// Code returns [diag.Integrity].
func (e *UnknownTreesError) Code() diag.Code { return diag.Integrity }

// Hint names the fix.
func (e *UnknownTreesError) Hint() string { return "fetch the pack again with: skillpm install" }
