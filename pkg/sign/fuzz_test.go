package sign_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/sign"
)

// fixedKey returns the same key every time, so that the same input takes the same path.
func fixedKey(t testing.TB) *sign.PrivateKey {
	t.Helper()
	raw, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	k, err := sign.ParsePrivate(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// FuzzParseBundle checks that parsing never panics, that an accepted bundle verifies with its key, and that a changed
// statement never verifies.
func FuzzParseBundle(f *testing.F) {
	k := fixedKey(f)
	good := signed(f, k, digestA)
	f.Add(good)
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"publicKey":{"hint":""}},"dsseEnvelope":{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{"sig":"AAAA"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := sign.ParseBundle(data)
		if err != nil {
			return
		}
		if e.Claim == nil || len(e.Claim.Subjects) == 0 {
			t.Error("a bundle about nothing was accepted")
		}
		v, err := e.Verify([]*sign.PublicKey{k.Public()}, digestA)
		if err == nil && !bytes.Equal(v.Statement, e.Statement) {
			t.Error("what verified is not what was read")
		}
		if original, _ := sign.ParseBundle(good); err == nil && !bytes.Equal(e.Statement, original.Statement) {
			t.Errorf("a statement verifies that nobody signed: %s", e.Statement)
		}
	})
}

// FuzzParseStatement checks that a parsed statement can be signed, and that the bundle returns it.
func FuzzParseStatement(f *testing.F) {
	k := fixedKey(f)
	s, err := sign.Statement("acme/deploy", digestA, sign.PredicateProvenance, map[string]string{"a": "b"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := sign.ParseStatement(data)
		if err != nil {
			return
		}
		b, err := sign.Bundle(k, data)
		if err != nil {
			t.Fatal(err)
		}
		v, err := sign.Verify(b, []*sign.PublicKey{k.Public()}, c.Subjects[0])
		if err != nil || !bytes.Equal(v.Statement, data) {
			t.Errorf("signed %q, got %q, %v", data, v.Statement, err)
		}
	})
}

// FuzzParseKeys checks that a parsed key is written and parsed as the same key.
func FuzzParseKeys(f *testing.F) {
	k := fixedKey(f)
	plain, err := k.Encode(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain)
	f.Add(k.Public().Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if public, err := sign.ParsePublic(data); err == nil {
			if again, err := sign.ParsePublic(public.Encode()); err != nil || !again.Equal(public) {
				t.Errorf("%v", err)
			}
		}
		private, err := sign.ParsePrivate(data, nil)
		if err != nil {
			return
		}
		text, err := private.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := sign.ParsePrivate(text, nil); err != nil || !again.Public().Equal(private.Public()) {
			t.Errorf("%v", err)
		}
	})
}

// FuzzParseAllowedSigners checks that parsing never panics, and that an invalid signature never counts.
func FuzzParseAllowedSigners(f *testing.F) {
	f.Add([]byte(`a@b.example,c* namespaces="git",valid-after="20240101Z" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJDVMNVkWjqVnDmHW1ceuYxT1CHqVAhOVE1DCSoTJxtH comment`), []byte("x"))
	f.Fuzz(func(t *testing.T, data, signature []byte) {
		a, err := sign.ParseAllowedSigners("signers", data)
		if err != nil {
			return
		}
		if len(a.IDs()) == 0 {
			t.Error("a file without keys was accepted")
		}
		if _, err := a.Verify([]byte("payload"), signature, sign.NamespaceGit, time.Unix(1700000000, 0)); err == nil {
			t.Error("a signature verifies that nobody made")
		}
	})
}

func BenchmarkBundle(b *testing.B) {
	k := newKey(b)
	s, err := sign.Statement("", digestA, sign.PredicateSignature, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := sign.Bundle(k, s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	k := newKey(b)
	bundle, keys := signed(b, k, digestA), []*sign.PublicKey{k.Public()}
	for b.Loop() {
		if _, err := sign.Verify(bundle, keys, digestA); err != nil {
			b.Fatal(err)
		}
	}
}
