package trust_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// TestTests attaches results of tests with and without a signature, and reads them from every kind of source. Neither
// is a signature of the pack.
func TestTests(t *testing.T) {
	places(t, func(t *testing.T, c *oci.Client, ref pack.Ref) {
		key := newKey(t)
		r := &sign.TestResult{Passed: []string{"deploy/a"}, TestRun: sign.TestRun{Skillpm: "1.2.0"}}
		p, trees := publishPack(t, c, ref, "1.0.0", func(ctx context.Context, subject oci.Pushed, _ []byte) (
			all []oci.Artifact, err error,
		) {
			for _, signer := range []sign.Signer{nil, key} {
				a, err := trust.TestArtifact(ctx, signer, r, "acme/deploy", subject.Digest)
				if err != nil {
					return nil, err
				}
				all = append(all, a)
			}
			return all, nil
		})
		k := trust.New(trust.Options{OCI: c})
		found, err := k.FindTests(t.Context(), p.Ref, []*sign.PublicKey{key.Public()}, nil)
		if err != nil || len(found) != 2 {
			t.Fatalf("found %+v %v", found, err)
		}
		for i, f := range found {
			if f.Kind != trust.KindTests || f.Tests == nil || f.Tests.Passed != 1 || f.Tests.Skillpm != "1.2.0" ||
				f.Verified != (i == 0) || (f.PredicateType != "") != (i == 0) {
				t.Errorf("found %+v with %+v", f, f.Tests)
			}
		}
		found, err = k.FindTests(t.Context(), p.Ref, []*sign.PublicKey{newKey(t).Public()}, nil)
		if err != nil || len(found) != 2 || found[0].Verified || found[1].Verified {
			t.Errorf("with another key: %+v %v", found, err)
		}
		if _, err := k.Signers(t.Context(), p, trees, keys(key)); err == nil {
			t.Error("a signed test result counts as a signature of the pack")
		}
	})
}

// TestHostileTests attaches statements that are not what they claim. None becomes a test result.
func TestHostileTests(t *testing.T) {
	places(t, func(t *testing.T, c *oci.Client, ref pack.Ref) {
		p, _ := publishPack(t, c, ref, "1.0.0", nil)
		other := "sha256:" + strings.Repeat("e", 64)
		statement := func(digest, predicateType string, predicate any) []byte {
			s, err := sign.Statement("acme/deploy", digest, predicateType, predicate)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		passed := map[string]any{"result": "PASSED"}
		for _, data := range [][]byte{
			statement(other, sign.PredicateTests, passed),
			statement(p.Ref.Digest, sign.PredicateProvenance, passed),
			statement(p.Ref.Digest, sign.PredicateSignature, passed),
			[]byte("{}"),
			[]byte(strings.Repeat(" ", 2<<20) + "{}"),
		} {
			a := oci.Artifact{
				Type: sign.MediaTypeStatement, Subject: p.Ref.Digest,
				Blobs: []oci.Blob{{MediaType: sign.MediaTypeStatement, Data: data}},
			}
			if _, err := c.PutArtifact(t.Context(), p.Ref, a); err != nil {
				t.Fatal(err)
			}
		}
		k := trust.New(trust.Options{OCI: c})
		found, err := k.FindTests(t.Context(), p.Ref, nil, nil)
		if err != nil || len(found) != 0 {
			t.Errorf("found %+v %v", found, err)
		}
		all, err := k.Find(t.Context(), p.Ref, nil, nil)
		if err != nil || len(all) != 5 {
			t.Errorf("found %d artifacts, want 5: %v", len(all), err)
		}
		for _, f := range all {
			if f.Kind != trust.KindOther || f.Problem == "" || f.Verified {
				t.Errorf("found %+v", f)
			}
		}
	})
}
