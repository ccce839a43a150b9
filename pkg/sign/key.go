package sign

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// maxKeyFile is the maximum size of a key file, in bytes.
const maxKeyFile = 64 << 10

// Types of PEM blocks.
const (
	pemPublic       = "PUBLIC KEY"
	pemPrivate      = "PRIVATE KEY"
	pemEC           = "EC PRIVATE KEY"
	pemECParameters = "EC PARAMETERS" // openssl writes it before a key
	pemSigstore     = "ENCRYPTED SIGSTORE PRIVATE KEY"
	pemCosign       = "ENCRYPTED COSIGN PRIVATE KEY" // cosign 1
)

// PrivateKey is an ECDSA key on the curve P-256.
type PrivateKey struct {
	key    *ecdsa.PrivateKey
	public *PublicKey
}

// PublicKey verifies signatures.
type PublicKey struct {
	key *ecdsa.PublicKey
	der []byte // PKIX
}

// Generate returns a new key.
func Generate(rand io.Reader) (*PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand)
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "cannot create a key: %w", err)
	}
	return newPrivate(key)
}

func newPrivate(key any) (*PrivateKey, error) {
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok || ec.Curve != elliptic.P256() {
		return nil, diag.Errorf(diag.Invalid, "the key is not an ECDSA key on the curve P-256").
			WithHint("create a key with: skillpm key generate")
	}
	public, err := newPublic(&ec.PublicKey)
	if err != nil {
		return nil, err
	}
	return &PrivateKey{key: ec, public: public}, nil
}

func newPublic(key any) (*PublicKey, error) {
	ec, ok := key.(*ecdsa.PublicKey)
	if !ok || ec.Curve != elliptic.P256() {
		return nil, diag.Errorf(diag.Invalid, "the key is not an ECDSA key on the curve P-256").
			WithHint("run \"skillpm key generate\" or \"cosign generate-key-pair\" to create a key")
	}
	der, err := x509.MarshalPKIXPublicKey(ec)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "cannot use the key: %w", err)
	}
	return &PublicKey{key: ec, der: der}, nil
}

// Public returns the public key of k.
func (k *PrivateKey) Public() *PublicKey { return k.public }

// Encode returns the key as PEM: encrypted as cosign encrypts it, or PKCS #8 if the password is empty.
func (k *PrivateKey) Encode(password []byte) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	if len(password) == 0 {
		return pem.EncodeToMemory(&pem.Block{Type: pemPrivate, Bytes: der}), nil
	}
	sealed, err := seal(der, password)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemSigstore, Bytes: sealed}), nil
}

// ParsePrivate parses a PEM private key: encrypted by skillpm or cosign, PKCS #8, or as openssl ecparam writes it. It
// calls password only for an encrypted key. A nil password function means that there is no password.
func ParsePrivate(data []byte, password func() ([]byte, error)) (*PrivateKey, error) {
	block, err := onlyBlock(data, "PRIVATE")
	if err != nil {
		return nil, err
	}
	var key any
	switch block.Type {
	case pemSigstore, pemCosign:
		return openPrivate(block.Bytes, password)
	case pemPrivate:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case pemEC:
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case pemPublic:
		return nil, diag.Errorf(diag.Invalid, "the file contains a public key, but signing requires a private key").
			WithHint("use the file NAME.key that \"skillpm key generate\" created")
	case "OPENSSH PRIVATE KEY":
		return nil, diag.Errorf(diag.Invalid, "the file contains an SSH key, which can sign git tags but not packs").
			WithHint("create a key with: skillpm key generate")
	default:
		return nil, diag.Errorf(diag.Invalid, "unsupported private key type %q", block.Type).
			WithHint(
				"run \"skillpm key generate\" to create a key, or convert the key with: openssl pkcs8 -topk8 -nocrypt -in FILE")
	}
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "the private key is damaged: %v", err)
	}
	return newPrivate(key)
}

// ParsePublic parses a PEM public key (PKIX).
func ParsePublic(data []byte) (*PublicKey, error) {
	block, err := onlyBlock(data, "PUBLIC")
	if err != nil {
		return nil, err
	}
	switch block.Type {
	case pemPublic:
	case pemSigstore, pemCosign, pemPrivate, pemEC:
		return nil, diag.Errorf(diag.Invalid, "the file contains a private key instead of a public key").
			WithHint("use the file NAME.pub that \"skillpm key generate\" created; keep the private key secret")
	default:
		return nil, diag.Errorf(diag.Invalid, "unsupported public key type %q", block.Type).
			WithHint("use the file NAME.pub that \"skillpm key generate\" created")
	}
	return parsePKIX(block.Bytes)
}

func parsePKIX(der []byte) (*PublicKey, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "the public key is damaged: %v", err)
	}
	public, err := newPublic(key)
	if err == nil && !bytes.Equal(public.der, der) {
		return nil, diag.Errorf(diag.Invalid, "the public key is not in canonical form")
	}
	return public, err
}

// onlyBlock returns the only PEM block of a key file, without preceding parameters.
func onlyBlock(data []byte, kind string) (*pem.Block, error) {
	if len(data) > maxKeyFile {
		return nil, diag.Errorf(diag.Invalid, "the key is larger than %d bytes", maxKeyFile)
	}
	block, rest := pem.Decode(data)
	if block != nil && block.Type == pemECParameters {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, diag.Errorf(diag.Invalid, "the file is not a key: it does not contain a PEM block").
			WithHint("use a file that starts with -----BEGIN %s KEY-----", kind)
	}
	if more, _ := pem.Decode(rest); more != nil {
		return nil, diag.Errorf(diag.Invalid, "the file contains several keys").
			WithHint("use one file for each key")
	}
	return block, nil
}

// Encode returns the key as PEM (PKIX).
func (k *PublicKey) Encode() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: pemPublic, Bytes: k.der})
}

// idPrefix is the prefix of key IDs.
const idPrefix = "ecdsa-p256:"

// ID returns the key in one word, as a lockfile records a signer: ecdsa-p256: and the base64 of its PKIX form.
func (k *PublicKey) ID() string { return idPrefix + base64.StdEncoding.EncodeToString(k.der) }

// ParseID parses the result of [PublicKey.ID].
func ParseID(id string) (*PublicKey, error) {
	text, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(text) > maxKeyFile {
		return nil, diag.Errorf(diag.Invalid, "the key must start with %s", idPrefix)
	}
	der, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, diag.Errorf(diag.Invalid, "the key after %s is not base64", idPrefix)
	}
	return parsePKIX(der)
}

// Fingerprint returns sha256: and the hexadecimal digest of the key's PKIX form, for users to compare.
func (k *PublicKey) Fingerprint() string {
	return "sha256:" + textx.SHA256(k.der)
}

// hint returns the key hint that cosign writes into a bundle.
func (k *PublicKey) hint() string {
	sum := sha256.Sum256(k.der)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Equal reports whether two keys are the same.
func (k *PublicKey) Equal(other *PublicKey) bool {
	return other != nil && bytes.Equal(k.der, other.der)
}
