package oci_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

var (
	firstCommit  = oci.Provenance{Source: "https://git.example/acme/skills", Revision: strings.Repeat("a", 40)}
	secondCommit = oci.Provenance{Source: "https://git.example/acme/skills", Revision: strings.Repeat("b", 40)}
)

func pushFrom(t *testing.T, c *oci.Client, ref pack.Ref, version string, p oci.Provenance) oci.Pushed {
	t.Helper()
	rel, trees := release(version, "deploy", "rollback")
	pushed, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Provenance: p})
	if err != nil {
		t.Fatal(err)
	}
	return pushed
}

// statedProvenance returns what the referrers of a version state.
func statedProvenance(t *testing.T, c *oci.Client, ref pack.Ref, digest string) (all []oci.Provenance) {
	t.Helper()
	ref.Digest = digest
	list, err := c.Referrers(t.Context(), ref, oci.MediaTypeProvenance)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		all = append(all, a.Provenance())
	}
	return all
}

// TestProvenance checks that provenance does not change the digest of a version, and that the first one stays, with and
// without a referrers API and in copies.
func TestProvenance(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			elsewhere := oci.New(oci.Options{Base: t.TempDir()})
			layout := pack.Ref{Kind: pack.KindLayout, URL: "copy", ID: deployID}
			plain := pushFrom(t, elsewhere, layout, "1.0.0", oci.Provenance{})

			first := pushFrom(t, c, ref, "1.0.0", firstCommit)
			if first.Digest != plain.Digest || first.Provenance != firstCommit {
				t.Errorf("got %s %+v, want %s %+v", first.Digest, first.Provenance, plain.Digest, firstCommit)
			}
			again := pushFrom(t, c, ref, "1.0.0", secondCommit)
			if !again.Existed || again.Digest != plain.Digest || again.Provenance != firstCommit {
				t.Errorf("published again: %v %s %+v", again.Existed, again.Digest, again.Provenance)
			}
			if got := statedProvenance(t, c, ref, plain.Digest); len(got) != 1 || got[0] != firstCommit {
				t.Errorf("the referrers state %+v, want only %+v", got, firstCommit)
			}

			// what was published without provenance gets it later
			pushFrom(t, c, ref, "1.1.0", oci.Provenance{})
			later := pushFrom(t, c, ref, "1.1.0", secondCommit)
			if got := statedProvenance(t, c, ref, later.Digest); len(got) != 1 || got[0] != secondCommit {
				t.Errorf("1.1.0: the referrers state %+v, want %+v", got, secondCommit)
			}
		})
	}
}

// TestCopiedProvenance checks that a copy has the provenance of the original.
func TestCopiedProvenance(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			pushed := pushFrom(t, c, ref, "1.0.0", firstCommit)
			ref.Rev = "1.0.0"
			to := pack.Ref{Kind: pack.KindLayout, URL: t.TempDir(), ID: deployID}
			copied, err := c.Copy(t.Context(), ref, to, oci.CopyOptions{})
			if err != nil || copied.Digest != pushed.Digest || copied.Provenance != firstCommit {
				t.Errorf("copied %s %+v: %v", copied.Digest, copied.Provenance, err)
			}
			if got := statedProvenance(t, c, to, pushed.Digest); len(got) != 1 || got[0] != firstCommit {
				t.Errorf("the copy's referrers state %+v", got)
			}
		})
	}
}

// TestProvenanceRequests checks that provenance takes two requests: whether the empty configuration exists, and the
// manifest.
func TestProvenanceRequests(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	pushFrom(t, s.Client(t, ""), ref, "1.0.0", oci.Provenance{})
	s.Requests()
	pushFrom(t, s.Client(t, ""), ref, "1.1.0", oci.Provenance{})
	without := s.Requests()
	pushFrom(t, s.Client(t, ""), ref, "1.2.0", firstCommit)
	if with := s.Requests(); len(with) != len(without)+2 {
		t.Errorf("%d requests without provenance, %d with it: %q", len(without), len(with), with)
	}
}
