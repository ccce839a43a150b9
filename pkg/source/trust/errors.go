package trust

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// UnsignedError is the error for what must be signed and has no signature that could count.
type UnsignedError struct {
	Pack   string // with its version
	Digest string // of the manifest, or the commit; "" where there is none
	Reason string // what there is instead of a signature
}

// Error names the pack and what there is instead.
func (e *UnsignedError) Error() string {
	text := e.Pack + " must be signed: " + e.Reason
	if e.Digest != "" && !strings.Contains(e.Reason, e.Digest) {
		text += " (" + e.Digest + ")"
	}
	return text
}

// Code returns [diag.Denied].
func (e *UnsignedError) Code() diag.Code { return diag.Denied }

// Hint says who can do something about it.
func (e *UnsignedError) Hint() string {
	if strings.Contains(e.Reason, "no server is asked") {
		return "run the command once without --offline"
	}
	return "ask the publisher to sign it (skillpm publish --sign, skillpm sign, or git tag -s with an SSH key)"
}

// UnnamedError is the error for what is signed as required, but does not say which pack and version it is.
type UnnamedError struct {
	Pack   string
	Digest string // of the manifest
}

// Error says what the signature does not prove.
func (e *UnnamedError) Error() string {
	return e.Pack + " must be signed: who is trusted signed " + e.Digest +
		", which does not say which pack and version it is, so that it could be passed off as any"
}

// Code returns [diag.Denied].
func (e *UnnamedError) Code() diag.Code { return diag.Denied }

// Hint says who can do something about it.
func (e *UnnamedError) Hint() string {
	return "ask the publisher to publish it with skillpm publish --sign, which writes both into what is signed " +
		"(--format keeps the form of other tools)"
}

// SignerError is the error for what is signed, and not by enough of those who are trusted.
type SignerError struct {
	Pack      string
	Digest    string
	Trusted   []string // the IDs of those trusted who signed
	Reasons   []string // why each of the other signatures does not count
	Advice    string   // what would make one of them count, "" where nothing is known
	Threshold int
}

// Error says how many signatures are missing, and why others do not count.
func (e *SignerError) Error() string {
	text := e.Pack + " is signed, but by nobody who is trusted"
	if e.Threshold > 1 {
		text = fmt.Sprintf("%s is signed by %d of those who are trusted, and %d are required", e.Pack, len(e.Trusted),
			e.Threshold)
	}
	if n := len(e.Reasons); n > 0 {
		text += ": " + strings.Join(e.Reasons[:min(3, n)], "; ")
	}
	return text
}

// Code returns [diag.Denied].
func (e *SignerError) Code() diag.Code { return diag.Denied }

// Hint says how to look.
func (e *SignerError) Hint() string {
	if e.Advice != "" {
		return e.Advice
	}
	return "skillpm signatures shows who signed; trust a key only if you know from elsewhere whose it is"
}

// UnknownTreesError is the error for trees of which neither a signed manifest nor this machine knows where they come
// from. Who fetches the pack again, and calls [Verifier.Record], knows.
type UnknownTreesError struct {
	Pack string
}

// Error names the pack.
func (e *UnknownTreesError) Error() string {
	return e.Pack + ": this machine did not fetch what its lock says, so that it is not known whether that is what " +
		"was signed"
}

// Code returns [diag.Integrity].
func (e *UnknownTreesError) Code() diag.Code { return diag.Integrity }

// Hint says what to do.
func (e *UnknownTreesError) Hint() string { return "skillpm install fetches it again" }
