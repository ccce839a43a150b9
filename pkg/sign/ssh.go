package sign

import (
	"bytes"
	"crypto/rsa"
	"encoding/base64"
	"encoding/pem"
	"slices"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/skillpm/skillpm/pkg/diag"
)

// NamespaceGit is the namespace of the SSH signatures that git makes.
const NamespaceGit = "git"

// maxSSHSignature is the maximum size of an armored SSH signature, in bytes.
const maxSSHSignature = 64 << 10

// SSHSigner is the signer of an SSH signature.
type SSHSigner struct {
	ID         string   // the key, as "ssh-ed25519:<base64>"
	Principals []string // the key's names in the file of allowed signers
}

// SSHError reports an SSH signature by a signer that is not allowed.
type SSHError struct {
	Reason string
	Key    string // the ID of the signing key; "" if it cannot be read
}

// Error reports why the signature does not count.
func (e *SSHError) Error() string { return "the SSH signature " + e.Reason }

// Code returns [diag.Denied].
func (e *SSHError) Code() diag.Code { return diag.Denied }

// Verify checks an armored SSH signature of a payload. A key of the file must have made it for the namespace, and must
// be valid at the given time and not revoked. If the time is unknown, lines with a time limit do not count. The error
// is an [SSHError].
func (a *AllowedSigners) Verify(payload, armoured []byte, namespace string, t time.Time) (SSHSigner, error) {
	sig, err := unarmour(armoured)
	if err != nil {
		return SSHSigner{}, &SSHError{Reason: "is unreadable: " + err.Error()}
	}
	id := sshID(sig.PublicKey)
	refuse := func(reason string) (SSHSigner, error) { return SSHSigner{}, &SSHError{Reason: reason, Key: id} }
	switch {
	case sig.Namespace != namespace:
		return refuse("has the namespace " + quote(sig.Namespace) + " instead of " + quote(namespace))
	case a.revoked[id]:
		return refuse("is from a revoked key")
	}
	line, reason := a.find(id, namespace, t)
	if line == nil {
		return refuse(reason)
	}
	if err := sshsig.Verify(bytes.NewReader(payload), sig, line.key, sig.HashAlgorithm, namespace); err != nil {
		return refuse("does not match the content")
	}
	return SSHSigner{ID: id, Principals: slices.Clone(line.principals)}, nil
}

// find returns the line that allows a key to sign, or the reason why none does.
func (a *AllowedSigners) find(id, namespace string, t time.Time) (*allowedLine, string) {
	reason := "is from a key that is not allowed to sign"
	for i := range a.lines {
		l := &a.lines[i]
		if l.id != id {
			continue
		}
		switch {
		case !l.namespaces.match(namespace):
			reason = "is from a key that is not allowed to sign in the namespace " + quote(namespace)
		case t.IsZero() && l.limited():
			reason = "is from a key with a validity period, but the time of the signature is unknown"
		case !l.after.IsZero() && t.Before(l.after):
			reason = "is dated " + t.UTC().Format(time.DateOnly) + ", but its key is valid only from " +
				l.after.Format(time.DateOnly) + " on"
		case !l.before.IsZero() && t.After(l.before):
			reason = "is dated " + t.UTC().Format(time.DateOnly) + ", but its key is valid only until " +
				l.before.Format(time.DateOnly)
		default:
			return l, ""
		}
	}
	return nil, reason
}

// unarmour parses exactly one armored signature.
func unarmour(armoured []byte) (*sshsig.Signature, error) {
	if len(armoured) > maxSSHSignature {
		return nil, diag.Errorf(diag.Invalid, "it is larger than %d bytes", maxSSHSignature)
	}
	block, rest := pem.Decode(armoured)
	if block == nil || block.Type != sshsig.PEMType || len(block.Headers) > 0 ||
		!bytes.HasPrefix(armoured, []byte("-----BEGIN "+sshsig.PEMType)) {
		return nil, diag.Errorf(diag.Invalid, "it does not start with -----BEGIN %s-----", sshsig.PEMType)
	}
	if len(bytes.TrimLeft(rest, " \t\r\n")) > 0 {
		return nil, diag.Errorf(diag.Invalid, "it has unexpected data at its end")
	}
	sig, err := sshsig.ParseSignature(block.Bytes)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%v", err)
	}
	return sig, strong(sig.PublicKey)
}

// strong rejects weak keys, and certificates, which only an authority vouches for.
func strong(key ssh.PublicKey) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519,
		ssh.KeyAlgoSKECDSA256:
		return nil
	case ssh.KeyAlgoRSA:
		c, ok := key.(ssh.CryptoPublicKey)
		if !ok {
			break
		}
		if r, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok && r.N.BitLen() >= 2048 {
			return nil
		}
		return diag.Errorf(diag.Invalid, "an RSA key must have at least 2048 bits")
	}
	return diag.Errorf(diag.Invalid, "unsupported key type %s", key.Type())
}

// sshID returns the key in one word.
func sshID(key ssh.PublicKey) string {
	return key.Type() + ":" + base64.StdEncoding.EncodeToString(key.Marshal())
}
