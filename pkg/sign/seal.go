package sign

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/json"

	"golang.org/x/crypto/nacl/secretbox"
	"golang.org/x/crypto/scrypt"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// sealed is the encrypted form of a private key: the JSON of go-securesystemslib/encrypted, which cosign uses.
type sealed struct {
	KDF        kdf    `json:"kdf"`
	Cipher     cipher `json:"cipher"`
	Ciphertext []byte `json:"ciphertext"`
}

type kdf struct {
	Name   string `json:"name"`
	Params params `json:"params"`
	Salt   []byte `json:"salt"`
}

type params struct {
	N int `json:"N"`
	R int `json:"r"`
	P int `json:"p"`
}

type cipher struct {
	Name  string `json:"name"`
	Nonce []byte `json:"nonce"`
}

const (
	kdfScrypt       = "scrypt"
	cipherSecretbox = "nacl/secretbox"
	saltSize        = 32
	scryptN         = 1 << 16 // for new keys
)

// seal encrypts a key with a password.
func seal(der, password []byte) ([]byte, error) {
	s := sealed{
		KDF:    kdf{Name: kdfScrypt, Params: params{N: scryptN, R: 8, P: 1}, Salt: make([]byte, saltSize)},
		Cipher: cipher{Name: cipherSecretbox, Nonce: make([]byte, 24)},
	}
	_, _ = rand.Read(s.KDF.Salt) // never fails
	_, _ = rand.Read(s.Cipher.Nonce)
	key, err := s.KDF.key(password)
	if err != nil {
		return nil, err
	}
	s.Ciphertext = secretbox.Seal(nil, der, (*[24]byte)(s.Cipher.Nonce), key)
	text, err := json.Marshal(s)
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	return text, nil
}

// key derives the cipher's key. It accepts only the costs that cosign writes, so that a file cannot demand gigabytes.
func (k kdf) key(password []byte) (*[32]byte, error) {
	n := k.Params.N
	if k.Name != kdfScrypt || n != 1<<15 && n != 1<<16 && n != 1<<17 || k.Params.R != 8 || k.Params.P != 1 {
		return nil, diag.Errorf(diag.Invalid,
			"unsupported key encryption: %q with N=%d, r=%d, p=%d",
			k.Name, k.Params.N, k.Params.R, k.Params.P).
			WithHint("create a key with: skillpm key generate")
	}
	key, err := scrypt.Key(password, k.Salt, k.Params.N, k.Params.R, k.Params.P, 32)
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	return (*[32]byte)(key), nil
}

// openPrivate decrypts a key.
func openPrivate(text []byte, password func() ([]byte, error)) (*PrivateKey, error) {
	var s sealed
	switch err := jsonx.Decode(text, &s, jsonx.Options{MaxBytes: maxKeyFile}); {
	case jsonx.KindOf(err) == jsonx.WrongValue:
		return nil, diag.Errorf(diag.Invalid, "the encrypted key is damaged: %v", err)
	case err != nil:
		return nil, diag.Errorf(diag.Invalid, "invalid encrypted key: %w", err)
	}
	if s.Cipher.Name != cipherSecretbox {
		return nil, diag.Errorf(diag.Invalid, "unsupported key encryption: %q", s.Cipher.Name).
			WithHint("create a key with: skillpm key generate")
	}
	if len(s.Cipher.Nonce) != 24 {
		return nil, diag.Errorf(diag.Invalid, "the encrypted key is damaged: the nonce has %d bytes instead of 24",
			len(s.Cipher.Nonce))
	}
	if password == nil {
		return nil, diag.Errorf(diag.Usage, "the key is encrypted and requires a password").
			WithHint("set SKILLPM_SIGNING_PASSWORD, or run the command on a terminal")
	}
	secret, err := password()
	if err != nil {
		return nil, err
	}
	key, err := s.KDF.key(secret)
	if err != nil {
		return nil, err
	}
	der, ok := secretbox.Open(nil, s.Ciphertext, (*[24]byte)(s.Cipher.Nonce), key)
	if !ok {
		return nil, diag.Errorf(diag.Denied, "wrong password for the key").
			WithHint("check SKILLPM_SIGNING_PASSWORD, or enter the password again")
	}
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "the decrypted content is not a private key: %v", err)
	}
	return newPrivate(private)
}
