package sign_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/sign"
)

var (
	digestA = "sha256:" + strings.Repeat("a1", 32)
	digestB = "sha256:" + strings.Repeat("b2", 32)
)

func newKey(t testing.TB) *sign.PrivateKey {
	t.Helper()
	k, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func password(s string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(s), nil }
}

// signed returns a bundle with which k signs digest.
func signed(t testing.TB, k *sign.PrivateKey, digest string) []byte {
	t.Helper()
	s, err := sign.Statement("", digest, sign.PredicateSignature, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sign.Bundle(k, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkCode(t *testing.T, err error, code diag.Code, text string) {
	t.Helper()
	if diag.CodeOf(err) != code || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error is %v (%v), want code %v and %q", err, diag.CodeOf(err), code, text)
	}
}

func TestKeyRoundTrip(t *testing.T) {
	k := newKey(t)
	for name, secret := range map[string]string{"plain": "", "encrypted": "hunter2"} {
		text, err := k.Encode([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		again, err := sign.ParsePrivate(text, password(secret))
		if err != nil || !again.Public().Equal(k.Public()) {
			t.Errorf("%s: %v", name, err)
		}
		if (secret != "") != bytes.Contains(text, []byte("ENCRYPTED SIGSTORE PRIVATE KEY")) {
			t.Errorf("%s: written as\n%s", name, text)
		}
	}
	public, err := sign.ParsePublic(k.Public().Encode())
	if err != nil || !public.Equal(k.Public()) {
		t.Errorf("public: %v", err)
	}
	byID, err := sign.ParseID(k.Public().ID())
	if err != nil || !byID.Equal(k.Public()) {
		t.Errorf("ID: %v", err)
	}
	if f := public.Fingerprint(); !strings.HasPrefix(f, "sha256:") || len(f) != 71 {
		t.Errorf("fingerprint %q", f)
	}
}

// TestForeignKeys parses keys that other programs write.
func TestForeignKeys(t *testing.T) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	withParameters := append(
		pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8, 42, 134, 72, 206, 61, 3, 1, 7}}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})...)
	if _, err := sign.ParsePrivate(withParameters, nil); err != nil {
		t.Errorf("openssl ecparam: %v", err)
	}
	big, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(big)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sign.ParsePrivate(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil)
	checkCode(t, err, diag.Invalid, "not an ECDSA key on the curve P-256")
}

func TestBadKeys(t *testing.T) {
	k := newKey(t)
	plain, err := k.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := k.Encode([]byte("right"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = sign.ParsePrivate(sealed, password("wrong"))
	checkCode(t, err, diag.Denied, "wrong password")
	_, err = sign.ParsePrivate(sealed, nil)
	checkCode(t, err, diag.Usage, "encrypted and requires a password")
	errPassword := errors.New("nobody there")
	if _, err = sign.ParsePrivate(sealed, func() ([]byte, error) { return nil, errPassword }); !errors.Is(err, errPassword) {
		t.Errorf("error of the question is %v", err)
	}
	tests := []struct {
		name, text, want string
		private          bool
	}{
		{"nothing", "", "does not contain a PEM block", true},
		{"text", "hello", "does not contain a PEM block", false},
		{"two", string(plain) + string(plain), "several keys", true},
		{"public for private", string(k.Public().Encode()), "contains a public key", true},
		{"private for public", string(plain), "contains a private key", false},
		{"sealed for public", string(sealed), "contains a private key", false},
		{"other block", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", `type "CERTIFICATE"`, true},
		{"damaged", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "damaged", true},
		{"damaged public", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "damaged", false},
		{"large", strings.Repeat("a", 65<<10), "larger than", true},
		{"cost", costly(t, sealed), "unsupported key encryption", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			if tt.private {
				_, err = sign.ParsePrivate([]byte(tt.text), password("right"))
			} else {
				_, err = sign.ParsePublic([]byte(tt.text))
			}
			checkCode(t, err, diag.Invalid, tt.want)
		})
	}
	for _, id := range []string{"", "ecdsa-p256:", "ecdsa-p256:!", "rsa:AAAA", k.Public().ID() + "A", k.Public().ID()[:40]} {
		if _, err := sign.ParseID(id); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("ParseID(%q) = %v", id, err)
		}
	}
}

// costly returns an encrypted key whose decryption needs a gigabyte.
func costly(t *testing.T, sealed []byte) string {
	t.Helper()
	block, _ := pem.Decode(sealed)
	text := bytes.Replace(block.Bytes, []byte(`"N":65536`), []byte(`"N":1048576`), 1)
	if bytes.Equal(text, block.Bytes) {
		t.Fatal("the key is written differently")
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: text}))
}

func TestVerify(t *testing.T) {
	k, other := newKey(t), newKey(t)
	b := signed(t, k, digestA)
	v, err := sign.Verify(b, []*sign.PublicKey{other.Public(), k.Public()}, digestA)
	if err != nil || !v.Key.Equal(k.Public()) || v.PredicateType != sign.PredicateSignature {
		t.Fatalf("%+v, %v", v, err)
	}
	if !bytes.Equal(b, signed(t, k, digestA)) {
		t.Error("signing twice gives two signatures")
	}
	_, err = sign.Verify(b, []*sign.PublicKey{other.Public()}, digestA)
	checkCode(t, err, diag.Denied, "no trusted key made the signature")
	_, err = sign.Verify(b, nil, digestA)
	checkCode(t, err, diag.Denied, "no key is configured to verify the signature")
	_, err = sign.Verify(b, []*sign.PublicKey{k.Public()}, digestB)
	checkCode(t, err, diag.Integrity, "not for "+digestB)
	_, err = sign.Verify(b, []*sign.PublicKey{k.Public()}, "sha512:00")
	checkCode(t, err, diag.Invalid, "use sha256:")
}

// altered returns a bundle after a change to its JSON.
func altered(t *testing.T, b []byte, change func(bundle, envelope map[string]any)) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	envelope, ok := m["dsseEnvelope"].(map[string]any)
	if !ok {
		t.Fatal("there is no envelope")
	}
	change(m, envelope)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestHostileBundles(t *testing.T) {
	k := newKey(t)
	good := signed(t, k, digestA)
	payload := func(text string) func(_, e map[string]any) {
		return func(_, e map[string]any) { e["payload"] = base64.StdEncoding.EncodeToString([]byte(text)) }
	}
	statement := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"` + strings.Repeat("b2", 32) + `"}}],"predicateType":"x"}`
	tests := []struct {
		name string
		b    []byte
		code diag.Code
		want string
	}{
		{"payload of another digest", altered(t, good, payload(statement)), diag.Denied, "altered"},
		{"two signatures", altered(t, good, func(_, e map[string]any) {
			s := e["signatures"].([]any)
			e["signatures"] = append(s, s[0])
		}), diag.Invalid, "instead of 2"},
		{"no signature", altered(t, good, func(_, e map[string]any) { e["signatures"] = []any{} }), diag.Invalid, "instead of 0"},
		{"other payload type", altered(t, good, func(_, e map[string]any) { e["payloadType"] = "text/plain" }), diag.Invalid, "text/plain"},
		{"signature of nothing", altered(t, good, func(_, e map[string]any) { e["signatures"] = []any{map[string]any{"sig": ""}} }), diag.Invalid, "sig is empty or not base64"},
		{"signature of zeros", altered(t, good, func(_, e map[string]any) { e["signatures"] = []any{map[string]any{"sig": "MAYCAQACAQA="}} }), diag.Denied, "altered"},
		{"message signature besides", altered(t, good, func(b, _ map[string]any) { b["messageSignature"] = map[string]any{} }), diag.Invalid, "expected exactly one DSSE envelope"},
		{"key and certificate", altered(t, good, func(b, _ map[string]any) {
			b["verificationMaterial"].(map[string]any)["certificate"] = map[string]any{"rawBytes": "AAAA"}
		}), diag.Invalid, "either a key or a certificate"},
		{"neither key nor certificate", altered(t, good, func(b, _ map[string]any) { b["verificationMaterial"] = map[string]any{} }), diag.Invalid, "either a key or a certificate"},
		{"certificate", altered(t, good, func(b, _ map[string]any) {
			b["verificationMaterial"] = map[string]any{"certificate": map[string]any{"rawBytes": "AAAA"}}
		}), diag.Denied, ""},
		{"other version", bytes.Replace(good, []byte("bundle.v0.3"), []byte("bundle.v0.9"), 1), diag.Invalid, "the media type is"},
		{"key twice", bytes.Replace(good, []byte(`"payload":`), []byte(`"payload":"AAAA","payload":`), 1), diag.Invalid, `"payload" is duplicated`},
		{"key twice, escaped", bytes.Replace(good, []byte(`"payload":`), []byte(`"p\u0061yload":"AAAA","payload":`), 1), diag.Invalid, `"payload" is duplicated`},
		{"key in capitals", bytes.Replace(good, []byte(`"payload":`), []byte(`"PAYLOAD":`), 1), diag.Invalid, "payload is empty or not base64"},
		{"text behind", append(slices.Clone(good), "{}"...), diag.Invalid, "unexpected data after the JSON document"},
		{"not UTF-8", bytes.Replace(good, []byte(`"hint":"`), []byte("\"hint\":\"\xff"), 1), diag.Invalid, "not valid UTF-8"},
		{"cut off", good[:len(good)-2], diag.Invalid, "invalid JSON"},
		{"list", []byte("[]"), diag.Invalid, "not a JSON object"},
		{"null", []byte("null"), diag.Invalid, "not a JSON object"},
		{"empty", nil, diag.Invalid, "invalid JSON"},
		{"deep", []byte(strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000)), diag.Invalid, "nested"},
		{"large", append(slices.Clone(good), bytes.Repeat([]byte(" "), sign.MaxBundle)...), diag.Invalid, "the limit is"},
		{"payload key twice", altered(t, good, payload(`{"_type":"https://in-toto.io/Statement/v1","_type":"x"}`)), diag.Invalid, `"_type" is duplicated`},
		{"payload type", altered(t, good, payload(`{"_type":"https://in-toto.io/Statement/v0.1"}`)), diag.Invalid, "the type is"},
		{"payload about nothing", altered(t, good, payload(`{"_type":"https://in-toto.io/Statement/v1","predicateType":"x","subject":[]}`)), diag.Invalid, "no subject has a SHA-256 digest"},
		{"payload about md5", altered(t, good, payload(`{"_type":"https://in-toto.io/Statement/v1","predicateType":"x","subject":[{"digest":{"md5":"00"}}]}`)), diag.Invalid, "no subject has a SHA-256 digest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := sign.Verify(tt.b, []*sign.PublicKey{k.Public()}, digestA)
			checkCode(t, err, tt.code, tt.want)
		})
	}
}

// TestSeveralSubjects checks that a statement with several subjects applies to each of them, as in all of in-toto.
func TestSeveralSubjects(t *testing.T) {
	k := newKey(t)
	text := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"` + digestA[7:] + `"}},{"digest":{"sha256":"` + digestB[7:] + `"}}],"predicateType":"x","predicate":{}}`
	b, err := sign.Bundle(k, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{digestA, digestB} {
		if _, err := sign.Verify(b, []*sign.PublicKey{k.Public()}, d); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
}
