package trust_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// byRoot is a checker that determines a bundle's signer by its root.
type byRoot string

func (who byRoot) Verify(_ []byte, _ string, wanted []sign.Identity) (sign.Identity, error) {
	got := sign.Identity{Issuer: "https://accounts.example", Subject: string(who)}
	if !slices.Contains(wanted, got) {
		return sign.Identity{}, diag.Errorf(diag.Denied, "it is by somebody else")
	}
	return got, nil
}

// TestIdentities checks that if a policy requires an identity, a program that cannot verify it refuses, and names one
// that can. The verifier decides whose signatures count.
func TestIdentities(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, t.TempDir())
	key := newKey(t)
	p, trees := publishPack(t, c, parse(t, s.URL("acme/deploy")), "1.0.0", func(ctx context.Context, subject oci.Pushed, m []byte) ([]oci.Artifact, error) {
		all, err := trust.Attachments(key, nil, nil)(ctx, subject, m)
		data := all[0].Blobs[0].Data
		before, _, _ := bytes.Cut(data, []byte(`"verificationMaterial":`))
		_, after, _ := bytes.Cut(data, []byte(`,"dsseEnvelope":`))
		certificate := []byte(`"verificationMaterial":{"certificate":{"rawBytes":"AAAA"}},"dsseEnvelope":`)
		all[0].Blobs[0].Data = slices.Concat(before, certificate, after)
		return all, err
	})
	want := trust.Requirement{Identities: []trust.Identity{{Issuer: "https://accounts.example", Subject: "a@example.com"}}}
	root := func(text string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(text), nil } }
	open := func(root []byte) (sign.KeylessVerifier, error) { return byRoot(root), nil }

	_, err := trust.New(trust.Options{OCI: c, TrustedRoot: root("a@example.com")}).Signers(t.Context(), p, trees, want)
	checkError(t, err, diag.Denied, "this build of skillpm cannot verify keyless signatures")
	if hint := diag.HintOf(err); !strings.Contains(hint, "skillpm-keyless") {
		t.Errorf("the hint is %q", hint)
	}
	_, err = trust.New(trust.Options{OCI: c, Keyless: open}).Signers(t.Context(), p, trees, keys(key))
	checkError(t, err, diag.Denied, "a signature has a certificate, but only")
	_, err = trust.New(trust.Options{OCI: c, Keyless: open, TrustedRoot: root("b@example.com")}).Signers(t.Context(), p, trees, want)
	checkError(t, err, diag.Denied, "it is by somebody else")
	fails := func() ([]byte, error) {
		return nil, diag.Errorf(diag.Denied, "a signature has a certificate, but no").WithHint("put them there")
	}
	_, err = trust.New(trust.Options{OCI: c, Keyless: open, TrustedRoot: fails}).Signers(t.Context(), p, trees, want)
	checkError(t, err, diag.Denied, "a signature has a certificate, but no")

	got, err := trust.New(trust.Options{OCI: c, Keyless: open, TrustedRoot: root("a@example.com")}).Signers(t.Context(), p, trees, want)
	if err != nil || !slices.Equal(got, []string{"identity:https://accounts.example a@example.com"}) {
		t.Errorf("signers are %v, %v", got, err)
	}
	two := want
	two.Keys, two.Threshold = []*sign.PublicKey{key.Public()}, 2
	_, err = trust.New(trust.Options{OCI: c, Keyless: open, TrustedRoot: root("a@example.com")}).Signers(t.Context(), p, trees, two)
	checkError(t, err, diag.Denied, "has 1 of 2 required signatures")
}
