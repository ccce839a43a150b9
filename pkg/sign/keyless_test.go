package sign_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"net/url"
	"testing"

	"github.com/skillpm/skillpm/pkg/sign"
)

// TestClaimedIdentity checks which identity a bundle with a certificate claims. An unreadable certificate claims none.
func TestClaimedIdentity(t *testing.T) {
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	statement, err := sign.Statement("", "sha256:"+string(bytes.Repeat([]byte("a1"), 32)), sign.PredicateSignature, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := key.Bundle(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := bytes.Cut(b, []byte(`"publicKey":`))
	_, after, _ := bytes.Cut(b, []byte(`,"dsseEnvelope":`))
	uri := &url.URL{Scheme: "https", Host: "git.example", Path: "/acme/skills//.gitlab-ci.yml@refs/tags/v1"}
	der := func(text string) []byte {
		value, err := asn1.MarshalWithParams(text, "utf8")
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for name, tt := range map[string]struct {
		certificate []byte
		want        sign.Identity
	}{
		"job": {
			newCertificate(t, &x509.Certificate{URIs: []*url.URL{uri}}, 8, der("https://git.example")),
			sign.Identity{Issuer: "https://git.example", Subject: uri.String()},
		},
		"user with the older extension": {
			newCertificate(t, &x509.Certificate{EmailAddresses: []string{"a@example.com"}}, 1, []byte("https://a.example")),
			sign.Identity{Issuer: "https://a.example", Subject: "a@example.com"},
		},
		"no issuer": {newCertificate(t, &x509.Certificate{URIs: []*url.URL{uri}}, 2, der("x")), sign.Identity{}},
		"control characters": {
			newCertificate(t, &x509.Certificate{URIs: []*url.URL{uri}}, 8, der("https://git.example\n\x1b[2J")),
			sign.Identity{},
		},
		"damaged extension": {newCertificate(t, &x509.Certificate{URIs: []*url.URL{uri}}, 8, []byte("x")), sign.Identity{}},
		"not a certificate": {[]byte{0, 0, 0}, sign.Identity{}},
	} {
		data := append(append([]byte{}, before...), `"certificate":{"rawBytes":"`+
			base64.StdEncoding.EncodeToString(tt.certificate)+`"}},"dsseEnvelope":`...)
		e, err := sign.ParseBundle(append(data, after...))
		if err != nil || !e.Keyless || e.Identity != tt.want {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

// newCertificate returns a certificate with one of Fulcio's extensions.
func newCertificate(t *testing.T, c *x509.Certificate, extension int, value []byte) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(1)
	c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, extension}, Value: value}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}
