package sign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"strconv"

	"github.com/skillpm/skillpm/pkg/diag"
)

// MediaTypeBundle is the media type of a Sigstore bundle, as an artifact and as its layer.
const MediaTypeBundle = "application/vnd.dev.sigstore.bundle.v0.3+json"

// MaxBundle is the maximum size of a bundle, in bytes.
const MaxBundle = 17 << 20

// Bundle signs an in-toto statement and returns a Sigstore bundle (version 0.3) with a DSSE envelope and a hint of the
// key. The same key and statement give the same bytes.
func Bundle(k *PrivateKey, statement []byte) ([]byte, error) {
	if _, err := ParseStatement(statement); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(preAuth(payloadType, statement))
	signature, err := k.key.Sign(nil, sum[:], crypto.SHA256) // deterministic: RFC 6979
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "signing: %w", err)
	}
	type envelopeSignature struct {
		Sig []byte `json:"sig"`
	}
	type publicKey struct {
		Hint string `json:"hint"`
	}
	type material struct {
		PublicKey publicKey `json:"publicKey"`
	}
	type envelope struct {
		Payload     []byte              `json:"payload"`
		PayloadType string              `json:"payloadType"`
		Signatures  []envelopeSignature `json:"signatures"`
	}
	return encodeJSON(struct {
		MediaType    string   `json:"mediaType"`
		Verification material `json:"verificationMaterial"`
		Envelope     envelope `json:"dsseEnvelope"`
	}{
		MediaTypeBundle,
		material{publicKey{k.public.hint()}},
		envelope{statement, payloadType, []envelopeSignature{{signature}}},
	})
}

// preAuth returns DSSE's pre-authentication encoding of a payload, which is what a key signs.
func preAuth(payloadType string, payload []byte) []byte {
	b := make([]byte, 0, len(payload)+len(payloadType)+64)
	b = append(b, "DSSEv1 "...)
	b = strconv.AppendInt(b, int64(len(payloadType)), 10)
	b = append(append(append(b, ' '), payloadType...), ' ')
	b = strconv.AppendInt(b, int64(len(payload)), 10)
	return append(append(b, ' '), payload...)
}

// Envelope is a parsed bundle, whose signature is not verified yet.
type Envelope struct {
	Statement []byte   // the payload
	Claim     *Claim   // the parsed payload
	Keyless   bool     // it has a certificate instead of a key
	Identity  Identity // that the certificate claims, not verified; the zero value if it is unreadable
	Hint      string   // hint of the key
	signature []byte
}

// ParseBundle parses a Sigstore bundle of version 0.3 with a DSSE envelope. It does not verify the signature.
func ParseBundle(data []byte) (*Envelope, error) {
	e, err := parseBundle(data)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "invalid signature bundle: %w", err)
	}
	return e, nil
}

func parseBundle(data []byte) (*Envelope, error) {
	if err := checkJSON(data, MaxBundle); err != nil {
		return nil, err
	}
	o, err := parseObject(data, "the content")
	if err != nil {
		return nil, err
	}
	kind, err := o.text("mediaType")
	switch {
	case err != nil:
		return nil, err
	case kind != MediaTypeBundle:
		return nil, diag.Errorf(diag.Invalid, "the media type is %q instead of %s", kind, MediaTypeBundle)
	case !o.has("dsseEnvelope") || o.has("messageSignature"):
		return nil, diag.Errorf(diag.Invalid, "expected exactly one DSSE envelope")
	}
	e := &Envelope{}
	if err := e.material(o); err != nil {
		return nil, err
	}
	if err := e.envelope(o); err != nil {
		return nil, err
	}
	e.Claim, err = ParseStatement(e.Statement)
	return e, err
}

// material parses the verification material: a key hint or a certificate.
func (e *Envelope) material(o object) error {
	m, err := parseObject(o["verificationMaterial"], "verificationMaterial")
	if err != nil {
		return err
	}
	e.Keyless = m.has("certificate") || m.has("x509CertificateChain")
	if e.Keyless == m.has("publicKey") {
		return diag.Errorf(diag.Invalid, "expected either a key or a certificate")
	}
	if e.Keyless {
		c, err := parseObject(m["certificate"], "certificate")
		if err != nil {
			return nil // a chain of certificates; the verifier reads it
		}
		if der, err := c.bytes("rawBytes"); err == nil {
			e.Identity = claimedIdentity(der)
		}
		return nil
	}
	key, err := parseObject(m["publicKey"], "publicKey")
	if err != nil {
		return err
	}
	e.Hint, err = key.text("hint")
	return err
}

// envelope parses the payload and its only signature.
func (e *Envelope) envelope(o object) error {
	env, err := parseObject(o["dsseEnvelope"], "dsseEnvelope")
	if err != nil {
		return err
	}
	kind, err := env.text("payloadType")
	if err == nil && kind != payloadType {
		err = diag.Errorf(diag.Invalid, "the payload type is %q instead of %s", kind, payloadType)
	}
	if err != nil {
		return err
	}
	if e.Statement, err = env.bytes("payload"); err != nil {
		return err
	}
	all, err := env.list("signatures", 16)
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return diag.Errorf(diag.Invalid, "expected one signature instead of %d", len(all))
	}
	s, err := parseObject(all[0], "a signature")
	if err != nil {
		return err
	}
	e.signature, err = s.bytes("sig")
	return err
}

// bytes decodes the base64 value of a key.
func (o object) bytes(key string) ([]byte, error) {
	s, err := o.text(key)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) == 0 {
		return nil, diag.Errorf(diag.Invalid, "%s is empty or not base64", key)
	}
	return b, nil
}

// signedBy reports whether a key made the envelope's signature.
func (e *Envelope) signedBy(k *PublicKey) bool {
	sum := sha256.Sum256(preAuth(payloadType, e.Statement))
	return ecdsa.VerifyASN1(k.key, sum[:], e.signature)
}
